// What the dashboard is told and asked, on a simulated run.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <memory>

#include "cli/dashboard/dashboard_start.hpp"
#include "cli/dashboard/look_back.hpp"
#include "cli/dashboard/what_if.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/run/watcher_list.hpp"
#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "control/control_loop.hpp"
#include "journal/journal.hpp"
#include "server/follower.hpp"
#include "sim/generate.hpp"
#include "sim/sim_world.hpp"
#include "support/temporary_folder.hpp"

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

TEST(DashboardRun, WhyTellsWhoWaitsAndWhoRuns) {
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
  EXPECT_EQ(why("Pod/shop/nobody").status, 404);
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
  const server::HttpReply history = cycles_recorded({}, path);
  EXPECT_EQ(history.status, 200) << history.body;
  EXPECT_TRUE(history.body.contains("\"cycles\":[[1,17672256")) << history.body;
  const server::HttpReply then =
      cycle_recorded({.query = "cycle=2&preset=kube-1.37"}, path, real_tools());
  EXPECT_EQ(then.status, 200) << then.body;
  EXPECT_TRUE(then.body.starts_with("{\"cycle\":2,\"now\":")) << then.body;
  EXPECT_TRUE(then.body.contains("\"plan\":{")) << then.body;
  EXPECT_TRUE(then.body.contains("\"preset\":\"kube-1.37\"")) << then.body;
  EXPECT_EQ(cycle_recorded({.query = "cycle=9999999"}, path, real_tools()).status, 404);
  EXPECT_EQ(cycle_recorded({.query = "cycle=x"}, path, real_tools()).status, 400);
  EXPECT_EQ(why_recorded({.query = "object=Pod%2Fshop%2Fnobody"}, path).status, 404);
  EXPECT_EQ(why_recorded({.query = "object=--help"}, path).status, 400);
  EXPECT_EQ(too_large_text(path, 1'000'000'000), "");
  EXPECT_TRUE(too_large_text(path, 1'000).contains("--journal-size"));
  EXPECT_TRUE(is_kept_journal(path));
  EXPECT_TRUE(is_kept_journal(folder.file("not-there-yet")));
  EXPECT_FALSE(is_kept_journal("/dev/null"));
  EXPECT_FALSE(is_kept_journal(""));
  std::stop_source ended;
  ended.request_stop();
  EXPECT_EQ(cycle_recorded({.query = "cycle=2"}, path, real_tools(), ended.get_token()).status,
            404);
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

TEST(DashboardAddress, IsOneThatABrowserOpens) {
  EXPECT_EQ(dashboard_address({.host = "0.0.0.0"}, 1), "http://localhost:1/");
  EXPECT_EQ(dashboard_address({.host = "::1"}, 1), "http://[::1]:1/");
  EXPECT_EQ(dashboard_warning({.host = "127.0.0.1"}, ""), "");
  EXPECT_TRUE(dashboard_warning({.host = "0.0.0.0"}, "").contains("--token-file"));
  EXPECT_TRUE(dashboard_warning({.host = "0.0.0.0"}, "x").contains("not encrypted"));
}

}  // namespace
}  // namespace makeway::cli
