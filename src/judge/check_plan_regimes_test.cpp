// Plans that cross regimes (SPEC section 1, "Regime of a node"): for each rule a good one that
// passes and a broken one that is caught.
#include <gtest/gtest.h>

#include <string>

#include "judge/check_plan.hpp"
#include "model/names.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

/// n1 belongs to sessions, n2 to replicas, n3 to pods.
template <class... Objects>
Scene three_regimes(const Objects&... objects) {
  Node plane = node("n2", 1000);
  plane.labels = {{std::string(names::plane), "east"}};
  return Scene(node("n1", 1000), plane, node("n3", 1000),
               ResourceGroup{.name = "servers", .nodes = {"n1"}}, objects...);
}

Pod tied_to(Pod object, const std::string& name) {
  object.notes.required_node = name;
  return object;
}

std::string first_text(const Scene& scene) {
  const std::vector<LawBreach> breaches = scene.breaches();
  return breaches.empty() ? std::string() : breaches.front().text;
}

TEST(CheckPlanRegimes, APodGoesToNodesOfPods) {
  for (const auto& [name, text] :
       {std::pair("n1", "default/a does not fit on node n1: regime sessions"),
        std::pair("n2", "default/a does not fit on node n2: regime replicas"),
        std::pair("n3", "")}) {
    Scene scene = three_regimes(pod("a", "", 10, 100));
    scene.ask("a", Outcome::fits, name);
    EXPECT_EQ(first_text(scene), text);
  }
}

TEST(CheckPlanRegimes, APodWithRoomInAnotherRegimeIsInfeasible) {
  Scene scene = three_regimes(pod("a", "", 10, 600), pod("stays", "n3", 10, 600));
  scene.ask("a", Outcome::infeasible);
  EXPECT_EQ(first_text(scene), "");
  scene.configuration.session.enabled = false;  // Then n1 belongs to pods.
  EXPECT_EQ(scene.laws(), Laws{10});
}

TEST(CheckPlanRegimes, ReplicasAreNoAsks) {
  Pod replica = pod("a", "", 10, 100);
  replica.labels = {{std::string(names::deployment), "web"}};
  Scene scene = three_regimes(
      replica, ReplicaSchedule{.namespace_name = "default", .name = "web", .deployment = "web"});
  scene.ask("a", Outcome::fits, "n3");
  EXPECT_EQ(first_text(scene), "there is no such pending unit");
}

TEST(CheckPlanRegimes, VictimsAreOnNodesOfTheRegime) {
  Scene scene =
      three_regimes(pod("a", "", 10, 600), pod("here", "n3", 0, 600), pod("there", "n1", 0, 600));
  scene.ask("a", Outcome::preempts, "n3", {"here"});
  EXPECT_EQ(first_text(scene), "");
  scene.plan.asks.front().victims.push_back(scene.victim("there", "a"));
  EXPECT_EQ(first_text(scene),
            "victim default/there is on a node of sessions, and nothing of it is on a node of "
            "pods");
}

TEST(CheckPlanRegimes, WhatLeavesWholeTakesItsPodsElsewhereAlong) {
  Scene scene = three_regimes(pod("a", "", 10, 600), group("g", DisruptionMode::all),
                              in_group(pod("here", "n3", 0, 600), "g"),
                              in_group(pod("there", "n1", 0, 600), "g"));
  PlanAsk& entry = scene.ask("a", Outcome::preempts, "n3", {"here", "there"});
  for (PlanVictim& victim : entry.victims) victim.unit = "PodGroup default/g";
  EXPECT_EQ(first_text(scene), "");
}

TEST(CheckPlanRegimes, APinnedPodCrossesAndPrecedesTheList) {
  Scene scene = three_regimes(tied_to(pod("agent", "", 0, 100), "n1"), pod("a", "", 10, 100));
  scene.ask("agent", Outcome::fits, "n1");
  scene.ask("a", Outcome::fits, "n3");
  EXPECT_EQ(first_text(scene), "");
  Scene late = three_regimes(tied_to(pod("agent", "", 0, 100), "n1"), pod("a", "", 10, 100));
  late.ask("a", Outcome::fits, "n3");
  late.ask("agent", Outcome::fits, "n1");
  EXPECT_EQ(first_text(late),
            "its node belongs to sessions, and it does not precede the other asks");
}

TEST(CheckPlanRegimes, AMemberOfAGroupIsNeverPinned) {
  Scene scene = three_regimes(group("g", DisruptionMode::single),
                              in_group(tied_to(pod("agent", "", 0, 100), "n1"), "g"));
  PlanAsk& entry = scene.ask("agent", Outcome::fits, "n1");
  entry.kind = AskKind::pod_group;
  entry.name = "g";
  EXPECT_EQ(first_text(scene), "its members are not all in one domain that it allows");
}

TEST(CheckPlanRegimes, ANominationToAnotherRegimeIsVoid) {
  // The pod that is nominated to n3 holds it; b is nominated to n1, which it has lost.
  Scene scene = three_regimes(pod("a", "", 10, 600), nominated(pod("b", "", 20, 600), "n1"));
  scene.ask("a", Outcome::fits, "n3");
  EXPECT_EQ(first_text(scene), "");
}

TEST(CheckPlanRegimes, APinnedPodLeavesWhatAClaimHolds) {
  ReplicaSchedule schedule{.namespace_name = "default",
                           .name = "web",
                           .deployment = "web",
                           .requests = {{"cpu", 800}},
                           .unmet = 1,
                           .planes = {{.name = "east"}}};
  schedule.status.claims = {{.since = Time{1000}, .plane = "east", .node = "n2", .victims = {}}};
  Scene scene = three_regimes(tied_to(pod("agent", "", 0, 300), "n2"), schedule);
  scene.ask("agent", Outcome::fits, "n2");
  EXPECT_EQ(first_text(scene), "default/agent does not fit on node n2: resource cpu");
  schedule.unmet = 0;  // The claim is void.
  scene.cluster.apply(schedule);
  EXPECT_EQ(first_text(scene), "");
}

}  // namespace
}  // namespace makeway::scene
