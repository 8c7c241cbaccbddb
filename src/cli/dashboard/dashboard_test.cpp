// The dashboard's events and questions, on a simulated run.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <map>
#include <memory>

#include "cli/dashboard/dashboard_start.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_page.hpp"
#include "cli/run.hpp"
#include "cli/run/decision_log.hpp"
#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "control/control_loop.hpp"
#include "journal/journal.hpp"
#include "server/follower.hpp"
#include "sim/generate.hpp"
#include "sim/sim_world.hpp"
#include "support/temporary_folder.hpp"
#include "support/tls_test_client.hpp"

namespace makeway::cli {
namespace {

constexpr Time run_start{1'767'225'600'000};  // 2026-01-01T00:00:00Z

/// A loop on the simulator with a follower.
class FollowedRun {
 public:
  explicit FollowedRun(std::uint64_t seed, LoopWatcher* journal = nullptr)
      : configuration_(*load_preset(default_preset)),
        load_(generate_load(*parse_generate("nodes=6,pods=200,load=200,gangs=10,queues=2"), seed,
                            run_start)),
        world_(load_, {.start = run_start, .seed = seed}),
        watchers_({&follower_}) {
    if (journal != nullptr) watchers_.add(*journal);
    LoopOptions options;
    options.preset = default_preset;
    options.watcher = &watchers_;
    loop_ = std::make_unique<ControlLoop>(world_, configuration_, tools_, std::move(options));
  }

  bool step() { return loop_->step(); }
  std::string loop_text() const { return dump(loop_->cluster(), DumpFormat::json); }

  template <class Answer>
  auto asked(Answer answer) {
    std::promise<decltype(answer(std::declval<server::Board&>()))> promise;
    EXPECT_TRUE(follower_.ask([&](server::Board& board) { promise.set_value(answer(board)); }));
    return promise.get_future().get();
  }
  std::string followed_text() {
    return asked([](server::Board& board) { return dump(board.cluster(), DumpFormat::json); });
  }

 private:
  const PlanTools tools_ = real_tools();
  Configuration configuration_;
  SimLoad load_;
  SimWorld world_;
  server::Follower follower_{{}, [](server::Board&) {}};
  WatcherList watchers_;
  std::unique_ptr<ControlLoop> loop_;
};

TEST(DashboardRun, TheFollowersClusterIsTheLoops) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    FollowedRun run(seed);
    int steps = 0;
    while (run.step()) {
      if (++steps % 50 == 0) {
        ASSERT_EQ(run.followed_text(), run.loop_text());
      }
    }
    EXPECT_GT(steps, 100);
    EXPECT_EQ(run.followed_text(), run.loop_text());
  }
}

constexpr std::string_view one_pod = R"(apiVersion: v1
kind: Pod
metadata: {name: what-if-pod, namespace: shop}
spec:
  priority: 2000000
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
)";

server::HttpReply what_if_of(FollowedRun& run, std::string_view body, std::string query = {}) {
  const server::HttpRequest request{
      .is_post = true, .query = std::move(query), .body = std::string(body)};
  return run.asked([&](server::Board& board) { return what_if(request, board, real_tools()); });
}

TEST(DashboardRun, WhatIfPlansTheManifestAndChangesNothing) {
  FollowedRun run(1);
  for (int step = 0; step < 100; ++step) run.step();
  const std::string before = run.followed_text();
  const server::HttpReply reply = what_if_of(run, one_pod);
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(reply.body.contains("Pod shop/what-if-pod")) << reply.body;
  EXPECT_TRUE(reply.body.contains("\"preset\":\"makeway\"")) << reply.body;
  const server::HttpReply other = what_if_of(run, one_pod, "preset=kube-1.37");
  EXPECT_TRUE(other.body.contains("\"preset\":\"kube-1.37\"")) << other.body;
  EXPECT_EQ(run.followed_text(), before);
}

TEST(DashboardRun, WhatIfSaysWhatIsWrong) {
  FollowedRun run(1);
  EXPECT_EQ(what_if_of(run, one_pod).status, 503);  // Nothing was seen yet.
  for (int step = 0; step < 20; ++step) run.step();
  struct Case {
    std::string_view body;
    std::string_view query;
    std::string_view error;
  };
  for (const Case& each :
       {Case{.body = "", .query = "", .error = "empty"},
        Case{.body = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})",
             .query = "",
             .error = "nothing in the manifest asks for room"},
        Case{.body = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a}\n",
             .query = "",
             .error = "the manifest, document 1 (line 1): example.com/v1 Foo a: this kind asks for "
                      "no room here"},
        Case{.body = R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"kubeflow.org/v1",)"
                     R"("kind":"TFJob","metadata":{"name":"a","namespace":"shop"}}]})",
             .query = "",
             .error = "the manifest: kubeflow.org/v1 TFJob shop/a: this kind is not supported yet"},
        Case{.body = "apiVersion: v1\nkind: Foo\n", .query = "", .error = "CronJob, DaemonSet"},
        Case{.body = R"({"apiVersion":"v1","kind":"Foo"}{"apiVersion":"v1","kind":"Foo"})",
             .query = "",
             .error = "the manifest: v1 Foo (2)"},
        Case{.body = R"({"apiVersion":"ray.io/v1","kind":"RayService"})"
                     R"({"apiVersion":"ray.io/v1","kind":"RayService"})",
             .query = "",
             .error = "the manifest: ray.io/v1 RayService (2): this kind is not supported yet"},
        Case{.body = "metadata: {name: a}\n",
             .query = "",
             .error = "document 1 (line 1): kind: expected an object with a kind"},
        Case{.body = "apiVersion: v1\nkind: ''\n",
             .query = "",
             .error = "kind: expected an object with a kind"},
        Case{.body = "---\n---\n", .query = "", .error = "nothing in the manifest"},
        Case{.body = "kind: [", .query = "", .error = "the manifest"},
        Case{.body = one_pod, .query = "preset=nothing", .error = "nothing"},
        Case{.body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},)"
                     R"("spec":{"priorityClassName":"missing"}})",
             .query = "",
             .error = "missing"}}) {
    const server::HttpReply reply = what_if_of(run, each.body, std::string(each.query));
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_TRUE(reply.body.contains(each.error)) << reply.body;
  }
}

/// The pod is decided, and its author hears of the rest.
TEST(DashboardRun, WhatIfNamesDocumentsThatDoNotCount) {
  FollowedRun run(1);
  for (int step = 0; step < 20; ++step) run.step();
  const server::HttpReply reply =
      what_if_of(run, std::string(one_pod) +
                          "---\napiVersion: v1\nkind: Podd\nmetadata: {name: \"a\\\"b\"}\n");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(
      reply.body.starts_with(R"({"notes":["the manifest, document 2 (line 8): v1 Podd a\"b)"
                             R"(: this kind asks for no room here and is left out"],"id":)"))
      << reply.body;
}

TEST(DashboardRun, WhatIfDecidesAThousandAsksAndNoMore) {
  FollowedRun run(1);
  for (int step = 0; step < 20; ++step) run.step();
  const server::HttpReply reply = what_if_of(run, R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: many, namespace: shop}
spec:
  replicas: 1001
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
)");
  EXPECT_EQ(reply.status, 400);
  EXPECT_TRUE(reply.body.contains("makes 1001 asks, and at most 1000")) << reply.body;
}

/// The queue is fine alone, but a pod of the cluster is in the queue that it would hang below.
TEST(DashboardRun, WhatIfValidatesTheManifestBesideTheCluster) {
  server::Board board;
  board.take(server::SeenStart{.configuration = *load_preset(default_preset), .preset = "makeway"});
  Queue team;
  team.name = "team";
  Pod there;
  there.namespace_name = "shop";
  there.name = "there";
  there.labels = {{.key = "makeway.dev/queue", .value = "team"}};
  board.take(server::SeenBatch{.now = run_start, .changes = {team, there}});
  const std::string manifest = std::string(one_pod) +
                               "---\napiVersion: makeway.dev/v1\nkind: Queue\n"
                               "metadata: {name: research}\nspec: {parent: team}\n";
  const server::HttpReply reply = what_if({.is_post = true, .body = manifest}, board, real_tools());
  EXPECT_EQ(reply.status, 400) << reply.body;
  EXPECT_TRUE(reply.body.contains("Pod shop/there")) << reply.body;
}

TEST(DashboardRun, WhyAnswersForWaitingAndRunningPods) {
  FollowedRun run(1);
  for (int step = 0; step < 200; ++step) run.step();
  const auto why = [&](const std::string& object) {
    return run.asked([&](server::Board& board) {
      return why_now({.query = "object=" + object}, board, real_tools());
    });
  };
  const std::string running = run.asked([](server::Board& board) {
    for (const PodIndex pod : board.cluster().pods_by_name()) {
      if (board.cluster().pods().node[pod].exists()) return "Pod/" + board.cluster().pod_key(pod);
    }
    return std::string();
  });
  EXPECT_TRUE(why(running).body.contains(" is on ")) << why(running).body;
  EXPECT_EQ(why("Pod/shop/missing").status, 404);
  EXPECT_EQ(why("").status, 400);
}

TEST(DashboardRun, LooksBackThroughTheJournal) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.journal");
  {
    auto journal = Journal::open({.path = path, .version = "test"});
    ASSERT_TRUE(journal.has_value());
    FollowedRun run(1, journal->get());
    for (int step = 0; step < 100; ++step) run.step();
  }
  LookBack look_back(path, real_tools());
  const auto at = [&](std::string query) {
    return look_back.cycle({.query = std::move(query)}, {});
  };
  const server::HttpReply history = look_back.cycles({});
  EXPECT_EQ(history.status, 200) << history.body;
  EXPECT_TRUE(history.body.contains("\"cycles\":[[1,17672256")) << history.body;
  const server::HttpReply then = at("cycle=2&preset=kube-1.37");
  EXPECT_EQ(then.status, 200) << then.body;
  EXPECT_TRUE(then.body.starts_with("{\"cycle\":2,\"now\":")) << then.body;
  EXPECT_TRUE(then.body.contains("\"plan\":{")) << then.body;
  EXPECT_TRUE(then.body.contains("\"preset\":\"kube-1.37\"")) << then.body;
  EXPECT_EQ(at("cycle=9999999").status, 404);
  EXPECT_EQ(at("cycle=x").status, 400);
  EXPECT_EQ(at("cycle=0").status, 400);
  EXPECT_EQ(look_back.why({.query = "object=Pod%2Fshop%2Fmissing"}, {}).status, 404);
  EXPECT_EQ(look_back.why({.query = "object=--help"}, {}).status, 400);
  EXPECT_TRUE(is_kept_journal(path));
  EXPECT_TRUE(is_kept_journal(folder.file("not-there-yet")));
  EXPECT_FALSE(is_kept_journal("/dev/null"));
  EXPECT_FALSE(is_kept_journal(""));
  const auto is_cancelled = [] { return true; };
  EXPECT_EQ(look_back.cycle({.query = "cycle=3"}, is_cancelled).status, 503);
  // A request ends in time, and never with a partial answer.
  LookBack hasty(path, real_tools(), std::chrono::milliseconds{0});
  EXPECT_EQ(hasty.cycles({}).status, 503);
  EXPECT_EQ(hasty.cycle({.query = "cycle=3"}, {}).status, 503);
  const server::HttpReply story = hasty.why({.query = "object=Pod%2Fshop%2Fmissing"}, {});
  EXPECT_EQ(story.status, 503);
  EXPECT_TRUE(story.body.contains("makeway why --journal FILE Pod/shop/missing")) << story.body;
}

/// In whatever order cycles are read, while the journal is written and rotated: a cycle is the same
/// as when the journal is read from its beginning.
TEST(DashboardRun, ACycleIsTheSameFromWhereverOneComes) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.journal");
  auto journal = Journal::open({.path = path,
                                .version = "test",
                                .base_every = 4'000,
                                .bytes_max = 12'000,
                                .files_kept = 1'000});
  ASSERT_TRUE(journal.has_value());
  FollowedRun run(2, journal->get());
  LookBack look_back(path, real_tools());
  const auto at = [](LookBack& from, std::uint64_t cycle) {
    return from.cycle({.query = "cycle=" + std::to_string(cycle)}, {}).body;
  };
  std::map<std::uint64_t, std::string> pages;
  for (int part = 0; part < 10; ++part) {
    for (int step = 0; step < 30; ++step) run.step();
    const std::uint64_t last = (*journal)->cycles();
    for (const std::uint64_t cycle : {last, last / 2 + 1, last / 2 + 2, last}) {
      const std::string text = at(look_back, cycle);
      EXPECT_TRUE(text.starts_with("{\"cycle\":" + std::to_string(cycle) + ",")) << text;
      EXPECT_EQ(pages.try_emplace(cycle, text).first->second, text);
    }
  }
  EXPECT_GT(journal_paths(path).size(), 2U);
  for (const auto& [cycle, text] : pages) {
    std::optional<CycleRecord> found;
    const JournalWalk walk =
        walk_journal(path, [&](const JournalEntry& entry, const JournalWorld&) {
          const auto* const each = std::get_if<CycleRecord>(&entry.record);
          if (each != nullptr && each->number == cycle) found = *each;
          return !found;
        });
    ASSERT_TRUE(found.has_value()) << cycle;
    const LawfulPlan made =
        decide_again(*found, walk.world,
                     {.configuration = walk.world.configuration(), .preset = walk.world.preset()},
                     real_tools(), true);
    const std::string plan =
        plan_page_json(*made.plan, walk.world.cluster(), walk.world.configuration());
    EXPECT_TRUE(text.contains("\"plan\":" + plan.substr(0, 500))) << cycle;
  }
}

/// The next cycle costs the records between the two, not a chapter.
TEST(DashboardRun, MovingOnReadsOn) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.journal");
  auto journal = Journal::open({.path = path, .version = "test"});
  ASSERT_TRUE(journal.has_value());
  FollowedRun run(1, journal->get());
  for (int step = 0; step < 200; ++step) run.step();
  LookBack look_back(path, real_tools());
  const std::uint64_t last = (*journal)->cycles();
  ASSERT_GT(last, 20U);
  look_back.cycle({.query = "cycle=" + std::to_string(last - 2)}, {});
  const std::uint64_t first = look_back.records_read();
  EXPECT_GT(first, last - 3);
  look_back.cycle({.query = "cycle=" + std::to_string(last - 1)}, {});
  EXPECT_LT(look_back.records_read() - first, 12U);
  const std::uint64_t second = look_back.records_read();
  look_back.cycle({.query = "cycle=" + std::to_string(last - 1) + "&preset=kube-1.37"}, {});
  EXPECT_EQ(look_back.records_read(), second);
  for (int step = 0; step < 20; ++step) run.step();
  ASSERT_GT((*journal)->cycles(), last);
  look_back.cycle({.query = "cycle=" + std::to_string((*journal)->cycles())}, {});
  EXPECT_LT(look_back.records_read() - second, first / 2);
}

TEST(DashboardToken, IsReadWithoutWhiteSpaceAndMustBeLong) {
  const TemporaryFolder folder;
  const auto token_in = [&](std::string_view text) {
    const std::string path = folder.file("token");
    std::ofstream(path) << text;
    return read_token(path);
  };
  EXPECT_EQ(*token_in("  0123456789abcdef\n"), "0123456789abcdef");
  EXPECT_FALSE(token_in("short\n").has_value());
  EXPECT_FALSE(token_in("0123456789 abcdef\n").has_value());
  EXPECT_FALSE(token_in("").has_value());
  EXPECT_FALSE(read_token(folder.file("missing")).has_value());
}

TEST(ListenFlags, FilesAreLookedAtBeforeAnythingBegins) {
  const auto options_of = [](std::vector<std::string> words) -> std::string {
    words.insert(words.begin(), "run");
    const auto invocation = parse(words);
    if (!invocation) return invocation.error().message;
    const auto options = read_listen_options(invocation->arguments);
    if (!options) return options.error().message;
    return options->tls.are_given() ? "https" : options->address ? "http" : "nothing";
  };
  const TemporaryFolder folder;
  const std::string certificate = folder.file("tls.crt");
  const std::string key = folder.file("tls.key");
  const auto made = server::new_test_key();
  server::write_test_certificate(made.get(), certificate);
  server::write_test_key(made.get(), key);
  EXPECT_EQ(options_of({}), "nothing");
  EXPECT_EQ(options_of({"--listen", ":0"}), "http");
  EXPECT_EQ(options_of({"--listen", ":0", "--tls-cert", certificate, "--tls-key", key}), "https");
  EXPECT_EQ(options_of({"--tls-cert", certificate, "--tls-key", key}),
            "--tls-cert is for --listen ADDRESS:PORT");
  EXPECT_EQ(options_of({"--listen", ":0", "--tls-cert", certificate}),
            "give --tls-cert FILE and --tls-key FILE together, or neither");
  EXPECT_EQ(options_of({"--listen", ":0", "--token-file", ""}), "--token-file '': expected a file");
  const std::string swapped =
      options_of({"--listen", ":0", "--tls-cert", key, "--tls-key", certificate});
  EXPECT_TRUE(swapped.starts_with("--tls-cert " + key + ": there is no certificate")) << swapped;
}

TEST(DashboardAddress, IsOneThatABrowserOpens) {
  const auto listens = [](const char* host, std::string token = {}, server::TlsFiles tls = {}) {
    return ListenOptions{.address = server::ListenAddress{.host = host},
                         .token = std::move(token),
                         .tls = std::move(tls)};
  };
  const server::TlsFiles tls{.certificate = "a.crt", .key = "a.key"};
  EXPECT_EQ(dashboard_address(listens("0.0.0.0"), 1), "http://localhost:1/");
  EXPECT_EQ(dashboard_address(listens("::1", {}, tls), 1), "https://[::1]:1/");
  EXPECT_EQ(dashboard_warning(listens("127.0.0.1")), "");
  EXPECT_TRUE(dashboard_warning(listens("0.0.0.0", {}, tls)).contains("--token-file"));
  EXPECT_TRUE(dashboard_warning(listens("0.0.0.0", "x")).contains("--tls-cert"));
  EXPECT_EQ(dashboard_warning(listens("0.0.0.0", "x", tls)), "");
  EXPECT_TRUE(shows_dashboard(listens("127.0.0.1")));
  EXPECT_TRUE(shows_dashboard(listens("0.0.0.0", "x")));
  EXPECT_FALSE(shows_dashboard(listens("0.0.0.0")));
}

}  // namespace
}  // namespace makeway::cli
