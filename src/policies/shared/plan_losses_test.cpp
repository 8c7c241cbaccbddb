// What a plan costs (SPEC section 2: lost work, groups below their minimum; section 7: what stops).
#include "policies/shared/plan_losses.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

PlanAsk ask_with_victims(std::initializer_list<std::string_view> names) {
  PlanAsk ask;
  for (const std::string_view name : names) {
    PlanVictim victim;
    victim.namespace_name = "default";
    victim.name = std::string(name);
    ask.victims.push_back(std::move(victim));
  }
  return ask;
}

;

TEST(Losses, WaitingTimeIsThatSinceTheCreationAndNeverNegative) {
  const ShortWorld scene("node n1 gpu=1");
  Losses losses(scene.world);
  PlanAsk ask;
  losses.add(ask, no_time);
  EXPECT_EQ(ask.pending_seconds, std::nullopt);
  losses.add(ask, noon_plus(-90));
  EXPECT_EQ(ask.pending_seconds, 90);
  losses.add(ask, noon_plus(5));
  EXPECT_EQ(ask.pending_seconds, 0);
  losses.close();
  EXPECT_EQ(losses.total(), PlanCost{});
}

TEST(Losses, LostWorkIsTheStatedCostElseSinceTheCheckpointElseTheRunTime) {
  struct Row {
    std::string_view words;
    std::int64_t seconds;
  };
  for (const auto& [words, seconds] : {
           Row{"started=11:00", 3600},
           Row{"started=11:00 makeway:last-checkpoint=2026-01-01T11:59:00Z", 60},
           Row{"started=11:00 makeway:last-checkpoint=2026-01-01T12:30:00Z", 0},
           Row{"started=11:00 makeway:last-checkpoint=2026-01-01T10:00:00Z", 3600},
           Row{"started=11:00 makeway:preemption-cost=7", 7},
           Row{"started=12:30", 0},
           Row{"", 0},
       }) {
    SCOPED_TRACE(words);
    const ShortWorld scene("node n1 gpu=4\npod low @n1 gpu=2 " + std::string(words));
    Losses losses(scene.world);
    PlanAsk ask = ask_with_victims({"low"});
    losses.add(ask, no_time);
    EXPECT_EQ(ask.cost, (PlanCost{.pod_seconds = seconds, .gpu_seconds = 2 * seconds}));
    EXPECT_EQ(ask.victims.front().cost, ask.cost);
    EXPECT_EQ(losses.total(), ask.cost);
    EXPECT_TRUE(ask.disrupted_groups.empty());
  }
}

TEST(Losses, GpuSecondsDoNotOverflow) {
  const ShortWorld scene(
      "node n1 gpu=1\npod low @n1 gpu=1152921504606846976 started=2025-12-31T12:00:00Z");
  Losses losses(scene.world);
  PlanAsk ask = ask_with_victims({"low"});
  losses.add(ask, no_time);
  EXPECT_EQ(ask.cost.pod_seconds, 86'400);
  EXPECT_EQ(ask.cost.gpu_seconds, std::numeric_limits<std::int64_t>::max());
}

// One member after the other leaves a gang of three whose minimum is two. Each has run an hour.
TEST(Losses, AGangRunsOnThenIsDegradedThenLeaves) {
  const ShortWorld scene(R"(
    node n1 gpu=8
    gang g x3 min=2 gpu=2 p=1 started=11:00 @n1
  )");
  Losses losses(scene.world);
  std::vector<PlanAsk> asks = {ask_with_victims({"g-0"}), ask_with_victims({"g-1"}),
                               ask_with_victims({"g-2"})};
  for (PlanAsk& ask : asks) losses.add(ask, no_time);

  struct Row {
    std::int64_t running;
    GroupFate fate;
    std::int64_t pods;  ///< Whose work is lost.
  };
  const std::vector<Row> rows = {{3, GroupFate::runs_on, 1},
                                 {2, GroupFate::degraded, 2},  // The member that stays stops, too.
                                 {1, GroupFate::leaves, 1}};
  for (std::size_t at = 0; at < rows.size(); ++at) {
    SCOPED_TRACE(at);
    ASSERT_EQ(asks[at].disrupted_groups.size(), 1U);
    const PlanDisruptedGroup& group = asks[at].disrupted_groups.front();
    EXPECT_EQ(group.running, rows[at].running);
    EXPECT_EQ(group.lost, 1);
    EXPECT_EQ(group.remaining, rows[at].running - 1);
    EXPECT_EQ(group.minimum, 2);
    EXPECT_EQ(group.fate, rows[at].fate);
    EXPECT_EQ(group.cost.pod_seconds, 3600 * rows[at].pods);
    EXPECT_EQ(asks[at].cost.gpu_seconds, 7200 * rows[at].pods);
  }
  EXPECT_EQ(losses.total().pod_seconds, 3 * 3600) << "g-2 was stopped, then it left: lost once";
}

TEST(Losses, AGangThatWasBelowItsMinimumStopsNoMore) {
  const ShortWorld scene(R"(
    node n1 gpu=8
    gang g x2 min=3 gpu=1 p=1 started=11:00 @n1
  )");
  Losses losses(scene.world);
  PlanAsk ask = ask_with_victims({"g-0"});
  losses.add(ask, no_time);
  EXPECT_EQ(ask.disrupted_groups.front().fate, GroupFate::degraded);
  EXPECT_EQ(ask.cost.pod_seconds, 3600) << "g-1 did nothing that could be lost";
}

TEST(Losses, ABasicGroupHasNoMinimumAndLeavingMembersDoNotRun) {
  const ShortWorld scene(R"(
    node n1 gpu=8
    group b p=1
    pod b-0 @n1 group=b started=11:00
    pod b-1 @n1 group=b started=11:00
    pod b-2 @n1 group=b started=11:00 deleted=12:00:10
    pod b-3 group=b
  )");
  Losses losses(scene.world);
  PlanAsk ask = ask_with_victims({"b-0"});
  losses.add(ask, no_time);
  const PlanDisruptedGroup& group = ask.disrupted_groups.front();
  EXPECT_EQ(group.running, 2);
  EXPECT_EQ(group.minimum, 0);
  EXPECT_EQ(group.fate, GroupFate::runs_on);
  EXPECT_EQ(ask.cost.pod_seconds, 3600);
}

TEST(Losses, GroupsOfOneAskAreByName) {
  const ShortWorld scene(R"(
    node n1 gpu=8
    group z p=1
    group a p=1
    pod z-0 @n1 group=z
    pod a-0 @n1 group=a
  )");
  Losses losses(scene.world);
  PlanAsk ask = ask_with_victims({"z-0", "a-0"});
  losses.add(ask, no_time);
  ASSERT_EQ(ask.disrupted_groups.size(), 2U);
  EXPECT_EQ(ask.disrupted_groups[0].name, "a");
  EXPECT_EQ(ask.disrupted_groups[1].name, "z");
}

// A unit that stops when it loses a pod (docs/workload-kinds.md, `loss-units`).
TEST(Losses, StoppedPodsAreThoseThatNoAskEvicts) {
  const ShortWorld scene(R"(
    node n1 gpu=8
    pod job-{0..2} @n1 started=11:00 makeway:loss-units="JobSet job;workers;0"
  )");
  Losses losses(scene.world);
  std::vector<PlanAsk> asks = {ask_with_victims({"job-0"}), ask_with_victims({"job-1"})};
  for (PlanAsk& ask : asks) losses.add(ask, no_time);
  losses.close();
  ASSERT_EQ(asks[0].stopped_units.size(), 1U);
  EXPECT_EQ(asks[0].stopped_units.front().lost, 1);
  EXPECT_EQ(asks[0].stopped_units.front().stopped, 2);
  EXPECT_EQ(asks[0].stopped_pods, 1) << "job-2; job-1 leaves for the second ask";
  EXPECT_EQ(asks[1].stopped_pods, 0) << "job-2 is the first ask's";
  EXPECT_EQ(losses.total().pod_seconds, 3 * 3600);
}

}  // namespace
}  // namespace makeway
