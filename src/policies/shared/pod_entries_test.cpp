// What a plan says about single pods: victims, holders, actions and conditions.
#include "policies/shared/pod_entries.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policies/shared/cluster_text.hpp"
#include "support/short_cluster.hpp"

namespace makeway {
namespace {

const Reason no_reason{.code = ReasonCode::as_written, .arguments = {"because"}};

/// Of the victims that a search may choose for an ask of priority 100.
VictimList victims_of(World& world, NodeIndex node) {
  VictimList list;
  world.rules().collect(world.after(), node, 100, list);
  return list;
}

TEST(PodEntries, AVictimNamesItsUnitAndWhatComesAlong) {
  ShortWorld scene(R"(
    node n1 gpu=8
    pod team/lone @n1 p=3 uid=u-1
    gang single x1 min=1 p=2 mode=single @n1
    gang whole x1 min=1 p=1 mode=all @n1
  )");
  World& world = scene.world;
  const VictimList list = victims_of(world, scene.node("n1"));
  ASSERT_EQ(list.units.size(), 3U);
  std::vector<std::string> units;
  for (const VictimUnit& unit : list.units) {
    const PlanVictim victim = victim_entry(scene.cluster, unit, unit.first, no_reason);
    units.push_back(
        fmt::format("{} {} {} {}", victim.unit, victim.priority, victim.node, victim.uid));
    const bool whole = victim.name == "whole-0";
    EXPECT_EQ(victim.reason == "because", !whole) << victim.reason;
  }
  std::ranges::sort(units);
  EXPECT_EQ(units,
            (std::vector<std::string>{"Pod team/lone 3 n1 u-1", "PodGroup default/single 2 n1 ",
                                      "PodGroup default/whole 1 n1 "}));
}

TEST(PodEntries, OnlyTheFirstTenSparedAreListed) {
  const ShortCluster scene("node n1 gpu=8\npod p-{1..9} @n1\npod q-{1..3} @n1");
  PlanExplanation explanation;
  for (const PodIndex pod : scene.cluster.each_pod()) {
    add_spared(scene.cluster, pod, 7, explanation);
  }
  ASSERT_EQ(explanation.spared.size(), 10U);
  EXPECT_EQ(explanation.spared.front().priority, 7);
}

TEST(PodEntries, AHolderHoldsWhatIsShortAndHasAReasonToStay) {
  ShortWorld scene("node n1 gpu=8 cpu=8\npod gpus @n1 gpu=1 p=9\npod cpus @n1 cpu=1");
  World& world = scene.world;
  PlanRefusal refusal;
  refusal.detail = "nvidia.com/gpu";
  add_holder(world, scene.pod("gpus"), std::nullopt, refusal);
  add_holder(world, scene.pod("cpus"), no_reason, refusal);
  EXPECT_TRUE(refusal.holders.empty());
  add_holder(world, scene.pod("gpus"), no_reason, refusal);
  ASSERT_EQ(refusal.holders.size(), 1U);
  EXPECT_EQ(refusal.holders.front().name, "gpus");
  EXPECT_EQ(refusal.holders.front().priority, 9);
  EXPECT_EQ(refusal.holders.front().why, "because");
}

TEST(PodEntries, AKernelIsNamedAfterItsSession) {
  ShortWorld scene(R"(
    node n1 gpu=8
    resourcegroup lab nodes=n1
    session team/train @n1 gpu=1 group=lab p=3 phase=running
  )");
  World& world = scene.world;
  PlanRefusal refusal;
  refusal.detail = "nvidia.com/gpu";
  for (const PodIndex row : scene.cluster.each_row()) add_holder(world, row, no_reason, refusal);
  ASSERT_EQ(refusal.holders.size(), 1U);
  EXPECT_EQ(refusal.holders.front().namespace_name, "team");
  EXPECT_EQ(refusal.holders.front().name, "train/main");
}

TEST(PodEntries, HoldersAreByPriorityThenNameEachOnceAtMostFive) {
  PlanRefusal refusal;
  for (const auto& [name, priority] : std::vector<std::pair<std::string, std::int32_t>>{
           {"b", 1}, {"a", 1}, {"c", 9}, {"b", 1}, {"e", 0}, {"d", 0}, {"z", -5}}) {
    PlanHolder holder;
    holder.name = name;
    holder.priority = priority;
    refusal.holders.push_back(std::move(holder));
  }
  sort_holders(refusal);
  std::string names;
  for (const PlanHolder& holder : refusal.holders) names += holder.name;
  EXPECT_EQ(names, "cabde");
  PlanRefusal none;
  sort_holders(none);
  EXPECT_TRUE(none.holders.empty());
}

TEST(PodEntries, WhatKeepsAPod) {
  EXPECT_FALSE(stay_reason({}).has_value());
  EXPECT_EQ(stay_reason({.code = ReasonCode::stays_mirror})->code, ReasonCode::stays_mirror);
  ReplicaSchedule schedule;
  schedule.name = "web";
  const auto scaled = stay_reason({.code = ReasonCode::stays_scaled_only, .schedule = &schedule});
  ASSERT_EQ(scaled->arguments.size(), 1U);
  EXPECT_EQ(std::get<std::string>(scaled->arguments.front().value()), "web");
}

// ---- Actions and conditions --------------------------------------------------------------------

PlanAsk placed_ask(Outcome outcome) {
  PlanAsk ask;
  ask.namespace_name = "default";
  ask.name = "ask";
  ask.outcome = outcome;
  ask.placements.push_back({.namespace_name = "default", .name = "ask", .node = "n1"});
  return ask;
}

TEST(PodEntries, AnEvictionComesWithItsConditionAndItsAsk) {
  const ShortCluster scene("node n1 gpu=8");
  PlanAsk ask = placed_ask(Outcome::preempts);
  Plan plan;
  add_evictions(scene.cluster, ask, plan);
  EXPECT_TRUE(plan.actions.empty());
  PlanVictim victim;
  victim.namespace_name = "default";
  victim.name = "low";
  victim.uid = "u";
  victim.node = "n1";
  ask.victims.push_back(victim);
  add_evictions(scene.cluster, ask, plan);
  ASSERT_EQ(plan.actions.size(), 1U);
  EXPECT_EQ(plan.actions.front().type, ActionType::evict);
  EXPECT_EQ(plan.actions.front().uid, "u");
  EXPECT_EQ(plan.actions.front().ask, pod_ref("default", "ask"));
  ASSERT_EQ(plan.status.size(), 1U);
  EXPECT_EQ(plan.status.front().condition, "DisruptionTarget");
  EXPECT_TRUE(plan.status.front().value);
}

TEST(PodEntries, PlacesAreBoundOnlyWhenTheAskFits) {
  const ShortCluster scene("node n1 gpu=8\npod ask uid=u-ask");
  struct Row {
    Outcome outcome;
    ActionType action;
    std::size_t conditions;
  };
  for (const auto& [outcome, action, conditions] :
       {Row{Outcome::fits, ActionType::bind, 0}, Row{Outcome::waits, ActionType::nominate, 1},
        Row{Outcome::preempts, ActionType::nominate, 1}}) {
    SCOPED_TRACE(choice_name(outcome));
    Plan plan;
    add_placements(scene.cluster, placed_ask(outcome), plan);
    add_wait(placed_ask(outcome), plan);
    add_unscheduled(placed_ask(outcome), "PodScheduled", plan);
    ASSERT_EQ(plan.actions.size(), 1U) << "an ask with a place gets no action `wait`";
    EXPECT_EQ(plan.actions.front().type, action);
    EXPECT_EQ(plan.actions.front().uid, "u-ask");
    EXPECT_EQ(plan.status.size(), conditions);
  }
}

TEST(PodEntries, OnlyAnAskThatWaitsWithoutAPlaceGetsTheActionWait) {
  for (const Outcome outcome : {Outcome::waits, Outcome::infeasible, Outcome::not_found}) {
    PlanAsk ask = placed_ask(outcome);
    ask.placements.clear();
    Plan plan;
    add_wait(ask, plan);
    EXPECT_EQ(plan.actions.size(), outcome == Outcome::waits ? 1U : 0U) << choice_name(outcome);
  }
}

TEST(PodEntries, APodThatIsNotThereHasNoUid) {
  const ShortCluster scene("node n1 gpu=8\npod ask uid=u-ask");
  EXPECT_EQ(uid_of(scene.cluster, {.namespace_name = "default", .name = "ask"}), "u-ask");
  EXPECT_EQ(uid_of(scene.cluster, {.namespace_name = "other", .name = "ask"}), "");
}

// ---- Texts and entries -------------------------------------------------------------------------

TEST(ClusterText, UnitsAndNodesByName) {
  const ShortCluster scene("node n1 gpu=1\ngang team/g x1 min=1\npod lone");
  EXPECT_EQ(unit_text(scene.cluster, scene.unit("team/g")), "PodGroup team/g");
  EXPECT_EQ(unit_text(scene.cluster, scene.unit("lone")), "Pod default/lone");
  EXPECT_EQ(pod_text(scene.cluster, scene.pod("team/g-0")), "Pod team/g-0");
  EXPECT_EQ(node_name(scene.cluster, scene.node("n1")), "n1");
}

TEST(ClusterText, PlacementsAreByNameEachOnce) {
  const ShortCluster scene("node n1 gpu=1\nnode n2 gpu=1\npod b @n1\npod a @n2\npod z/a @n1");
  const auto placements = placements_of(scene.cluster, scene.pods({"z/a", "b", "a", "b"}));
  std::string text;
  for (const PodPlacement& each : placements) {
    text += each.namespace_name + "/" + each.name + "@" + each.node + " ";
  }
  EXPECT_EQ(text, "default/a@n2 default/b@n1 z/a@n1 ");
  EXPECT_TRUE(placements_of(scene.cluster, {}).empty());
}

TEST(ClusterText, AnEntryStartsWithThePriorityOfTheUnit) {
  const ShortCluster scene("node n1 gpu=1\ngang g x1 min=1 p=70");
  const PlanAsk ask = start_pod_ask(scene.cluster, scene.pod("g-0"));
  EXPECT_EQ(ask.kind, AskKind::pod);
  EXPECT_EQ(ask.name, "g-0");
  EXPECT_EQ(ask.priority, 70) << "the group's priority counts (SPEC section 2)";
}

}  // namespace
}  // namespace makeway
