#include "model/group_status.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

GroupIndex group_of(const Cluster& cluster) { return *cluster.find_group("default", "g"); }

Pod member(std::string name, std::int32_t priority) {
  return {.namespace_name = "default", .name = std::move(name), .group = "g", .priority = priority};
}

TEST(GroupStatus, IsSilentWhenAllPodsAgree) {
  Cluster cluster;
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 100}});
  cluster.apply(member("a", 100));
  EXPECT_EQ(priority_condition(cluster, group_of(cluster)), std::nullopt);
}

TEST(GroupStatus, IsSilentForAGroupWithoutPods) {
  Cluster cluster;
  cluster.apply(PodGroup{.namespace_name = "default", .name = "g", .priority = {.priority = 100}});
  EXPECT_EQ(priority_condition(cluster, group_of(cluster)), std::nullopt);
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
  const std::optional<PlanStatus> condition = priority_condition(cluster, group_of(cluster));
  ASSERT_TRUE(condition.has_value());
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
}

}  // namespace
}  // namespace makeway
