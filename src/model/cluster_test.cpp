#include "model/cluster.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/group_name.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

constexpr std::int64_t amount_max = std::numeric_limits<std::int64_t>::max();

Pod pod(std::string name, std::string node, std::int32_t priority, std::int64_t cpu) {
  return {.namespace_name = "default",
          .name = std::move(name),
          .node = std::move(node),
          .priority = priority,
          .requests = {{"cpu", cpu}},
          .started = Time{1000}};
}

Node node(std::string name) {
  return {.name = std::move(name), .allocatable = {{"cpu", 4000}, {"pods", 110}}};
}

std::vector<std::string> order_on(const Cluster& cluster, std::string_view name) {
  std::vector<std::string> names;
  for (const PodIndex index : cluster.order().pods(*cluster.find_node(name))) {
    names.emplace_back(cluster.pods().name[index.value]);
  }
  return names;
}

const Unit& unit_of(const Cluster& cluster, std::string_view name) {
  return cluster.units()[cluster.pods().unit[*cluster.find_pod("default", name)]];
}

using Names = std::vector<std::string>;

TEST(Cluster, StartsEmpty) {
  const Cluster cluster;
  EXPECT_EQ(cluster.pod_count(), 0U);
  EXPECT_EQ(cluster.node_count(), 0U);
  EXPECT_EQ(cluster.find_pod("default", "a"), std::nullopt);
  EXPECT_EQ(cluster.find_node("n1"), std::nullopt);
  EXPECT_EQ(cluster.find_group("default", "g"), std::nullopt);
  EXPECT_EQ(cluster.default_priority_class(), nullptr);
}

TEST(Cluster, RunningSumsSayWhatWouldBeFree) {
  Cluster cluster;
  cluster.apply(node("n1"));
  cluster.apply(pod("low", "n1", 10, 1000));
  cluster.apply(pod("high", "n1", 1000, 500));
  cluster.apply(pod("middle", "n1", 100, 2000));
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"high", "middle", "low"}));
  const NodeIndex n1 = *cluster.find_node("n1");
  const NodeOrder& order = cluster.order();
  EXPECT_EQ(order.used(n1)[resource_cpu.value], 3500);
  EXPECT_EQ(order.used(n1)[resource_pods.value], 3);
  // An ask of priority 100 could evict what is below 100: 500 + 2000 stay.
  const std::size_t stay = order.count_at_least(n1, 100);
  EXPECT_EQ(stay, 2U);
  EXPECT_EQ(order.used_by_first(n1, stay)[resource_cpu.value], 2500);
}

TEST(Cluster, ImportanceIsPriorityThenGroupThenSizeThenAgeThenName) {
  Cluster cluster;
  cluster.apply(node("n1"));
  const auto in_group = [](Pod object, std::string group) {
    object.group = std::move(group);
    return object;
  };
  const auto started = [](Pod object, std::optional<Time> time) {
    object.started = time;
    return object;
  };
  cluster.apply(PodGroup{.namespace_name = "default",
                         .name = "whole",
                         .policy = {.mode = DisruptionMode::all},
                         .priority = {.priority = 5}});
  cluster.apply(
      PodGroup{.namespace_name = "default", .name = "loose", .priority = {.priority = 5}});
  cluster.apply(started(pod("z-unstarted", "n1", 5, 1), std::nullopt));
  cluster.apply(pod("b-same-age", "n1", 5, 1));
  cluster.apply(pod("a-same-age", "n1", 5, 1));
  cluster.apply(started(pod("y-older", "n1", 5, 1), Time{500}));
  cluster.apply(in_group(pod("loose-1", "n1", 5, 1), "loose"));
  cluster.apply(in_group(pod("loose-2", "n1", 5, 1), "loose"));
  cluster.apply(in_group(started(pod("whole-1", "n1", 5, 1), std::nullopt), "whole"));
  cluster.apply(in_group(pod("whole-2", "", 5, 1), "whole"));  // Pending members count as size.
  cluster.apply(pod("x-higher", "n1", 6, 1));
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"x-higher", "whole-1", "loose-1", "loose-2", "y-older",
                                            "a-same-age", "b-same-age", "z-unstarted"}));
}

TEST(Cluster, NamespacesComeBeforeNamesInTies) {
  Cluster cluster;
  cluster.apply(Pod{.namespace_name = "b", .name = "1", .node = "n1"});
  cluster.apply(Pod{.namespace_name = "a", .name = "2", .node = "n1"});
  cluster.apply(Pod{.namespace_name = "a", .name = "10", .node = "n1"});
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"10", "2", "1"}));
}

TEST(Cluster, AGroupThatGoesWholeMovesUpAsItGrows) {
  Cluster cluster;
  for (const char* const name : {"small", "big"}) {
    cluster.apply(PodGroup{.namespace_name = "default",
                           .name = name,
                           .policy = {.mode = DisruptionMode::all},
                           .priority = {.priority = 5}});
  }
  const auto member = [](std::string name, std::string group, std::string on) {
    Pod object = pod(std::move(name), std::move(on), 5, 1);
    object.group = std::move(group);
    return object;
  };
  cluster.apply(member("s1", "small", "n1"));
  cluster.apply(member("b1", "big", "n1"));
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"b1", "s1"})) << "equal sizes: by name";
  cluster.apply(member("s2", "small", "n2"));
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"s1", "b1"}));
  cluster.apply(member("b2", "big", ""));
  cluster.apply(member("b3", "big", ""));
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"b1", "s1"}));
  cluster.apply(Removal{.kind = ObjectKind::pod_group, .namespace_name = "default", .name = "big"});
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"s1", "b1"})) << "without its object it is single";
}

TEST(Cluster, SumsSaturateAndRecover) {
  Cluster cluster;
  cluster.apply(node("n1"));
  cluster.apply(pod("a", "n1", 3, amount_max - 5));
  cluster.apply(pod("b", "n1", 2, 10));
  const NodeIndex n1 = *cluster.find_node("n1");
  EXPECT_EQ(cluster.order().used(n1)[0], amount_max);
  cluster.apply(Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = "a"});
  EXPECT_EQ(cluster.order().used(n1)[0], 10);
}

TEST(Cluster, AResourceThatAppearsLateWidensEveryNode) {
  Cluster cluster;
  cluster.apply(pod("a", "n1", 0, 7));
  Pod late = pod("b", "n2", 0, 8);
  late.requests = {{"cpu", 8}, {"nvidia.com/gpu", 2}};
  cluster.apply(late);
  const NodeOrder& order = cluster.order();
  ASSERT_EQ(order.columns(), 5U);
  EXPECT_EQ(order.used(*cluster.find_node("n1"))[0], 7);
  EXPECT_EQ(order.used(*cluster.find_node("n1"))[4], 0);
  EXPECT_EQ(order.used(*cluster.find_node("n2"))[4], 2);
}

TEST(Cluster, APodMovesBetweenNodes) {
  Cluster cluster;
  cluster.apply(node("n1"));
  cluster.apply(node("n2"));
  Pod moving = pod("a", "n1", 0, 7);
  moving.deletion = Time{5};
  cluster.apply(moving);
  const NodeIndex n1 = *cluster.find_node("n1");
  const NodeIndex n2 = *cluster.find_node("n2");
  EXPECT_EQ(cluster.nodes().pods[n1], 1U);
  EXPECT_EQ(cluster.nodes().leaving[n1], 1U);
  moving.node = "n2";
  moving.deletion.reset();
  cluster.apply(moving);
  EXPECT_EQ(cluster.nodes().pods[n1], 0U);
  EXPECT_EQ(cluster.nodes().leaving[n1], 0U);
  EXPECT_EQ(cluster.nodes().pods[n2], 1U);
  EXPECT_EQ(cluster.nodes().leaving[n2], 0U);
  EXPECT_EQ(cluster.order().used(n1)[0], 0);
  EXPECT_EQ(cluster.order().used(n2)[0], 7);
  EXPECT_EQ(cluster.pod_count(), 1U);
}

TEST(Cluster, NodesMayBeNamedBeforeTheyExistAndAfter) {
  Cluster cluster;
  cluster.apply(pod("a", "n1", 0, 7));
  const NodeIndex n1 = *cluster.find_node("n1");
  EXPECT_FALSE(cluster.nodes().flags[n1].exists);
  EXPECT_EQ(cluster.node_count(), 0U);
  EXPECT_TRUE(cluster.nodes_by_name().empty());
  cluster.apply(node("n1"));
  EXPECT_EQ(cluster.find_node("n1"), n1);
  EXPECT_TRUE(cluster.nodes().flags[n1].exists);
  EXPECT_EQ(cluster.order().used(n1)[0], 7);
  cluster.apply(Removal{.kind = ObjectKind::node, .name = "n1"});
  EXPECT_EQ(cluster.find_node("n1"), n1) << "still named";
  EXPECT_TRUE(cluster.requests(cluster.nodes().allocatable[n1]).empty());
  cluster.apply(Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = "a"});
  EXPECT_EQ(cluster.find_node("n1"), std::nullopt);
}

TEST(Cluster, NominationsAreCountedOnTheirNode) {
  Cluster cluster;
  cluster.apply(node("n1"));
  Pod waiting = pod("a", "", 0, 7);
  waiting.nominated_node = "n1";
  cluster.apply(waiting);
  const NodeIndex n1 = *cluster.find_node("n1");
  ASSERT_EQ(cluster.nodes().nominated[n1].size(), 1U);
  EXPECT_EQ(cluster.order().used(n1)[0], 0) << "it uses nothing yet";
  waiting.nominated_node.clear();
  waiting.node = "n1";
  cluster.apply(waiting);
  EXPECT_TRUE(cluster.nodes().nominated[n1].empty());
  EXPECT_EQ(cluster.order().used(n1)[0], 7);
}

TEST(Cluster, RemovingWhatIsNotThereChangesNothing) {
  Cluster cluster;
  cluster.apply(pod("a", "n1", 0, 7));
  for (const ObjectKind kind : {ObjectKind::node, ObjectKind::pod, ObjectKind::priority_class,
                                ObjectKind::disruption_budget, ObjectKind::pod_group,
                                ObjectKind::workload, ObjectKind::namespace_object}) {
    cluster.apply(Removal{.kind = kind, .namespace_name = "default", .name = "other"});
    cluster.apply(Removal{.kind = kind, .namespace_name = "other", .name = "n1"});
  }
  EXPECT_EQ(cluster.pod_count(), 1U);
  EXPECT_TRUE(cluster.find_node("n1").has_value());
}

// ---- Priorities -------------------------------------------------------------------------------

TEST(ClusterPriority, ClassThenGlobalDefaultThenZero) {
  Cluster cluster;
  Pod plain = pod("plain", "", 0, 1);
  plain.priority.reset();
  Pod classed = plain;
  classed.name = "classed";
  classed.priority_class = "batch";
  cluster.apply(plain);
  cluster.apply(classed);
  EXPECT_EQ(unit_of(cluster, "plain").scheduling_priority, 0);
  EXPECT_EQ(unit_of(cluster, "classed").scheduling_priority, 0) << "an unknown class";
  cluster.apply(PriorityClass{.name = "normal", .value = 50, .global_default = true});
  EXPECT_EQ(unit_of(cluster, "plain").scheduling_priority, 50);
  EXPECT_EQ(unit_of(cluster, "classed").scheduling_priority, 0) << "it names another";
  cluster.apply(
      PriorityClass{.name = "batch", .value = -5, .preemption_policy = PreemptionPolicy::never});
  EXPECT_EQ(unit_of(cluster, "classed").scheduling_priority, -5);
  EXPECT_TRUE(unit_of(cluster, "classed").never_preempts);
  EXPECT_EQ(cluster.pods().priority[*cluster.find_pod("default", "classed")], -5);
  EXPECT_EQ(cluster.pod(*cluster.find_pod("default", "classed")).priority, std::nullopt)
      << "what was derived is not written into the object";
  cluster.apply(Removal{.kind = ObjectKind::priority_class, .name = "normal"});
  EXPECT_EQ(unit_of(cluster, "plain").scheduling_priority, 0);
}

TEST(ClusterPriority, OfSeveralGlobalDefaultsTheLowestCounts) {
  Cluster cluster;
  cluster.apply(PriorityClass{.name = "a", .value = 50, .global_default = true});
  cluster.apply(PriorityClass{.name = "b", .value = 20, .global_default = true});
  cluster.apply(PriorityClass{.name = "c", .value = 90, .global_default = true});
  ASSERT_NE(cluster.default_priority_class(), nullptr);
  EXPECT_EQ(cluster.default_priority_class()->name, "b");
}

TEST(ClusterPriority, SystemClassesAreBuiltIn) {
  Cluster cluster;
  ASSERT_NE(cluster.find_priority_class(names::node_critical), nullptr);
  EXPECT_EQ(cluster.find_priority_class(names::node_critical)->value, 2'000'001'000);
  EXPECT_EQ(cluster.find_priority_class(names::cluster_critical)->value, 2'000'000'000);
  EXPECT_EQ(cluster.find_priority_class("other"), nullptr);
  EXPECT_TRUE(cluster.priority_classes().empty()) << "built-in ones are not listed";
}

TEST(ClusterPriority, AClassReordersItsPods) {
  Cluster cluster;
  Pod classed = pod("classed", "n1", 0, 1);
  classed.priority.reset();
  classed.priority_class = "batch";
  cluster.apply(classed);
  cluster.apply(pod("other", "n1", 10, 1));
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"other", "classed"}));
  cluster.apply(PriorityClass{.name = "batch", .value = 11});
  EXPECT_EQ(order_on(cluster, "n1"), (Names{"classed", "other"}));
  EXPECT_EQ(cluster.order().priorities(*cluster.find_node("n1"))[0], 11);
}

TEST(ClusterPriority, ThePreemptionPriorityMayHaveAClassOfItsOwn) {
  Cluster cluster;
  Pod steady = pod("steady", "n1", 5, 1);
  steady.notes.preemption_priority_class = "hard-to-evict";
  cluster.apply(steady);
  EXPECT_EQ(unit_of(cluster, "steady").preemption_priority, 5) << "until the class comes";
  cluster.apply(PriorityClass{.name = "hard-to-evict", .value = 500});
  EXPECT_EQ(unit_of(cluster, "steady").scheduling_priority, 5);
  EXPECT_EQ(unit_of(cluster, "steady").preemption_priority, 500);
  EXPECT_EQ(cluster.order().priorities(*cluster.find_node("n1"))[0], 500);
}

TEST(ClusterPriority, PodGroupOverTemplateOverWorkloadOverTheDefault) {
  Cluster cluster;
  const auto priority = [&] { return unit_of(cluster, "a").scheduling_priority; };
  Pod a = pod("a", "", 30, 1);
  Pod b = pod("b", "", 20, 1);
  a.group = b.group = "g";
  cluster.apply(a);
  cluster.apply(b);
  EXPECT_EQ(priority(), 20);
  EXPECT_FALSE(unit_of(cluster, "a").defined);
  PodGroup group{.namespace_name = "default",
                 .name = "g",
                 .policy = {.minimum = 2, .gang = true, .mode = DisruptionMode::all},
                 .workload = "w",
                 .template_name = "t"};
  cluster.apply(group);
  EXPECT_EQ(priority(), 0);
  cluster.apply(PriorityClass{.name = "usual", .value = 50, .global_default = true});
  EXPECT_EQ(priority(), 50) << "whatever its pods say";
  EXPECT_EQ(unit_of(cluster, "a").minimum, 2);
  EXPECT_EQ(unit_of(cluster, "a").size, 2);
  Workload workload{.namespace_name = "default", .name = "w", .priority = {.priority = 300}};
  cluster.apply(workload);
  EXPECT_EQ(priority(), 300);
  workload.templates = {{.name = "t", .priority = {.priority = 400}}};
  cluster.apply(workload);
  EXPECT_EQ(priority(), 400);
  group.priority.priority = 7;
  cluster.apply(group);
  EXPECT_EQ(priority(), 7);
  group.priority.priority.reset();
  group.template_name = "another";
  cluster.apply(group);
  EXPECT_EQ(priority(), 300);
  cluster.apply(Removal{.kind = ObjectKind::workload, .namespace_name = "default", .name = "w"});
  EXPECT_EQ(priority(), 50);
}

TEST(ClusterPriority, AGroupWithoutPodsAndClassTakesTheGlobalDefault) {
  Cluster cluster;
  cluster.apply(PriorityClass{.name = "normal",
                              .value = 50,
                              .global_default = true,
                              .preemption_policy = PreemptionPolicy::never});
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g"});
  const Unit& unit = cluster.units()[cluster.groups()[*cluster.find_group("default", "g")].unit];
  EXPECT_EQ(unit.scheduling_priority, 50);
  EXPECT_EQ(unit.preemption_priority, 50);
  EXPECT_TRUE(unit.never_preempts) << "as its first pod would be";
}

TEST(ClusterPriority, AGroupPreemptsAsItSaysElseAsItsClassAndItsPodsAllow) {
  Cluster cluster;
  const auto never = [&] { return unit_of(cluster, "a").never_preempts; };
  Pod a = pod("a", "", 100, 1);
  a.group = "g";
  a.preemption_policy = PreemptionPolicy::preempt_lower_priority;
  Pod b = a;
  b.name = "b";
  PodGroup group{.namespace_name = "default", .name = "g", .priority = {.priority = 100}};
  for (const Change& object : {Change(a), Change(b), Change(group)}) cluster.apply(object);
  EXPECT_FALSE(never());
  b.preemption_policy = PreemptionPolicy::never;
  cluster.apply(b);
  EXPECT_TRUE(never()) << "kube-scheduler 1.37 reads the pods' policy";
  group.priority.preemption_policy = PreemptionPolicy::preempt_lower_priority;
  cluster.apply(group);
  EXPECT_FALSE(never()) << "the group's own word counts";
  group.priority.preemption_policy = PreemptionPolicy::unset;
  group.priority.priority_class = "patient";
  cluster.apply(group);
  b.preemption_policy = PreemptionPolicy::unset;
  cluster.apply(b);
  EXPECT_FALSE(never());
  cluster.apply(
      PriorityClass{.name = "patient", .value = 100, .preemption_policy = PreemptionPolicy::never});
  EXPECT_TRUE(never());
}

/// SPEC 2: bound pods of a group that is not there count as lone pods of their own priority.
TEST(Cluster, BoundPodsOfAnUnknownGroupStandForThemselves) {
  Cluster cluster;
  Pod strong = pod("strong", "n1", 30, 1);
  Pod weak = pod("weak", "n1", 20, 1);
  Pod pending = pod("pending", "", 10, 1);
  strong.group = weak.group = pending.group = "g";
  for (const Pod& each : {strong, weak, pending}) cluster.apply(each);
  EXPECT_EQ(unit_of(cluster, "strong").kind, UnitKind::pod);
  EXPECT_EQ(unit_of(cluster, "strong").preemption_priority, 30);
  EXPECT_EQ(unit_of(cluster, "weak").preemption_priority, 20);
  EXPECT_EQ(unit_of(cluster, "pending").kind, UnitKind::group);
  EXPECT_FALSE(unit_of(cluster, "pending").defined);
  EXPECT_EQ(cluster.pod(*cluster.find_pod("default", "weak")).group, "g");

  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 7}});
  for (const std::string_view name : {"strong", "weak", "pending"}) {
    EXPECT_EQ(unit_of(cluster, name).kind, UnitKind::group);
    EXPECT_EQ(unit_of(cluster, name).size, 3);
    EXPECT_EQ(unit_of(cluster, name).preemption_priority, 7);
  }
  EXPECT_EQ(cluster.order().priorities(*cluster.find_node("n1"))[0], 7);

  cluster.apply(Removal{.kind = ObjectKind::pod_group, .namespace_name = "default", .name = "g"});
  EXPECT_EQ(cluster.order().priorities(*cluster.find_node("n1"))[0], 30);
  EXPECT_EQ(unit_of(cluster, "weak").kind, UnitKind::pod);
  pending.node = "n1";
  cluster.apply(pending);
  EXPECT_EQ(unit_of(cluster, "pending").preemption_priority, 10);
  for (const std::string_view name : {"strong", "weak", "pending"}) {
    EXPECT_EQ(cluster.groups_by_name().size(), 1U);
    cluster.apply(
        Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = std::string(name)});
  }
  EXPECT_TRUE(cluster.groups_by_name().empty());
}

TEST(Cluster, GroupsOfThe135FormFollowTheirWorkload) {
  Cluster cluster;
  Pod member = pod("a", "n1", 3, 1);
  member.group = group_name("training", "workers", "0");
  cluster.apply(member);
  EXPECT_EQ(unit_of(cluster, "a").kind, UnitKind::pod);
  cluster.apply(Workload{
      .namespace_name = "default",
      .name = "training",
      .templates = {{.name = "workers",
                     .policy = {.minimum = 4, .gang = true, .mode = DisruptionMode::all}}}});
  EXPECT_EQ(unit_of(cluster, "a").kind, UnitKind::group);
  EXPECT_TRUE(unit_of(cluster, "a").gang);
  EXPECT_EQ(unit_of(cluster, "a").minimum, 4);
  EXPECT_EQ(unit_of(cluster, "a").mode, DisruptionMode::all);
  EXPECT_EQ(unit_of(cluster, "a").scheduling_priority, 0) << "it names no class";
}

TEST(Cluster, QueuesComeFromTheGroupElseFromThePods) {
  Cluster cluster;
  const auto queue = [&] { return cluster.text(unit_of(cluster, "a").queue); };
  Pod a = pod("a", "", 0, 1);
  a.notes.queue = "noted";
  cluster.apply(a);
  EXPECT_EQ(queue(), "noted");
  a.labels = {{std::string(names::kueue_queue), "kueue"}, {std::string(names::queue), "own"}};
  cluster.apply(a);
  EXPECT_EQ(queue(), "own");
  a.group = "g";
  cluster.apply(a);
  EXPECT_EQ(queue(), "own");
  Pod b = pod("b", "", 0, 1);
  b.group = "g";
  b.notes.queue = "first-by-name";
  cluster.apply(b);
  EXPECT_EQ(queue(), "first-by-name");
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .queue = "of-the-group"});
  EXPECT_EQ(queue(), "of-the-group");
}

// ---- Node classes -----------------------------------------------------------------------------

TEST(NodeClasses, OnlyLabelsThatPodsSelectByCount) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2", "n3"}) {
    Node object = node(name);
    object.labels = {{"disk", std::string(name) == "n3" ? "slow" : "fast"},
                     {std::string(names::hostname), name}};
    cluster.apply(object);
  }
  const auto same = [&](std::string_view a, std::string_view b) {
    return cluster.nodes().node_class[*cluster.find_node(a)] ==
           cluster.nodes().node_class[*cluster.find_node(b)];
  };
  EXPECT_TRUE(same("n1", "n3"));
  Pod picky = pod("picky", "", 0, 1);
  picky.shape.node_selector = {{std::string(names::hostname), "n1"}};
  cluster.apply(picky);
  EXPECT_TRUE(same("n1", "n2")) << "the host name never splits";
  picky.shape.node_terms = {
      {.labels = {{.key = "disk", .operation = Operator::exists}}, .fields = {}}};
  cluster.apply(picky);
  EXPECT_TRUE(same("n1", "n2"));
  EXPECT_FALSE(same("n1", "n3"));
  Node tainted = cluster.node(*cluster.find_node("n2"));
  tainted.taints = {{.key = "gpu", .value = "", .effect = TaintEffect::no_schedule}};
  cluster.apply(tainted);
  EXPECT_FALSE(same("n1", "n2"));
}

// ---- Slots ------------------------------------------------------------------------------------

TEST(Cluster, SlotsOfRemovedObjectsAreUsedAgain) {
  Cluster cluster;
  for (int round = 0; round < 1'000; ++round) {
    Pod member = pod("pod-" + std::to_string(round), "node-" + std::to_string(round), 0, 1);
    member.group = "group-" + std::to_string(round);
    cluster.apply(member);
    cluster.apply(
        Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = member.name});
  }
  EXPECT_EQ(cluster.pods().slots(), 256U);  // The columns of pods grow by that many.
  EXPECT_EQ(cluster.nodes().slots(), 1U);
  EXPECT_EQ(cluster.groups().size(), 1U);
  EXPECT_EQ(cluster.units().size(), 2U);  // The group is not here: the pod's, and the group's.
  EXPECT_LT(cluster.compacted().bytes().texts, cluster.bytes().texts + 1);
}

TEST(Cluster, ListsAreSortedByNamespaceAndName) {
  Cluster cluster;
  for (const char* const space : {"b", "a"}) {
    for (const char* const name : {"2", "10", "1"}) {
      cluster.apply(Pod{.namespace_name = space, .name = name, .group = name});
      cluster.apply(Workload{.namespace_name = space, .name = name});
    }
  }
  Names pods;
  for (const PodIndex index : cluster.pods_by_name()) pods.push_back(cluster.pod_key(index));
  EXPECT_EQ(pods, (Names{"a/1", "a/10", "a/2", "b/1", "b/10", "b/2"}));
  Names workloads;
  for (const Workload* const workload : cluster.workloads()) {
    workloads.push_back(workload->namespace_name + "/" + workload->name);
  }
  EXPECT_EQ(workloads, pods);
  EXPECT_EQ(cluster.groups_by_name().size(), 6U);
  EXPECT_EQ(cluster.text(cluster.groups()[cluster.groups_by_name()[1]].name), "10");
}

}  // namespace
}  // namespace makeway
