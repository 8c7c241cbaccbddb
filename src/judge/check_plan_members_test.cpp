// Plans in which members of groups ask for themselves (SPEC section 2, `evictFor: each`): for each
// rule a good plan that passes and a broken one that is caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "judge/check_plan.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

PodGroup members_gang(std::int32_t minimum) {
  PodGroup object = group("gang", DisruptionMode::single);
  object.policy.gang = minimum > 0;
  object.policy.minimum = std::max(minimum, 1);
  object.priority.priority = 100;
  return object;
}

Pod gang_member(std::string name, std::string node = "") {
  return in_group(pod(std::move(name), std::move(node), 100, 600), "gang");
}

Node zone_node(std::string name, std::string zone) {
  Node object = node(std::move(name), 1000);
  object.labels = {{"zone", std::move(zone)}};
  return object;
}

TEST(CheckPlanMembers, Law3AMemberAsksOnceTheMinimumHasAPlace) {
  Scene scene(node("n1", 1000), node("n2", 1000), members_gang(1), gang_member("m1", "n1"),
              gang_member("m2"));
  scene.ask("m2", Outcome::fits, "n2", {});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(members_gang(2));
  EXPECT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text,
            "it asks, and 1 of the minimum 2 of its group have a place");
}

TEST(CheckPlanMembers, Law3OnlyWithEvictForEach) {
  Scene scene(node("n1", 1000), node("n2", 1000), members_gang(1), gang_member("m1", "n1"),
              gang_member("m2"));
  scene.configuration.workload.evict_for = EvictFor::minimum;
  scene.ask("m2", Outcome::fits, "n2", {});
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanMembers, Law3MembersOfABasicGroupAskAlways) {
  Scene scene(node("n1", 1000), node("n2", 1000), pod("low", "n2", 10, 1000), members_gang(0),
              gang_member("m1"), gang_member("m2"));
  scene.ask("m1", Outcome::fits, "n1", {});
  scene.ask("m2", Outcome::preempts, "n2", {"low"});
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanMembers, Law3AMemberStaysInTheDomainOfItsGroup) {
  PodGroup together = members_gang(1);
  together.policy.topology_keys = {"zone"};
  Scene scene(zone_node("a1", "a"), zone_node("a2", "a"), zone_node("b1", "b"), together,
              gang_member("m1", "a1"), gang_member("m2"));
  scene.ask("m2", Outcome::fits, "a2", {});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan = {.now = now};
  scene.ask("m2", Outcome::fits, "b1", {});
  EXPECT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text, "it is not in the domain of its group");
}

}  // namespace
}  // namespace makeway::scene
