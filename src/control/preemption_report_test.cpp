#include "control/preemption_report.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time report_time{1'000'000};

PlanVictim reported_victim(std::string name) {
  return {.namespace_name = "shop",
          .name = std::move(name),
          .node = "n1",
          .priority = 1,
          .reason = "lower priority (1 < 9)",
          .cause_alternative = "node n2",
          .cause_key = "victims: 2 against 1"};
}

Plan plan_of(PlanAsk ask) {
  Plan plan;
  plan.asks = {PlanAsk{.namespace_name = "shop", .name = "fits"}, std::move(ask)};
  return plan;
}

/// The cause is that of the first; beyond the bound victims are only counted.
TEST(PreemptionReport, NamesTheAskTheNodeAndTheCause) {
  PlanAsk ask{.namespace_name = "shop", .name = "urgent", .priority = 9};
  ask.placements = {{.namespace_name = "shop", .name = "urgent", .node = "n1"}};
  ask.victims = {reported_victim("a"), reported_victim("b"), reported_victim("c")};
  const auto report = preemption_report(plan_of(ask), report_time, 2);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(
      report.front(),
      (ReportedPreemption{
          .ask = "Pod shop/urgent",
          .priority = 9,
          .node = "n1",
          .victims =
              {{.name = "shop/a", .node = "n1", .priority = 1, .reason = "lower priority (1 < 9)"},
               {.name = "shop/b", .node = "n1", .priority = 1, .reason = "lower priority (1 < 9)"}},
          .victims_count = 3,
          .alternative = "node n2",
          .key = "victims: 2 against 1",
          .when = report_time}));
}

/// Four pods of a gang on two nodes.
TEST(PreemptionReport, SeveralNodesAreTheFirstAndHowManyMore) {
  PlanAsk ask{.kind = AskKind::pod_group, .namespace_name = "shop", .name = "train"};
  for (const char* const node : {"n1", "n1", "n3", "n3"}) {
    ask.placements.push_back({.namespace_name = "shop", .name = "train-1", .node = node});
  }
  ask.victims = {reported_victim("a")};
  EXPECT_EQ(preemption_report(plan_of(ask), report_time, 20).front().node, "n1 and 1 more");
}

TEST(PreemptionReport, SessionsAreNamedAsSuch) {
  PlanAsk ask{.kind = AskKind::session, .namespace_name = "shop", .name = "urgent"};
  PlanVictim victim = reported_victim("train");
  victim.unit = "Session shop/train";
  victim.node.clear();
  ask.victims = {victim};
  ask.session = PlanSession{.victims = {{.nodes = {"n4", "n5"}}}};
  const auto report = preemption_report(plan_of(ask), report_time, 20);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report.front().ask, "Session shop/urgent");
  EXPECT_EQ(report.front().victims.front().name, "Session shop/train");
  EXPECT_EQ(report.front().victims.front().node, "n4 and 1 more");
}

/// A pod that leaves by itself is no victim, and a kept claim was reported before.
TEST(PreemptionReport, ReplicasAreReportedWhenTheirClaimIsMade) {
  PlanAsk ask{.kind = AskKind::replica_schedule, .namespace_name = "shop", .name = "serve"};
  PlanReplicaClaim claim{.node = "n1"};
  claim.victims = {{.namespace_name = "shop",
                    .name = "low",
                    .plane = "east",
                    .priority = 1,
                    .action = ReplicaAction::scale_down,
                    .reason = "spare",
                    .cause_alternative = "none",
                    .cause_key = "class"},
                   {.namespace_name = "shop", .name = "leaving", .action = ReplicaAction::wait}};
  PlanReplicaClaim kept = claim;
  kept.kept = true;
  ask.replicas = PlanReplicas{.claims = {kept, claim}};
  const auto report = preemption_report(plan_of(ask), report_time, 20);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report.front().victims_count, 1U);
  EXPECT_EQ(report.front().node, "n1");
  EXPECT_EQ(report.front().alternative, "none");
  EXPECT_EQ(report.front().victims.front().name, "shop/low of plane east");
  ask.replicas->claims = {kept};
  EXPECT_TRUE(preemption_report(plan_of(ask), report_time, 20).empty());
}

}  // namespace
}  // namespace makeway
