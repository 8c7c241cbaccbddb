#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/embedded/scene.hpp"
#include "model/cluster.hpp"
#include "model/normalize.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view gpu = "nvidia.com/gpu";

Pod scene_pod(std::string name, std::string node, std::int32_t priority, std::int64_t gpus) {
  Pod pod{.namespace_name = "default", .name = std::move(name), .node = std::move(node)};
  pod.priority = priority;
  pod.created = Time{60'000};
  pod.requests = {{std::string(gpu), gpus}};
  normalize(pod);
  return pod;
}

Cluster scene_cluster() {
  Cluster cluster;
  for (const std::string name : {"n2", "n1"}) {
    Node node{.name = name, .allocatable = {{std::string(gpu), 8}, {"pods", 10}}};
    normalize(node);
    cluster.apply(node);
  }
  cluster.apply(scene_pod("a", "n1", 100, 2));
  cluster.apply(scene_pod("b", "n1", 100, 1));
  cluster.apply(scene_pod("c", "n1", 0, 1));
  Pod leaving = scene_pod("d", "n1", 0, 3);
  leaving.deletion = Time{90'000};
  cluster.apply(leaving);
  cluster.apply(scene_pod("low", "", 0, 1));
  cluster.apply(scene_pod("high", "", 300, 8));
  return cluster;
}

TEST(SceneWatcher, ShowsNodesAndWaitingAsks) {
  SceneWatcher watcher(nullptr);
  const Scene scene = watcher.scene(scene_cluster(), gpu, Time{120'000});
  ASSERT_EQ(scene.nodes.size(), 2U);
  const SceneNode n1{.name = "n1",
                     .room = 8,
                     .used = {{.priority = 100, .amount = 3}, {.priority = 0, .amount = 1}},
                     .leaving = 3,
                     .pods = 4};
  EXPECT_EQ(scene.nodes[0], n1);
  EXPECT_EQ(scene.nodes[1], (SceneNode{.name = "n2", .room = 8}));
  ASSERT_EQ(scene.asks.size(), 2U);
  EXPECT_EQ(scene.asks[0], (SceneAsk{.name = "Pod default/high",
                                     .priority = 300,
                                     .pods = 1,
                                     .waiting = {60'000},
                                     .why = "not decided yet"}));
  EXPECT_EQ(scene.asks[1].name, "Pod default/low");
  EXPECT_EQ(scene.priorities, (std::vector<std::int32_t>{300, 100, 0}));
  EXPECT_EQ(scene.counters.pods_running, 4U);
  EXPECT_EQ(scene.counters.pods_waiting, 2U);
}

TEST(SceneWatcher, KeepsAnswersAndPreemptions) {
  std::vector<ScenePreemption> heard;
  SceneWatcher watcher([&](const ScenePreemption& each) { heard.push_back(each); });
  Cluster cluster = scene_cluster();
  LawfulPlan made;
  made.decide_us = 250;
  made.plan.emplace();
  PlanAsk ask{.namespace_name = "default", .name = "high", .priority = 300};
  ask.reason = "1 pod must leave";
  ask.victims = {{.namespace_name = "default",
                  .name = "c",
                  .node = "n1",
                  .priority = 0,
                  .reason = "lower priority (0 < 300)",
                  .cause_for = "Pod default/high",
                  .cause_alternative = "node n2",
                  .cause_key = "victims: 1 against 2"}};
  made.plan->asks = {ask};
  made.plan->actions = {{.type = ActionType::nominate, .namespace_name = "default", .name = "high"},
                        {.type = ActionType::evict,
                         .namespace_name = "default",
                         .name = "c",
                         .node = "n1",
                         .ask = pod_ref("default", "high")},
                        {.type = ActionType::bind, .namespace_name = "default", .name = "x"}};
  watcher.cycle({.now = Time{100'000}, .due = {}, .made = made}, cluster);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0], (ScenePreemption{.when = Time{100'000},
                                       .victim = "default/c",
                                       .priority = 0,
                                       .node = "n1",
                                       .ask = "Pod default/high",
                                       .reason = "lower priority (0 < 300)",
                                       .alternative = "node n2 (victims: 1 against 2)"}));
  Scene scene = watcher.scene(cluster, gpu, Time{120'000});
  EXPECT_EQ(scene.asks[0].why, "1 pod must leave");
  EXPECT_EQ(scene.counters.preemptions, 1U);
  EXPECT_EQ(scene.counters.pods_started, 1U);
  EXPECT_EQ(scene.counters.decide_p99_us, 250);
  // Counting begins anew; what was last seen stays.
  watcher.begin_counting();
  scene = watcher.scene(cluster, gpu, Time{120'000});
  EXPECT_EQ(scene.counters.preemptions, 0U);
  EXPECT_EQ(scene.preemptions, heard);
  // An ask that got its place and is pending again under the same name was not decided yet.
  cluster.apply(scene_pod("high", "n2", 300, 8));
  EXPECT_EQ(watcher.scene(cluster, gpu, Time{130'000}).asks.size(), 1U);
  cluster.apply(scene_pod("high", "", 300, 8));
  EXPECT_EQ(watcher.scene(cluster, gpu, Time{140'000}).asks[0].why, "not decided yet");
}

}  // namespace
}  // namespace makeway::cli
