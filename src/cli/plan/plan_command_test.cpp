// `makeway plan` with tools that are not the real ones: what happens around the decision.
#include "cli/plan/plan_command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/plan/plan_maker.hpp"
#include "cli/run.hpp"
#include "codec/batch_line.hpp"
#include "codec/load.hpp"
#include "support/screen.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view node = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})";

PlanAsk ask_with(Outcome outcome) {
  PlanAsk ask{.namespace_name = "default", .name = "ask", .outcome = outcome};
  if (outcome == Outcome::preempts) {
    ask.placements = {{"default", "ask", "n1"}};
    ask.victims = {{.namespace_name = "default", .name = "low", .node = "n1"}};
  }
  return ask;
}

/// In a folder of its own, with tools that give prepared answers and a clock that ticks 10 a look.
class PlanCommand : public testing::Test {
 protected:
  PlanCommand() {
    std::string pattern = std::filesystem::temp_directory_path() / "makeway-plan-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::current_path(folder_);
    write("node.json", node);
    tools.decide = [this](const Cluster&, const Configuration& configuration,
                          const PlanRequest& request) {
      requests.push_back(request);
      configurations.push_back(configuration);
      Plan plan{.preset = request.preset, .now = request.now, .left_out = request.left_out};
      for (const Outcome outcome : outcomes) plan.asks.push_back(ask_with(outcome));
      if (!request.left_out.empty()) plan.asks.clear();
      return Decision{.plan = std::move(plan), .problems = {}};
    };
    tools.check = [this](const Cluster&, const Configuration&, const Plan& plan) {
      return plan.left_out.empty() ? breaches : std::vector<LawBreach>{};
    };
    tools.identify = [](const Plan&) { return "00ff00ff00ff00ff"; };
    tools.microseconds = [this] { return clock += 10; };
  }
  ~PlanCommand() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  static void write(const std::string& name, std::string_view text) {
    std::ofstream(name, std::ios::binary) << text;
  }
  static std::string read(const std::string& name) {
    std::ifstream stream(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// The exit status; out and error are what the last run wrote.
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    const Result<Invocation> invocation = parse(words);
    if (!invocation) {
      error = invocation.error().message;
      return 2;
    }
    Screen screen;
    const ExitStatus status = run_plan_with(invocation->arguments, screen.terminal, tools);
    out = screen.out.text();
    error = screen.error.text();
    return static_cast<int>(status);
  }

  PlanTools tools;
  std::vector<Outcome> outcomes = {Outcome::fits};
  std::vector<LawBreach> breaches;
  std::vector<PlanRequest> requests;
  std::vector<Configuration> configurations;
  std::int64_t clock = 0;
  std::string out;
  std::string error;

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  std::filesystem::path folder_;
};

TEST_F(PlanCommand, ExitStatusSaysMoreWhenAsked) {
  struct Case {
    std::vector<Outcome> outcomes;
    int status;
  };
  for (const Case& item :
       {Case{{}, 0}, Case{{Outcome::fits, Outcome::waits}, 0}, Case{{Outcome::preempts}, 3},
        Case{{Outcome::preempts, Outcome::infeasible}, 4}, Case{{Outcome::not_found}, 4}}) {
    outcomes = item.outcomes;
    EXPECT_EQ(run({"-f", "node.json"}), 0);
    EXPECT_EQ(run({"-f", "node.json", "--detailed-exitcode"}), item.status);
    write("batch", fmt::format("{{\"snapshot\":{}}}\n", node));
    EXPECT_EQ(run({"--batch", "batch", "--detailed-exitcode"}), item.status);
  }
}

TEST_F(PlanCommand, TimingIsOneLine) {
  EXPECT_EQ(run({"-f", "node.json", "--timing"}), 0);
  EXPECT_EQ(
      error,
      "{\"load\":10,\"snapshot\":0,\"decide\":10,\"check\":10,\"refused\":0,\"leftOut\":0}\n");
  write("batch", fmt::format("{}\n{}\n", node, node));
  EXPECT_EQ(run({"--batch", "batch", "--timing"}), 0);
  EXPECT_EQ(error,
            "{\"load\":70,\"snapshot\":0,\"decide\":20,\"check\":20,\"refused\":0,\"leftOut\":0,"
            "\"cases\":2}\n");
}

TEST_F(PlanCommand, ConfigurationComesFromFlagsThenFiles) {
  write("own.yaml",
        "apiVersion: makeway.dev/v1\nkind: Configuration\nmetadata: {name: ours}\n"
        "spec: {workload: {evictFor: all}}\n");
  EXPECT_EQ(run({"-f", "node.json"}), 0);
  EXPECT_EQ(requests.back().preset, "makeway");
  EXPECT_EQ(run({"-f", "node.json", "-f", "own.yaml"}), 0);
  EXPECT_EQ(requests.back().preset, "ours");
  EXPECT_EQ(configurations.back().workload.evict_for, EvictFor::all);
  EXPECT_EQ(run({"-f", "node.json", "-f", "own.yaml", "--set", "budgets=strict"}), 0);
  EXPECT_EQ(requests.back().preset, "ours-changed");
  EXPECT_EQ(configurations.back().workload.evict_for, EvictFor::all);
  EXPECT_EQ(configurations.back().budgets.mode, BudgetMode::strict);
  EXPECT_EQ(run({"-f", "node.json", "-f", "own.yaml", "--preset", "makeway"}), 0);
  EXPECT_EQ(requests.back().preset, "makeway");
  EXPECT_EQ(configurations.back().workload.evict_for, EvictFor::each);
  EXPECT_EQ(run({"-f", "node.json", "--config", "own.yaml"}), 0);
  EXPECT_EQ(requests.back().preset, "ours");
}

TEST_F(PlanCommand, NowComesFromTheFlagThenTheLine) {
  write("batch", fmt::format("{{\"now\":\"2026-01-02T00:00:00Z\",\"snapshot\":{}}}\n", node));
  EXPECT_EQ(run({"--batch", "batch"}), 0);
  EXPECT_EQ(to_text(requests.back().now), "2026-01-02T00:00:00Z");
  EXPECT_EQ(run({"--batch", "batch", "--now", "2026-01-03T00:00:00Z"}), 0);
  EXPECT_EQ(to_text(requests.back().now), "2026-01-03T00:00:00Z");
  EXPECT_EQ(run({"-f", "node.json", "--now", "noon"}), 2);
}

TEST_F(PlanCommand, FlagsThatDoNotGoTogetherAreRefused) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {},
           {"-f", "node.json", "--batch", "x"},
           {"-f", "node.json", "--verify"},
           {"--batch", "x", "-o", "yaml"},
           {"-f", "node.json", "--ask", "a/"},
           {"-f", "node.json", "--ask", "service/a/b"},
           {"-f", "node.json", "--preset", "makeway", "--config", "x"}}) {
    EXPECT_EQ(run(words), 2);
    EXPECT_TRUE(error.ends_with("'makeway plan --help' says more.\n")) << error;
    EXPECT_EQ(out, "");
  }
}

TEST_F(PlanCommand, APlanThatBreaksALawIsOurBug) {
  breaches = {{.law = 2, .ask = "Pod default/ask", .text = "a victim is too important"}};
  EXPECT_EQ(run({"-f", "node.json", "--set", "workload.evictFor=all", "--now",
                 "2026-01-01T00:00:00Z", "-o", "json"}),
            5);
  EXPECT_EQ(out, "");
  EXPECT_TRUE(error.contains("  law 2: Pod default/ask: a victim is too important\n")) << error;
  EXPECT_TRUE(error.contains("makeway-bug-00ff00ff00ff00ff.json")) << error;

  // The reproducer is a batch that leads to the very same request.
  const PlanRequest first = requests.back();
  const Configuration configuration = configurations.back();
  EXPECT_EQ(run({"--batch", "makeway-bug-00ff00ff00ff00ff.json"}), 5);
  EXPECT_TRUE(error.ends_with("makeway: 1 of 1 case showed a bug in Makeway\n")) << error;
  EXPECT_EQ(requests.back().now, first.now);
  EXPECT_EQ(requests.back().preset, first.preset);
  EXPECT_EQ(configurations.back(), configuration);
  EXPECT_TRUE(out.starts_with("{\"id\":\"00ff00ff00ff00ff\",\"error\":\"a bug in Makeway")) << out;
  breaches.clear();
  EXPECT_EQ(run({"--batch", "makeway-bug-00ff00ff00ff00ff.json"}), 0);
}

TEST_F(PlanCommand, ABugCostsItsAskAndNotThePlan) {
  tools.contain = true;
  breaches = {{.law = 2,
               .ask = "Pod default/ask",
               .text = "a victim is too important",
               .asks = {{AskKind::pod, "default", "ask"}}},
              {.law = 2, .ask = "Pod default/ask", .text = "and another one", .asks = {}}};
  EXPECT_EQ(run({"-f", "node.json", "--timing", "--detailed-exitcode"}), 5);
  EXPECT_TRUE(
      out.contains("Left out because of a bug in Makeway:\n"
                   "  Pod default/ask: law 2: a victim is too important\n"))
      << out;
  EXPECT_TRUE(error.contains("left out of the plan")) << error;
  // One reproducer an ask and law.
  EXPECT_TRUE(
      error.contains("  law 2: Pod default/ask: a victim is too important\nThe case is in "
                     "makeway-bug-00ff00ff00ff00ff.json"))
      << error;
  EXPECT_TRUE(error.contains("\"refused\":1,\"leftOut\":1}\n")) << error;
  EXPECT_TRUE(std::filesystem::exists("makeway-bug-00ff00ff00ff00ff.json"));

  EXPECT_EQ(run({"-f", "node.json", "-o", "json"}), 5);
  EXPECT_TRUE(
      out.contains("\"leftOut\": [\n    {\n      \"kind\": \"Pod\",\n"
                   "      \"namespace\": \"default\",\n      \"name\": \"ask\",\n"
                   "      \"law\": 2,\n      \"reason\": \"a victim is too important\"\n"))
      << out;
}

TEST_F(PlanCommand, ABatchGoesOnAfterABug) {
  tools.contain = true;
  write("batch", fmt::format("{{\"id\":\"a\",\"snapshot\":{}}}\n{}\n", node, node));
  tools.check = [this](const Cluster&, const Configuration&, const Plan& plan) {
    std::vector<LawBreach> found;
    if (requests.size() == 1) {
      found.push_back({.law = 3, .ask = "Pod default/ask", .text = "it does not fit"});
    }
    EXPECT_TRUE(plan.withheld.empty());
    return found;
  };
  EXPECT_EQ(run({"--batch", "batch", "--timing"}), 5);
  // The fault names no ask: the first plan is empty, the second is as it should be.
  EXPECT_TRUE(out.starts_with("{\"id\":\"a\",\"apiVersion\"")) << out;
  EXPECT_TRUE(out.contains("\"withheld\":\"law 3: Pod default/ask: it does not fit\",\"asks\":[]"))
      << out;
  EXPECT_TRUE(out.contains("\n{\"id\":2,\"apiVersion\"")) << out;
  EXPECT_TRUE(error.contains("no plan keeps the laws, so it is empty")) << error;
  EXPECT_TRUE(error.contains("makeway: 1 of 2 cases showed a bug in Makeway\n")) << error;
  EXPECT_TRUE(error.contains("\"refused\":1,\"leftOut\":0,\"cases\":2}\n")) << error;
}

/// Issue 20, point 6: ten files a run; the others are counted.
TEST_F(PlanCommand, ABatchKeepsTenReproducers) {
  std::string lines;
  for (int number = 0; number < 12; ++number) {
    lines += fmt::format("{{\"id\":{},\"snapshot\":{}}}\n", number, node);
  }
  write("batch", lines);
  tools.identify = [this](const Plan&) { return fmt::format("{}", requests.size()); };
  breaches = {{.law = 3, .ask = "Pod default/ask", .text = "it does not fit"}};
  EXPECT_EQ(run({"--batch", "batch"}), 5);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    files += entry.path().filename().string().starts_with("makeway-bug-") ? 1 : 0;
  }
  EXPECT_EQ(files, 10U);
  EXPECT_TRUE(error.contains("makeway: 10 cases are kept; what follows is only counted\n"))
      << error;
  EXPECT_TRUE(error.contains("makeway: 12 of 12 cases showed a bug in Makeway\n")) << error;
}

/// Issue 20, point 4: out of memory is reported as such, never as a bug of Makeway.
TEST_F(PlanCommand, OutOfMemoryIsNoBug) {
  const auto decide = tools.decide;
  tools.contain = true;
  tools.decide = [&](const Cluster& cluster, const Configuration& configuration,
                     const PlanRequest& request) {
    if (requests.empty()) {
      requests.push_back(request);
      throw std::bad_alloc();
    }
    return decide(cluster, configuration, request);
  };
  write("batch", fmt::format("{}\n{}\n", node, node));
  EXPECT_EQ(run({"--batch", "batch"}), 1);
  EXPECT_TRUE(
      out.starts_with("{\"id\":1,\"error\":\"out of memory; give it more, or make the case "
                      "smaller\"}\n{\"id\":2,\"apiVersion\""))
      << out;
  EXPECT_EQ(error, "makeway: 1 of 2 cases could not be planned\n");
  requests.clear();
  EXPECT_THROW(run({"-f", "node.json"}), std::bad_alloc);
}

/// A sink whose reader goes away after the first write.
class ClosingSink final : public TextSink {
 public:
  void write(std::string_view /*text*/) override { ++writes; }
  bool is_closed() const override { return writes > 0; }

  int writes = 0;
};

TEST_F(PlanCommand, ABatchEndsWhenItsOutputIsClosed) {
  write("batch", fmt::format("nonsense\n{}\n{}\n", node, node));
  ClosingSink closing;
  StringSink errors;
  Terminal terminal{.out = closing, .error = errors};
  const Result<Invocation> invocation = parse(std::vector<std::string>{"plan", "--batch", "batch"});
  EXPECT_EQ(run_plan_with(invocation->arguments, terminal, tools), ExitStatus::done);
  EXPECT_EQ(closing.writes, 1);
  EXPECT_EQ(errors.text(), "");
  EXPECT_TRUE(requests.empty());
}

TEST_F(PlanCommand, AReproducerKeepsTheWholeRequest) {
  LoadResult loaded = load_text(node, "test");
  const PlanRequest request{.now = Time{1'000},
                            .asks = {{AskKind::pod_group, "shop", "job"}},
                            .placements = {{"shop", "job-0", "n1"}}};
  const ConfigurationDocument configuration{.name = "ours"};
  const LawfulPlan made{.refused = {{.id = "1", .breaches = {}}}};
  std::string line = reproducer_text({.cluster = loaded.loaded->cluster,
                                      .configuration = configuration,
                                      .request = request,
                                      .made = made});
  line.pop_back();
  const BatchReading reading = read_batch_line(line);
  ASSERT_TRUE(reading.item.has_value());
  EXPECT_TRUE(reading.unknown_keys.empty());
  EXPECT_EQ(reading.item->asks, std::vector<std::string>{"shop/job"});
  EXPECT_EQ(reading.item->ask_kind, AskKind::pod_group);
  EXPECT_EQ(reading.item->now, request.now);
  EXPECT_EQ(reading.item->placements, request.placements);
  EXPECT_TRUE(load_text(reading.item->snapshot, "reproducer").loaded.has_value());
}

TEST_F(PlanCommand, ABatchGoesOnAfterABadLine) {
  write("batch", fmt::format("{{\"id\":\"a\",\"snapshot\":{}}}\n\nnonsense\n"
                             "{{\"id\":\"b\",\"snapshot\":{{\"kind\":3}}}}\n{}\n",
                             node, node));
  EXPECT_EQ(run({"--batch", "batch"}), 1);
  std::vector<std::string> starts;
  for (std::size_t begin = 0; begin < out.size(); begin = out.find('\n', begin) + 1) {
    starts.push_back(out.substr(begin, 16));
  }
  EXPECT_EQ(starts, (std::vector<std::string>{"{\"id\":\"a\",\"apiVe", "{\"id\":3,\"error\":",
                                              "{\"id\":\"b\",\"error", "{\"id\":5,\"apiVers"}));
  EXPECT_EQ(error, "makeway: 2 of 4 cases could not be planned\n");
}

TEST_F(PlanCommand, ABatchThatIsNotThereOrEmptyFails) {
  EXPECT_EQ(run({"--batch", "nowhere"}), 1);
  EXPECT_EQ(error, "makeway: nowhere: No such file or directory; check the path\n");
  write("empty", "\n\n");
  EXPECT_EQ(run({"--batch", "empty"}), 1);
}

TEST_F(PlanCommand, ABatchTakesTheAskOfTheLineFirst) {
  write("batch", fmt::format("{{\"ask\":\"a/b\",\"askKind\":\"PodGroup\",\"snapshot\":{}}}\n{}\n",
                             node, node));
  EXPECT_EQ(run({"--batch", "batch", "--ask", "pod/c/d"}), 0);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].asks, (std::vector<AskName>{{AskKind::pod_group, "a", "b"}}));
  EXPECT_EQ(requests[1].asks, (std::vector<AskName>{{AskKind::pod, "c", "d"}}));
  write("several", fmt::format("{{\"asks\":[\"a/b\",\"PodGroup/c/d\"],\"snapshot\":{}}}\n", node));
  EXPECT_EQ(run({"--batch", "several"}), 0);
  EXPECT_EQ(requests.back().asks,
            (std::vector<AskName>{{AskKind::pod, "a", "b"}, {AskKind::pod_group, "c", "d"}}));
  EXPECT_EQ(run({"-f", "node.json", "--ask", "pod/a/b", "--ask", "session/c/d"}), 0);
  EXPECT_EQ(requests.back().asks,
            (std::vector<AskName>{{AskKind::pod, "a", "b"}, {AskKind::session, "c", "d"}}));
}

TEST_F(PlanCommand, VerifyPlansAgainWithGivenPlacements) {
  outcomes = {Outcome::preempts};
  write("batch", fmt::format("{{\"id\":\"g\",\"ask\":\"default/ask\",\"snapshot\":{},\"expect\":{{"
                             "\"outcome\":\"preempts\",\"victims\":[\"default/low\"],"
                             "\"placements\":{{\"default/ask\":\"n1\"}}}}}}\n",
                             node));
  EXPECT_EQ(run({"--batch", "batch", "--verify"}), 0) << error;
  EXPECT_EQ(out, "1 case: 1 agree\n");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_TRUE(requests[0].placements.empty());
  EXPECT_EQ(requests[1].placements, (std::vector<PodPlacement>{{"default", "ask", "n1"}}));
}

TEST_F(PlanCommand, VerifyListsWhatDiffers) {
  write("batch", fmt::format("{{\"id\":\"a\",\"snapshot\":{},\"expect\":{{\"outcome\":\"preempts\","
                             "\"victims\":[]}}}}\n{{\"snapshot\":{}}}\nnonsense\n",
                             node, node));
  EXPECT_EQ(run({"--batch", "batch", "--verify"}), 1);
  EXPECT_TRUE(
      out.starts_with("a: outcome\n  expected  preempts\n  got       fits\n"
                      "3: could not be compared\n"))
      << out;
  EXPECT_TRUE(out.ends_with(
      "3 cases: 0 agree, 1 differ, 1 could not be compared, 1 without an expectation\n"))
      << out;
  EXPECT_EQ(error, "makeway: 1 of 3 cases could not be compared\n");
}

TEST_F(PlanCommand, ASlipInAnExpectationIsNoAgreement) {
  write("batch",
        fmt::format("{{\"id\":\"a\",\"snapshot\":{},\"expect\":{{\"outcom\":\"fits\"}}}}\n"
                    "{{\"id\":\"b\",\"snapshot\":{},\"expect\":{{\"outcome\":\"fit\"}}}}\n",
                    node, node));
  EXPECT_EQ(run({"--batch", "batch", "--verify"}), 1);
  EXPECT_EQ(out,
            "a: could not be compared\n"
            "  expect.outcom: nothing of that name is compared; did you mean outcome?\n"
            "b: could not be compared\n"
            "  expect.outcome \"fit\": there is no such outcome; did you mean fits?\n"
            "2 cases: 0 agree, 2 could not be compared\n");
}

TEST_F(PlanCommand, UnknownKeysAreReported) {
  write("batch", fmt::format("{{\"id\":\"a\",\"snapshot\":{},\"expct\":1}}\n"
                             "{{\"snapshot\":{},\"expct\":1,\"remark\":1}}\n{}\n",
                             node, node, node));
  EXPECT_EQ(run({"--batch", "batch"}), 0);
  EXPECT_EQ(error,
            "warning: case a and 1 other: expct: unknown key; it is ignored; did you mean expect?\n"
            "warning: case 2: remark: unknown key; it is ignored\n");
}

TEST_F(PlanCommand, WhatDoesNotCountIsNoted) {
  write("more.yaml",
        "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: web}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
        "spec: {nodeName: gone, containers: [{name: c}]}\n");
  EXPECT_EQ(run({"-f", "node.json", "-f", "more.yaml"}), 0);
  EXPECT_EQ(error,
            "note: skipped 1 kubeflow.org/v1 TFJob: not supported yet; provide Pods made from its "
            "template\n"
            "note: 1 pod runs on a node that is not in the input; it is not counted\n");
  EXPECT_TRUE(
      out.ends_with("Configuration makeway, no time in the input, plan 00ff00ff00ff00ff.\n"))
      << out;
  EXPECT_EQ(run({"-f", "node.json", "--now", "1970-01-01T00:00:00Z"}), 0);
  EXPECT_TRUE(out.contains(", time 1970-01-01T00:00:00Z, ")) << out;
}

TEST_F(PlanCommand, ProgressIsShownWhereItDoesNotDisturb) {
  std::string lines;
  for (int i = 0; i < 3; ++i) lines += fmt::format("{}\n", node);
  write("batch", lines);
  tools.microseconds = [this] { return clock += 600'000; };
  const Result<Invocation> invocation =
      parse(std::vector<std::string>{"plan", "--batch", "batch", "--verify"});
  Screen screen;
  screen.terminal.error_is_terminal = true;
  screen.terminal.out_is_terminal = true;
  run_plan_with(invocation->arguments, screen.terminal, tools);
  EXPECT_TRUE(screen.error.text().contains("\r\x1b[K2 cases planned")) << screen.error.text();
  EXPECT_TRUE(screen.error.text().contains("\r\x1b[Kmakeway: nothing was compared"))
      << screen.error.text();
}

TEST_F(PlanCommand, ProblemsOfTheAskAreReportedWithNearMisses) {
  write("pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n"
        "spec: {containers: [{name: c}]}\n");
  tools.decide = [](const Cluster&, const Configuration&, const PlanRequest&) {
    return Decision{
        .plan = std::nullopt,
        .problems = {{.object = "Pod default/web", .field = "ask", .message = "it is not there"}}};
  };
  EXPECT_EQ(run({"-f", "pod.yaml", "--ask", "web"}), 1);
  EXPECT_EQ(error, "error: Pod default/web: --ask: it is not there; did you mean Pod shop/web?\n");
  EXPECT_EQ(out, "");
  write("batch", fmt::format("{{\"ask\":\"web\",\"snapshot\":{}}}\n", node));
  EXPECT_EQ(run({"--batch", "batch"}), 1);
  EXPECT_EQ(out,
            "{\"id\":1,\"error\":\"Pod default/web: ask: it is not there; nothing is "
            "pending\"}\n");
}

}  // namespace
}  // namespace makeway::cli
