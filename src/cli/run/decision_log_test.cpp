// What is logged of the loop.
#include "cli/run/decision_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace makeway::cli {
namespace {

class KeptText final : public TextSink {
 public:
  void write(std::string_view text) override { kept += text; }
  std::string kept;
};

class DecisionLogTest : public testing::Test {
 protected:
  void decide(const PlanAsk& ask) {
    LawfulPlan made;
    made.plan.emplace();
    made.plan->id = "0123";
    made.plan->asks.push_back(ask);
    decisions.cycle({.now = {}, .due = {}, .judged = true, .made = made}, cluster);
  }
  void show(const std::vector<Change>& changes, const std::vector<Receipt>& receipts = {},
            Time now = {}) {
    decisions.batch({.now = now, .changes = changes, .effects = {}, .receipts = receipts}, cluster);
  }
  std::string take() { return std::exchange(sink.kept, {}); }
  static PlanAsk urgent(Outcome outcome) {
    PlanAsk ask{.namespace_name = "shop", .name = "urgent", .priority = 7, .outcome = outcome};
    ask.reason = "because";
    return ask;
  }

  KeptText sink;
  RunLog log{sink, false, [] { return Time{1'767'225'600'000}; }};
  ConfigurationDocument document;
  DecisionLog decisions{log, document};
  Cluster cluster;
};

TEST_F(DecisionLogTest, AnAskIsLoggedWhenItsAnswerChanges) {
  const std::string infeasible =
      "time=2026-01-01T00:00:00Z level=info event=decided plan=0123 ask=\"Pod shop/urgent\" "
      "priority=7 outcome=infeasible reason=because\n"
      "time=2026-01-01T00:00:00Z level=info event=cycle plan=0123 asks=1 infeasible=1\n";
  decide(urgent(Outcome::infeasible));
  EXPECT_EQ(take(), infeasible);
  decide(urgent(Outcome::infeasible));
  EXPECT_EQ(take(), "");
  decide(urgent(Outcome::waits));
  EXPECT_TRUE(take().contains("outcome=waits"));
  // Another pod of that name is another ask.
  show({Removal{.kind = ObjectKind::pod, .namespace_name = "shop", .name = "urgent"}});
  decide(urgent(Outcome::waits));
  EXPECT_TRUE(take().contains("outcome=waits"));
}

// What is missing, and where, changes all the time; the answer does not.
TEST_F(DecisionLogTest, ChangedNumbersInAReasonAreNotLogged) {
  PlanAsk ask = urgent(Outcome::infeasible);
  ask.reason = "does not fit on any node: 4 nodes: short of cpu by at least 2";
  decide(ask);
  EXPECT_TRUE(take().contains("short of cpu by at least 2"));
  ask.reason = "does not fit on any node: 3 nodes: short of cpu by at least 1; 1 node: cordoned";
  decide(ask);
  EXPECT_EQ(take(), "");
  ask.reason = "only 2 of the 4 pods of its minimum exist";
  decide(ask);
  EXPECT_TRUE(take().contains("event=decided"));
  ask.reason = "only 3 of the 4 pods of its minimum exist";
  decide(ask);
  EXPECT_EQ(take(), "");
}

TEST_F(DecisionLogTest, ACycleIsALineWithCounts) {
  LawfulPlan made;
  made.plan.emplace();
  made.plan->id = "0123";
  made.plan->asks = {urgent(Outcome::fits), urgent(Outcome::waits), urgent(Outcome::waits)};
  made.plan->asks[1].name = "later";
  made.plan->asks[2].name = "latest";
  made.plan->actions = {{.type = ActionType::bind}, {.type = ActionType::wait}};
  const MadeCycle cycle{.now = {}, .due = {}, .judged = true, .made = made};
  decisions.cycle(cycle, cluster);
  const std::string counts =
      "time=2026-01-01T00:00:00Z level=info event=cycle plan=0123 asks=3 fits=1 waits=2 bind=1\n";
  EXPECT_TRUE(take().ends_with(counts));
  decisions.cycle(cycle, cluster);  // It has actions, and no answer has changed.
  EXPECT_EQ(take(), counts);
  made.plan->actions.clear();
  decisions.cycle(cycle, cluster);
  EXPECT_EQ(take(), "");
}

TEST_F(DecisionLogTest, AnAskThatCannotAskIsLoggedOnce) {
  LawfulPlan made;
  made.plan.emplace();
  made.problems.push_back({.object = "Pod shop/urgent", .message = "it is a replica"});
  const std::vector<AskName> due = {{.namespace_name = "shop", .name = "urgent"}};
  const MadeCycle cycle{.now = {}, .due = due, .judged = true, .made = made};
  decisions.cycle(cycle, cluster);
  EXPECT_TRUE(take().contains("event=not-decided object=\"Pod shop/urgent\""));
  decisions.cycle(cycle, cluster);
  EXPECT_EQ(take(), "");
  const LawfulPlan fine;
  decisions.cycle({.now = {}, .due = due, .judged = true, .made = fine}, cluster);
  decisions.cycle(cycle, cluster);
  EXPECT_TRUE(take().contains("event=not-decided"));
}

TEST_F(DecisionLogTest, WhatABrakeHoldsBackIsLoggedOnceUntilItIsOver) {
  Receipt receipt{.plan = "0123",
                  .object = pod_ref("shop", "low"),
                  .reason = "brake",
                  .ask = parse_ref("Queue a")};
  receipt.again_at = Time{5'000};
  show({}, {receipt}, Time{0});
  EXPECT_TRUE(take().contains("event=refused"));
  receipt.plan = "0124";
  show({}, {receipt, receipt}, Time{4'999});
  EXPECT_EQ(take(), "");
  receipt.again_at = Time{9'000};
  show({}, {receipt}, Time{5'000});
  EXPECT_TRUE(take().contains("event=refused"));
  receipt.again_at.reset();  // Without a time each is logged.
  show({}, {receipt}, Time{5'001});
  EXPECT_TRUE(take().contains("event=refused"));
}

TEST_F(DecisionLogTest, TheRestOfAHalfGangIsLogged) {
  Plan plan{.id = "0123"};
  plan.asks.push_back({.kind = AskKind::pod_group,
                       .namespace_name = "ml",
                       .name = "train",
                       .reason = "the others of its gang had to leave"});
  plan.actions.push_back({.type = ActionType::evict,
                          .namespace_name = "ml",
                          .name = "train-1",
                          .node = "n1",
                          .ask = parse_ref("PodGroup ml/train")});
  decisions.ends(plan);
  EXPECT_EQ(take(),
            "time=2026-01-01T00:00:00Z level=warning event=half-gang plan=0123 pod=ml/train-1 "
            "node=n1 group=\"PodGroup ml/train\" reason=\"the others of its gang had to leave\"\n");
}

TEST_F(DecisionLogTest, VictimsHaveTheirCause) {
  PlanAsk ask = urgent(Outcome::preempts);
  ask.kind = AskKind::pod_group;
  ask.placements = {{.namespace_name = "shop", .name = "a", .node = "n2"},
                    {.namespace_name = "shop", .name = "b", .node = "n1"},
                    {.namespace_name = "shop", .name = "c", .node = "n2"}};
  ask.victims.push_back({.namespace_name = "ml",
                         .name = "low",
                         .node = "n1",
                         .unit = "Pod ml/low",
                         .priority = 3,
                         .reason = "lower priority (3 < 7)",
                         .cause_key = "name"});
  decide(ask);
  const std::string text = take();
  EXPECT_TRUE(text.contains("outcome=preempts nodes=n1:1,n2:2 victims=1 ")) << text;
  EXPECT_TRUE(
      text.contains("event=victim plan=0123 pod=ml/low unit=\"Pod ml/low\" node=n1 "
                    "priority=3 for=\"PodGroup shop/urgent\" "
                    "cause=\"lower priority (3 < 7)\" lostOn=name\n"))
      << text;
}

TEST_F(DecisionLogTest, RefusalsAreWarnings) {
  show({}, {{.plan = "0123",
             .object = pod_ref("ml", "low"),
             .reason = "it is gone",
             .ask = pod_ref("a", "b")}});
  EXPECT_EQ(take(),
            "time=2026-01-01T00:00:00Z level=warning event=refused plan=0123 object=\"Pod ml/low\" "
            "for=\"Pod a/b\" reason=\"it is gone\"\n");
}

TEST_F(DecisionLogTest, ARefusalNamesThePlane) {
  Receipt receipt{.plan = "0123",
                  .object = *parse_ref("Deployment a/web"),
                  .reason = "brake",
                  .ask = parse_ref("ReplicaSchedule a/reco"),
                  .again_at = Time{4'000'000'000'000}};
  receipt.object.plane = "east";
  show({}, {receipt});
  EXPECT_TRUE(take().contains("object=\"Deployment a/web\" plane=east for="));
  show({}, {receipt});
  EXPECT_EQ(take(), "") << "a brake is logged once";
  receipt.object.plane = "west";
  show({}, {receipt});
  EXPECT_TRUE(take().contains("plane=west")) << "that is another Deployment";
}

}  // namespace
}  // namespace makeway::cli
