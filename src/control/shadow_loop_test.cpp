// SPEC section 8, Shadow: decides once, assumes nothing, submits nothing, compares.
#include "control/shadow_loop.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace makeway {
namespace {

constexpr std::int64_t second_ms = 1'000;
constexpr Time first_time{1'000 * second_ms};

/// Hands out the batches that it was given, one after the other.
class ShadowedPort final : public Port {
 public:
  Batch poll(Time deadline) override {
    deadlines.push_back(deadline);
    if (batches.empty()) return {.now = deadline};
    Batch batch = std::move(batches.front());
    batches.pop_front();
    return batch;
  }
  void submit(const Plan& /*plan*/) override { ADD_FAILURE() << "a shadow acts"; }

  std::deque<Batch> batches;
  std::vector<Time> deadlines;
};

class ShadowWatcher final : public LoopWatcher {
 public:
  void start(const LoopStart& /*start*/) override { heard.emplace_back("start"); }
  void batch(const AppliedBatch& batch, const Cluster& /*cluster*/) override {
    heard.push_back(fmt::format("batch of {}", batch.changes.size()));
  }
  void cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) override {
    heard.push_back(fmt::format("cycle of {}", cycle.due.size()));
  }

  std::vector<std::string> heard;
};

Node node(std::string name) {
  Node made;
  made.name = std::move(name);
  made.allocatable = {{"cpu", 4'000}, {"pods", 110}};
  return made;
}

Pod pod(std::string name, std::string bound_to = {}, std::int32_t priority = 0) {
  Pod made;
  made.namespace_name = "a";
  made.uid = "uid-" + name;
  made.name = std::move(name);
  made.node = std::move(bound_to);
  made.priority = priority;
  if (!made.node.empty()) made.started = Time{first_time.ms - 60 * second_ms};
  return made;
}

Pod nominated(Pod made, std::string to) {
  made.nominated_node = std::move(to);
  return made;
}

Pod marked(Pod made) {
  made.disrupted_by_preemption = true;
  made.deletion = first_time;
  return made;
}

Change gone(std::string name) {
  return Removal{.kind = ObjectKind::pod, .namespace_name = "a", .name = std::move(name)};
}

class ShadowLoopTest : public testing::Test {
 protected:
  ShadowLoopTest() {
    tools.decide = [this](const Cluster& cluster, const Configuration&,
                          const PlanRequest& request) { return decide(cluster, request); };
    tools.check = [](const Cluster&, const Configuration&, const Plan&) {
      return std::vector<LawBreach>();
    };
    tools.identify = [](const Plan&) { return std::string("id"); };
    tools.microseconds = [] { return std::int64_t{0}; };
    tools.contain = true;
  }

  /// Each ask gets n1 with these victims, unless `nowhere` says otherwise.
  Decision decide(const Cluster& cluster, const PlanRequest& request) {
    Plan plan{.preset = request.preset, .now = request.now};
    for (const AskName& ask : request.asks) {
      requests.push_back(fmt::format("{} {}", (request.now - first_time).ms, ask_text(ask)));
      if (ask.name == refused) {
        return {.problems = {{.object = ask_text(ask), .message = "not ours"}}};
      }
      PlanAsk planned{.kind = ask.kind,
                      .namespace_name = ask.namespace_name,
                      .name = ask.name,
                      .priority = 100,
                      .outcome = nowhere ? Outcome::infeasible : Outcome::preempts};
      if (!nowhere) {
        planned.placements.push_back({.namespace_name = "a", .name = ask.name, .node = "n1"});
        for (const std::string& name : our_victims) {
          planned.victims.push_back({.namespace_name = "a", .name = name, .node = "n1"});
        }
      }
      const auto index = cluster.find_pod("a", ask.name);
      saw_pending.push_back(index && cluster.pending_pods().contains(*index) &&
                            !cluster.pods().nominated[*index].exists());
      saw_leaving.push_back(cluster.leaving_pods().size());
      plan.asks.push_back(std::move(planned));
    }
    return Decision{.plan = std::move(plan)};
  }

  void give(std::int64_t after_ms, std::vector<Change> changes, bool blind = false) {
    port.batches.push_back(
        {.now = first_time + Duration{after_ms}, .changes = std::move(changes), .blind = blind});
  }
  std::vector<ShadowResult> step() { return shadow.step(first_time + Duration{600 * second_ms}); }
  /// All batches.
  std::vector<ShadowResult> steps() {
    std::vector<ShadowResult> all;
    while (!port.batches.empty()) std::ranges::move(step(), std::back_inserter(all));
    return all;
  }
  static std::vector<std::string> names(const std::vector<ShadowVictim>& victims) {
    std::vector<std::string> all;
    all.reserve(victims.size());
    for (const ShadowVictim& each : victims) all.push_back(each.name);
    return all;
  }

  ShadowedPort port;
  ShadowWatcher watcher;
  Configuration configuration;
  PlanTools tools;
  std::vector<std::string> requests;
  std::vector<bool> saw_pending;
  std::vector<std::size_t> saw_leaving;
  std::vector<std::string> our_victims;
  std::string refused;
  bool nowhere = false;
  ShadowLoop shadow{port,
                    configuration,
                    tools,
                    {.scheduler = "default-scheduler", .preset = "p", .watcher = &watcher}};
};

TEST_F(ShadowLoopTest, DecidesOnceAndComparesWhenBound) {
  give(0, {node("n1"), node("n2"), pod("ask")});
  give(1 * second_ms, {pod("ask")});
  give(4 * second_ms, {pod("ask", "n2")});
  const std::vector<ShadowResult> results = steps();
  EXPECT_EQ(requests, std::vector<std::string>{"0 Pod a/ask"});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, ShadowVerdict::other_node);
  EXPECT_EQ(results[0].theirs.nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(results[0].wait, Duration{4 * second_ms});
  EXPECT_EQ(results[0].plan, "id");
  EXPECT_EQ(watcher.heard, (std::vector<std::string>{"start", "batch of 3", "cycle of 1",
                                                     "batch of 1", "batch of 1"}));
}

TEST_F(ShadowLoopTest, ComparesAfterItsPatienceAndNeverDecidesAgain) {
  give(0, {node("n1"), pod("ask"), nominated(pod("late"), "n1")});
  EXPECT_TRUE(step().empty());
  EXPECT_EQ(shadow.statistics().late, 1U);
  const std::vector<ShadowResult> results = step();  // The port waits until the deadline.
  EXPECT_EQ(port.deadlines.back(), first_time + Duration{60 * second_ms});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, ShadowVerdict::only_ours);
  EXPECT_EQ(results[0].wait, std::nullopt);
  give(90 * second_ms, {pod("ask")});
  EXPECT_TRUE(steps().empty());
  EXPECT_EQ(requests.size(), 1U);
}

TEST_F(ShadowLoopTest, OthersPodsAndGatedOnesAreNoAsks) {
  Pod other = pod("other");
  other.scheduler = "makeway";
  Pod gated = pod("gated");
  gated.shape.unsupported = {"schedulingGate quota"};
  give(0, {node("n1"), other, gated, pod("bound", "n1")});
  EXPECT_TRUE(steps().empty());
  EXPECT_TRUE(requests.empty());
  give(5 * second_ms, {pod("gated")});
  steps();
  EXPECT_EQ(requests, std::vector<std::string>{"5000 Pod a/gated"});
}

/// One batch may hold the ask together with what was done for it.
TEST_F(ShadowLoopTest, AnAskThatComesBoundIsDecidedAsIfItWerePending) {
  give(0, {node("n1"), node("n2"), pod("low", "n2")});
  give(1 * second_ms, {pod("ask", "n2"), marked(pod("low", "n2"))});
  const std::vector<ShadowResult> results = steps();
  EXPECT_EQ(requests.size(), 1U);
  EXPECT_EQ(saw_pending, std::vector<bool>{true});
  EXPECT_EQ(saw_leaving, std::vector<std::size_t>{0});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].theirs.nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(names(results[0].theirs.victims), std::vector<std::string>{"low"});
  EXPECT_EQ(results[0].verdict, ShadowVerdict::fewer_victims);
  const std::vector<std::string> heard{"start", "batch of 3", "batch of 1", "cycle of 1",
                                       "batch of 2"};
  EXPECT_EQ(watcher.heard, heard);
}

/// Everything in one batch, also that the victim is gone: it is not there afterwards.
TEST_F(ShadowLoopTest, AVictimMayBeGoneInTheSameBatch) {
  give(0, {node("n1"), node("n2"), pod("low", "n2")});
  give(1 * second_ms, {pod("ask", "n2"), marked(pod("low", "n2")), gone("low")});
  const std::vector<ShadowResult> results = steps();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(names(results[0].theirs.victims), std::vector<std::string>{"low"});
  EXPECT_EQ(shadow.cluster().find_pod("a", "low"), std::nullopt);
}

TEST_F(ShadowLoopTest, TheirVictimsArePodsMarkedOnTheNodeOfTheirNomination) {
  our_victims = {"low-1"};
  give(0, {node("n1"), node("n2"), pod("low-1", "n1", 5), pod("low-2", "n1", 6),
           pod("low-3", "n2", 7), pod("done", "n1")});
  give(1 * second_ms, {pod("ask")});
  give(2 * second_ms, {marked(pod("low-1", "n1", 5)), marked(pod("low-2", "n1", 6)),
                       marked(pod("low-3", "n2", 7)), nominated(pod("ask"), "n1")});
  give(3 * second_ms, {gone("low-1"), gone("low-2"), gone("done")});
  give(4 * second_ms, {pod("ask", "n1")});
  const std::vector<ShadowResult> results = steps();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(names(results[0].theirs.victims), (std::vector<std::string>{"low-1", "low-2"}));
  EXPECT_EQ(results[0].theirs.priority_sum(), 11);
  EXPECT_EQ(results[0].theirs.run_seconds(), 122);  // When the ask was first seen.
  EXPECT_EQ(results[0].ours.run_seconds(), 61);
  EXPECT_EQ(results[0].verdict, ShadowVerdict::fewer_victims);
}

/// Two asks on one node: each has its own victims.
TEST_F(ShadowLoopTest, AVictimBelongsToTheAskWithTheClosestNomination) {
  give(0, {node("n1"), pod("v1", "n1"), pod("v2", "n1"), pod("v3", "n1")});
  give(1 * second_ms, {pod("x"), pod("y")});
  give(2 * second_ms, {nominated(pod("x"), "n1"), marked(pod("v1", "n1"))});
  give(3 * second_ms,
       {nominated(pod("y"), "n1"), marked(pod("v2", "n1")), marked(pod("v3", "n1"))});
  give(4 * second_ms, {pod("x", "n1")});
  give(5 * second_ms, {pod("y", "n1")});
  const std::vector<ShadowResult> results = steps();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(names(results[0].theirs.victims), std::vector<std::string>{"v1"});
  EXPECT_EQ(names(results[1].theirs.victims), (std::vector<std::string>{"v2", "v3"}));
}

TEST_F(ShadowLoopTest, AnAskThatIsGoneIsNotCompared) {
  give(0, {node("n1"), pod("ask"), pod("replaced")});
  Pod other = pod("replaced");
  other.uid = "another";
  give(1 * second_ms, {gone("ask"), gone("replaced"), other});
  EXPECT_TRUE(steps().empty());
  EXPECT_EQ(shadow.statistics().gone, 2U);
  EXPECT_EQ(requests.size(), 3U);  // The other one asks, too.
  EXPECT_EQ(shadow.open(), 1U);
}

TEST_F(ShadowLoopTest, DecidesNothingWhileItIsBlind) {
  give(0, {}, true);
  give(0, {node("n1")});
  give(1 * second_ms, {pod("ask"), pod("quick")}, true);
  give(2 * second_ms, {pod("quick", "n1")}, true);
  give(3 * second_ms, {pod("quicker", "n1")}, true);
  EXPECT_TRUE(steps().empty());
  EXPECT_TRUE(requests.empty());
  EXPECT_TRUE(shadow.is_blind());
  give(9 * second_ms, {});
  steps();
  EXPECT_EQ(requests, std::vector<std::string>{"9000 Pod a/ask"});
  EXPECT_EQ(shadow.statistics().missed, 2U);
}

TEST_F(ShadowLoopTest, AGroupAsksWhenItsMinimumIsThere) {
  PodGroup group;
  group.namespace_name = "a";
  group.name = "g";
  group.policy = GroupPolicy{.minimum = 2, .gang = true};
  const auto member = [](std::string name, std::string bound_to = {}) {
    Pod made = pod(std::move(name), std::move(bound_to));
    made.group = "g";
    return made;
  };
  give(0, {node("n1"), group, member("g-0")});
  give(1 * second_ms, {member("g-1")});
  give(2 * second_ms, {member("g-2"), member("g-0", "n1")});
  EXPECT_TRUE(steps().empty());
  EXPECT_EQ(requests, std::vector<std::string>{"1000 PodGroup a/g"});
  give(3 * second_ms, {member("g-1", "n1")});
  const std::vector<ShadowResult> results = steps();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].theirs.nodes, (std::vector<std::string>{"n1", "n1"}));
}

TEST_F(ShadowLoopTest, AnObjectThatIsNotOursStopsNoAsk) {
  refused = "odd";
  give(0, {node("n1"), pod("ask"), pod("odd")});
  give(1 * second_ms, {pod("ask", "n1")});
  const std::vector<ShadowResult> results = steps();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, ShadowVerdict::same);
  EXPECT_EQ(shadow.statistics().undecided, 1U);
}

TEST_F(ShadowLoopTest, NeitherFindsAPlace) {
  nowhere = true;
  give(0, {node("n1"), pod("ask")});
  step();
  const std::vector<ShadowResult> results = step();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, ShadowVerdict::neither);
}

}  // namespace
}  // namespace makeway
