// Broken plans, law by law from 3 on: where asks go, which pods leave together, what the plan says.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "judge/check_plan.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

// ---- Law 3 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law3ThePlaceFitsNow) {
  Scene scene(node("n1", 1000), pod("a", "n1", 0, 400), pod("urgent", "", 100, 601));
  scene.ask("urgent", Outcome::fits, "n1");
  ASSERT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text, "default/urgent does not fit on node n1: resource cpu");
}

TEST(CheckPlan, Law3ThePlaceFitsWhenTheVictimsAreGone) {
  Scene scene(node("n1", 1000), pod("low-1", "n1", 10, 500), pod("low-2", "n1", 10, 500),
              pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"low-1"});
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlan, Law3RoomThatIsLeavingIsNotThereNow) {
  Scene scene(node("n1", 1000), leaving(pod("goes", "n1", 0, 600)), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlan, Law3TwoAsksDoNotShareRoom) {
  Scene scene(node("n1", 1000), pod("first", "", 100, 600), pod("second", "", 90, 600));
  scene.ask("first", Outcome::fits, "n1");
  scene.ask("second", Outcome::fits, "n1");
  ASSERT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().ask, "Pod default/second");
}

TEST(CheckPlan, Law3PlacementsMakeSense) {
  Scene scene(node("n1", 1000), pod("bound", "n1", 0, 1), pod("urgent", "", 100, 600),
              pod("named", "ghost", 0, 1));
  scene.ask("urgent", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
  for (const char* const name : {"n9", "ghost"}) {
    scene.plan.asks[0].placements[0].node = name;
    scene.plan.actions[0].node = name;
    EXPECT_EQ(scene.laws(), Laws{3}) << name;
  }
  scene.plan.asks[0].placements[0] = {.namespace_name = "default", .name = "bound", .node = "n1"};
  EXPECT_EQ(scene.laws(), (Laws{3, 9}));
}

TEST(CheckPlan, Law3OutcomesHaveTheirForm) {
  const auto laws_of = [](Outcome outcome, const char* on, bool with_victim) {
    Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("urgent", "", 100, 600));
    if (with_victim) {
      scene.ask("urgent", outcome, on, {"low"});
    } else {
      scene.ask("urgent", outcome, on);
    }
    return scene.laws();
  };
  EXPECT_EQ(laws_of(Outcome::preempts, "n1", true), Laws{});
  EXPECT_EQ(laws_of(Outcome::preempts, "n1", false), Laws{3});
  EXPECT_EQ(laws_of(Outcome::preempts, "", true), Laws{3});
  EXPECT_EQ(laws_of(Outcome::fits, "", false), Laws{3});
  EXPECT_EQ(laws_of(Outcome::not_found, "", false), Laws{});
  EXPECT_EQ(laws_of(Outcome::not_found, "n1", false), Laws{3});
  EXPECT_EQ(laws_of(Outcome::not_found, "", true), Laws{3});
}

TEST(CheckPlan, Law3AsksAndVictimsAreThere) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("pending", "", 10, 1),
              pod("urgent", "", 100, 600));
  PlanAsk& ask = scene.ask("urgent", Outcome::preempts, "n1", {"low", "low"});
  EXPECT_EQ(scene.laws(), Laws{3});
  ask.victims[1].name = "pending";
  scene.plan.actions[2].name = "pending";
  EXPECT_EQ(scene.laws(), Laws{3});
  ask.victims[1].name = "ghost";
  scene.plan.actions[2].name = "ghost";
  EXPECT_EQ(scene.laws(), Laws{3});
  scene.plan.asks = {{.namespace_name = "default", .name = "low", .outcome = Outcome::fits}};
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), Laws{3});
}

// ---- Law 4 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law4NotOneVictimTooMany) {
  Scene scene(node("n1", 1000), pod("low-1", "n1", 10, 500), pod("low-2", "n1", 10, 500),
              pod("urgent", "", 100, 500));
  scene.ask("urgent", Outcome::preempts, "n1", {"low-1", "low-2"});
  EXPECT_EQ(scene.laws(), Laws{4});
  EXPECT_EQ(scene.breaches().size(), 2U);
  scene.configuration.engine.laws_waived = {WaivedLaw::law_4_gangs};
  EXPECT_EQ(scene.laws(), Laws{4});
  scene.configuration.engine.laws_waived = {WaivedLaw::law_4};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law4AVictimElsewhereIsNotNeeded) {
  Scene scene(node("n1", 1000), node("n2", 100), pod("low", "n1", 10, 600),
              pod("far", "n2", 10, 100), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"low", "far"});
  EXPECT_EQ(scene.laws(), Laws{4});
}

TEST(CheckPlan, Law4AGangBelowItsMinimumGoesWhole) {
  PodGroup gang = group("g", DisruptionMode::single);
  gang.policy.gang = true;
  gang.policy.minimum = 2;
  Scene scene(gang, node("n1", 1000), node("n2", 1000), in_group(pod("g1", "n1", 10, 1000), "g"),
              in_group(pod("g2", "n2", 10, 1000), "g"), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"g1", "g2"});
  EXPECT_EQ(scene.laws(), Laws{4});
  gang.evict_below_minimum = true;
  scene.cluster.apply(gang);
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 5 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law5AWholeGroupOrNone) {
  Scene scene(node("n1", 1000), node("n2", 1000), group("g", DisruptionMode::all),
              in_group(pod("g1", "n1", 10, 1000), "g"), in_group(pod("g2", "n2", 10, 1000), "g"),
              in_group(leaving(pod("g3", "n2", 10, 0)), "g"),
              in_group(pod("g4", "", 10, 1000), "g"), pod("urgent", "", 100, 1000));
  scene.ask("urgent", Outcome::preempts, "n1", {"g1"});
  ASSERT_EQ(scene.laws(), Laws{5});
  EXPECT_EQ(scene.breaches().front().text,
            "victim default/g1 leaves and default/g2 of the same group stays");
  scene.cluster.apply(group("g", DisruptionMode::single));
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 6 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law6LeavingRoomIsCreditedFirst) {
  Scene scene(node("n1", 1000), node("n2", 1000), leaving(pod("goes", "n1", 500, 1000)),
              pod("low", "n2", 10, 1000), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n2", {"low"});
  EXPECT_EQ(scene.laws(), Laws{6});
  scene.configuration.engine.laws_waived = {WaivedLaw::law_6};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law6TheCreditEnds) {
  const auto laws_at = [](Time deletion) {
    Scene scene(node("n1", 1000), node("n2", 1000), leaving(pod("goes", "n1", 500, 1000), deletion),
                pod("low", "n2", 10, 1000), pod("urgent", "", 100, 600));
    scene.ask("urgent", Outcome::preempts, "n2", {"low"});
    return scene.laws();
  };
  EXPECT_EQ(laws_at(Time{now.ms - 59'999}), Laws{6});
  EXPECT_EQ(laws_at(Time{now.ms - 60'000}), Laws{});
  Scene waiting(node("n1", 1000), leaving(pod("goes", "n1", 500, 1000), Time{now.ms - 60'000}),
                pod("urgent", "", 100, 600));
  waiting.waits("urgent", "n1", "goes");
  EXPECT_EQ(waiting.laws(), (Laws{3, 6}));
}

TEST(CheckPlan, Law6NoPodIsEvictedTwice) {
  Scene scene(node("n1", 1000), leaving(pod("goes", "n1", 10, 1000)), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"goes"});
  EXPECT_EQ(scene.laws(), Laws{6});
  scene.configuration.engine.laws_waived = {WaivedLaw::law_6};
  scene.configuration.workload.leaving_room = LeavingRoom::victims;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law6VictimsOfEarlierAsksAreCreditedToo) {
  Scene scene(node("n1", 1000), node("n2", 400), pod("low", "n1", 10, 1000),
              pod("other", "n2", 10, 400), pod("first", "", 200, 600), pod("second", "", 100, 400));
  scene.ask("first", Outcome::preempts, "n1", {"low"});
  scene.ask("second", Outcome::preempts, "n2", {"other"});
  ASSERT_EQ(scene.laws(), Laws{6});
  EXPECT_EQ(scene.breaches().front().ask, "Pod default/second");
}

TEST(CheckPlan, Law6WhatIsWaitedForIsLeaving) {
  Scene scene(node("n1", 1000), leaving(pod("goes", "n1", 500, 600)), pod("stays", "n1", 0, 1),
              pod("urgent", "", 100, 600));
  PlanAsk& ask = scene.waits("urgent", "n1", "goes");
  EXPECT_EQ(scene.laws(), Laws{});
  for (const char* const name : {"stays", "ghost", "urgent"}) {
    ask.waits_for[0].name = name;
    EXPECT_EQ(scene.laws(), Laws{6}) << name;
  }
  ask.waits_for[0] = {.namespace_name = "default", .name = "goes", .node = "n2"};
  EXPECT_EQ(scene.laws(), Laws{6});
  ask.waits_for.clear();
  EXPECT_EQ(scene.laws(), Laws{6});
}

// ---- Law 7 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law7AValidNominationNeedsNoVictims) {
  Scene scene(node("n1", 1000), node("n2", 1000), leaving(pod("goes", "n1", 10, 1000)),
              pod("low", "n2", 10, 1000), nominated(pod("urgent", "", 100, 600), "n1"));
  scene.ask("urgent", Outcome::preempts, "n2", {"low"});
  EXPECT_EQ(scene.laws(), (Laws{6, 7}));
  scene.cluster.apply(node("n1", 500));  // Now it will never fit there.
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law7RoomNominatedToOthersIsTheirs) {
  const auto laws_against = [](std::int32_t priority) {
    Scene scene(node("n1", 1000), nominated(pod("holder", "", priority, 600), "n1"),
                pod("urgent", "", 100, 600));
    scene.ask("urgent", Outcome::fits, "n1");
    return scene.laws();
  };
  EXPECT_EQ(laws_against(99), Laws{});
  EXPECT_EQ(laws_against(100), Laws{7});
  EXPECT_EQ(laws_against(101), Laws{7});
}

TEST(CheckPlan, Law7EarlierAsksCountByTheirPlacesOnly) {
  Scene scene(node("n1", 1000), node("n2", 1000), nominated(pod("first", "", 200, 600), "n1"),
              nominated(pod("second", "", 100, 1000), "n1"));
  scene.ask("first", Outcome::fits, "n2");
  scene.ask("second", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law7PreemptedPodsHoldANominationWhereTheConfigurationSaysSo) {
  Pod goes = leaving(pod("goes", "n1", 10, 1000));
  goes.disrupted_by_preemption = true;
  Scene scene(node("n1", 1000), node("n2", 1000), goes, pod("low", "n2", 10, 1000),
              nominated(pod("urgent", "", 100, 600), "n1"));
  scene.configuration.engine.laws_waived = {WaivedLaw::law_6};
  scene.configuration.workload.leaving_room = LeavingRoom::victims;
  scene.configuration.workload.nomination_held_by = NominationHeldBy::preempted_pods;
  scene.waits("urgent", "n1", "goes");
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan = {.now = now};
  scene.ask("urgent", Outcome::preempts, "n2", {"low"});
  EXPECT_EQ(scene.laws(), Laws{7});
  Node cordoned = node("n1", 1000);
  cordoned.unschedulable = true;
  scene.cluster.apply(cordoned);
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 8 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law8AVictimServesOneAsk) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 1000), pod("first", "", 200, 500),
              pod("second", "", 100, 500));
  scene.ask("first", Outcome::preempts, "n1", {"low"});
  scene.ask("second", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), (Laws{6, 8}));
}

TEST(CheckPlan, Law8WhatThePlanPlacesIsNoVictim) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 1000), pod("first", "", 200, 500),
              pod("urgent", "", 100, 500));
  scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  PlanAsk& other = scene.ask("first", Outcome::fits, "n1");
  other.placements[0].name = "low";  // Which is bound already: law 3 as well.
  scene.plan.actions.back().name = "low";
  EXPECT_EQ(scene.laws(), (Laws{3, 8}));
}

TEST(CheckPlan, Law8EachAskOnce) {
  Scene scene(node("n1", 1000), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::fits, "n1");
  scene.ask("urgent", Outcome::not_found);
  EXPECT_EQ(scene.laws(), Laws{8});
}

TEST(CheckPlan, Law8APodIsPlacedOnce) {
  for (const Outcome outcome : {Outcome::fits, Outcome::waits}) {
    Scene scene(node("n1", 1000), leaving(pod("goes", "n1", 0, 100)), pod("urgent", "", 100, 300));
    for (int times = 0; times < 3; ++times) {
      PlanAsk& ask = scene.ask("urgent", outcome, "n1");
      ask.waits_for = {{.namespace_name = "default", .name = "goes", .node = "n1"}};
    }
    EXPECT_EQ(scene.laws(), Laws{8});
  }
}

// ---- Law 9 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law9EveryVictimHasItsCause) {
  const auto laws_without = [](auto&&... fields) {
    Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("urgent", "", 100, 600));
    PlanVictim& victim = scene.ask("urgent", Outcome::preempts, "n1", {"low"}).victims[0];
    ((victim.*fields = ""), ...);
    return scene.laws();
  };
  EXPECT_EQ(laws_without(), Laws{});
  EXPECT_EQ(laws_without(&PlanVictim::reason), Laws{9});
  EXPECT_EQ(laws_without(&PlanVictim::cause_for), Laws{9});
  EXPECT_EQ(laws_without(&PlanVictim::cause_rule), Laws{9});
  EXPECT_EQ(laws_without(&PlanVictim::cause_alternative), Laws{9});
  EXPECT_EQ(laws_without(&PlanVictim::cause_key), Laws{9});
  EXPECT_EQ(laws_without(&PlanVictim::uid), Laws{9});
  EXPECT_EQ(laws_without(&PlanVictim::node), Laws{9});
}

/// low-a runs for 999 s and holds 2 GPUs; low-b, of a gang of two, stated 60 s.
TEST(CheckPlan, Law9WhatIsLostIsRecounted) {
  PodGroup gang = group("gang", DisruptionMode::single);
  gang.policy.gang = true;
  gang.policy.minimum = 2;
  gang.preemption_cost_seconds = 60;
  Pod low_a = pod("low-a", "n1", 10, 500);
  low_a.requests.push_back({"nvidia.com/gpu", 2});
  low_a.requests.push_back({"nvidia.com/gpumem", 4000});
  Scene scene(node("n1", 1000), node("n2", 1000), gang, low_a,
              in_group(pod("low-b", "n1", 10, 500), "gang"),
              in_group(pod("stays", "n2", 10, 1000), "gang"), pod("urgent", "", 100, 1000));
  PlanAsk& ask = scene.ask("urgent", Outcome::preempts, "n1", {"low-a", "low-b"});
  ask.victims[0].cost = {.pod_seconds = 999, .gpu_seconds = 1998};
  ask.victims[1].cost = {.pod_seconds = 60};
  ask.disrupted_groups = {{.namespace_name = "default",
                           .name = "gang",
                           .lost = 1,
                           .running = 2,
                           .remaining = 1,
                           .minimum = 2,
                           .fate = GroupFate::degraded,
                           .cost = {.pod_seconds = 120}}};  // The gang stops: `stays` as well.
  ask.cost = {.pod_seconds = 1119, .gpu_seconds = 1998};
  scene.plan.cost = ask.cost;
  EXPECT_TRUE(scene.breaches_as_is().empty());
  const Plan right = scene.plan;
  const auto breaks = [&](const auto& change) {
    scene.plan = right;
    change(scene.plan);
    const std::vector<LawBreach> found = scene.breaches_as_is();
    return found.size() == 1 && found.front().law == 9;
  };
  EXPECT_TRUE(breaks([](Plan& plan) { plan.cost.gpu_seconds += 1; }));
  EXPECT_TRUE(breaks([](Plan& plan) { plan.asks[0].victims[0].cost.gpu_seconds = 0; }));
  EXPECT_TRUE(breaks([](Plan& plan) { plan.asks[0].disrupted_groups.clear(); }));
  EXPECT_TRUE(breaks([](Plan& plan) { plan.asks[0].disrupted_groups[0].lost = 2; }));
  EXPECT_TRUE(breaks([](Plan& plan) { plan.asks[0].disrupted_groups[0].minimum = 0; }));
  EXPECT_TRUE(
      breaks([](Plan& plan) { plan.asks[0].disrupted_groups[0].fate = GroupFate::runs_on; }));
  EXPECT_TRUE(breaks([](Plan& plan) { plan.asks[0].cost.pod_seconds = 1; }));
}

TEST(CheckPlan, Law9ActionsFollowFromTheEntries) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  const std::vector<PlanAction> right = scene.plan.actions;
  scene.plan.actions.push_back({.type = ActionType::wait, .name = "urgent"});
  EXPECT_EQ(scene.laws(), Laws{});
  for (const std::size_t left_out : {0U, 1U}) {
    scene.plan.actions = {right[left_out]};
    EXPECT_EQ(scene.laws(), Laws{9});
    scene.plan.actions = right;
    scene.plan.actions.push_back(right[left_out]);
    EXPECT_EQ(scene.laws(), Laws{9});
    scene.plan.actions = right;
    scene.plan.actions[left_out].node = "n2";
    EXPECT_EQ(scene.laws(), Laws{9});
  }
  scene.plan.actions = right;
  scene.plan.actions[0].type = ActionType::bind;
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.actions = right;
  scene.plan.actions[1].uid = "";
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.actions = right;
  scene.plan.actions[1].ask = pod_ref("default", "other");
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlan, Law9TheScoreIsTrue) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("urgent", "", 100, 600));
  PlanAsk& ask = scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  ask.score = {{.key = ScoreKey::victims, .value = 2}};
  EXPECT_EQ(scene.laws(), Laws{9});
  ask.score = {{.key = ScoreKey::highest_priority, .value = 11}};
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.configuration.workload.score_priority = ScorePriority::pod;
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 10 -------------------------------------------------------------------------------------

TEST(CheckPlan, Law10InfeasibleIsProven) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("high", "n1", 900, 400),
              pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::infeasible);
  ASSERT_EQ(scene.laws(), Laws{10});
  EXPECT_EQ(scene.breaches().front().text,
            "it is called infeasible, and fits on node n1 when 1 pods leave");
  scene.plan.asks[0].outcome = Outcome::not_found;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law10CountsOnlyPodsThatMayLeave) {
  const auto laws_with = [](const auto& change) {
    Pod low = pod("low", "n1", 10, 600);
    Pod urgent = pod("urgent", "", 100, 600);
    change(low, urgent);
    Scene scene(node("n1", 1000), low, urgent);
    scene.ask("urgent", Outcome::infeasible);
    return scene.laws();
  };
  EXPECT_EQ(laws_with([](Pod&, Pod&) {}), Laws{10});
  EXPECT_EQ(laws_with([](Pod& low, Pod&) { low.opted_out = true; }), Laws{});
  EXPECT_EQ(laws_with([](Pod& low, Pod&) { low.priority = 100; }), Laws{});
  EXPECT_EQ(laws_with([](Pod& low, Pod&) {
              low.priority = 100;
              low.deletion = now;
            }),
            Laws{10});
  EXPECT_EQ(laws_with([](Pod& low, Pod&) { low.deletion = Time{0}; }), Laws{});
  EXPECT_EQ(
      laws_with([](Pod&, Pod& urgent) { urgent.preemption_policy = PreemptionPolicy::never; }),
      Laws{});
  EXPECT_EQ(laws_with([](Pod&, Pod& urgent) { urgent.shape.unsupported = {"a volume"}; }), Laws{});
}

TEST(CheckPlan, Law10AWholeGroupStaysWithItsProtectedMember) {
  Pod kept = in_group(pod("g2", "n2", 10, 1000), "g");
  Scene scene(node("n1", 1000), node("n2", 10), group("g", DisruptionMode::all),
              in_group(pod("g1", "n1", 10, 1000), "g"), kept, pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::infeasible);
  EXPECT_EQ(scene.laws(), Laws{10});
  kept.opted_out = true;
  scene.cluster.apply(kept);
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law10ABoundProvesNothing) {
  Scene scene(node("n1", 100), pod("urgent", "", 100, 600));
  PlanAsk& ask = scene.ask("urgent", Outcome::infeasible);
  EXPECT_EQ(scene.laws(), Laws{});
  ask.bounds_reached = {"engine.victimStepsMax"};
  EXPECT_EQ(scene.laws(), Laws{10});
}

}  // namespace
}  // namespace makeway::scene
