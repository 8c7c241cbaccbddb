// Hand-made clusters and hand-written plans: good ones pass, and for each law a broken one is
// caught.
#include "judge/check_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

TEST(AskText, NamesKindAndObject) {
  EXPECT_EQ(ask_text(PlanAsk{.namespace_name = "a", .name = "b"}), "Pod a/b");
  EXPECT_EQ(ask_text(PlanAsk{.kind = AskKind::pod_group, .namespace_name = "a", .name = "b"}),
            "PodGroup a/b");
}

// ---- Law 9, SPEC section 7 ----------------------------------------------------------------------

TEST(CheckPlan, Law9WhatStopsWithTheVictimsIsReported) {
  Pod victim = pod("a", "n1", 0, 1000);
  Pod other = pod("b", "n2", 0, 500);
  victim.notes.loss_units = {{.unit = "JobSet default/train", .part = "Job a"}};
  other.notes.loss_units = {{.unit = "JobSet default/train", .part = "Job b"}};
  Scene scene(node("n1", 1000), node("n2", 1000), victim, other, pod("urgent", "", 100, 1000));
  PlanAsk& ask = scene.ask("urgent", Outcome::preempts, "n1", {"a"});
  fill_losses(scene.cluster, scene.configuration, scene.plan);
  const std::vector<LawBreach> silent = scene.breaches_as_is();
  ASSERT_FALSE(silent.empty());
  for (const LawBreach& breach : silent) EXPECT_EQ(breach.law, 9);
  const PlanCost cost{.pod_seconds = 999};
  ask.stopped_units = {{.namespace_name = "default",
                        .unit = "JobSet default/train",
                        .lost = 1,
                        .stopped = 1,
                        .cost = cost}};
  ask.cost = sum(ask.cost, cost);
  scene.plan.cost = sum(scene.plan.cost, cost);
  EXPECT_FALSE(scene.breaches_as_is().empty());
  ask.stopped_pods = 1;
  EXPECT_TRUE(scene.breaches_as_is().empty());
  ask.stopped_units.front().stopped = 2;
  EXPECT_FALSE(scene.breaches_as_is().empty());
}

// ---- Law 14 ------------------------------------------------------------------------------------

using Names = std::vector<AskName>;

AskName called(std::string name) {
  return {.kind = AskKind::pod, .namespace_name = "default", .name = std::move(name)};
}

TEST(CheckPlan, NamesTheAskThatBreaksALaw) {
  Scene scene(node("n1", 1000), pod("high", "n1", 500, 600), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"high"});
  const std::vector<LawBreach> breaches = scene.breaches();
  ASSERT_FALSE(breaches.empty());
  for (const LawBreach& breach : breaches) EXPECT_EQ(breach.asks, Names{called("urgent")});
}

TEST(CheckPlan, OfTwoConflictingAsksTheLaterIsNamed) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 1000), pod("first", "", 200, 600),
              pod("second", "", 100, 400));
  scene.ask("first", Outcome::preempts, "n1", {"low"});
  scene.ask("second", Outcome::preempts, "n1", {"low"});
  const std::vector<LawBreach> breaches = scene.breaches();
  const auto found = std::ranges::find(breaches, 8, &LawBreach::law);
  ASSERT_NE(found, breaches.end());
  EXPECT_EQ(found->asks, Names{called("second")});
}

TEST(CheckPlan, WhatConcernsTheWholePlanNamesNoAsk) {
  Scene scene(node("n1", 1000), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::fits, "n1");
  scene.plan.cost.pod_seconds = 7;
  const std::vector<LawBreach> breaches = scene.breaches_as_is();
  ASSERT_EQ(breaches.size(), 1U);
  EXPECT_EQ(breaches.front().asks, Names{});
}

TEST(CheckPlan, AnAskThatIsLeftOutKeepsItsNomination) {
  const auto laws_with = [](std::int32_t priority) {
    Scene scene(node("n1", 1000), nominated(pod("out", "", 100, 600), "n1"),
                pod("other", "", priority, 600));
    scene.plan.left_out = {{AskKind::pod, "default", "out", 3, "a bug"}};
    scene.ask("other", Outcome::fits, "n1");
    return scene.laws();
  };
  EXPECT_EQ(laws_with(100), Laws{7});
  EXPECT_EQ(laws_with(200), Laws{});
}

TEST(CheckPlan, AnAskThatIsLeftOutIsNotDecided) {
  Scene scene(node("n1", 1000), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::fits, "n1");
  scene.plan.left_out = {{AskKind::pod, "default", "urgent", 3, "a bug"}};
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlan, APlanThatIsWithheldIsEmpty) {
  Scene scene(node("n1", 1000), Queue{.name = "q"}, pod("urgent", "", 100, 600));
  scene.plan.withheld = "a bug";
  EXPECT_EQ(scene.laws(), Laws{});
  scene.ask("urgent", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{9});
}

// ---- Good plans ---------------------------------------------------------------------------------

TEST(CheckPlan, AnEmptyPlanBreaksNothing) { EXPECT_EQ(Scene().laws(), Laws{}); }

TEST(CheckPlan, AcceptsAPodThatFits) {
  Scene scene(node("n1", 1000), pod("a", "n1", 0, 400), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, AcceptsTheOneNeededVictim) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("mid", "n1", 20, 400),
              pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"low"}).score = {
      {.key = ScoreKey::highest_priority, .value = 10}, {.key = ScoreKey::victims, .value = 1}};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, AcceptsThatAnAskWaitsForLeavingRoom) {
  Scene scene(node("n1", 1000), leaving(pod("goes", "n1", 500, 600)), pod("urgent", "", 100, 600));
  scene.waits("urgent", "n1", "goes");
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, AcceptsThatAnAskWaitsForADelay) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::waits).waits_until = Time{now.ms + 1};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, AcceptsWhatIsProvenInfeasible) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("high", "n1", 900, 400),
              pod("urgent", "", 100, 700));
  scene.ask("urgent", Outcome::infeasible);
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, LaterAsksSeeWhatEarlierOnesGotAndFreed) {
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 1000), pod("first", "", 200, 600),
              pod("second", "", 100, 400), pod("third", "", 90, 1));
  scene.ask("first", Outcome::preempts, "n1", {"low"});
  scene.waits("second", "n1", "low");
  scene.ask("third", Outcome::infeasible);
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, WhatFitsNowLeavesRoomForLaterAsks) {
  const auto laws_with = [](std::int64_t cpu) {
    Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), pod("first", "", 200, 800),
                pod("second", "", 100, cpu));
    scene.ask("first", Outcome::preempts, "n1", {"low"});
    scene.ask("second", Outcome::fits, "n1");
    return scene.laws();
  };
  EXPECT_EQ(laws_with(200), Laws{});  // Beside low now, and beside first later.
  EXPECT_EQ(laws_with(201), Laws{3});
  EXPECT_EQ(laws_with(401), Laws{3});
}

TEST(CheckPlan, AcceptsAWholeGroupWhereverItRuns) {
  Scene scene(node("n1", 1000), node("n2", 1000), group("g", DisruptionMode::all),
              in_group(pod("g1", "n1", 10, 1000), "g"), in_group(pod("g2", "n2", 10, 500), "g"),
              pod("urgent", "", 100, 1000));
  scene.ask("urgent", Outcome::preempts, "n1", {"g1", "g2"});
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, GroupsAreJudgedByPlacesAndVictims) {
  PodGroup gang = group("gang", DisruptionMode::single);
  gang.priority.priority = 100;
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 1000), gang,
              in_group(pod("m1", "", 100, 500), "gang"), in_group(pod("m2", "", 100, 500), "gang"));
  PlanAsk& ask = scene.ask("m1", Outcome::preempts, "n1", {"low"});
  ask.kind = AskKind::pod_group;
  ask.name = "gang";
  ask.placements.push_back({.namespace_name = "default", .name = "m2", .node = "n1"});
  ask.victims[0].cause_for = "PodGroup default/gang";
  scene.plan.actions[1].ask = parse_ref("PodGroup default/gang");
  scene.plan.actions.push_back(
      {.type = ActionType::nominate, .namespace_name = "default", .name = "m2", .node = "n1"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(node("n1", 999));
  EXPECT_EQ(scene.laws(), Laws{3});
  ask.placements[1].node = "nowhere";
  EXPECT_EQ(scene.laws(), (Laws{3, 9}));
}

// ---- Law 1 --------------------------------------------------------------------------------------

TEST(CheckPlan, Law1NothingIsEvictedForAnAskThatFits) {
  Scene scene(node("n1", 1000), node("n2", 1000), pod("low", "n1", 10, 600),
              pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), Laws{1});
  EXPECT_EQ(scene.breaches().front().ask, "Pod default/urgent");
  EXPECT_EQ(scene.breaches().front().text, "it has victims, and fits on node n2");
  scene.configuration.engine.laws_waived = {WaivedLaw::law_1};
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 2 --------------------------------------------------------------------------------------

/// One node, one pod on it that `change` alters, and a plan that evicts it.
Scene evicting(const auto& change, std::int32_t priority = 10) {
  Pod victim = pod("low", "n1", priority, 600);
  change(victim);
  Scene scene(node("n1", 1000), victim, pod("urgent", "", 100, 600));
  scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  return scene;
}

TEST(CheckPlan, Law2EqualAndHigherPrioritiesAreNoVictims) {
  const auto as_it_is = [](Pod&) {};
  EXPECT_EQ(evicting(as_it_is, 99).laws(), Laws{});
  EXPECT_EQ(evicting(as_it_is, 100).laws(), Laws{2});
  EXPECT_EQ(evicting(as_it_is, 101).laws(), Laws{2});
}

TEST(CheckPlan, Law2ThePreemptionPriorityCountsWhereItIsHonoured) {
  Pod victim = pod("low", "n1", 10, 600);
  victim.notes.preemption_priority_class = "precious";
  Scene scene(PriorityClass{.name = "precious", .value = 100}, node("n1", 1000), victim,
              pod("urgent", "", 100, 600));
  PlanAsk& ask = scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.workload.honour_preemption_priority = false;
  ask.victims[0].priority = 10;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law2PrioritiesAreTheTrueOnes) {
  Scene scene = evicting([](Pod&) {});
  scene.plan.asks[0].priority = 101;
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.plan.asks[0].priority = 100;
  scene.plan.asks[0].victims[0].priority = 9;
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlan, Law2ProtectedPodsAreNoVictims) {
  EXPECT_EQ(evicting([](Pod& victim) { victim.mirror = true; }).laws(), Laws{2});
  EXPECT_EQ(evicting([](Pod& victim) { victim.opted_out = true; }).laws(), Laws{2});
  EXPECT_EQ(evicting([](Pod& victim) { victim.kept = KeptBy::other_scheduler; }).laws(), Laws{2});
  EXPECT_EQ(evicting([](Pod& victim) { victim.kept = KeptBy::two_budgets; }).laws(), Laws{2});
  EXPECT_EQ(evicting([](Pod& victim) { victim.is_protected = true; }).laws(), Laws{2});
  EXPECT_EQ(evicting([](Pod& victim) { victim.priority_class = "system-node-critical"; }).laws(),
            Laws{2});
  EXPECT_EQ(evicting([](Pod& victim) { victim.priority_class = "system-cluster-critical"; }).laws(),
            Laws{2});
}

TEST(CheckPlan, Law2ProtectionCanBeSwitchedOff) {
  Scene scene = evicting([](Pod& victim) {
    victim.mirror = true;
    victim.opted_out = true;
    victim.is_protected = true;
    victim.priority_class = "system-node-critical";
  });
  scene.configuration.protection.protect_mirror_pods = false;
  scene.configuration.protection.protect_opted_out = false;
  scene.configuration.protection.protect_system_critical = false;
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.workload.protect_marked_members = false;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlan, Law2NamespacesAndYoungPodsAreProtected) {
  Scene scene = evicting([](Pod&) {});
  scene.configuration.protection.minimum_runtime = Duration{now.ms - 1000};
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.protection.minimum_runtime = Duration{now.ms - 999};
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.protection.minimum_runtime = {};
  scene.configuration.protection.namespaces = {"default"};
  EXPECT_EQ(scene.laws(), Laws{2});
  Scene unstarted = evicting([](Pod& victim) { victim.started.reset(); });
  EXPECT_EQ(unstarted.laws(), Laws{});
  unstarted.configuration.protection.minimum_runtime = Duration{1};
  EXPECT_EQ(unstarted.laws(), Laws{2});
}

TEST(CheckPlan, Law2AGroupOptsOutForItsMembers) {
  PodGroup object = group("g", DisruptionMode::single);
  object.opted_out = true;
  Scene scene = evicting([](Pod& victim) { victim.group = "g"; });
  EXPECT_EQ(scene.laws(), Laws{});
  object.priority.priority = 10;
  scene.cluster.apply(object);
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlan, Law2AnAskThatNeverPreemptsHasNoVictims) {
  Pod ask = pod("urgent", "", 100, 600);
  ask.preemption_policy = PreemptionPolicy::never;
  Scene scene(node("n1", 1000), pod("low", "n1", 10, 600), ask);
  scene.ask("urgent", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlan, Law2TheDelayComesBeforeTheVictims) {
  Scene scene = evicting([](Pod&) {});
  scene.configuration.engine.preemption_delay = Duration{now.ms - 1000};
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.engine.preemption_delay = Duration{now.ms - 999};
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlan, Law2StrictBudgetsHoldForTheWholePlan) {
  DisruptionBudget budget{.namespace_name = "default", .name = "keep", .disruptions_allowed = 1};
  budget.selector = {{{.key = "app", .operation = Operator::exists}}};
  Scene scene(budget, node("n1", 600), node("n2", 600), pod("low-1", "n1", 10, 600),
              pod("low-2", "n2", 10, 600), pod("first", "", 100, 600), pod("second", "", 90, 600));
  scene.ask("first", Outcome::preempts, "n1", {"low-1"});
  scene.ask("second", Outcome::preempts, "n2", {"low-2"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.budgets.mode = BudgetMode::strict;
  ASSERT_EQ(scene.laws(), Laws{2});
  EXPECT_EQ(scene.breaches().front().ask, "Pod default/second");
  budget.disrupted_pods = {"low-2"};
  scene.cluster.apply(budget);
  EXPECT_EQ(scene.laws(), Laws{});
}

}  // namespace
}  // namespace makeway::scene
