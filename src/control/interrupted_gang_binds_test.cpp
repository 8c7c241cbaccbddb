// SPEC section 8, Gangs: what becomes of members that were bound when the rest could not be.
#include <gtest/gtest.h>

#include "control/interrupted_gangs.hpp"

namespace makeway {
namespace {

constexpr Time gang_start{1'000'000};

class InterruptedGangBindsTest : public testing::Test {
 protected:
  InterruptedGangBindsTest() {
    cluster.apply(Node{.name = "n1", .allocatable = {{"cpu", 4'000}, {"pods", 10}}});
    PodGroup group{.namespace_name = "a", .name = "g"};
    group.policy.gang = true;
    group.policy.minimum = 2;
    cluster.apply(group);
    member("m-0", "");
    member("m-1", "");
  }
  void member(const std::string& name, std::string node, const std::string& uid = {}) {
    cluster.apply(Pod{.namespace_name = "a",
                      .name = name,
                      .uid = uid.empty() ? "uid-" + name : uid,
                      .node = std::move(node),
                      .group = "g"});
  }
  static Plan binds() {
    Plan plan{.now = gang_start};
    for (const std::string name : {"m-0", "m-1"}) {
      plan.actions.push_back({.type = ActionType::bind,
                              .namespace_name = "a",
                              .name = name,
                              .uid = "uid-" + name,
                              .node = "n1"});
    }
    return plan;
  }
  static LiveSettings rules(GangRollback rollback) {
    return {.gang_bind_timeout = Duration{60'000}, .gang_rollback = rollback};
  }

  Cluster cluster;
  InFlight in_flight;
};

TEST_F(InterruptedGangBindsTest, BoundMembersAreDeletedAfterTheTimeout) {
  InterruptedGangBinds gangs(rules(GangRollback::erase));
  gangs.sent(binds(), cluster, gang_start);
  member("m-0", "n1");
  EXPECT_EQ(gangs.next_due(), gang_start + Duration{60'000});
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{59'999}));
  const auto plan = gangs.due(cluster, in_flight, gang_start + Duration{60'000});
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->actions.size(), 1U);
  EXPECT_EQ(plan->actions[0].type, ActionType::evict);
  EXPECT_EQ(plan->actions[0].name, "m-0");
  EXPECT_EQ(ref_text(plan->actions[0].ask), "PodGroup a/g");
  // Once it is gone, there is no member left to delete.
  cluster.apply(Removal{.kind = ObjectKind::pod, .namespace_name = "a", .name = "m-0"});
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{120'000}));
  EXPECT_FALSE(gangs.next_due().has_value());
}

// A brake, a pause or a budget may refuse it.
TEST_F(InterruptedGangBindsTest, AMemberThatCouldNotBeDeletedIsDeletedLater) {
  InterruptedGangBinds gangs(rules(GangRollback::erase));
  gangs.sent(binds(), cluster, gang_start);
  member("m-0", "n1");
  EXPECT_TRUE(gangs.due(cluster, in_flight, gang_start + Duration{60'000}));
  EXPECT_EQ(gangs.next_due(), gang_start + Duration{120'000});
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{119'999}));
  EXPECT_TRUE(gangs.due(cluster, in_flight, gang_start + Duration{120'000}));
  // A new bind has the whole timeout again.
  gangs.sent(binds(), cluster, gang_start + Duration{130'000});
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{189'999}));
  member("m-1", "n1");
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{190'000}));
  EXPECT_FALSE(gangs.next_due().has_value());
}

TEST_F(InterruptedGangBindsTest, TheyStayWhereTheKnobSaysSo) {
  InterruptedGangBinds gangs(rules(GangRollback::none));
  gangs.sent(binds(), cluster, gang_start);
  member("m-0", "n1");
  EXPECT_FALSE(gangs.next_due().has_value());
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{60'000}));
}

TEST_F(InterruptedGangBindsTest, AGangThatRanIsDegradedAndNotHalfBound) {
  InterruptedGangBinds gangs(rules(GangRollback::erase));
  gangs.sent(binds(), cluster, gang_start);
  member("m-0", "n1");
  member("m-1", "n1");
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{1'000}));
  cluster.apply(Removal{.kind = ObjectKind::pod, .namespace_name = "a", .name = "m-1"});
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{60'000}));
}

TEST_F(InterruptedGangBindsTest, WhatIsOnlyAssumedIsNotWhole) {
  InterruptedGangBinds gangs(rules(GangRollback::erase));
  in_flight.sent(binds(), cluster, gang_start);
  gangs.sent(binds(), cluster, gang_start);
  member("m-0", "n1");
  member("m-1", "n1");
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{1'000}));
  EXPECT_TRUE(gangs.next_due().has_value());
}

TEST_F(InterruptedGangBindsTest, OnlyMembersThatWeBoundAreDeleted) {
  InterruptedGangBinds gangs(rules(GangRollback::erase));
  gangs.sent(binds(), cluster, gang_start);
  member("m-0", "n1", "another-uid");
  EXPECT_FALSE(gangs.due(cluster, in_flight, gang_start + Duration{60'000}));
}

}  // namespace
}  // namespace makeway
