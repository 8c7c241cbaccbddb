#include <gtest/gtest.h>

#include "model/cluster.hpp"

namespace makeway {
namespace {

Session session(const std::string& name, SessionPhase phase, const std::string& partition = {}) {
  Session object{
      .namespace_name = "default",
      .name = name,
      .resource_group = "gpu",
      .partition = partition,
      .kernels = {{.name = "main", .requests = {{"cpu", 2'000}, {"memory", 100}}, .node = "n1"}}};
  object.status.phase = phase;
  return object;
}

Cluster one_node() {
  Cluster cluster;
  cluster.apply(
      Node{.name = "n1", .allocatable = {{"cpu", 8'000}, {"memory", 1'000}, {"pods", 10}}});
  return cluster;
}

std::vector<std::int64_t> used(const Cluster& cluster) {
  const auto row = cluster.order().used(*cluster.find_node("n1"));
  return {row.begin(), row.begin() + 4};
}

TEST(ClusterSessions, KernelsAreUsageAndNoPods) {
  Cluster cluster = one_node();
  cluster.apply(
      Pod{.namespace_name = "default", .name = "web", .node = "n1", .requests = {{"cpu", 1'000}}});
  cluster.apply(session("train", SessionPhase::running));
  EXPECT_EQ(used(cluster), (std::vector<std::int64_t>{3'000, 100, 0, 1}));
  EXPECT_EQ(cluster.pod_count(), 1U);
  EXPECT_EQ(cluster.pods_by_name().size(), 1U);
  const auto row = cluster.find_pod("default", "train/main");
  ASSERT_TRUE(row.has_value());
  EXPECT_TRUE(cluster.pods().flags[*row].kernel);
  EXPECT_EQ(cluster.pod_key(*row), "default/train/main");
}

TEST(ClusterSessions, ASuspendedSessionHoldsItsMemory) {
  Cluster cluster = one_node();
  cluster.apply(session("train", SessionPhase::running, "free"));
  EXPECT_EQ(used(cluster), (std::vector<std::int64_t>{2'000, 100, 0, 0}));
  cluster.apply(session("train", SessionPhase::suspended, "free"));
  EXPECT_EQ(used(cluster), (std::vector<std::int64_t>{0, 100, 0, 0}));
  EXPECT_EQ(cluster.compacted().order().used(*cluster.find_node("n1"))[1], 100);
}

TEST(ClusterSessions, ARemovedSessionLeavesNothingBehind) {
  Cluster cluster = one_node();
  Session leaving = session("train", SessionPhase::running);
  leaving.status.ends_at = Time{1};
  cluster.apply(leaving);
  EXPECT_EQ(cluster.nodes().leaving[*cluster.find_node("n1")], 1U);
  EXPECT_FALSE(cluster.apply(session("train", SessionPhase::running)));
  EXPECT_EQ(cluster.nodes().leaving[*cluster.find_node("n1")], 0U);
  Session ended = session("train", SessionPhase::ended);
  ended.kernels.front().node.clear();
  cluster.apply(ended);
  EXPECT_EQ(used(cluster), (std::vector<std::int64_t>{0, 0, 0, 0}));
  cluster.apply(session("train", SessionPhase::running));
  EXPECT_TRUE(cluster.apply(
      Removal{.kind = ObjectKind::session, .namespace_name = "default", .name = "train"}));
  EXPECT_EQ(used(cluster), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_TRUE(cluster.kernel_rows().empty());
  EXPECT_EQ(cluster.pod_count(), 0U);
}

TEST(ClusterSessions, BulkAndOneByOneAgree) {
  Cluster bulk;
  bulk.begin_bulk();
  bulk.apply(session("a", SessionPhase::running));
  bulk.apply(session("b", SessionPhase::suspended, "free"));
  bulk.apply(Node{.name = "n1", .allocatable = {{"cpu", 8'000}, {"memory", 1'000}}});
  bulk.finish_bulk();
  Cluster single = one_node();
  single.apply(session("b", SessionPhase::suspended, "free"));
  single.apply(session("a", SessionPhase::running));
  EXPECT_EQ(used(bulk), used(single));
}

}  // namespace
}  // namespace makeway
