#include "cli/plan/plan_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace makeway::cli {
namespace {

Pod pod_on(std::string name, std::string node, std::int32_t priority, std::int64_t cpu) {
  Pod pod{.namespace_name = "default", .name = std::move(name), .node = std::move(node)};
  pod.priority = priority;
  pod.requests = {{"cpu", cpu}};
  return pod;
}

/// n1 has 4 cpus: keep (2, priority 50) stays, low (2, priority 0) goes for urgent. n2 is empty.
Cluster small_cluster() {
  Cluster cluster;
  cluster.apply(Node{.name = "n1", .allocatable = {{"cpu", 4'000}, {"pods", 10}}});
  cluster.apply(
      Node{.name = "n2", .allocatable = {{"cpu", 1'000}, {"example.com/gpu", 2}, {"pods", 10}}});
  cluster.apply(pod_on("keep", "n1", 50, 2'000));
  cluster.apply(pod_on("low", "n1", 0, 2'000));
  cluster.apply(pod_on("urgent", "", 100, 2'000));
  return cluster;
}

Plan small_plan() {
  Plan plan{.id = "0123", .preset = "makeway"};
  plan.asks = {{.namespace_name = "default",
                .name = "urgent",
                .priority = 100,
                .outcome = Outcome::preempts,
                .placements = {{"default", "urgent", "n1", ""}},
                .victims = {{.namespace_name = "default",
                             .name = "low",
                             .node = "n1",
                             .priority = 0,
                             .reason = "lower priority"}},
                .reason = "there is room once 1 pod is gone"}};
  return plan;
}

TEST(PageNodes, ShowStayingLeavingAndArrivingPods) {
  const Cluster cluster = small_cluster();
  const PageNodes page(small_plan(), cluster, {});
  ASSERT_EQ(page.resources().size(), 3U);
  EXPECT_EQ(cluster.resources().name(page.resources()[2]), "example.com/gpu");
  ASSERT_EQ(page.nodes().size(), 2U);
  const PageNode& first = page.nodes()[0];
  EXPECT_EQ(first.name, "n1");
  EXPECT_TRUE(first.touched);
  EXPECT_EQ(first.room, (PageAmounts{4'000, 0, 0}));
  ASSERT_EQ(first.segments.size(), 3U);
  EXPECT_EQ(first.segments.at({PodFate::stays, -50}).amounts, (PageAmounts{2'000, 0, 0}));
  EXPECT_EQ(first.segments.at({PodFate::goes, 0}).pods, 1);
  EXPECT_EQ(first.segments.at({PodFate::comes, -100}).amounts, (PageAmounts{2'000, 0, 0}));
  ASSERT_EQ(first.pods.size(), 3U);
  EXPECT_EQ(first.pods.back().name, "default/urgent");
  EXPECT_FALSE(page.nodes()[1].touched);
  EXPECT_TRUE(page.nodes()[1].segments.empty());
  EXPECT_EQ(page.nodes()[1].room, (PageAmounts{1'000, 0, 2}));
}

TEST(PageNodes, OfManyNodesOnlyTouchedOnesNameTheirPods) {
  Cluster cluster = small_cluster();
  for (int at = 0; at < 200; ++at) {
    const std::string name = fmt::format("other-{:03}", at);
    cluster.apply(Node{.name = name, .allocatable = {{"cpu", 4'000}, {"pods", 10}}});
    cluster.apply(pod_on(fmt::format("pod-{:03}", at), name, 10, 1'000));
  }
  const PageNodes page(small_plan(), cluster, {});
  ASSERT_EQ(page.nodes().size(), 202U);
  std::size_t named = 0;
  for (const PageNode& node : page.nodes()) named += node.pods.size();
  EXPECT_EQ(named, 3U);
  EXPECT_EQ(page.nodes().back().segments.at({PodFate::stays, -10}).pods, 1);
}

/// A session without a priority has session.defaultPriority, 10; its kernels go, and those that
/// come for it are drawn, too.
TEST(PageNodes, KernelsOfSessionsAreDrawnWithTheirSessions) {
  Cluster cluster = small_cluster();
  Session low{.namespace_name = "default", .name = "low"};
  low.kernels = {{.name = "main", .requests = {{"cpu", 1'000}}, .node = "n2"}};
  low.status.phase = SessionPhase::running;
  cluster.apply(low);
  Session high = low;
  high.name = "high";
  high.kernels.front().node.clear();
  high.status.phase = SessionPhase::pending;
  cluster.apply(high);
  PlanAsk ask{.kind = AskKind::session, .namespace_name = "default", .name = "high"};
  ask.priority = 90;
  ask.placements = {{.namespace_name = "default", .name = "high/main", .node = "n2"}};
  ask.victims = {{.namespace_name = "default", .name = "low", .node = "n2"}};
  ask.session = PlanSession{};
  Plan plan;
  plan.asks = {ask};
  const PageNodes page(plan, cluster, {});
  const PageNode& second = page.nodes()[1];
  EXPECT_EQ(second.segments.at({PodFate::goes, -10}).pods, 1);
  EXPECT_EQ(second.segments.at({PodFate::comes, -90}).pods, 1);
  ASSERT_EQ(second.pods.size(), 2U);
  EXPECT_EQ(second.pods.front().name, "default/low/main");
  EXPECT_EQ(second.pods.back().name, "default/high/main");
}

TEST(PlanPage, IsWhatTheBundleReads) {
  EXPECT_EQ(
      plan_page_json(small_plan(), small_cluster(), {}),
      R"({"id":"0123","preset":"makeway","totals":"Plan: 1 ask: 1 preempts 1 pod.","cost":"",)"
      R"("withheld":"","leftOut":0,"resources":["cpu","memory","example.com/gpu"],"nodes":[)"
      R"({"name":"n1","touched":true,"room":[4000,0,0],"parts":[[0,50,1,2000,0,0],)"
      R"([2,0,1,2000,0,0],[3,100,1,2000,0,0]],"pods":[["default/keep",0,50,2000,0,0],)"
      R"(["default/low",2,0,2000,0,0],["default/urgent",3,100,2000,0,0]]},)"
      R"({"name":"n2","room":[1000,0,2],"parts":[]}],"asksAll":1,"asks":[)"
      R"({"name":"Pod default/urgent","priority":100,"outcome":"preempts",)"
      R"("reason":"there is room once 1 pod is gone","places":[{"pod":"default/urgent",)"
      R"("node":"n1"}],"placesAll":1,"waitsFor":[],"victims":[{"pod":"default/low","node":"n1",)"
      R"("priority":0,"reason":"lower priority","rule":"","alternative":"","key":""}],)"
      R"("victimsAll":1,"cost":"","alternatives":[],"refusals":[]}]})"
      "\n");
}

TEST(PlanPage, HostileNamesStayData) {
  Plan plan = small_plan();
  plan.id = "</title><script>hostile()</script>";
  plan.asks[0].reason = "</script><script>hostile()</script>";
  const std::string html = plan_page(plan, small_cluster(), {});
  EXPECT_EQ(html.find("<script>hostile"), std::string::npos);
}

TEST(PlanPage, OfVeryManyAsksThoseThatPreemptComeFirst) {
  Plan plan = small_plan();
  const PlanAsk preempts = plan.asks[0];
  plan.asks.clear();
  for (int at = 0; at < 1'500; ++at) {
    plan.asks.push_back({.namespace_name = "default",
                         .name = fmt::format("fits-{}", at),
                         .outcome = Outcome::fits});
  }
  plan.asks.push_back(preempts);
  const std::string json = plan_page_json(plan, small_cluster(), {});
  EXPECT_TRUE(json.contains(R"("asksAll":1501,"asks":[{"name":"Pod default/urgent")"));
  EXPECT_TRUE(json.contains("fits-998\""));
  EXPECT_FALSE(json.contains("fits-999\""));
}

}  // namespace
}  // namespace makeway::cli
