#include "model/group_status.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace makeway {
namespace {

GroupIndex group_of(const Cluster& cluster) { return *cluster.find_group("default", "g"); }

std::vector<PlanStatus> conditions(const Cluster& cluster) {
  Plan plan;
  add_priority_conditions(cluster, plan);
  return plan.status;
}

Pod member(std::string name, std::int32_t priority) {
  return {.namespace_name = "default", .name = std::move(name), .group = "g", .priority = priority};
}

TEST(GroupStatus, IsSilentWhenAllPodsAgree) {
  Cluster cluster;
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 100}});
  cluster.apply(member("a", 100));
  EXPECT_TRUE(conditions(cluster).empty());
}

TEST(GroupStatus, IsSilentForAGroupWithoutPods) {
  Cluster cluster;
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 100}});
  EXPECT_TRUE(conditions(cluster).empty());
}

TEST(GroupStatus, CountsPodsOfOtherPrioritiesAndNamesTheFirst) {
  Cluster cluster;
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 100}});
  cluster.apply(member("c", 100));
  cluster.apply(member("b", 1000));
  EXPECT_EQ(priority_mismatch_text(cluster, group_of(cluster)),
            "1 of its 2 pods carries another priority, the first is default/b with 1000 instead of "
            "100");
  cluster.apply(member("a", 10));
  const std::vector<PlanStatus> all = conditions(cluster);
  ASSERT_EQ(all.size(), 1U);
  const PlanStatus* const condition = &all.front();
  EXPECT_EQ(ref_text(condition->object), "PodGroup default/g");
  EXPECT_EQ(condition->condition, "PodsNotMatchingPriority");
  EXPECT_TRUE(condition->value);
  EXPECT_EQ(condition->reason, "PriorityDiffers");
  EXPECT_EQ(condition->message,
            "2 of its 3 pods carry another priority, the first is default/a with 10 instead of "
            "100; the group's counts");
}

TEST(GroupStatus, LooksAtThePriorityOfTheWorkloadToo) {
  Cluster cluster;
  cluster.apply(member("a", 10));
  cluster.apply(Workload{.namespace_name = "default", .name = "w", .priority = {.priority = 70}});
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .workload = "w"});
  EXPECT_EQ(priority_mismatch(cluster, group_of(cluster)).pods, 1);
  ASSERT_EQ(conditions(cluster).size(), 1U);
  EXPECT_EQ(
      conditions(cluster).front().message,
      "1 of its 1 pods carries another priority, the first is default/a with 10 instead of 70; "
      "the group's counts (Workload default/w)");
}

TEST(GroupStatus, GroupsOfOtherSchedulersAreLeftAlone) {  // SPEC section 8
  Cluster cluster;
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 2}});
  Pod foreign = member("a", 1);
  foreign.kept = KeptBy::other_scheduler;
  cluster.apply(foreign);
  EXPECT_TRUE(conditions(cluster).empty());
}

TEST(GroupStatus, GroupsAreReportedByName) {  // SPEC section 2: whenever observed
  Cluster cluster;
  cluster.apply(Pod{.namespace_name = "default", .name = "p", .group = "h", .priority = 1});
  cluster.apply(PodGroup{.namespace_name = "default", .name = "h", .priority = {.priority = 2}});
  cluster.apply(member("a", 1));
  EXPECT_EQ(conditions(cluster).size(), 1U) << "default/g has no object that could show it";
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 2}});
  const std::vector<PlanStatus> all = conditions(cluster);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.front().object.name, "g");
  EXPECT_EQ(all.back().object.name, "h");
}

}  // namespace
}  // namespace makeway
