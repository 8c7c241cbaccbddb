// SPEC section 8: a group that leaves as one and was left half way by a process that was killed.
#include <gtest/gtest.h>

#include "control/interrupted_gangs.hpp"

namespace makeway {
namespace {

constexpr Time restart_time{1'000'000};

class InterruptedGangEvictionsTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster.apply(Node{.name = "n1", .allocatable = {{"cpu", 4'000}, {"pods", 10}}});
    group(DisruptionMode::all);
  }
  void group(DisruptionMode mode) {
    PodGroup made{.namespace_name = "a", .name = "g"};
    made.policy.gang = true;
    made.policy.minimum = 3;
    made.policy.mode = mode;
    cluster.apply(made);
  }
  enum class State : std::uint8_t { runs, is_marked, leaves, is_deleted };
  void member(const std::string& name, State state, std::string scheduler = "makeway") {
    Pod pod{.namespace_name = "a", .name = name, .uid = "uid-" + name, .node = "n1", .group = "g"};
    pod.scheduler = std::move(scheduler);
    pod.disrupted_by_preemption = state == State::is_marked || state == State::leaves;
    if (state == State::leaves || state == State::is_deleted) {
      pod.deletion = restart_time + Duration{30'000};
    }
    cluster.apply(pod);
  }
  /// Names of the pods to evict; the first state of the cluster is searched once.
  std::vector<std::string> evicted(Time now = restart_time) {
    if (!was_found) gangs.find(cluster, {"makeway"}, now);
    was_found = true;
    std::vector<std::string> names;
    const std::optional<Plan> plan = gangs.due(cluster, in_flight, now);
    if (!plan) return names;
    for (const PlanAction& action : plan->actions) {
      EXPECT_EQ(action.type, ActionType::evict);
      EXPECT_EQ(ref_text(action.ask), "PodGroup a/g");
      EXPECT_EQ(action.uid, "uid-" + action.name);
      names.push_back(action.name);
    }
    EXPECT_EQ(plan->asks.size(), 1U);
    EXPECT_EQ(plan->asks.front().reason, interrupted_eviction_reason);
    return names;
  }
  using Names = std::vector<std::string>;

  Cluster cluster;
  InFlight in_flight;
  InterruptedGangEvictions gangs{Duration{60'000}};
  bool was_found = false;
};

TEST_F(InterruptedGangEvictionsTest, TheRestIsEvicted) {
  member("m-0", State::leaves);
  member("m-2", State::runs);
  member("m-1", State::is_marked);
  EXPECT_EQ(evicted(), (Names{"m-1", "m-2"}));
}

TEST_F(InterruptedGangEvictionsTest, AnEvictedMemberMayBeGoneAlready) {
  member("m-1", State::is_marked);
  member("m-2", State::runs);
  EXPECT_EQ(evicted(), (Names{"m-1", "m-2"}));
}

TEST_F(InterruptedGangEvictionsTest, AMarkAloneEvictsNoPod) {
  member("m-0", State::is_marked);
  member("m-1", State::runs);
  member("m-2", State::runs);
  EXPECT_EQ(evicted(), Names{});
  EXPECT_EQ(gangs.next_due(), std::nullopt);
}

TEST_F(InterruptedGangEvictionsTest, AMemberThatLeavesForAnotherReasonEvictsNoOthers) {
  member("m-0", State::is_deleted);
  member("m-1", State::runs);
  EXPECT_EQ(evicted(), Names{});
}

TEST_F(InterruptedGangEvictionsTest, OtherGroupsLeaveOneByOne) {
  group(DisruptionMode::single);
  member("m-0", State::leaves);
  member("m-1", State::is_marked);
  EXPECT_EQ(evicted(), Names{});
}

TEST_F(InterruptedGangEvictionsTest, PodsOfOtherSchedulersAreNotOurs) {
  member("m-0", State::leaves, "default-scheduler");
  member("m-1", State::runs, "default-scheduler");
  EXPECT_EQ(evicted(), Names{});
}

TEST_F(InterruptedGangEvictionsTest, WhatLeavesLaterIsNoneOfItsBusiness) {
  member("m-0", State::runs);
  member("m-1", State::runs);
  EXPECT_EQ(evicted(), Names{});
  member("m-0", State::leaves);
  EXPECT_EQ(evicted(restart_time + Duration{5'000}), Names{});
}

TEST_F(InterruptedGangEvictionsTest, AMemberThatWasNotEvictedIsTriedAgainForAWhile) {
  member("m-0", State::leaves);
  member("m-1", State::runs);
  EXPECT_EQ(evicted(), Names{"m-1"});
  EXPECT_EQ(gangs.next_due(), restart_time + Duration{1'000});
  EXPECT_EQ(evicted(restart_time + Duration{999}), Names{});
  EXPECT_EQ(evicted(restart_time + Duration{1'000}), Names{"m-1"});
  EXPECT_EQ(evicted(restart_time + Duration{60'000}), Names{});
  EXPECT_EQ(gangs.next_due(), std::nullopt);
}

TEST_F(InterruptedGangEvictionsTest, AMemberIsNotEvictedTwice) {
  member("m-0", State::leaves);
  member("m-1", State::runs);
  gangs.find(cluster, {"makeway"}, restart_time);
  was_found = true;
  const std::optional<Plan> plan = gangs.due(cluster, in_flight, restart_time);
  ASSERT_TRUE(plan.has_value());
  in_flight.sent(*plan, cluster, restart_time);
  EXPECT_EQ(evicted(restart_time + Duration{1'000}), Names{});
  member("m-1", State::leaves);
  EXPECT_EQ(evicted(restart_time + Duration{2'000}), Names{});
  EXPECT_EQ(gangs.next_due(), std::nullopt);
}

}  // namespace
}  // namespace makeway
