// SPEC section 8, Backlog: sessions and ReplicaSchedules that wait.
#include "control/own_kind_asks.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

Session waiting_session(std::string name) {
  return {.namespace_name = "default", .name = std::move(name)};
}

TEST(OwnKindAsks, AllThatArePendingAreTriedTogetherWhenAnythingChanges) {
  OwnKindAsks asks(AskKind::session, {});
  EXPECT_FALSE(asks.next_due(Time{1'000}).has_value());
  asks.note(waiting_session("b"));
  asks.note(waiting_session("a"));
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "web", .unmet = 2});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{1'000});
  const std::vector<AskName> due = asks.take_due({}, Time{1'000});
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].name, "a");
  EXPECT_EQ(due[1].name, "b");
  EXPECT_TRUE(asks.take_due({}, Time{2'000}).empty());
  asks.note(Pod{.namespace_name = "default", .name = "other"});
  EXPECT_EQ(asks.take_due({}, Time{3'000}).size(), 2U);
}

/// A schedule that has all its replicas is due as long as it has claims: only its decision ends
/// them.
TEST(OwnKindAsks, SchedulesAreTriedWhileTheyMissOrClaimSomething) {
  OwnKindAsks asks(AskKind::replica_schedule, {});
  asks.note(waiting_session("a"));
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "met"});
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "web", .unmet = 2});
  ReplicaSchedule claims{.namespace_name = "default", .name = "claims"};
  claims.status.claims.push_back({.plane = "east", .node = "e1"});
  asks.note(claims);
  const std::vector<AskName> due = asks.take_due({}, Time{1'000});
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].name, "claims");
  EXPECT_EQ(due[1].name, "web");
  claims.status.claims.clear();
  asks.note(claims);
  EXPECT_EQ(asks.take_due({}, Time{2'000}).size(), 1U);
}

TEST(OwnKindAsks, ASessionOffTheQueueIsDueWhenItsBackOffHasPassed) {
  OwnKindAsks asks(AskKind::session, {});
  Session session = waiting_session("train");
  session.status.phase = SessionPhase::preempted;
  session.status.fate = SessionFate::requeues;
  session.status.resume_after = Time{30'000};
  asks.note(session);
  EXPECT_TRUE(asks.take_due({}, Time{1'000}).empty());
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{30'000});
  EXPECT_EQ(asks.take_due({}, Time{30'000}).size(), 1U);
  EXPECT_FALSE(asks.next_due(Time{30'000}).has_value());
}

TEST(OwnKindAsks, TheTimeThatTheDecisionNamedWakesThem) {
  OwnKindAsks asks(AskKind::session, {});
  asks.note(waiting_session("train"));
  EXPECT_EQ(asks.take_due({}, Time{1'000}).size(), 1U);
  asks.learn({}, {}, Time{5'000}, Time{1'000});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{5'000});
  // A cycle of others, at a time at which these are held up, does not take it from them.
  asks.learn({}, {}, Time{50'000}, Time{5'000});
  EXPECT_EQ(asks.take_due({}, Time{5'000}).size(), 1U);
  EXPECT_FALSE(asks.next_due(Time{5'000}).has_value());
}

TEST(OwnKindAsks, ARefusedAskIsTriedAgainLaterAndLater) {
  OwnKindAsks asks(AskKind::session, {});
  asks.note(waiting_session("train"));
  const Receipt receipt{.object = *parse_ref("Session default/train")};
  EXPECT_EQ(asks.take_due({}, Time{1'000}).size(), 1U);
  asks.back_off(receipt, Time{1'000});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{2'000});
  EXPECT_EQ(asks.take_due({}, Time{2'000}).size(), 1U);
  asks.back_off(receipt, Time{2'000});
  EXPECT_EQ(asks.next_due(Time{2'000}), Time{4'000});
  EXPECT_EQ(asks.take_due({}, Time{4'000}).size(), 1U);
  EXPECT_FALSE(asks.next_due(Time{4'000}).has_value());
}

/// A brake says until when it holds; before, a schedule was tried up to a minute later than that.
TEST(OwnKindAsks, ARefusedAskIsTriedNoLaterThanItsBrake) {
  OwnKindAsks asks(AskKind::replica_schedule, {});
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "web", .unmet = 2});
  Receipt receipt{.object = *parse_ref("ReplicaSchedule default/web")};
  Time now{1'000};
  for (const std::int64_t delay_ms : {1'000, 2'000, 4'000, 8'000}) {
    EXPECT_EQ(asks.take_due({}, now).size(), 1U);
    asks.back_off(receipt, now);
    EXPECT_EQ(asks.next_due(now), now + Duration{delay_ms});
    now = now + Duration{delay_ms};
  }
  // The next would be 16 s later.
  EXPECT_EQ(asks.take_due({}, now).size(), 1U);
  asks.back_off(receipt, now);
  receipt.again_at = now + Duration{5'000};
  asks.back_off(receipt, now);
  EXPECT_EQ(asks.next_due(now), now + Duration{5'000});
  receipt.again_at = now;  // Not at once: many asks may be due at the same moment.
  asks.back_off(receipt, now);
  EXPECT_EQ(asks.next_due(now), now + Duration{1'000});
}

/// An ask that was left out is tried again, but no loop waits for that.
TEST(OwnKindAsks, WhatTheJudgeRefusedIsTriedAgainAsAMereRetry) {
  OwnKindAsks asks(AskKind::session, {});
  asks.note(waiting_session("train"));
  const AskName train{.kind = AskKind::session, .namespace_name = "default", .name = "train"};
  EXPECT_EQ(asks.take_due({}, Time{1'000}).size(), 1U);
  asks.not_decided(AskName{.kind = AskKind::pod, .namespace_name = "default", .name = "train"},
                   Time{1'000});
  EXPECT_FALSE(asks.next_due(Time{1'000}).has_value());
  asks.not_decided(train, Time{1'000});
  EXPECT_EQ(asks.next_due(Time{1'000}), Time{2'000});
  EXPECT_FALSE(asks.next_due(Time{1'000}, false).has_value());
  EXPECT_EQ(asks.take_due({}, Time{2'000}).size(), 1U);
}

TEST(OwnKindAsks, AnAskThatIsGoneOrWithItsPolicyOffIsNotDue) {
  Configuration configuration;
  configuration.session.enabled = false;
  OwnKindAsks sessions(AskKind::session, configuration);
  sessions.note(waiting_session("train"));
  EXPECT_TRUE(sessions.take_due({}, Time{1'000}).empty());
  OwnKindAsks asks(AskKind::replica_schedule, configuration);
  asks.note(ReplicaSchedule{.namespace_name = "default", .name = "web", .unmet = 2});
  asks.note(
      Removal{.kind = ObjectKind::replica_schedule, .namespace_name = "default", .name = "web"});
  EXPECT_TRUE(asks.take_due({}, Time{1'000}).empty());
  EXPECT_FALSE(asks.next_due(Time{1'000}).has_value());
}

}  // namespace
}  // namespace makeway
