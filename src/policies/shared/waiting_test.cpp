// Why an ask waits (SPEC section 1: `preemptionDelay`, law 6).
#include "policies/shared/waiting.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

std::string waited_for(const PlanAsk& ask) {
  std::string text;
  for (const PodPlacement& pod : ask.waits_for) text += pod.name + "@" + pod.node + " ";
  return text;
}

TEST(Waiting, TheDelayEndsAtItsLastSecond) {
  struct Row {
    std::int64_t delay_s;
    Time created;
    std::optional<Time> until;
  };
  for (const auto& [delay_s, created, until] : {
           Row{0, noon_plus(-1), std::nullopt}, Row{60, noon_plus(-30), noon_plus(30)},
           Row{60, noon_plus(-59), noon_plus(1)}, Row{60, noon_plus(-60), std::nullopt},
           Row{60, noon_plus(10), noon_plus(70)},  // Created ahead of our clock.
           Row{60, no_time, std::nullopt},         // Nothing is known: it has waited enough.
       }) {
    SCOPED_TRACE(testing::Message() << delay_s << " " << created.ms);
    Configuration rules;
    rules.engine.preemption_delay = Duration{delay_s * 1000};
    const ShortWorld scene("node n1 gpu=1", rules);
    PlanAsk ask;
    EXPECT_EQ(waits_out_delay(scene.world, created, ask), until.has_value());
    EXPECT_EQ(ask.waits_until, until);
    EXPECT_EQ(ask.outcome, until ? Outcome::waits : Outcome::infeasible);
    EXPECT_EQ(ask.reason.empty(), !until);
  }
}

constexpr std::string_view two_leave = R"(
node n1 gpu=2
pod b @n1 gpu=1 deleted=12:00:10
pod a @n1 gpu=1 deleted=12:00:10
pod ask gpu=2 p=5
)";

TEST(Waiting, WhatAnAskWaitsForIsItsOwnFromThenOn) {
  ShortWorld scene(two_leave);
  World& world = scene.world;
  PlanAsk ask;
  wait_for(world, scene.pods({"b", "a"}), ask);
  EXPECT_EQ(waited_for(ask), "a@n1 b@n1 ") << "by name";
  EXPECT_TRUE(world.is_taken(scene.pod("a")));
  EXPECT_TRUE(world.is_taken(scene.pod("b")));
}

TEST(Waiting, AnAskThatWaitsForNothing) {
  ShortWorld scene(two_leave);
  World& world = scene.world;
  PlanAsk ask;
  wait_for(world, {}, ask);
  EXPECT_TRUE(ask.waits_for.empty());
  EXPECT_FALSE(world.is_taken(scene.pod("a")));
}

TEST(Waiting, WhetherItFitsIsAskedAgainOnlyIfSomethingLeaves) {
  ShortWorld scene("node n1 gpu=2\npod stays @n1 gpu=1\npod gone @n1 gpu=1 deleted=12:00:10");
  World& world = scene.world;
  int asked = 0;
  const auto needs_stays = [&] {
    ++asked;
    return world.after().node_of(scene.pod("stays")).exists();
  };
  // `gone` has left the world already: its room is credited.
  EXPECT_TRUE(fits_without(world, scene.pods({"gone"}), needs_stays));
  EXPECT_TRUE(fits_without(world, {}, needs_stays));
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(fits_without(world, scene.pods({"gone", "stays"}), needs_stays));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(world.after().node_of(scene.pod("stays")).exists()) << "the world is as it was";
}

TEST(Waiting, APlaceThatDependsOnWhatLeavesIsNone) {
  ShortWorld scene(two_leave);
  World& world = scene.world;
  PlanAsk ask;
  ask.outcome = Outcome::waits;
  ask.placements.push_back({.namespace_name = "default", .name = "ask", .node = "n1"});
  needs_what_leaves(world, ask);
  EXPECT_EQ(ask.outcome, Outcome::not_found);
  EXPECT_TRUE(ask.placements.empty());
}

TEST(Waiting, TheReasonNamesPodsOrEarlierAsks) {
  PlanAsk ask;
  ask.placements.push_back({.namespace_name = "default", .name = "ask", .node = "n1"});
  EXPECT_EQ(waits_reason(ask).code, ReasonCode::fits_on_after_asks);
  ask.waits_for.push_back({.namespace_name = "default", .name = "a", .node = "n1"});
  EXPECT_EQ(waits_reason(ask).code, ReasonCode::fits_on_after_pods);
}

// kube-scheduler's rule: only pods of lower priority that a scheduler preempted hold a nomination,
// until `leaveTimeout` (60 s) has passed after their deletion time.
TEST(Waiting, PreemptedLeaversAreOfLowerPriorityAndNotStuck) {
  ShortWorld scene(R"(
    node n1 gpu=9
    node n2 gpu=9
    pod preempted @n1 p=1 deleted=12:00:10 condition=DisruptionTarget:True:PreemptionByScheduler
    pod equal @n1 p=5 deleted=12:00:10 condition=DisruptionTarget:True:PreemptionByScheduler
    pod deleted @n1 p=1 deleted=12:00:10
    pod runs @n1 p=1
    pod stuck @n1 p=1 deleted=11:58 condition=DisruptionTarget:True:PreemptionByScheduler
    pod elsewhere @n2 p=1 deleted=12:00:10 condition=DisruptionTarget:True:PreemptionByScheduler
  )");
  World& world = scene.world;
  EXPECT_EQ(scene.names(preempted_leavers(world, scene.node("n1"), 5)), "preempted");
  EXPECT_EQ(scene.names(preempted_leavers(world, scene.node("n1"), 1)), "");
  EXPECT_EQ(scene.names(preempted_leavers(world, scene.node("n1"), 6)), "equal preempted");
}

}  // namespace
}  // namespace makeway
