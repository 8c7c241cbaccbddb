// SPEC section 1, "Regime of a node": the column of claims and what a configuration makes of
// it.
#include "model/regime.hpp"

#include <gtest/gtest.h>

#include "model/names.hpp"

namespace makeway {
namespace {

Node plain_node(std::string name) { return {.name = std::move(name)}; }

Node plane_node(std::string name) {
  return {.name = std::move(name), .labels = {{std::string(names::plane), "east"}}};
}

Regime regime_of_node(const Cluster& cluster, std::string_view name,
                      const Configuration& configuration = {}) {
  return Regimes(cluster, configuration).of(*cluster.find_node(name));
}

TEST(Regimes, SessionsBeforeReplicasBeforePods) {
  Cluster cluster;
  cluster.apply(plain_node("a"));
  cluster.apply(plain_node("b"));
  cluster.apply(plane_node("c"));
  cluster.apply(plane_node("d"));
  cluster.apply(ResourceGroup{.name = "servers", .nodes = {"b", "d"}});
  EXPECT_EQ(regime_of_node(cluster, "a"), Regime::pods);
  EXPECT_EQ(regime_of_node(cluster, "b"), Regime::sessions);
  EXPECT_EQ(regime_of_node(cluster, "c"), Regime::replicas);
  EXPECT_EQ(regime_of_node(cluster, "d"), Regime::sessions);
  EXPECT_FALSE(Regimes(cluster, {}).claimed_twice(*cluster.find_node("c")));
  EXPECT_TRUE(Regimes(cluster, {}).claimed_twice(*cluster.find_node("d")));
  EXPECT_EQ(cluster.claimed_node_count(), 3U);
}

TEST(Regimes, OnlyEnabledPoliciesClaim) {
  Cluster cluster;
  cluster.apply(plane_node("c"));
  cluster.apply(ResourceGroup{.name = "servers", .nodes = {"c"}});
  Configuration configuration;
  configuration.session.enabled = false;
  EXPECT_EQ(regime_of_node(cluster, "c", configuration), Regime::replicas);
  configuration.replica.enabled = false;
  EXPECT_EQ(regime_of_node(cluster, "c", configuration), Regime::pods);
  EXPECT_FALSE(Regimes(cluster, configuration).mixed());
}

TEST(Regimes, ClaimsFollowNodesAndGroups) {
  Cluster cluster;
  cluster.apply(ResourceGroup{.name = "servers", .nodes = {"a"}});
  cluster.apply(ResourceGroup{.name = "more", .nodes = {"a"}});
  cluster.apply(plain_node("a"));
  EXPECT_EQ(regime_of_node(cluster, "a"), Regime::sessions);
  cluster.apply(Removal{.kind = ObjectKind::resource_group, .name = "servers"});
  EXPECT_EQ(regime_of_node(cluster, "a"), Regime::sessions);
  cluster.apply(ResourceGroup{.name = "more", .nodes = {"b"}});
  EXPECT_EQ(regime_of_node(cluster, "a"), Regime::pods);
  cluster.apply(plane_node("a"));
  EXPECT_EQ(regime_of_node(cluster, "a"), Regime::replicas);
  cluster.apply(Removal{.kind = ObjectKind::node, .name = "a"});
  EXPECT_EQ(cluster.claimed_node_count(), 0U);
}

TEST(Regimes, ASelectorLists) {
  Cluster cluster;
  cluster.apply(Node{.name = "a", .labels = {{"use", "people"}}});
  cluster.apply(plain_node("b"));
  cluster.apply(ResourceGroup{.name = "servers", .node_selector = {{"use", "people"}}});
  EXPECT_EQ(regime_of_node(cluster, "a"), Regime::sessions);
  EXPECT_EQ(regime_of_node(cluster, "b"), Regime::pods);
  cluster.apply(Node{.name = "b", .labels = {{"use", "people"}}});
  EXPECT_EQ(regime_of_node(cluster, "b"), Regime::sessions);
  EXPECT_EQ(regime_of_node(cluster.compacted(), "b"), Regime::sessions);
  cluster.apply(ResourceGroup{.name = "servers"});
  EXPECT_EQ(cluster.claimed_node_count(), 0U);
}

TEST(Regimes, UnitsHaveOneToo) {
  Cluster cluster;
  cluster.apply(plane_node("c"));
  cluster.apply(ReplicaSchedule{.namespace_name = "default", .name = "web", .deployment = "web"});
  cluster.apply(Pod{.namespace_name = "default", .name = "p"});
  cluster.apply(Pod{.namespace_name = "default",
                    .name = "r",
                    .labels = {{std::string(names::deployment), "web"}}});
  cluster.apply(Pod{
      .namespace_name = "other", .name = "r", .labels = {{std::string(names::deployment), "web"}}});
  cluster.apply(
      Pod{.namespace_name = "default", .name = "pinned", .notes = {.required_node = "c"}});
  cluster.apply(Pod{.namespace_name = "default",
                    .name = "member",
                    .group = "g",
                    .notes = {.required_node = "c"}});
  const Regimes regimes(cluster, {});
  const auto pod = [&](std::string_view space, std::string_view name) {
    return *cluster.find_pod(space, name);
  };
  const NodeIndex node = *cluster.find_node("c");
  EXPECT_EQ(regimes.of(pod("default", "p")), Regime::pods);
  EXPECT_EQ(regimes.of(pod("default", "r")), Regime::replicas);
  EXPECT_EQ(regimes.of(pod("other", "r")), Regime::pods);
  EXPECT_FALSE(regimes.may_go(pod("default", "p"), node));
  EXPECT_TRUE(regimes.may_go(pod("default", "r"), node));
  EXPECT_TRUE(regimes.may_go(pod("default", "pinned"), node));
  EXPECT_FALSE(regimes.may_go(pod("default", "member"), node));  // Of a group: never "pinned".
}

}  // namespace
}  // namespace makeway
