// SPEC section 8: the loop over a port that a test holds in its hands.
#include "control/control_loop.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace makeway {
namespace {

/// Hands out the batches that it was given, one after the other.
class ScriptedPort final : public Port {
 public:
  Batch poll(Time deadline) override {
    if (batches.empty()) {
      now = std::max(now, deadline);
      return {.now = now, .ended = true};
    }
    Batch batch = batches.front();
    batches.pop_front();
    now = batch.now;
    return batch;
  }
  void submit(const Plan& plan) override { plans.push_back(plan); }

  std::deque<Batch> batches;
  std::vector<Plan> plans;
  Time now;
};

/// Writes down what it hears.
class HeardWatcher final : public LoopWatcher {
 public:
  explicit HeardWatcher(const ScriptedPort& port) : port_(port) {}

  void start(const LoopStart& start) override {
    heard.push_back("start " + std::string(start.preset));
  }
  void batch(const AppliedBatch& batch, const Cluster& cluster) override {
    heard.push_back(fmt::format("batch at {} ms: {} changes, {} receipts, {} pods", batch.now.ms,
                                batch.changes.size(), batch.receipts.size(), cluster.pod_count()));
  }
  void cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) override {
    heard.push_back(fmt::format(
        "cycle at {} ms: {} due, {}judged, {} refused, {} asks, {} submitted before", cycle.now.ms,
        cycle.due.size(), cycle.judged ? "" : "not ", cycle.made.refused.size(),
        cycle.made.plan ? cycle.made.plan->asks.size() : 0, port_.plans.size()));
  }
  void ends(const Plan& plan) override {
    heard.push_back(
        fmt::format("{} of {} must go", plan.actions.size(), ref_text(plan.actions[0].ask)));
  }

  std::vector<std::string> heard;

 private:
  const ScriptedPort& port_;
};

class ControlLoopTest : public testing::Test {
 protected:
  ControlLoopTest() {
    tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
      return Decision{.plan = answered(request, Outcome::infeasible)};
    };
    tools.check = [this](const Cluster&, const Configuration&, const Plan&) {
      ++judged;
      return breaches;
    };
    tools.identify = [](const Plan&) { return std::string("id"); };
    tools.microseconds = [] { return std::int64_t{0}; };
    tools.contain = true;
  }

  /// Remembers the request; the same answer for each ask.
  Plan answered(const PlanRequest& request, Outcome outcome) {
    requests.push_back(request);
    Plan plan{.preset = request.preset, .now = request.now};
    for (const AskName& ask : request.asks) {
      plan.asks.push_back({.kind = ask.kind,
                           .namespace_name = ask.namespace_name,
                           .name = ask.name,
                           .outcome = outcome});
    }
    return plan;
  }

  static Pod pod(std::string name) {
    return {.namespace_name = "default", .name = std::move(name), .requests = {{"cpu", 1'000}}};
  }

  ScriptedPort port;
  Configuration configuration;
  PlanTools tools;
  std::vector<PlanRequest> requests;
  std::vector<LawBreach> breaches;
  int judged = 0;
};

/// Pods with labels of their own come and go: what they leave behind does not stay for ever, and
/// pending pods stay pending.
TEST_F(ControlLoopTest, TheStoreIsMadeAnewWhenNamesPileUp) {
  port.batches.push_back({.now = Time{1}, .changes = {Node{.name = "n1"}, pod("waits")}});
  for (std::int64_t i = 0; i < 400; ++i) {
    Pod each = pod(fmt::format("job-{}", i));
    each.labels = {{"job", fmt::format("job-{}", i)}};
    each.node = "n1";
    port.batches.push_back({.now = Time{10 + 2 * i}, .changes = {each}});
    port.batches.push_back(
        {.now = Time{11 + 2 * i},
         .changes = {
             Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = each.name}}});
  }
  LoopOptions options;
  options.garbage_min = 50;
  options.copied_at_once = 20;
  ControlLoop loop(port, configuration, tools, options);
  std::size_t most = 0;
  while (loop.step()) most = std::max(most, loop.cluster().interned_count());
  EXPECT_GT(loop.statistics().compactions, 3U);
  EXPECT_LT(most, 300U) << "of 400 jobs with a name and a label each";
  EXPECT_EQ(loop.cluster().pod_count(), 1U);
  EXPECT_EQ(loop.backlog().pending(), 1U);
}

/// Law 13: before, no ask of its cycle was decided, and all of them backed off, again and again.
TEST_F(ControlLoopTest, APodThatCannotAskBacksOffAlone) {
  tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
    for (const AskName& ask : request.asks) {
      if (ask.name != "strange") continue;
      return Decision{.problems = {{.object = ask_text(ask), .message = "no"}}};
    }
    return Decision{.plan = answered(request, Outcome::infeasible)};
  };
  Pod other = pod("other");
  other.labels = {{"app", "other"}};
  Pod strange = pod("strange");
  strange.labels = {{"app", "strange"}};
  port.batches = {{.now = Time{1}, .changes = {Node{.name = "n1"}, strange, other}},
                  {.now = Time{1'002}}};
  ControlLoop loop(port, configuration, tools, {});
  loop.step();
  ASSERT_EQ(port.plans.size(), 1U);
  ASSERT_EQ(port.plans[0].asks.size(), 1U);
  EXPECT_EQ(port.plans[0].asks[0].name, "other");
  ASSERT_EQ(port.plans[0].status.size(), 1U);
  EXPECT_EQ(port.plans[0].status[0].object, pod_ref("default", "strange"));
  loop.step();  // A second later it is tried again.
  ASSERT_EQ(port.plans.size(), 2U);
  EXPECT_EQ(port.plans[1].status.size(), 1U);
}

TEST_F(ControlLoopTest, WithoutADueAskNothingIsDecided) {
  port.batches = {{.now = Time{1}, .changes = {Node{.name = "n1"}}}, {.now = Time{2}}};
  ControlLoop loop(port, configuration, tools, {});
  while (loop.step()) {
  }
  EXPECT_TRUE(requests.empty());
  EXPECT_EQ(loop.cluster().node_count(), 1U);
}

/// What a killed process began, before any other pod is evicted instead.
TEST_F(ControlLoopTest, WhatWasBegunBeforeIsFinishedFirst) {
  PodGroup group{.namespace_name = "default", .name = "g"};
  group.policy.mode = DisruptionMode::all;
  Pod leaving = pod("m-0");
  leaving.group = "g";
  leaving.node = "n1";
  Pod stays = leaving;
  stays.name = "m-1";
  leaving.deletion = Time{30'000};
  leaving.disrupted_by_preemption = true;
  for (const bool finishes : {true, false}) {
    port.plans.clear();
    port.batches = {
        {.now = Time{1}, .changes = {Node{.name = "n1"}, group, leaving, stays, pod("urgent")}}};
    LoopOptions options;
    options.finishes_begun = finishes;
    HeardWatcher watcher(port);
    options.watcher = &watcher;
    ControlLoop loop(port, configuration, tools, options);
    loop.step();
    if (finishes) {
      // No ask is decided before the watch shows that it leaves.
      ASSERT_EQ(port.plans.size(), 1U);
      loop.step();
      const auto rest = loop.cluster().find_pod("default", "m-1");
      ASSERT_TRUE(rest.has_value());
      EXPECT_NE(loop.cluster().pods().deletion[*rest], no_time);
    }
    ASSERT_EQ(port.plans.size(), finishes ? 2U : 1U);
    EXPECT_EQ(loop.statistics().rollbacks, finishes ? 1U : 0U);
    EXPECT_EQ(port.plans.back().asks.front().name, "urgent");
    if (!finishes) continue;
    ASSERT_EQ(port.plans.front().actions.size(), 1U);
    EXPECT_EQ(port.plans.front().actions.front().name, "m-1");
    EXPECT_EQ(port.plans.front().id, "id");
    EXPECT_EQ(watcher.heard.at(2), "1 of PodGroup default/g must go");
  }
}

TEST_F(ControlLoopTest, SessionsAndSchedulesAskWithThePods) {
  const Session session{.namespace_name = "default", .name = "train"};
  const ReplicaSchedule schedule{.namespace_name = "default", .name = "web", .unmet = 1};
  port.batches = {{.now = Time{1}, .changes = {pod("a"), session, schedule}}};
  ControlLoop loop(port, configuration, tools, {});
  while (loop.step()) {
  }
  ASSERT_EQ(requests.size(), 1U);
  ASSERT_EQ(requests[0].asks.size(), 3U);
  EXPECT_EQ(requests[0].asks[1].kind, AskKind::replica_schedule);
  EXPECT_EQ(requests[0].asks[2].kind, AskKind::session);
}

/// Before, a session that was left out waited until something changed in the cluster.
TEST_F(ControlLoopTest, ASessionThatIsLeftOutIsTriedAgain) {
  breaches = {{.law = 3, .ask = "Session default/train", .text = "it does not fit"}};
  tools.check = [this](const Cluster&, const Configuration&, const Plan& plan) {
    return plan.asks.empty() ? std::vector<LawBreach>() : breaches;
  };
  port.batches = {
      {.now = Time{1}, .changes = {Session{.namespace_name = "default", .name = "train"}}},
      {.now = Time{1'500}}};
  ControlLoop loop(port, configuration, tools, {});
  EXPECT_TRUE(loop.step());
  const std::size_t before = requests.size();
  EXPECT_GT(loop.statistics().refused, 0U);
  for (const Plan& plan : port.plans) EXPECT_TRUE(plan.asks.empty());
  breaches.clear();
  EXPECT_TRUE(loop.step());
  ASSERT_EQ(requests.size(), before + 1);
  EXPECT_EQ(requests.back().asks.front().name, "train");
  while (loop.step()) {  // No ask waits for it for ever.
  }
}

/// A plane that does not answer delays only the schedules that it scales.
TEST_F(ControlLoopTest, WhileAScaleIsNotSeenOthersAreDecidedAbout) {
  ReplicaSchedule schedule{.namespace_name = "default",
                           .name = "web",
                           .deployment = "web",
                           .unmet = 1,
                           .planes = {{.name = "east"}}};
  tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
    Plan plan = answered(request, Outcome::infeasible);
    if (requests.size() == 1) {
      PlanAction action{.type = ActionType::scale_up, .namespace_name = "default", .name = "web"};
      action.scale = {.plane = "east", .committed_before = 0, .committed_after = 1};
      plan.actions.push_back(action);
    }
    return Decision{.plan = plan};
  };
  port.batches = {{.now = Time{1}, .changes = {schedule}}, {.now = Time{2}, .changes = {pod("a")}}};
  schedule.planes[0].committed = 1;
  port.batches.push_back({.now = Time{3}, .changes = {schedule}});
  ControlLoop loop(port, configuration, tools, {});
  while (loop.step()) {
  }
  const auto kinds = [this](std::size_t cycle) {
    std::vector<AskKind> all;
    for (const AskName& ask : requests.at(cycle).asks) all.push_back(ask.kind);
    return all;
  };
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(kinds(0), std::vector{AskKind::replica_schedule});
  EXPECT_EQ(kinds(1), std::vector{AskKind::pod});
  EXPECT_EQ(kinds(2).back(), AskKind::replica_schedule);
}

/// Before, no cycle started for up to ten seconds.
TEST_F(ControlLoopTest, WhileTheStartOfASessionIsNotSeenOnlySessionsWait) {
  Session session{.namespace_name = "default", .name = "train"};
  session.kernels.push_back({.name = "main"});
  const Session other{.namespace_name = "default", .name = "other"};
  std::vector<SessionPhase> phases;  // Of the first session, as each cycle saw it.
  tools.decide = [&](const Cluster& cluster, const Configuration&, const PlanRequest& request) {
    Plan plan = answered(request, Outcome::infeasible);
    plan.id = fmt::format("p{}", requests.size());
    phases.push_back(cluster.own<Session>().find({"default", "train"})->second.status.phase);
    if (requests.size() == 1) {
      plan.asks[0].outcome = Outcome::fits;
      plan.asks[0].placements = {{.namespace_name = "default", .name = "train/main", .node = "n1"}};
    }
    return Decision{.plan = plan};
  };
  port.batches = {{.now = Time{1}, .changes = {Node{.name = "n1"}, session}},
                  {.now = Time{2}, .changes = {other}},
                  {.now = Time{3}, .changes = {pod("a")}}};
  session.status.phase = SessionPhase::running;
  session.kernels[0].node = "n1";
  port.batches.push_back({.now = Time{4}, .changes = {session}});
  ControlLoop loop(port, configuration, tools, {});
  while (loop.step()) {
  }
  const auto names = [this](std::size_t cycle) {
    std::vector<std::string> all;
    for (const AskName& ask : requests.at(cycle).asks) all.push_back(ask.name);
    return all;
  };
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(names(0), std::vector<std::string>{"train"});
  EXPECT_EQ(names(1), std::vector<std::string>{"a"});
  EXPECT_EQ(names(2).back(), "other");
  EXPECT_EQ(requests[1].now, Time{3});
  EXPECT_EQ(requests[2].now, Time{4});
  EXPECT_EQ(phases,
            (std::vector{SessionPhase::pending, SessionPhase::running, SessionPhase::running}));
}

TEST_F(ControlLoopTest, TheLoopDoesNotWaitTenYearsForAPortThatHasEnded) {
  tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
    requests.push_back(request);
    return Decision{.plan = Plan{.now = request.now},
                    .recheck_at = request.now + Duration{315'360'000'000}};
  };
  port.batches = {{.now = Time{1}, .changes = {pod("a")}}};
  ControlLoop loop(port, configuration, tools, {});
  int steps = 0;
  while (loop.step()) ++steps;
  EXPECT_LT(steps, 10);
  EXPECT_EQ(requests.size(), 1U);
}

TEST_F(ControlLoopTest, AllDueAsksGoIntoOneCycle) {
  Pod other = pod("b");
  other.requests = {{"cpu", 2'000}};
  port.batches = {{.now = Time{1}, .changes = {pod("a"), other}}};
  ControlLoop loop(port, configuration, tools, {.preset = "makeway"});
  while (loop.step()) {
  }
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].asks.size(), 2U);
  EXPECT_EQ(requests[0].now, Time{1});
  EXPECT_EQ(port.plans.size(), 1U);
  EXPECT_EQ(judged, 1);
}

TEST_F(ControlLoopTest, WhatTheJudgeRefusesIsNotSubmittedAsItIs) {
  breaches = {{.law = 3, .ask = "Pod default/a", .text = "it does not fit"}};
  port.batches = {{.now = Time{1}, .changes = {pod("a")}}};
  ControlLoop loop(port, configuration, tools, {});
  while (loop.step()) {
  }
  EXPECT_GT(loop.statistics().refused, 0U);
  EXPECT_FALSE(loop.refused().empty());
  for (const Plan& plan : port.plans) EXPECT_TRUE(plan.actions.empty());
}

TEST_F(ControlLoopTest, AWatcherHearsEverythingAndEachCycleBeforeItIsSubmitted) {
  port.batches = {
      {.now = Time{1}, .changes = {pod("a")}},
      {.now = Time{2}},
      {.now = Time{3},
       .changes = {Node{.name = "n1", .allocatable = {{"cpu", 9'000}, {"pods", 9}}}},
       .receipts = {{.plan = "id", .object = *parse_ref("Pod default/a"), .reason = "gone"}}}};
  HeardWatcher watcher(port);
  ControlLoop loop(port, configuration, tools,
                   {.preset = "makeway", .judge_every = 2, .watcher = &watcher});
  while (loop.step()) {
  }
  const std::vector<std::string> expected = {
      "start makeway",
      "batch at 1 ms: 1 changes, 0 receipts, 1 pods",
      "cycle at 1 ms: 1 due, judged, 0 refused, 1 asks, 0 submitted before",
      "batch at 3 ms: 1 changes, 1 receipts, 1 pods",
      "cycle at 1003 ms: 1 due, not judged, 0 refused, 1 asks, 1 submitted before",
  };
  EXPECT_EQ(watcher.heard, expected);
}

TEST_F(ControlLoopTest, AWatcherHearsWhatTheJudgeRefused) {
  breaches = {{.law = 3, .ask = "Pod default/a", .text = "it does not fit"}};
  port.batches = {{.now = Time{1}, .changes = {pod("a")}}};
  HeardWatcher watcher(port);
  ControlLoop loop(port, configuration, tools, {.preset = "makeway", .watcher = &watcher});
  while (loop.step()) {
  }
  ASSERT_EQ(watcher.heard.size(), 3U);
  EXPECT_EQ(watcher.heard[2],
            "cycle at 1 ms: 1 due, judged, 1 refused, 0 asks, 0 submitted before");
  ASSERT_EQ(loop.refused().size(), 1U);
  EXPECT_EQ(loop.refused()[0].plan.asks.size(), 1U);
}

TEST_F(ControlLoopTest, TheJudgeMayLookAtSomeCyclesOnly) {
  port.batches = {{.now = Time{1}, .changes = {pod("a")}},
                  {.now = Time{2},
                   .changes = {Node{.name = "n1", .allocatable = {{"cpu", 9'000}, {"pods", 9}}}}},
                  {.now = Time{3},
                   .changes = {Node{.name = "n2", .allocatable = {{"cpu", 9'000}, {"pods", 9}}}}}};
  ControlLoop loop(port, configuration, tools, {.judge_every = 2});
  while (loop.step()) {
  }
  EXPECT_EQ(loop.statistics().cycles, 3U);
  EXPECT_EQ(loop.statistics().judged, 2U);
}

/// Binds each ask to n1.
class BindingLoopTest : public ControlLoopTest {
 protected:
  BindingLoopTest() {
    tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
      Plan plan = answered(request, Outcome::fits);
      for (const AskName& ask : request.asks) {
        plan.actions.push_back({.type = ActionType::bind,
                                .namespace_name = ask.namespace_name,
                                .name = ask.name,
                                .node = "n1"});
      }
      return Decision{.plan = std::move(plan)};
    };
  }
  const Node node{.name = "n1", .allocatable = {{"cpu", 9'000}, {"pods", 9}}};
};

TEST_F(BindingLoopTest, WhatWasSentIsNotDecidedAgainBeforeItIsSeen) {
  port.batches = {{.now = Time{1}, .changes = {node, pod("a")}},
                  {.now = Time{2}, .changes = {pod("a"), pod("b")}},  // The bind is not seen yet.
                  {.now = Time{3}}};
  ControlLoop loop(port, configuration, tools, {});
  for (int step = 0; step < 3; ++step) loop.step();
  ASSERT_EQ(requests.size(), 2U);
  ASSERT_EQ(requests[1].asks.size(), 1U);
  EXPECT_EQ(requests[1].asks[0].name, "b");
  EXPECT_EQ(loop.in_flight().size(), 2U);
}

TEST_F(BindingLoopTest, WhatWasRefusedIsDecidedAgain) {
  port.batches = {
      {.now = Time{1}, .changes = {node, pod("a")}},
      {.now = Time{2}, .changes = {pod("a")}},
      {.now = Time{3},
       .receipts = {{.plan = "id", .object = *parse_ref("Pod default/a"), .reason = "conflict"}}},
      {.now = Time{1'003}}};
  ControlLoop loop(port, configuration, tools, {});
  while (loop.step() && requests.size() < 2) {
  }
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].now, Time{1'003});  // It backed off for a second.
  EXPECT_EQ(loop.statistics().receipts, 1U);
}

/// Only one member of a gang could be bound: it is evicted again, and no ask is decided before the
/// watch shows that it leaves. Earlier, another pod might be evicted although its room is enough.
TEST_F(ControlLoopTest, WhatIsRolledBackIsSeenToLeaveBeforeTheNextDecision) {
  configuration.live.gang_rollback = GangRollback::erase;
  PodGroup group{.namespace_name = "default", .name = "g"};
  group.policy.gang = true;
  group.policy.minimum = 2;
  const auto member = [](const std::string& name) {
    Pod each = pod(name);
    each.uid = name;
    each.group = "g";
    return each;
  };
  tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
    Plan plan = answered(request, Outcome::infeasible);
    for (const std::string name : {"m-0", "m-1"}) {
      if (requests.size() > 1) continue;
      plan.actions.push_back({.type = ActionType::bind,
                              .namespace_name = "default",
                              .name = name,
                              .uid = name,
                              .node = "n1"});
    }
    return Decision{.plan = std::move(plan)};
  };
  Pod bound = member("m-0");
  bound.node = "n1";
  port.batches = {
      {.now = Time{1}, .changes = {Node{.name = "n1"}, group, member("m-0"), member("m-1")}},
      {.now = Time{2},
       .changes = {bound},
       .receipts = {{.plan = "id", .object = *parse_ref("Pod default/m-1"), .reason = "conflict"}}},
      {.now = Time{60'001}, .changes = {pod("urgent")}}};
  ControlLoop loop(port, configuration, tools, {});
  loop.step();
  loop.step();
  const std::size_t before = requests.size();
  loop.step();
  EXPECT_EQ(loop.statistics().rollbacks, 1U);
  EXPECT_EQ(port.plans.back().actions.front().name, "m-0");
  EXPECT_EQ(requests.size(), before);
  loop.step();
  EXPECT_EQ(requests.size(), before + 1);
  EXPECT_EQ(requests.back().now, Time{60'001}) << "that takes no time";
  const auto row = loop.cluster().find_pod("default", "m-0");
  ASSERT_TRUE(row.has_value());
  EXPECT_NE(loop.cluster().pods().deletion[*row], no_time);
}

/// SPEC section 8, stale or missing watches: changes are applied, but nothing is decided.
TEST_F(ControlLoopTest, DecidesNothingWhileThePortIsBlind) {
  ControlLoop loop(port, configuration, tools, {});
  port.batches.push_back({.now = Time{1'000}, .changes = {pod("ask")}, .blind = true});
  port.batches.push_back({.now = Time{9'000}, .blind = true});
  EXPECT_TRUE(loop.step());
  EXPECT_TRUE(loop.step());
  EXPECT_TRUE(requests.empty());
  EXPECT_EQ(loop.cluster().pod_count(), 1U);
  port.batches.push_back({.now = Time{10'000}});
  EXPECT_TRUE(loop.step());
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].now, Time{10'000});
}

/// A due ask must not make a blind loop ask again and again.
TEST_F(ControlLoopTest, ABlindLoopWaits) {
  class AskedPort final : public Port {
   public:
    Batch poll(Time deadline) override {
      deadlines.push_back(deadline);
      return {.now = Time{1'000}, .changes = changes, .blind = true};
    }
    void submit(const Plan& /*plan*/) override {}
    std::vector<Change> changes;
    std::vector<Time> deadlines;
  } asked;
  asked.changes = {pod("ask")};
  ControlLoop loop(asked, configuration, tools, {.poll_max = Duration{60'000}});
  loop.step();
  loop.step();
  EXPECT_EQ(asked.deadlines.back(), Time{61'000});
}

}  // namespace
}  // namespace makeway
