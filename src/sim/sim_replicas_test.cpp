// SPEC sections 4 and 9: replicas in the planes of the simulated world, by hand.
#include "sim/sim_replicas.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "model/names.hpp"
#include "sim/sim_world.hpp"

namespace makeway {
namespace {

SimLoad fleet_load() {
  SimLoad load;
  for (const std::string name : {"a1", "b1"}) {
    Node node{.name = name, .allocatable = {{"cpu", 4'000}, {"nvidia.com/gpu", 2}, {"pods", 10}}};
    node.labels = {{std::string(names::plane), name.substr(0, 1)}};
    load.objects.emplace_back(std::move(node));
  }
  load.tasks.push_back({.kind = TaskKind::replicas,
                        .name = "web",
                        .run = {60'000},
                        .pods = 2,
                        .requests = {{"nvidia.com/gpu", 1}}});
  return load;
}

Plan scale_plan(ActionType type, const std::string& plane, std::int64_t before,
                std::int64_t after) {
  Plan plan;
  plan.actions.push_back(
      {.type = type,
       .namespace_name = "default",
       .name = "web",
       .scale = PlanScale{.plane = plane, .committed_before = before, .committed_after = after}});
  return plan;
}

/// Where its pods are that do not leave.
std::vector<std::string> nodes_of_pods(const SimWorld& world) {
  std::vector<std::string> nodes;
  for (const Change& object : world.objects()) {
    const Pod* const pod = std::get_if<Pod>(&object);
    if (pod != nullptr && !pod->deletion) nodes.push_back(pod->node);
  }
  return nodes;
}

ReplicaSchedule schedule_in(const SimWorld& world) {
  for (const Change& object : world.objects()) {
    if (const auto* const schedule = std::get_if<ReplicaSchedule>(&object)) return *schedule;
  }
  return {};
}

TEST(SimReplicas, AScaleUpBringsPodsInItsPlaneASecondLater) {
  const SimLoad load = fleet_load();
  SimWorld world(load, {.sample = {}});
  world.poll({});
  EXPECT_EQ(schedule_in(world).unmet, 2);
  world.submit(scale_plan(ActionType::scale_up, "b", 0, 1));
  EXPECT_EQ(schedule_in(world).unmet, 1);
  EXPECT_TRUE(nodes_of_pods(world).empty());
  world.poll(Time{1'000});
  EXPECT_EQ(nodes_of_pods(world), (std::vector<std::string>{"b1"}));
  world.poll(Time{600'000});
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.runs.at(0).first_start, Time{1'000});
  EXPECT_EQ(metrics.runs.at(0).end, Time{61'000});
}

TEST(SimReplicas, AScaleDownRemovesTheNewestAndRaisesUnmet) {
  const SimLoad load = fleet_load();
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(scale_plan(ActionType::scale_up, "a", 0, 1));
  world.poll(Time{1'000});
  world.submit(scale_plan(ActionType::scale_up, "a", 1, 2));
  world.poll(Time{2'000});
  world.poll(Time{3'000});
  EXPECT_EQ(nodes_of_pods(world).size(), 2U);
  world.submit(scale_plan(ActionType::scale_down, "a", 2, 1));
  world.poll(Time{4'000});
  world.poll(Time{5'000});
  EXPECT_EQ(schedule_in(world).unmet, 1);
  EXPECT_EQ(nodes_of_pods(world).size(), 1U);
  for (const Change& object : world.objects()) {
    const Pod* const pod = std::get_if<Pod>(&object);
    if (pod != nullptr) {
      EXPECT_EQ(pod->deletion.has_value(), pod->name == "web-002") << pod->name;
    }
  }
  EXPECT_EQ(world.finish().victims, 1);
}

TEST(SimReplicas, AStepFromAnotherCommitIsRefused) {
  const SimLoad load = fleet_load();
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(scale_plan(ActionType::scale_up, "a", 1, 2));
  const Batch batch = world.poll({});
  ASSERT_EQ(batch.receipts.size(), 1U);
  EXPECT_EQ(ref_text(batch.receipts[0].object), "ReplicaSchedule default/web");
  EXPECT_EQ(world.finish().refused, 1);
}

TEST(SimReplicas, TheControllersTakeOverASnapshot) {
  SimLoad load = fleet_load();
  load.tasks.clear();
  ReplicaSchedule schedule{.namespace_name = "default", .name = "web", .deployment = "web"};
  schedule.requests = {{"nvidia.com/gpu", 1}};
  schedule.planes = {{.name = "a", .committed = 2}, {.name = "b"}};
  load.objects.emplace_back(schedule);
  Pod pod{.namespace_name = "default", .name = "web-x", .node = "b1"};
  pod.labels = {{std::string(names::deployment), "web"}};
  pod.requests = schedule.requests;
  load.objects.emplace_back(pod);
  SimWorld world(load, {.sample = {}});
  world.poll({});
  EXPECT_EQ(nodes_of_pods(world), (std::vector<std::string>{"b1"}));
  world.poll(Time{1'000});  // One is too many in b, two are missing in a.
  EXPECT_EQ(nodes_of_pods(world), (std::vector<std::string>{"a1", "a1"}));
}

// ---- Planes that are clusters of their own ------------------------------------------------------

/// Both have a node and a pod of the same name; b wants one more, a one less.
SimLoad two_clusters() {
  SimLoad load;
  ReplicaSchedule schedule{.namespace_name = "default", .name = "web", .deployment = "web"};
  schedule.requests = {{"nvidia.com/gpu", 1}};
  schedule.planes = {{.name = "a", .committed = 1}, {.name = "b", .committed = 1}};
  load.objects.emplace_back(schedule);
  for (const std::string plane : {"a", "b"}) {
    Node node{.name = "n1", .allocatable = {{"nvidia.com/gpu", 2}, {"pods", 10}}};
    node.plane = plane;
    load.objects.emplace_back(std::move(node));
    Pod pod{.namespace_name = "default", .name = "web-x", .node = "n1"};
    pod.plane = plane;
    pod.labels = {{std::string(names::deployment), "web"}};
    pod.requests = schedule.requests;
    load.objects.emplace_back(std::move(pod));
  }
  return load;
}

/// "a:web-x n1"; "leaving" behind it for a pod that leaves.
std::vector<std::string> pods_in_planes(const SimWorld& world) {
  std::vector<std::string> texts;
  for (const Change& object : world.objects()) {
    const Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr) continue;
    texts.push_back(pod->plane + ":" + pod->name + " " + pod->node +
                    (pod->deletion ? " leaving" : ""));
  }
  return texts;
}

TEST(SimReplicas, EveryPlaneHasItsOwnNodesAndPods) {
  const SimLoad load = two_clusters();
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(scale_plan(ActionType::scale_down, "a", 1, 0));
  world.submit(scale_plan(ActionType::scale_up, "b", 1, 2));
  EXPECT_EQ(schedule_in(world).unmet, 0);
  world.poll(Time{1'000});
  EXPECT_EQ(pods_in_planes(world),
            (std::vector<std::string>{"a:web-x n1 leaving", "b:web-001 n1", "b:web-x n1"}));
  // It is gone from a after its grace, and only there.
  bool shown = false;
  for (const std::int64_t when : {30'000, 31'000, 32'000}) {
    for (const Change& change : world.poll(Time{when}).changes) {
      const Removal* const gone = std::get_if<Removal>(&change);
      if (gone == nullptr) continue;
      shown = true;
      EXPECT_EQ(*gone, (Removal{.kind = ObjectKind::pod,
                                .namespace_name = "default",
                                .name = "web-x",
                                .plane = "a"}));
    }
  }
  EXPECT_TRUE(shown);
  EXPECT_EQ(pods_in_planes(world), (std::vector<std::string>{"b:web-001 n1", "b:web-x n1"}));
  EXPECT_EQ(world.finish().refused, 0);
}

TEST(SimReplicas, AForceDeletionGoesToThePlaneThatItNames) {
  const SimLoad load = two_clusters();
  SimWorld world(load, {.sample = {}});
  world.poll({});
  for (const std::string plane : {"a", "b"}) {
    world.submit(scale_plan(ActionType::scale_down, plane, 1, 0));
  }
  world.poll(Time{1'000});
  Plan plan;
  plan.actions.push_back({.type = ActionType::force_delete,
                          .namespace_name = "default",
                          .name = "web-x",
                          .plane = "b"});
  world.submit(plan);
  EXPECT_EQ(pods_in_planes(world), (std::vector<std::string>{"a:web-x n1 leaving"}));
  EXPECT_EQ(world.finish().refused, 0);
}

TEST(SimReplicas, PodsOfUnscaledDeploymentsAreBoundLikeOthers) {
  SimLoad load = two_clusters();
  for (Change& object : load.objects) {
    std::visit([](auto& each) { each.plane.clear(); }, object);
  }
  load.objects.resize(3);  // The schedule, a node and its pod.
  std::get<Pod>(load.objects[2]).node.clear();
  SimOptions options{.sample = {}};
  options.behaviour.scales_deployments = false;
  SimWorld world(load, options);
  world.poll({});
  Plan plan;
  plan.actions.push_back(
      {.type = ActionType::bind, .namespace_name = "default", .name = "web-x", .node = "n1"});
  world.submit(plan);
  world.poll(Time{60'000});
  EXPECT_EQ(pods_in_planes(world), (std::vector<std::string>{":web-x n1"}));
  EXPECT_EQ(world.finish().refused, 0);
}

}  // namespace
}  // namespace makeway
