// SPEC section 8, Backlog: sessions and ReplicaSchedules that wait.
#include "control/own_kind_asks.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

Session waiting_session(std::string name) {
  return {.namespace_name = "default", .name = std::move(name)};
}

TEST(OwnKindAsks, AllThatArePendingAreTriedTogetherWhenAnythingChanges) {
  OwnKindAsks asks{Configuration{}};
  EXPECT_FALSE(asks.next_due(Time{1'000}).has_value());
  asks.note(waiting_session("b"));
  asks.note(waiting_session("a"));
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "met"});
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "web", .unmet = 2});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{1'000});
  const std::vector<AskName> due = asks.take_due(Time{1'000});
  ASSERT_EQ(due.size(), 3U);
  EXPECT_EQ(due[0].name, "web");
  EXPECT_EQ(due[1].name, "a");
  EXPECT_EQ(due[2].name, "b");
  EXPECT_TRUE(asks.take_due(Time{2'000}).empty());
  asks.note(Pod{.namespace_name = "default", .name = "other"});
  EXPECT_EQ(asks.take_due(Time{3'000}).size(), 3U);
}

TEST(OwnKindAsks, WhoIsOffTheQueueIsDueWhenItsBackOffHasPassed) {
  OwnKindAsks asks{Configuration{}};
  Session session = waiting_session("train");
  session.status.phase = SessionPhase::preempted;
  session.status.fate = SessionFate::requeues;
  session.status.resume_after = Time{30'000};
  asks.note(session);
  EXPECT_TRUE(asks.take_due(Time{1'000}).empty());
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{30'000});
  EXPECT_EQ(asks.take_due(Time{30'000}).size(), 1U);
  EXPECT_FALSE(asks.next_due(Time{30'000}).has_value());
}

TEST(OwnKindAsks, TheTimeThatTheDecisionNamedWakesThem) {
  OwnKindAsks asks{Configuration{}};
  asks.note(waiting_session("train"));
  EXPECT_EQ(asks.take_due(Time{1'000}).size(), 1U);
  asks.learn(Time{5'000});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{5'000});
  EXPECT_EQ(asks.take_due(Time{5'000}).size(), 1U);
  EXPECT_FALSE(asks.next_due(Time{5'000}).has_value());
}

TEST(OwnKindAsks, WhoWasRefusedIsTriedAgainLaterAndLater) {
  OwnKindAsks asks{Configuration{}};
  asks.note(waiting_session("train"));
  const Receipt receipt{.plan = {}, .object = "Session default/train", .reason = {}, .ask = {}};
  EXPECT_EQ(asks.take_due(Time{1'000}).size(), 1U);
  asks.back_off(receipt, Time{1'000});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{2'000});
  EXPECT_EQ(asks.take_due(Time{2'000}).size(), 1U);
  asks.back_off(receipt, Time{2'000});
  EXPECT_EQ(asks.next_due(Time{2'000}), Time{4'000});
  EXPECT_EQ(asks.take_due(Time{4'000}).size(), 1U);
  EXPECT_FALSE(asks.next_due(Time{4'000}).has_value());
}

TEST(OwnKindAsks, NobodyAsksWhoIsGoneOrWhosePolicyIsOff) {
  Configuration configuration;
  configuration.session.enabled = false;
  OwnKindAsks asks{configuration};
  asks.note(waiting_session("train"));
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "web", .unmet = 2});
  asks.note(
      Removal{.kind = ObjectKind::replica_schedule, .namespace_name = "default", .name = "web"});
  EXPECT_TRUE(asks.take_due(Time{1'000}).empty());
  EXPECT_FALSE(asks.next_due(Time{1'000}).has_value());
}

}  // namespace
}  // namespace makeway
