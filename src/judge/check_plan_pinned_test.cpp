// Plans for pinned asks (SPEC section 5): for each rule a good one that passes and a broken one
// that is caught.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "judge/check_plan.hpp"
#include "model/required_node.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

Pod pinned(Pod object, const std::string& node) {
  object.shape.node_terms = {
      {.labels = {},
       .fields = {{.key = "metadata.name", .operation = Operator::in, .values = {node}}}}};
  return object;
}

/// A full node, and a pinned pod that wants in.
template <class... Objects>
Scene full_node(const Objects&... objects) {
  return Scene(node("n1", 1000), node("n2", 9000), pinned(pod("agent", "", 100, 400), "n1"),
               objects...);
}

PlanAsk& reserves(Scene& scene, const std::string& name, Outcome outcome, Time since) {
  PlanAsk& entry = scene.ask(name, outcome);
  entry.reservation = PlanReservation{.node = "n1", .since = since};
  scene.plan.actions.push_back({.type = ActionType::reserve,
                                .namespace_name = "default",
                                .name = name,
                                .node = "n1",
                                .since = since});
  return entry;
}

TEST(RequiredNode, IsNamedByAffinityOrAnnotation) {
  const auto required = [](const Pod& object) {
    Scene scene(object);
    return std::string(required_node_of(scene.cluster, *scene.cluster.find_pod("default", "a")));
  };
  const Pod plain = pod("a", "", 0, 1);
  EXPECT_EQ(required(plain), "");
  EXPECT_EQ(required(pinned(plain, "n1")), "n1");
  Pod noted = pinned(plain, "n1");
  noted.notes.required_node = "n2";
  EXPECT_EQ(required(noted), "n2");
  Pod either = pinned(plain, "n1");  // One node or another.
  either.shape.node_terms.push_back(pinned(plain, "n2").shape.node_terms.front());
  EXPECT_EQ(required(either), "");
  Pod twice = pinned(plain, "n1");
  twice.shape.node_terms.push_back(twice.shape.node_terms.front());
  twice.shape.node_terms.back().labels = {{.key = "zone", .operation = Operator::exists}};
  EXPECT_EQ(required(twice), "n1");
  Pod not_there = pinned(plain, "n1");
  not_there.shape.node_terms.front().fields.front().operation = Operator::not_in;
  EXPECT_EQ(required(not_there), "");
}

TEST(CheckPlanPinned, RoomElsewhereMeansNothing) {  // law 1
  Scene scene = full_node(pod("low", "n1", 10, 1000));
  scene.ask("agent", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.required_node.enabled = false;
  EXPECT_EQ(scene.laws(), Laws{});  // It fits nowhere else either way.
}

TEST(CheckPlanPinned, EqualPriorityIsASetting) {  // law 2
  Scene scene = full_node(pod("peer", "n1", 100, 1000));
  scene.ask("agent", Outcome::preempts, "n1", {"peer"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.required_node.allow_equal_priority = false;
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.required_node.allow_equal_priority = true;
  scene.cluster.apply(pod("peer", "n1", 101, 1000));
  scene.plan.asks[0].victims[0].priority = 101;
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanPinned, PinnedPodsAreNeverVictims) {  // law 2
  Scene scene = full_node(pinned(pod("daemon", "n1", 10, 1000), "n7"));
  scene.ask("agent", Outcome::preempts, "n1", {"daemon"});
  EXPECT_EQ(scene.laws(), Laws{2});
  EXPECT_EQ(scene.breaches().front().text,
            "victim default/daemon may not be evicted: it can run on one node only");
}

TEST(CheckPlanPinned, OptedOutPodsAreAClass) {  // law 2
  Pod object = pod("low", "n1", 10, 1000);
  object.opted_out = true;
  Scene scene = full_node(object);
  scene.ask("agent", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.required_node.victim_classes = {"regular", "owner"};
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.protection.protect_opted_out = false;
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.required_node.victim_classes = {"owner"};
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanPinned, VictimsAreCounted) {  // law 2
  Scene scene = full_node(pod("a", "n1", 10, 300), pod("b", "n1", 10, 300));
  scene.cluster.apply(pod("c", "n1", 200, 400));
  scene.ask("agent", Outcome::preempts, "n1", {"a", "b"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.required_node.max_victims = 1;
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanPinned, NoPodLeavesBeforeTheStartDelay) {  // law 2; its age must exceed the delay
  Pod object = pinned(pod("agent", "", 100, 400), "n1");
  object.notes.reserved_since = Time{now.ms - 20'000};
  Scene scene(node("n1", 1000), object, pod("low", "n1", 10, 1000));
  scene.ask("agent", Outcome::preempts, "n1", {"low"});
  scene.configuration.required_node.preemption_start_delay = {19'999};
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.required_node.preemption_start_delay = {20'000};
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanPinned, NoPodLeavesInVain) {  // law 4
  Scene scene = full_node(pod("a", "n1", 10, 500), pod("b", "n1", 10, 500));
  scene.ask("agent", Outcome::preempts, "n1", {"a", "b"});
  EXPECT_EQ(scene.laws(), Laws{4});
  scene.configuration.engine.laws_waived = {WaivedLaw::law_4};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanPinned, LeavingRoomByItsOwnRule) {  // law 6
  Scene scene = full_node(leaving(pod("goes", "n1", 10, 500)), pod("low", "n1", 10, 500));
  scene.ask("agent", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), (Laws{4, 6}));
  scene.configuration.required_node.leaving_room = PinnedLeavingRoom::occupied;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanPinned, AReservationSaysTheTruth) {  // law 9
  Scene scene = full_node(pod("boss", "n1", 200, 1000));
  reserves(scene, "agent", Outcome::infeasible, now);
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.asks[0].reservation->since = Time{1};
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.asks[0].reservation->since = now;
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanPinned, AReservationAloneHoldsNothing) {  // section 5
  Scene scene = full_node(pod("boss", "n1", 200, 800), pinned(pod("other", "", 50, 150), "n1"));
  reserves(scene, "agent", Outcome::infeasible, now);
  scene.ask("other", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanPinned, APromisedReservationIsItsOwn) {  // section 5, law 7
  Pod agent = nominated(pinned(pod("agent", "", 100, 400), "n1"), "n1");
  agent.notes.reserved_since = now;
  Scene scene(node("n1", 1000), agent, pod("boss", "", 200, 800));
  scene.ask("boss", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
  agent.notes.promised = true;
  scene.cluster.apply(agent);
  EXPECT_EQ(scene.laws(), Laws{7});
}

TEST(CheckPlanPinned, FreedRoomIsItsOwnWhateverThePriority) {  // law 7
  const Pod agent = nominated(pinned(pod("agent", "", 100, 400), "n1"), "n1");
  Scene scene(node("n1", 1000), agent, pod("boss", "", 200, 800));
  scene.ask("boss", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{7});
}

TEST(CheckPlanPinned, PodsOfDaemonSetsStay) {  // law 2
  Pod log = pod("log", "n1", 0, 900);
  log.owners = {{.kind = "DaemonSet", .name = "log", .uid = "", .controller = true}};
  Scene scene = full_node(log);
  scene.ask("agent", Outcome::preempts, "n1", {"log"});
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.required_node.pinned_by = {PinnedBy::affinity};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanPinned, PinnedPodsTakeTurns) {  // law 7
  Pod other = nominated(pinned(pod("other", "", 100, 400), "n1"), "n1");
  Scene scene = full_node(pod("boss", "n1", 200, 500), other);
  scene.ask("agent", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{7});
  other.notes.reserved_since = now;
  scene.cluster.apply(other);
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanPinned, InfeasibleIsProven) {  // law 10
  Scene scene = full_node(pod("peer", "n1", 100, 1000));
  reserves(scene, "agent", Outcome::infeasible, now);
  EXPECT_EQ(scene.laws(), Laws{10});
  scene.configuration.required_node.allow_equal_priority = false;
  EXPECT_EQ(scene.laws(), Laws{});
}

}  // namespace
}  // namespace makeway::scene
