// Plans for replicas (SPEC section 4): for each rule a good one that passes and a broken one that
// is caught.
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "judge/check_plan.hpp"
#include "model/names.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

constexpr std::string_view gpu = "nvidia.com/gpu";

Node gpu_node(std::string name, std::int64_t gpus, std::string plane = "eu") {
  return {.name = std::move(name),
          .labels = {{std::string(names::plane), std::move(plane)}},
          .allocatable = {{std::string(gpu), gpus}, {"pods", 110}}};
}

/// A pod of deployment "low" is called "low-1".
Pod replica(const std::string& name, std::string node, std::int64_t gpus = 1,
            Time created = Time{1000}) {
  return {.namespace_name = "default",
          .name = name,
          .uid = "uid-" + name,
          .labels = {{std::string(names::deployment), name.substr(0, name.find('-'))}},
          .node = std::move(node),
          .requests = {{std::string(gpu), gpus}},
          .created = created,
          .started = created,
          .ready = true};
}

Pod terminating(Pod pod, std::int64_t from_now_s, std::int32_t grace_s = 30) {
  pod.deletion = Time{now.ms + from_now_s * 1000};
  pod.deletion_grace_seconds = grace_s;
  return pod;
}

ReplicaSchedule schedule(std::string name, std::int32_t priority, std::int64_t committed,
                         std::int64_t unmet = 0, std::int64_t gpus = 1) {
  ReplicaSchedule result{.namespace_name = "default",
                         .name = std::move(name),
                         .priority = priority,
                         .requests = {{std::string(gpu), gpus}},
                         .unmet = unmet,
                         .planes = {{.name = "eu", .committed = committed}}};
  normalize(result);
  return result;
}

struct Taken {
  std::string name;
  ReplicaClass victim_class = ReplicaClass::committed;
  ReplicaAction action = ReplicaAction::scale_down;
};
Taken waits_for(std::string name, ReplicaClass victim_class) {
  return {std::move(name), victim_class, ReplicaAction::wait};
}
Taken forced(std::string name) {
  return {std::move(name), ReplicaClass::terminating, ReplicaAction::force_delete};
}

struct FleetScene : Scene {
  using Scene::Scene;

  const ReplicaSchedule& of(const std::string& name) const {
    return cluster.own<ReplicaSchedule>().at({"default", name});
  }

  PlanAsk& asks(const std::string& name, Outcome outcome) {
    PlanAsk entry{.kind = AskKind::replica_schedule,
                  .namespace_name = "default",
                  .name = name,
                  .priority = *of(name).priority,
                  .outcome = outcome,
                  .reason = "so it is"};
    entry.replicas = PlanReplicas{.deployment = name,
                                  .resource = std::string(gpu),
                                  .unmet = of(name).unmet,
                                  .without = of(name).unmet};
    plan.asks.push_back(std::move(entry));
    return plan.asks.back();
  }

  PlanReplicaVictim victim(const Taken& taken) {
    const Pod pod = cluster.pod(*cluster.find_pod("default", taken.name));
    const std::string deployment = taken.name.substr(0, taken.name.find('-'));
    PlanReplicaVictim result{.namespace_name = "default",
                             .name = taken.name,
                             .uid = pod.uid,
                             .deployment = deployment,
                             .priority = *of(deployment).priority,
                             .victim_class = taken.victim_class,
                             .action = taken.action,
                             .amount = pod.requests.front().amount,
                             .reason = "it leaves",
                             .cause_rule = "replica: nearest to leaving",
                             .cause_alternative = "no other node",
                             .cause_key = "only candidate"};
    if (taken.action == ReplicaAction::scale_down) {
      const std::int64_t before = of(deployment).planes.front().committed - steps[deployment]++;
      result.committed_before = before;
      result.committed_after = before - 1;
      plan.actions.push_back({.type = ActionType::scale_down,
                              .namespace_name = "default",
                              .name = deployment,
                              .scale = PlanScale{"eu", before, before - 1}});
    }
    if (taken.action == ReplicaAction::force_delete) {
      plan.actions.push_back({.type = ActionType::force_delete,
                              .namespace_name = "default",
                              .name = taken.name,
                              .uid = pod.uid,
                              .node = pod.node});
    }
    return result;
  }

  /// A new claim of an ask whose entry is there.
  PlanReplicaClaim& claims(PlanAsk& ask, const std::string& node,
                           std::initializer_list<Taken> victims) {
    PlanReplicaClaim claim{
        .plane = "eu", .node = node, .since = now, .needed = of(ask.name).requests.front().amount};
    for (const Taken& each : victims) claim.victims.push_back(victim(each));
    ask.replicas->without -= 1;
    ask.replicas->claims.push_back(std::move(claim));
    return ask.replicas->claims.back();
  }

  void scales_up(PlanAsk& ask, std::initializer_list<PlanExpectedNode> nodes) {
    PlanScaleUp item{.plane = "eu", .expected = nodes};
    item.committed_before = item.committed_after = of(ask.name).planes.front().committed;
    for (const PlanExpectedNode& node : nodes) item.committed_after += node.replicas;
    ask.replicas->without -= item.committed_after - item.committed_before;
    plan.actions.push_back({.type = ActionType::scale_up,
                            .namespace_name = "default",
                            .name = ask.name,
                            .scale = PlanScale{"eu", item.committed_before, item.committed_after}});
    ask.replicas->scale_ups.push_back(std::move(item));
  }

  /// With the status and the net schedule that an honest planner leaves.
  Laws laws() {
    write_net_schedule(cluster, plan);
    return laws_as_reported();
  }
  Laws laws_as_reported() {
    plan.replica_status.clear();
    for (const PlanAsk& ask : plan.asks) {
      if (!ask.replicas) continue;
      PlanReplicaStatus next{.namespace_name = "default", .name = ask.name};
      for (const PlanReplicaClaim& claim : ask.replicas->claims) {
        ReplicaClaim kept{.since = claim.since, .plane = claim.plane, .node = claim.node};
        for (const PlanReplicaVictim& each : claim.victims) {
          ClaimedVictim known{.namespace_name = each.namespace_name,
                              .name = each.name,
                              .uid = each.uid,
                              .deployment = each.deployment,
                              .committed = each.committed_after};
          if (lost.contains(each.name)) known.committed = 1;
          if (each.action == ReplicaAction::force_delete) known.force_deleted = now;
          kept.victims.push_back(std::move(known));
        }
        next.status.claims.push_back(std::move(kept));
      }
      next.status.missed = missed;
      plan.replica_status.push_back(std::move(next));
    }
    Laws broken;
    for (const LawBreach& breach : check_plan(cluster, configuration, plan)) {
      broken.push_back(breach.law);
    }
    broken.erase(std::ranges::unique(broken).begin(), broken.end());
    return broken;
  }

  std::vector<MissedVictim> missed;
  std::set<std::string> lost;  ///< Victims by scale-down of an earlier cycle.
  std::map<std::string, std::int64_t> steps;
};

// ---- Normal phase -------------------------------------------------------------------------------

TEST(CheckPlanReplicas, NodesGiveWhatTheyHave) {  // law 3
  FleetScene scene(gpu_node("n1", 2), schedule("high", 100, 0, 2), schedule("low", 10, 1),
                   replica("low-1", "n1"));
  PlanAsk& ask = scene.asks("high", Outcome::not_found);
  scene.scales_up(ask, {{"n1", 1}});
  EXPECT_EQ(scene.laws(), Laws{});
  ask.replicas->scale_ups.clear();
  ask.replicas->without = 2;
  ask.outcome = Outcome::fits;
  scene.plan.actions.clear();
  scene.scales_up(ask, {{"n1", 2}});
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanReplicas, ReplicasOnTheirWayKeepTheirRoom) {  // law 3
  FleetScene scene(gpu_node("n1", 2), schedule("high", 100, 0, 1), schedule("low", 10, 2),
                   replica("low-1", "n1"));
  scene.scales_up(scene.asks("high", Outcome::fits), {{"n1", 1}});
  EXPECT_EQ(scene.laws(), Laws{3});
  scene.cluster.apply(schedule("low", 10, 1));
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanReplicas, OnlyOpenNodesOfThePlane) {  // law 3
  FleetScene scene(gpu_node("n1", 2), gpu_node("n2", 2, "us"), schedule("high", 100, 0, 1));
  PlanAsk& ask = scene.asks("high", Outcome::fits);
  scene.scales_up(ask, {{"n1", 1}});
  EXPECT_EQ(scene.laws(), Laws{});
  ask.replicas->scale_ups.front().expected = {{"n2", 1}};
  EXPECT_EQ(scene.laws(), Laws{3});
  ask.replicas->scale_ups.front().expected = {{"n1", 1}};
  Node cordoned = gpu_node("n1", 2);
  cordoned.unschedulable = true;
  scene.cluster.apply(cordoned);
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanReplicas, FreeRoomGoesByPriority) {  // law 1
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("mid", 50, 0, 1));
  scene.asks("high", Outcome::not_found);
  scene.scales_up(scene.asks("mid", Outcome::fits), {{"n1", 1}});
  EXPECT_EQ(scene.laws(), Laws{1});
}

TEST(CheckPlanReplicas, AsksComeByPriority) {  // law 9
  FleetScene scene(gpu_node("n1", 2), schedule("high", 100, 0, 1), schedule("mid", 50, 0, 1));
  scene.scales_up(scene.asks("high", Outcome::fits), {{"n1", 1}});
  scene.scales_up(scene.asks("mid", Outcome::fits), {{"n1", 1}});
  EXPECT_EQ(scene.laws(), Laws{});
  std::swap(scene.plan.asks[0], scene.plan.asks[1]);
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanReplicas, NoShareGrowsWhereItHasSurplus) {  // law 8
  FleetScene scene(gpu_node("n1", 3), schedule("high", 100, 1, 1), replica("high-1", "n1"),
                   replica("high-2", "n1"));
  scene.scales_up(scene.asks("high", Outcome::fits), {{"n1", 1}});
  EXPECT_EQ(scene.laws(), Laws{8});
  scene.cluster.apply(Removal{ObjectKind::pod, "default", "high-2"});
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Preemption phase ---------------------------------------------------------------------------

/// One GPU each: low has three replicas, of which two may go.
template <class... Objects>
FleetScene three_nodes(const Objects&... objects) {
  return FleetScene(gpu_node("n1", 1), gpu_node("n2", 1), gpu_node("n3", 1),
                    schedule("high", 100, 0, 1), schedule("low", 10, 3), replica("low-1", "n1"),
                    replica("low-2", "n2"), replica("low-3", "n3"), objects...);
}

TEST(CheckPlanReplicas, NoPodLeavesForFreeRoom) {  // law 1
  FleetScene scene = three_nodes();
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(gpu_node("n4", 1));
  EXPECT_EQ(scene.laws(), Laws{1});
}

TEST(CheckPlanReplicas, NotFoundIsTrue) {  // law 10
  FleetScene scene = three_nodes();
  scene.asks("high", Outcome::not_found);
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(gpu_node("n4", 1));
  EXPECT_EQ(scene.laws(), Laws{10});
}

// SPEC 5: the pinned pod's request is held from when its victims are chosen, not before.
TEST(CheckPlanReplicas, ReservationWithoutVictimsHoldsNothing) {
  Pod boss = pod("boss", "n1", 2000, 0);
  boss.requests = {{std::string(gpu), 1}};
  Pod agent = pod("agent", "", 1000, 0);
  agent.requests = {{std::string(gpu), 2}};
  agent.notes.required_node = "n1";
  FleetScene scene(gpu_node("n1", 2), schedule("high", 100, 0, 1), boss, agent);
  PlanAsk& reserves = scene.ask("agent", Outcome::infeasible);
  reserves.reservation = PlanReservation{.node = "n1", .since = now};
  scene.plan.actions.push_back({.type = ActionType::reserve,
                                .namespace_name = "default",
                                .name = "agent",
                                .node = "n1",
                                .since = now});
  scene.asks("high", Outcome::not_found);
  EXPECT_EQ(scene.laws(), Laws{10});
}

TEST(CheckPlanReplicas, LowerPriorityOnly) {  // law 2
  FleetScene scene = three_nodes();
  scene.cluster.apply(schedule("low", 100, 3));
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanReplicas, ProtectedPodsStay) {  // laws 2 and 5
  FleetScene scene = three_nodes(group("ring", DisruptionMode::all));
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  Pod object = replica("low-3", "n3");
  object.opted_out = true;
  scene.cluster.apply(object);
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.cluster.apply(in_group(replica("low-3", "n3"), "ring"));
  EXPECT_EQ(scene.laws(), Laws{5});
}

TEST(CheckPlanReplicas, VictimsFreeEnough) {  // law 3
  FleetScene scene(gpu_node("n1", 3), schedule("high", 100, 0, 1, 3), schedule("low", 10, 4),
                   schedule("mid", 200, 1), gpu_node("n2", 2), replica("low-1", "n1"),
                   replica("low-2", "n1"), replica("mid-1", "n1"), replica("low-3", "n2"),
                   replica("low-4", "n2"));
  scene.claims(scene.asks("high", Outcome::preempts), "n1", {{"low-2"}, {"low-1"}});
  EXPECT_EQ(scene.laws(), Laws{3});
  scene.cluster.apply(schedule("high", 100, 0, 1, 2));
  scene.plan.asks[0].replicas->claims[0].needed = 2;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanReplicas, EveryVictimIsNeeded) {  // law 4
  FleetScene scene(gpu_node("n1", 2), schedule("high", 100, 0, 1), schedule("low", 10, 3),
                   gpu_node("n2", 1), replica("low-1", "n1"), replica("low-2", "n1"),
                   replica("low-3", "n2"));
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n1", {{"low-1"}, {"low-2"}});
  EXPECT_EQ(scene.laws(), Laws{4});
}

TEST(CheckPlanReplicas, NeverTheLastReplica) {  // law 2
  FleetScene scene = three_nodes();
  scene.cluster.apply(schedule("high", 100, 0, 3));
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n3", {{"low-3"}});
  scene.claims(ask, "n2", {{"low-2"}});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.claims(ask, "n1", {{"low-1"}});
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanReplicas, TheLastThatRunsStaysWhateverIsCommitted) {  // law 2
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("low", 10, 3),
                   replica("low-1", "n1"));
  scene.claims(scene.asks("high", Outcome::preempts), "n1", {{"low-1"}});
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanReplicas, TheLastSurplusOfCommitZeroStays) {  // law 2
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("low", 10, 0),
                   replica("low-1", "n1"));
  scene.claims(scene.asks("high", Outcome::waits), "n1",
               {waits_for("low-1", ReplicaClass::surplus)});
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.cluster.apply(gpu_node("n2", 1));
  scene.cluster.apply(replica("low-0", "n2"));
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanReplicas, NoPodIsTwoClaimsVictim) {  // law 8
  FleetScene scene = three_nodes();
  scene.cluster.apply(schedule("high", 100, 0, 2));
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n3", {{"low-3"}});
  scene.claims(ask, "n3", {});
  ask.replicas->claims[1].victims = ask.replicas->claims[0].victims;
  EXPECT_EQ(scene.laws(), (Laws{3, 8}));
}

TEST(CheckPlanReplicas, WhatWasObtainedIsNoVictim) {  // law 8
  FleetScene scene(gpu_node("n1", 2), gpu_node("n2", 1), gpu_node("n3", 1),
                   schedule("high", 100, 0, 1, 2), schedule("mid", 50, 3, 1),
                   replica("mid-1", "n1"), replica("mid-2", "n1"), replica("mid-3", "n3"));
  scene.plan.asks.reserve(2);
  PlanAsk& high = scene.asks("high", Outcome::not_found);
  PlanAsk& mid = scene.asks("mid", Outcome::fits);
  scene.scales_up(mid, {{"n2", 1}});
  EXPECT_EQ(scene.laws(), Laws{});
  high.outcome = Outcome::preempts;
  scene.claims(high, "n1", {{"mid-2"}, {"mid-1"}});
  mid.replicas->out_for = "ReplicaSchedule default/high";
  mid.replicas->out_plane = "eu";
  EXPECT_EQ(scene.laws(), Laws{8});
}

TEST(CheckPlanReplicas, AScheduleThatLostIsOut) {  // law 8
  FleetScene scene = three_nodes(schedule("tiny", 1, 2), gpu_node("n4", 1), gpu_node("n5", 1),
                                 replica("tiny-1", "n4"), replica("tiny-2", "n5"));
  ReplicaSchedule low = schedule("low", 10, 3, 1);
  scene.cluster.apply(low);
  scene.cluster.apply(replica("tiny-2", "n5", 1, Time{2000}));
  scene.cluster.apply(terminating(replica("low-3", "n3"), 20));
  scene.cluster.apply(schedule("low", 10, 2, 1));
  scene.claims(scene.asks("high", Outcome::waits), "n3",
               {waits_for("low-3", ReplicaClass::terminating)});
  scene.plan.asks[0].replicas->claims[0].victims[0].force_delete_from = Time{now.ms + 20'000};
  scene.claims(scene.asks("low", Outcome::preempts), "n5", {{"tiny-2"}});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.lost.insert("low-3");  // It left because its deployment was scaled down for high.
  EXPECT_EQ(scene.laws(), (Laws{8, 9}));
  scene.plan.asks[1].replicas->claims.clear();
  scene.plan.asks[1].replicas->without = 1;
  scene.plan.asks[1].outcome = Outcome::waits;
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.asks[1].replicas->out_for = "ReplicaSchedule default/high";
  scene.plan.asks[1].replicas->out_plane = "eu";
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Classes ------------------------------------------------------------------------------------

TEST(CheckPlanReplicas, ClassAndActionAgree) {  // laws 2 and 9
  FleetScene scene = three_nodes();
  scene.cluster.apply(schedule("low", 10, 2));  // low-3 is surplus.
  PlanAsk& ask = scene.asks("high", Outcome::waits);
  scene.claims(ask, "n3", {waits_for("low-3", ReplicaClass::surplus)});
  EXPECT_EQ(scene.laws(), Laws{});
  PlanReplicaVictim& victim = ask.replicas->claims[0].victims[0];
  victim.victim_class = ReplicaClass::committed;
  EXPECT_EQ(scene.laws(), Laws{9});
  victim.victim_class = ReplicaClass::surplus;
  victim.action = ReplicaAction::force_delete;
  EXPECT_EQ(scene.laws(), (Laws{2, 9}));
}

TEST(CheckPlanReplicas, TheClassComesBeforePriority) {  // law 6
  FleetScene scene = three_nodes(schedule("near", 90, 1), gpu_node("n4", 1));
  scene.cluster.apply(terminating(replica("near-1", "n4"), 20));
  scene.cluster.apply(schedule("near", 90, 0));
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), Laws{6});
}

TEST(CheckPlanReplicas, TiesDecide) {  // law 6
  FleetScene scene = three_nodes();
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n2", {{"low-2"}});
  EXPECT_EQ(scene.laws(), Laws{6});  // The higher name.
  scene.cluster.apply(replica("low-2", "n2", 1, Time{2000}));
  EXPECT_EQ(scene.laws(), Laws{});  // Newer.
  scene.cluster.apply(schedule("less", 5, 2));
  scene.cluster.apply(gpu_node("n4", 2));
  scene.cluster.apply(replica("less-1", "n4"));
  scene.cluster.apply(replica("less-2", "n4"));
  EXPECT_EQ(scene.laws(), Laws{6});  // Lower priority.
}

TEST(CheckPlanReplicas, OnOneNodeTheLeastIntrusiveGo) {  // law 9
  FleetScene scene(gpu_node("n1", 3), schedule("high", 100, 0, 1, 2), schedule("low", 10, 2),
                   schedule("less", 5, 3), gpu_node("n2", 2), replica("low-1", "n1"),
                   replica("less-1", "n1"), replica("less-2", "n1"), replica("less-3", "n2"),
                   replica("low-2", "n2"));
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n1", {{"less-2"}, {"low-1"}});
  EXPECT_EQ(scene.laws(), Laws{9});
  ask.replicas->claims.clear();
  ask.replicas->without = 1;
  scene.plan.actions.clear();
  scene.steps.clear();
  scene.claims(ask, "n1", {{"less-2"}, {"less-1"}});
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanReplicas, ForceDeletionHasItsTime) {  // law 2
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("low", 10, 0));
  scene.cluster.apply(terminating(replica("low-1", "n1"), 0));
  PlanAsk& ask = scene.asks("high", Outcome::waits);
  scene.claims(ask, "n1", {forced("low-1")});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(terminating(replica("low-1", "n1"), 1));
  EXPECT_EQ(scene.laws(), (Laws{2, 9}));
  scene.configuration.replica.force_delete_after = ForceDeleteAfter::next_cycle;
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.replica.force_delete_extra_delay = Duration{29'000};
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.replica.force_delete_extra_delay = Duration{29'001};
  EXPECT_EQ(scene.laws(), (Laws{2, 9}));
}

/// Its group does not keep pods that it cannot keep.
TEST(CheckPlanReplicas, ATerminatingPodIsForceDeletedWhateverItsGroup) {  // law 9
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("low", 10, 0),
                   group("ring", DisruptionMode::all));
  scene.cluster.apply(in_group(terminating(replica("low-1", "n1"), 0), "ring"));
  PlanAsk& ask = scene.asks("high", Outcome::waits);
  scene.claims(ask, "n1", {forced("low-1")});
  EXPECT_EQ(scene.laws(), Laws{});
  ask.replicas->claims.clear();
  ask.replicas->without = 1;
  scene.plan.actions.clear();
  scene.claims(ask, "n1", {waits_for("low-1", ReplicaClass::terminating)});
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanReplicas, ForceDeletionOfLowerPriorityOnly) {  // law 2
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("same", 100, 0));
  scene.cluster.apply(terminating(replica("same-1", "n1"), -10));
  PlanAsk& ask = scene.asks("high", Outcome::waits);
  scene.claims(ask, "n1", {forced("same-1")});
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.replica.force_delete_any_priority = true;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanReplicas, CreditEnds) {  // law 6
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("same", 100, 0));
  scene.cluster.apply(terminating(replica("same-1", "n1"), -59));
  scene.claims(scene.asks("high", Outcome::waits), "n1",
               {waits_for("same-1", ReplicaClass::terminating)});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(terminating(replica("same-1", "n1"), -60));
  EXPECT_EQ(scene.laws(), Laws{6});
}

TEST(CheckPlanReplicas, SurplusThatDoesNotGoIsNotWaitedFor) {  // law 6
  FleetScene scene = three_nodes();
  ReplicaSchedule low = schedule("low", 10, 2);
  low.status.surplus = {{.name = "low-3", .since = Time{now.ms - 299'999}}};
  scene.cluster.apply(low);
  scene.claims(scene.asks("high", Outcome::waits), "n3",
               {waits_for("low-3", ReplicaClass::surplus)});
  EXPECT_EQ(scene.laws(), Laws{});
  low.status.surplus[0].since = Time{now.ms - 300'000};
  scene.cluster.apply(low);
  EXPECT_EQ(scene.laws(), Laws{6});
}

// ---- Over cycles, and the document --------------------------------------------------------------

TEST(CheckPlanReplicas, AClaimThatStandsIsKept) {  // law 7
  FleetScene scene = three_nodes(gpu_node("n4", 1), schedule("near", 90, 0));
  scene.cluster.apply(terminating(replica("near-1", "n4"), 20));
  ReplicaSchedule high = schedule("high", 100, 0, 1);
  high.status.claims = {{.since = Time{1},
                         .plane = "eu",
                         .node = "n4",
                         .victims = {{.namespace_name = "default", .name = "near-1"}}}};
  scene.cluster.apply(high);
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), (Laws{6, 7}));
}

MissedVictim missed_on(std::string node, std::int64_t committed) {
  return {.plane = "eu",
          .node = std::move(node),
          .namespace_name = "default",
          .deployment = "low",
          .committed = committed};
}

TEST(CheckPlanReplicas, ASparedPodIsRemembered) {  // law 9
  FleetScene scene = three_nodes();
  ReplicaSchedule high = schedule("high", 100, 0, 1);
  // Lowered from 4 to 3 for low-1; another pod is gone.
  high.status.claims = {{.since = Time{1},
                         .plane = "eu",
                         .node = "n1",
                         .victims = {{.namespace_name = "default",
                                      .name = "low-1",
                                      .uid = "uid-low-1",
                                      .deployment = "low",
                                      .committed = 3}}}};
  scene.cluster.apply(high);
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.missed = {missed_on("n1", 4)};
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.missed = {missed_on("n1", 3)};
  EXPECT_EQ(scene.laws(), Laws{});
  scene.missed = {missed_on("n1", 3), missed_on("n2", 3)};
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanReplicas, WhatWasInVainIsNotRepeated) {  // law 7
  FleetScene scene = three_nodes();
  ReplicaSchedule high = schedule("high", 100, 0, 1);
  high.status.missed = {missed_on("n3", 3)};
  scene.cluster.apply(high);
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), Laws{9});  // Forgotten.
  scene.missed = {missed_on("n3", 3)};
  EXPECT_EQ(scene.laws(), Laws{});  // The commit is as low as that.
  high.status.missed = scene.missed = {missed_on("n3", 2)};
  scene.cluster.apply(high);
  EXPECT_EQ(scene.laws(), Laws{7});
}

TEST(CheckPlanReplicas, AnOverlookedScheduleIsReported) {
  FleetScene scene = three_nodes();
  ReplicaSchedule high = schedule("high", 100, 0, 1);
  scene.claims(scene.asks("high", Outcome::preempts), "n2", {{"low-2"}});
  EXPECT_EQ(scene.laws(), Laws{6});  // low-3 comes before.
  high.status.missed = scene.missed = {missed_on("n3", 2)};
  scene.cluster.apply(high);
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanReplicas, EveryVictimHasItsCause) {  // law 9
  FleetScene scene = three_nodes();
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n3", {{"low-3"}});
  PlanReplicaVictim& victim = ask.replicas->claims[0].victims[0];
  const PlanReplicaVictim honest = victim;
  for (std::string* const text : {&victim.reason, &victim.cause_rule, &victim.cause_alternative,
                                  &victim.cause_key, &victim.uid, &victim.deployment}) {
    text->clear();
    EXPECT_EQ(scene.laws(), Laws{9});
    victim = honest;
  }
  victim.committed_after = 1;
  EXPECT_EQ(scene.laws(), Laws{9});
  victim = honest;
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanReplicas, ActionsHaveTheirReason) {  // law 9
  FleetScene scene = three_nodes();
  scene.asks("high", Outcome::not_found);
  scene.plan.actions.push_back({.type = ActionType::scale_down,
                                .namespace_name = "default",
                                .name = "low",
                                .scale = PlanScale{"eu", 3, 2}});
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.actions[0] = {
      .type = ActionType::force_delete, .namespace_name = "default", .name = "low-1"};
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanReplicas, TheNetScheduleIsTheSumOfTheSteps) {  // law 9
  FleetScene scene = three_nodes();
  scene.claims(scene.asks("high", Outcome::preempts), "n3", {{"low-3"}});
  EXPECT_EQ(scene.laws(), Laws{});
  const Plan honest = scene.plan;
  const auto broken_by = [&](const std::function<void(Plan&)>& lie) {
    scene.plan = honest;
    lie(scene.plan);
    return scene.laws_as_reported();
  };
  EXPECT_EQ(broken_by([](Plan& plan) { plan.net_schedule.clear(); }), Laws{9});
  EXPECT_EQ(broken_by([](Plan& plan) { plan.net_schedule[0].unmet_after = 0; }), Laws{9});
  EXPECT_EQ(broken_by([](Plan& plan) { plan.net_schedule[0].planes[0].committed_after = 0; }),
            Laws{9});
  EXPECT_EQ(broken_by([](Plan& plan) { plan.net_schedule[0].planes[0].asks = {"Pod a/b"}; }),
            Laws{9});
  EXPECT_EQ(broken_by([](Plan& plan) { plan.status.clear(); }), Laws{9}) << "it is not reported";
}

TEST(CheckPlanReplicas, SeveralGpusGoWhereTheLeastImportantLose) {  // law 9
  // Half of n1 is leaving anyway, of high priority; n2 is full of what is dearer than low-1.
  FleetScene scene(gpu_node("n1", 2), gpu_node("n2", 2), gpu_node("n3", 1), gpu_node("n4", 2),
                   schedule("high", 100, 0, 1, 2), schedule("low", 10, 2), schedule("mid", 20, 2),
                   schedule("old", 90, 0), terminating(replica("old-1", "n1"), 20),
                   replica("low-1", "n1"), replica("low-2", "n3"), replica("mid-1", "n2", 2),
                   replica("mid-2", "n4", 2));
  PlanAsk& ask = scene.asks("high", Outcome::preempts);
  scene.claims(ask, "n1", {waits_for("old-1", ReplicaClass::terminating), {"low-1"}});
  ask.replicas->claims[0].victims[0].force_delete_from = Time{now.ms + 20'000};
  EXPECT_EQ(scene.laws(), Laws{});
  ask.replicas->claims.clear();
  ask.replicas->without = 1;
  scene.plan.actions.clear();
  scene.steps.clear();
  scene.claims(ask, "n2", {{"mid-1"}});
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanReplicas, InfeasibleIsProven) {  // law 10
  FleetScene scene(gpu_node("n1", 1), schedule("high", 100, 0, 1), schedule("low", 10, 1),
                   replica("low-1", "n1"));
  scene.asks("high", Outcome::infeasible);
  EXPECT_EQ(scene.laws(), Laws{10});  // The last replica stays, but that is no proof.
  scene.cluster.apply(schedule("low", 100, 1));
  EXPECT_EQ(scene.laws(), Laws{});
}

}  // namespace
}  // namespace makeway::scene
