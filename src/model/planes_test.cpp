// SPEC section 4: a plane comes as an input of its own, or as a label on nodes of one input.
#include "model/planes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

Node node(const std::string& name, const std::string& plane, const std::string& label) {
  Node node{.name = name, .plane = plane, .allocatable = {{"cpu", 4000}, {"pods", 110}}};
  if (!label.empty()) node.labels = {{std::string(names::plane), label}};
  return node;
}

std::string plane_of(const Cluster& cluster, std::string_view name, std::string_view plane) {
  const auto found =
      replica_plane(cluster, *cluster.find_node(name, plane), cluster.strings().find(names::plane));
  return found ? std::string(cluster.text(*found)) : "none";
}

TEST(Planes, TheKeyWinsOverTheLabel) {
  Cluster cluster;
  cluster.apply(node("n1", "", ""));
  EXPECT_EQ(plane_of(cluster, "n1", ""), "none");
  cluster.apply(node("n2", "", "east"));
  cluster.apply(node("n2", "west", "east"));
  cluster.apply(node("n3", "west", ""));
  EXPECT_EQ(plane_of(cluster, "n1", ""), "none");
  EXPECT_EQ(plane_of(cluster, "n2", ""), "east");
  EXPECT_EQ(plane_of(cluster, "n2", "west"), "west");
  EXPECT_EQ(plane_of(cluster, "n3", "west"), "west");
}

TEST(Planes, WhatAClaimNamesIsInThePlaneOrAtHome) {
  Cluster cluster;
  cluster.apply(node("n1", "", "east"));
  cluster.apply(node("n1", "west", ""));
  cluster.apply(Pod{.namespace_name = "shop", .name = "a", .node = "n1"});
  cluster.apply(Pod{.namespace_name = "shop", .name = "a", .plane = "west", .node = "n1"});
  const NodeIndex home = *cluster.find_node("n1");
  const NodeIndex west = *cluster.find_node("n1", "west");
  EXPECT_NE(home, west);
  EXPECT_EQ(find_node_in_plane(cluster, "east", "n1"), home);
  EXPECT_EQ(find_node_in_plane(cluster, "west", "n1"), west);
  EXPECT_EQ(find_node_in_plane(cluster, "", "n1"), home);
  EXPECT_EQ(find_node_in_plane(cluster, "west", "n9"), std::nullopt);
  EXPECT_EQ(cluster.pods().node[*find_pod_in_plane(cluster, "west", "shop", "a")], west);
  EXPECT_EQ(cluster.pods().node[*find_pod_in_plane(cluster, "east", "shop", "a")], home);
}

TEST(Planes, PodsGroupsAndClassesNameWhatIsInTheirPlane) {
  Cluster cluster;
  for (const char* const plane : {"", "east"}) {
    const bool home = std::string(plane).empty();
    cluster.apply(PriorityClass{.name = "high", .plane = plane, .value = home ? 100 : 900});
    cluster.apply(PodGroup{.namespace_name = "shop",
                           .name = "gang",
                           .plane = plane,
                           .policy = {.minimum = home ? 2 : 5, .gang = true}});
    cluster.apply(Pod{.namespace_name = "shop",
                      .name = "a",
                      .plane = plane,
                      .node = "n1",
                      .group = "gang",
                      .priority_class = "high"});
  }
  for (const char* const plane : {"", "east"}) {
    const bool home = std::string(plane).empty();
    const PodIndex pod = *cluster.find_pod("shop", "a", plane);
    EXPECT_EQ(cluster.pods().priority[pod], home ? 100 : 900);
    EXPECT_EQ(cluster.units()[cluster.pods().unit[pod]].minimum, home ? 2 : 5);
    EXPECT_EQ(cluster.units()[cluster.pods().unit[pod]].size, 1);
    EXPECT_EQ(cluster.pods().node[pod], *cluster.find_node("n1", plane));
    EXPECT_EQ(cluster.pod(pod).plane, plane);
  }
  EXPECT_EQ(cluster.find_priority_class("high", "west"), nullptr);
  EXPECT_NE(cluster.find_priority_class(names::node_critical, "west"), nullptr) << "built in";
}

TEST(Planes, AreReportedWithTheKey) {
  EXPECT_EQ(key_text({"shop", "a", ""}), "shop/a");
  EXPECT_EQ(key_text({"shop", "a", "east"}), "shop/a of plane east");
  Cluster cluster;
  cluster.apply(Pod{.namespace_name = "shop", .name = "a", .plane = "east"});
  EXPECT_EQ(cluster.pod_key(*cluster.find_pod("shop", "a", "east")), "shop/a of plane east");
}

TEST(Planes, NodesOfHomeComeFirst) {
  Cluster cluster;
  cluster.apply(node("n2", "", ""));
  cluster.apply(node("n1", "east", ""));
  cluster.apply(node("n3", "", ""));
  ASSERT_EQ(cluster.home_nodes().size(), 2U);
  EXPECT_EQ(cluster.home_nodes().back(), *cluster.find_node("n3"));
  cluster.apply(Removal{.kind = ObjectKind::node, .name = "n2"});
  cluster.apply(Removal{.kind = ObjectKind::node, .name = "n1", .plane = "east"});
  EXPECT_EQ(cluster.home_nodes().size(), 1U);
  EXPECT_EQ(cluster.compacted().home_nodes().size(), 1U);
}

}  // namespace
}  // namespace makeway
