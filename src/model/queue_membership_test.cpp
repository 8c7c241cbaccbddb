// SPEC section 3: which queue a pod belongs to.
#include "model/queue_membership.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/names.hpp"

namespace makeway {
namespace {

Pod member_pod(std::string name, std::string queue, std::string group = {}) {
  Pod pod{.namespace_name = "shop", .name = std::move(name), .group = std::move(group)};
  if (!queue.empty()) {
    pod.labels = {{.key = std::string(names::queue), .value = std::move(queue)}};
  }
  return pod;
}

/// The name of the pod's queue; empty: it is outside.
std::string home(const Cluster& cluster, std::string_view pod,
                 const Configuration& configuration = {}) {
  const QueueMembership membership(cluster, configuration);
  const QueueRow row = membership.of(*cluster.find_pod("shop", pod));
  if (!row.exists()) return {};
  auto at = cluster.own<Queue>().begin();
  std::advance(at, row.value);
  return at->second.name;
}

TEST(QueueMembership, LabelThenNamespaceThenDefaultThenOutside) {
  Cluster cluster;
  cluster.apply(Queue{.name = "labelled"});
  cluster.apply(member_pod("labelled", "labelled"));
  cluster.apply(member_pod("plain", ""));
  cluster.apply(member_pod("lost", "nowhere"));
  EXPECT_EQ(home(cluster, "labelled"), "labelled");
  EXPECT_EQ(home(cluster, "plain"), "");
  EXPECT_EQ(home(cluster, "lost"), "");
  cluster.apply(Queue{.name = "default"});
  EXPECT_EQ(home(cluster, "plain"), "default");
  EXPECT_EQ(home(cluster, "lost"), "default");
  Queue listing{.name = "zoo"};
  listing.namespaces = {"shop"};
  cluster.apply(listing);
  EXPECT_EQ(home(cluster, "labelled"), "labelled");
  EXPECT_EQ(home(cluster, "plain"), "zoo");
  EXPECT_EQ(home(cluster, "lost"), "zoo");
}

TEST(QueueMembership, PodsBelongToLeaves) {
  Cluster cluster;
  cluster.apply(Queue{.name = "team"});
  cluster.apply(member_pod("web", "team"));
  EXPECT_EQ(home(cluster, "web"), "team");
  cluster.apply(Queue{.name = "child", .parent = "team"});
  EXPECT_EQ(home(cluster, "web"), "");
}

TEST(QueueMembership, TheGroupsLabelBeatsItsPods) {
  Cluster cluster;
  for (const char* name : {"a", "b", "c"}) cluster.apply(Queue{.name = name});
  cluster.apply(member_pod("one", "c", "g"));
  cluster.apply(member_pod("two", "b", "g"));
  cluster.apply(member_pod("three", "absent", "g"));
  EXPECT_EQ(home(cluster, "one"), "b");  // The first by name that is there.
  cluster.apply(PodGroup{.namespace_name = "shop", .name = "g", .queue = "a"});
  EXPECT_EQ(home(cluster, "one"), "a");
  EXPECT_EQ(home(cluster, "three"), "a");
  cluster.apply(PodGroup{.namespace_name = "shop", .name = "g", .queue = "absent"});
  EXPECT_EQ(home(cluster, "two"), "b");
}

TEST(QueueMembership, InfrastructureIsInNone) {
  Cluster cluster;
  cluster.apply(Queue{.name = "a"});
  Pod mirror = member_pod("mirror", "a");
  mirror.mirror = true;
  cluster.apply(mirror);
  Pod critical = member_pod("critical", "a");
  critical.priority_class = std::string(names::cluster_critical);
  cluster.apply(critical);
  Pod pinned = member_pod("pinned", "a");
  pinned.notes.required_node = "n1";
  cluster.apply(pinned);
  Pod grouped = member_pod("grouped", "a", "g");
  grouped.notes.required_node = "n1";
  cluster.apply(grouped);
  for (const char* name : {"mirror", "critical", "pinned"}) EXPECT_EQ(home(cluster, name), "");
  EXPECT_EQ(home(cluster, "grouped"), "a");
  Configuration configuration;
  configuration.protection.protect_system_critical = false;
  configuration.required_node.enabled = false;
  EXPECT_EQ(home(cluster, "critical", configuration), "a");
  EXPECT_EQ(home(cluster, "pinned", configuration), "a");
  EXPECT_EQ(home(cluster, "mirror", configuration), "");
}

}  // namespace
}  // namespace makeway
