// SPEC section 8, Assumed state: what was sent and is not yet seen.
#include "control/in_flight.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace makeway {
namespace {

class InFlightTest : public testing::Test {
 protected:
  InFlightTest() {
    cluster.apply(Node{.name = "n1", .allocatable = {{"cpu", 9'000}, {"pods", 9}}});
    cluster.apply(pod());
  }
  static Pod pod(std::string node = {}) {
    return {.namespace_name = "default", .name = "a", .uid = "u1", .node = std::move(node)};
  }
  static PlanAction action(ActionType type, std::string node = "n1") {
    return {.type = type,
            .namespace_name = "default",
            .name = "a",
            .uid = "u1",
            .node = std::move(node),
            .ask = type == ActionType::evict ? parse_ref("Pod default/urgent") : std::nullopt};
  }
  void send(PlanAction sent, std::int64_t now = 0, std::string plan = "p") {
    flight.sent({.id = std::move(plan), .actions = {std::move(sent)}}, cluster, Time{now});
  }
  Pod seen(const Pod& shown) { return std::get<Pod>(flight.seen(shown)); }
  /// Lays over what is new, and returns how many objects that changes.
  std::size_t look(std::int64_t now) {
    const std::vector<Change> changes = flight.unseen(Time{now});
    for (const Change& change : changes) cluster.apply(change);
    return changes.size();
  }
  Pod stored() const { return cluster.pod(*cluster.find_pod("default", "a")); }

  Cluster cluster;
  InFlight flight;
};

TEST_F(InFlightTest, ABindEndsWhenItIsSeen) {
  send(action(ActionType::bind));
  EXPECT_EQ(look(1), 1U);
  EXPECT_EQ(stored().node, "n1");
  EXPECT_EQ(look(2), 0U);
  EXPECT_EQ(seen(pod()).node, "n1");  // An older state of it.
  EXPECT_EQ(flight.size(), 1U);
  EXPECT_EQ(seen(pod("n2")).node, "n2");  // Another scheduler was faster.
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, WhatIsSeenAtOnceIsNeverLaidOver) {
  send(action(ActionType::bind));
  cluster.apply(flight.seen(pod("n1")));
  EXPECT_TRUE(flight.empty());
  EXPECT_EQ(look(1), 0U);
}

TEST_F(InFlightTest, WhatWaitsForItsTurnIsNotLate) {
  send(action(ActionType::nominate), 1'000);
  look(1'001);
  // The plan is still being sent: no time counts.
  EXPECT_TRUE(flight.unseen(Time{60'000}, Time{1'000}).empty());
  EXPECT_EQ(flight.size(), 1U);
  // From the last time that it was, it has ten seconds.
  EXPECT_EQ(look(69'999), 0U);
  look(70'000);
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, OnlyYoungerPlansAreWaitedFor) {
  send(action(ActionType::nominate), 1'000);
  look(1'001);
  flight.unseen(Time{12'000}, Time{5'000});
  EXPECT_TRUE(flight.empty());
}

/// Kubernetes keeps the times of conditions in whole seconds.
TEST_F(InFlightTest, AReservationIsSeenByTheSecond) {
  PlanAction reserve = action(ActionType::reserve);
  reserve.since = Time{1'234};
  send(reserve, 2'000);
  Pod shown = pod();
  shown.notes.reserved_since = Time{1'000};
  seen(shown);
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, AVictimIsLeavingUntilItIsSeenToBe) {
  cluster.apply(pod("n1"));
  send(action(ActionType::evict), 5'000);
  EXPECT_EQ(look(5'001), 1U);
  EXPECT_EQ(stored().deletion, Time{35'000});
  EXPECT_EQ(stored().notes.evicted_for, "Pod default/urgent");
  Pod leaving = pod("n1");
  leaving.deletion = Time{6'000};
  EXPECT_EQ(seen(leaving).deletion, Time{6'000});
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, ARefusalBringsBackWhatWasSeen) {
  send(action(ActionType::nominate));
  look(1);
  EXPECT_EQ(stored().nominated_node, "n1");
  const auto before =
      flight.refused({.plan = "p", .object = *parse_ref("Pod default/a"), .reason = "conflict"});
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(std::get<Pod>(*before).nominated_node, "");
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, ARefusalLeavesWhatOtherPlansHaveSent) {
  send(action(ActionType::bind), 0, "first");
  look(1);
  send(action(ActionType::evict), 2, "second");
  look(3);
  EXPECT_TRUE(stored().deletion.has_value());
  const auto before = flight.refused(
      {.plan = "second", .object = *parse_ref("Pod default/a"), .reason = "conflict"});
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(std::get<Pod>(*before).node, "n1");  // The bind is still on its way.
  EXPECT_FALSE(std::get<Pod>(*before).deletion.has_value());
  EXPECT_EQ(flight.size(), 1U);
}

/// Otherwise a journal, which keeps what can be read back, would show another pod.
TEST_F(InFlightTest, ALeavingPodIsNotNominatedWhenItsBindIsRefused) {
  Pod nominated = pod();
  nominated.nominated_node = "n1";
  cluster.apply(nominated);
  send(action(ActionType::bind), 0, "first");
  look(1);
  send(action(ActionType::evict), 2, "second");
  look(3);
  const auto before =
      flight.refused({.plan = "first", .object = *parse_ref("Pod default/a"), .reason = "timeout"});
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(std::get<Pod>(*before).node, "");
  EXPECT_EQ(std::get<Pod>(*before).nominated_node, "");
  EXPECT_TRUE(std::get<Pod>(*before).deletion.has_value());
}

TEST_F(InFlightTest, TheNewestOfAKindCountsAndARefusalBringsBackWhatWasSeenBeforeBoth) {
  cluster.apply(Node{.name = "n2", .allocatable = {{"cpu", 9'000}, {"pods", 9}}});
  send(action(ActionType::nominate, "n1"));
  look(1);
  send(action(ActionType::nominate, "n2"), 2);
  look(3);
  EXPECT_EQ(stored().nominated_node, "n2");
  Pod shown = pod();
  shown.nominated_node = "n1";
  EXPECT_EQ(seen(shown).nominated_node, "n2");
  shown.nominated_node = "n2";
  EXPECT_EQ(seen(shown).nominated_node, "n2");
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, AnotherPodOfThatNameHasNothingOfIt) {
  send(action(ActionType::bind));
  look(1);
  Pod other = pod();
  other.uid = "u2";
  EXPECT_EQ(seen(other).node, "");
  EXPECT_TRUE(flight.empty());
}

TEST_F(InFlightTest, WhatIsNotSeenForTenSecondsIsForgotten) {
  send(action(ActionType::nominate));
  look(1);
  EXPECT_EQ(look(9'999), 0U);
  EXPECT_EQ(look(10'000), 1U);
  EXPECT_EQ(stored().nominated_node, "");
  EXPECT_TRUE(flight.empty());
}

// SPEC 8, assumed state: a bind ends when the watch shows it, and the watch may be behind.
TEST_F(InFlightTest, ABindThatWasNotRefusedIsNotForgottenSoon) {
  send(action(ActionType::bind));
  look(1);
  EXPECT_EQ(look(299'999), 0U);
  EXPECT_EQ(stored().node, "n1");
  EXPECT_EQ(look(300'000), 1U);
  EXPECT_EQ(stored().node, "");
  EXPECT_TRUE(flight.empty());
}

/// A claim or a session may have the name of a pod; before, its refusal took the pod's bind along,
/// and the pod's room was given away twice.
TEST_F(InFlightTest, ARefusalIsAboutTheObjectOfThatKind) {
  send(action(ActionType::bind), 1);
  look(2);
  for (const char* const object : {"Session default/a", "PersistentVolumeClaim default/a"}) {
    EXPECT_FALSE(flight.refused({.plan = "p", .object = *parse_ref(object), .reason = "conflict"})
                     .has_value());
    EXPECT_TRUE(flight.has_pod("default", "a")) << object;
  }
  flight.refused({.plan = "p", .object = *parse_ref("Pod default/a"), .reason = "conflict"});
  EXPECT_FALSE(flight.has_pod("default", "a"));
}

/// One budget that governs the pod.
class InFlightBudgets : public InFlightTest {
 protected:
  InFlightBudgets() {
    Pod victim = pod("n1");
    victim.labels = {{"app", "web"}};
    cluster.apply(victim);
    cluster.apply(budget(2));
    send(action(ActionType::evict));
  }
  static DisruptionBudget budget(std::int32_t allowed) {
    return {.namespace_name = "default",
            .name = "web",
            .selector = LabelSelector{.requirements = {{.key = "app", .values = {"web"}}}},
            .disruptions_allowed = allowed};
  }
  std::optional<std::int32_t> allowed() const {
    return cluster.budgets().front()->disruptions_allowed;
  }
};

TEST_F(InFlightBudgets, AVictimCountsUntilTheStatusHasChanged) {
  look(1);
  EXPECT_EQ(allowed(), 1);
  cluster.apply(flight.seen(budget(2)));  // The old status once more.
  EXPECT_EQ(allowed(), 1);
  cluster.apply(flight.seen(budget(1)));
  EXPECT_EQ(allowed(), 1);
  look(20'000);
  EXPECT_EQ(allowed(), 1);
}

TEST_F(InFlightBudgets, AVictimCountsForTenSeconds) {
  look(1);
  look(9'999);
  EXPECT_EQ(allowed(), 1);
  look(10'000);
  EXPECT_EQ(allowed(), 2);
}

TEST_F(InFlightBudgets, ARefusedEvictionDoesNotCount) {
  look(1);
  flight.refused({.plan = "p", .object = *parse_ref("Pod default/a"), .reason = "gone"});
  look(2);
  EXPECT_EQ(allowed(), 2);
}

/// A group has the places that its plan gives it; what its members were nominated to before is
/// over.
TEST_F(InFlightTest, MembersOfAGroupWithoutAPlaceLoseTheirNominations) {
  Pod member = pod();
  member.group = "gang";
  member.nominated_node = "n1";
  cluster.apply(PodGroup{.namespace_name = "default", .name = "gang"});
  cluster.apply(member);
  const PlanAsk ask{.kind = AskKind::pod_group,
                    .namespace_name = "default",
                    .name = "gang",
                    .outcome = Outcome::infeasible};
  flight.sent({.id = "p", .asks = {ask}}, cluster, Time{0});
  look(1);
  EXPECT_EQ(stored().nominated_node, "");
}

class SessionInFlightTest : public InFlightTest {
 protected:
  static Session session(SessionPhase phase, std::string node = {}) {
    Session made{.namespace_name = "team", .name = "s", .uid = "S"};
    made.status.phase = phase;
    made.kernels.push_back({.name = "main", .requests = {{"cpu", 1'000}}, .node = std::move(node)});
    return made;
  }
  static PlanAsk ask(Outcome outcome, std::string node) {
    return {.kind = AskKind::session,
            .namespace_name = "team",
            .name = "s",
            .outcome = outcome,
            .placements = {{.namespace_name = "team", .name = "s/main", .node = std::move(node)}}};
  }
  /// A plan that makes the session leave for another one.
  static Plan preemption() {
    PlanAsk urgent{.kind = AskKind::session, .namespace_name = "team", .name = "urgent"};
    urgent.session = PlanSession{};
    urgent.session->victims.push_back({.namespace_name = "team",
                                       .name = "s",
                                       .fate = SessionFate::requeues,
                                       .ends_at = Time{30'000},
                                       .resume_after = Time{60'000}});
    return {.id = "p",
            .asks = {urgent},
            .actions = {{.type = ActionType::requeue,
                         .namespace_name = "team",
                         .name = "s",
                         .uid = "S",
                         .ask = parse_ref("Session team/urgent")}}};
  }
  Session stored_session() const { return cluster.own<Session>().begin()->second; }
  std::optional<Time> held(AskKind kind) const { return flight.hold_until(kind, Time{1}); }
};

TEST_F(SessionInFlightTest, AStartIsLaidOverAndOnlySessionsWait) {
  cluster.apply(session(SessionPhase::pending));
  flight.sent({.id = "p", .asks = {ask(Outcome::fits, "n1")}}, cluster, Time{0});
  EXPECT_EQ(look(1), 1U);
  EXPECT_EQ(stored_session().status.phase, SessionPhase::running);
  EXPECT_EQ(stored_session().kernels[0].node, "n1");
  EXPECT_EQ(held(AskKind::session), Time{10'000});
  for (const AskKind kind : {AskKind::pod, AskKind::pod_group, AskKind::queue}) {
    EXPECT_EQ(held(kind), std::nullopt) << choice_name(kind);
  }
  EXPECT_EQ(held(AskKind::replica_schedule), std::nullopt);
  // An older state of it, and then the start.
  const Change older = flight.seen(session(SessionPhase::pending));
  EXPECT_EQ(std::get<Session>(older).status.phase, SessionPhase::running);
  flight.seen(session(SessionPhase::running, "n1"));
  EXPECT_TRUE(flight.empty());
  EXPECT_EQ(held(AskKind::session), std::nullopt);
}

TEST_F(SessionInFlightTest, ARefusedOrLateStartIsTakenBack) {
  cluster.apply(session(SessionPhase::pending));
  flight.sent({.id = "p", .asks = {ask(Outcome::fits, "n1")}}, cluster, Time{0});
  look(1);
  const auto before =
      flight.refused({.plan = "p", .object = *parse_ref("Session team/s"), .reason = "conflict"});
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(std::get<Session>(*before), session(SessionPhase::pending));
  EXPECT_TRUE(flight.empty());
  cluster.apply(*before);
  flight.sent({.id = "p2", .asks = {ask(Outcome::fits, "n1")}}, cluster, Time{2});
  look(3);
  EXPECT_EQ(look(10'002), 1U);
  EXPECT_EQ(stored_session(), session(SessionPhase::pending));
  EXPECT_TRUE(flight.empty());
}

TEST_F(SessionInFlightTest, ANominationThatStandsIsNotAwaited) {
  Session waits = session(SessionPhase::pending);
  waits.kernels[0].nominated_node = "n1";
  cluster.apply(waits);
  flight.sent({.id = "p", .asks = {ask(Outcome::waits, "n1")}}, cluster, Time{0});
  EXPECT_TRUE(flight.empty());
  flight.sent({.id = "p", .asks = {ask(Outcome::waits, "n2")}}, cluster, Time{0});
  EXPECT_EQ(held(AskKind::session), Time{10'000});
  look(1);
  EXPECT_EQ(stored_session().kernels[0].nominated_node, "n2");
  flight.seen(waits);  // Not yet.
  EXPECT_FALSE(flight.empty());
  waits.kernels[0].nominated_node = "n2";
  flight.seen(waits);
  EXPECT_TRUE(flight.empty());
}

TEST_F(SessionInFlightTest, AVictimIsLeavingUntilItIsSeenToBeAndIsNotAwaitedTwice) {
  Session runs = session(SessionPhase::running, "n1");
  cluster.apply(runs);
  flight.sent(preemption(), cluster, Time{0});
  look(1);
  EXPECT_EQ(stored_session().status.ends_at, Time{30'000});
  EXPECT_EQ(stored_session().status.fate, SessionFate::requeues);
  EXPECT_EQ(held(AskKind::session), Time{10'000});
  // The next plan says the same: one preemption is one preemption.
  flight.sent(preemption(), cluster, Time{2});
  look(3);
  EXPECT_EQ(stored_session().status.preemptions, 1);
  flight.seen(runs);  // Not yet.
  EXPECT_FALSE(flight.empty());
  runs.status.ends_at = Time{30'000};
  flight.seen(runs);
  EXPECT_TRUE(flight.empty());
  cluster.apply(runs);
  flight.sent(preemption(), cluster, Time{100});
  EXPECT_TRUE(flight.empty());
  // Another session of that name is not preempted.
  runs.uid = "T";
  runs.status.ends_at.reset();
  cluster.apply(runs);
  flight.sent(preemption(), cluster, Time{200});
  EXPECT_TRUE(flight.empty());
}

/// Before, the pod counted as leaving, its room as free soon, and its budget as used up.
TEST_F(InFlightBudgets, ASessionThatLeavesIsNoPodOfItsName) {
  InFlight other;
  Session session{.namespace_name = "default", .name = "a", .uid = "S"};
  session.status.phase = SessionPhase::running;
  session.kernels.push_back({.name = "main", .node = "n1"});
  cluster.apply(session);
  PlanAction notice = action(ActionType::evict);
  notice.uid = "S";
  notice.ask = parse_ref("Session default/urgent");
  other.sent({.id = "p", .actions = {notice}}, cluster, Time{0});
  EXPECT_FALSE(other.has_pod("default", "a"));
  for (const Change& change : other.unseen(Time{1})) {
    EXPECT_TRUE(std::holds_alternative<Session>(change));
  }
  EXPECT_EQ(other.hold_until(AskKind::session, Time{1}), Time{10'000});
  // The pod is another one.
  EXPECT_EQ(std::get<Pod>(other.seen(pod("n1"))).deletion, std::nullopt);
  other.seen(Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = "a"});
  other.refused({.plan = "p", .object = *parse_ref("Pod default/a"), .reason = "conflict"});
  EXPECT_FALSE(other.empty());
  session.status.ends_at = Time{5'000};
  other.seen(session);
  EXPECT_TRUE(other.empty());
}

TEST_F(InFlightTest, SchedulesWaitUntilEveryCommitIsSeen) {
  ReplicaSchedule schedule{.namespace_name = "team",
                           .name = "web",
                           .deployment = "web",
                           .planes = {{.name = "east", .committed = 1}, {.name = "west"}}};
  cluster.apply(schedule);
  const auto scale = [](std::string plane, std::int64_t before, std::int64_t after) {
    PlanAction action{.type = ActionType::scale_up, .namespace_name = "team", .name = "web"};
    action.scale = {
        .plane = std::move(plane), .committed_before = before, .committed_after = after};
    return action;
  };
  flight.sent({.actions = {scale("east", 1, 2), scale("east", 2, 3), scale("west", 0, 1)}}, cluster,
              Time{0});
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{1}), Time{10'000});
  EXPECT_EQ(flight.hold_until(AskKind::pod, Time{1}), std::nullopt);
  flight.seen(schedule);  // Only its status was written.
  EXPECT_FALSE(flight.empty());
  schedule.planes[0].committed = 3;
  flight.seen(schedule);
  EXPECT_FALSE(flight.empty());
  schedule.planes[1].committed = 1;
  flight.seen(schedule);
  EXPECT_TRUE(flight.empty());
}

/// A decision on what it was before would write over it.
TEST_F(InFlightTest, TheStatusOfAScheduleHoldsSchedulesUntilItIsSeenOrRefused) {
  ReplicaSchedule schedule{.namespace_name = "team", .name = "web", .deployment = "web"};
  cluster.apply(schedule);
  PlanReplicaStatus next{.namespace_name = "team", .name = "web"};
  next.status.claims.push_back({.plane = "east", .node = "e1"});
  const Plan plan{.id = "p", .replica_status = {next}};
  flight.sent(plan, cluster, Time{0});
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{1}), Time{10'000});
  EXPECT_EQ(flight.hold_until(AskKind::pod, Time{1}), std::nullopt);
  schedule.unmet = 1;
  const Change laid = flight.seen(schedule);  // Something else about it.
  EXPECT_EQ(std::get<ReplicaSchedule>(laid).status, next.status);
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{1}), Time{10'000});
  schedule.status = next.status;
  flight.seen(schedule);
  EXPECT_TRUE(flight.empty());

  flight.sent(plan, cluster, Time{0});
  const auto refuse = [&](std::string id) {
    flight.refused({.plan = std::move(id),
                    .object = *parse_ref("ReplicaSchedule team/web"),
                    .reason = "conflict"});
  };
  refuse("another");
  EXPECT_FALSE(flight.empty());
  refuse("p");
  EXPECT_TRUE(flight.empty());
}

/// While many writes wait, a status may wait for longer than it takes to be seen.
TEST_F(InFlightTest, NothingIsDecidedAboutSchedulesWhileAStatusWaitsToBeSent) {
  ReplicaSchedule schedule{
      .namespace_name = "team", .name = "web", .deployment = "web", .planes = {{.name = "east"}}};
  cluster.apply(schedule);
  PlanReplicaStatus next{.namespace_name = "team", .name = "web"};
  next.status.claims.push_back({.plane = "east", .node = "e1"});
  PlanAction scale{.type = ActionType::scale_up, .namespace_name = "team", .name = "web"};
  scale.scale = {.plane = "east", .committed_before = 0, .committed_after = 1};
  flight.sent({.id = "p", .replica_status = {next}, .actions = {scale}}, cluster, Time{5'000});
  flight.unseen(Time{20'000}, Time{5'000});  // Not answered yet.
  EXPECT_EQ(flight.hold_until(AskKind::pod, Time{20'000}), std::nullopt) << "others wait no longer";
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{20'000}), Time{30'000});
  flight.unseen(Time{29'999}, Time{6'000});  // Only what was sent later waits.
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{29'999}), Time{30'000});
  schedule.status = next.status;
  flight.seen(schedule);
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{29'999}), Time{30'000})
      << "the scale goes after it";
  flight.unseen(Time{30'000}, std::nullopt);
  EXPECT_TRUE(flight.empty());
}

/// What a plane refuses says nothing about the object of that name at home, or in another plane.
TEST_F(InFlightTest, AReceiptOfAPlaneIsAboutThatPlane) {
  send(action(ActionType::bind));
  const auto scale = [](std::string plane) {
    PlanAction made{.type = ActionType::scale_up, .namespace_name = "default", .name = "a"};
    made.scale = {.plane = std::move(plane), .committed_before = 0, .committed_after = 1};
    return made;
  };
  flight.sent({.id = "p", .actions = {scale("east"), scale("west")}}, cluster, Time{0});
  EXPECT_EQ(flight.size(), 3U) << "a Deployment that has the name of a pod is none";
  Receipt receipt{.plan = "p", .object = pod_ref("default", "a", "east"), .reason = "gone"};
  EXPECT_FALSE(flight.refused(receipt).has_value());
  EXPECT_TRUE(flight.has_pod("default", "a"));
  EXPECT_EQ(flight.size(), 3U) << "nor is it a Deployment of that name";
  receipt.object.kind = RefKind::deployment;
  flight.refused(receipt);
  EXPECT_EQ(flight.size(), 2U);
  receipt.object.plane = "west";
  receipt.plan = "another";
  flight.refused(receipt);
  EXPECT_EQ(flight.size(), 2U);
  receipt.plan = "p";
  flight.refused(receipt);
  EXPECT_EQ(flight.size(), 1U);
}

/// Another schedule's claim has it scaled down, which was not refused.
TEST_F(InFlightTest, ARefusedStatusDoesNotEndTheWaitForAScale) {
  PlanAction action{.type = ActionType::scale_down, .namespace_name = "team", .name = "web"};
  action.scale = {.plane = "east", .committed_before = 2, .committed_after = 1};
  flight.sent({.id = "p", .actions = {action}}, cluster, Time{0});
  flight.refused(
      {.plan = "p", .object = *parse_ref("ReplicaSchedule team/web"), .reason = "conflict"});
  EXPECT_EQ(flight.hold_until(AskKind::replica_schedule, Time{1}), Time{10'000});
  ObjectRef deployment = *parse_ref("Deployment team/web");
  deployment.plane = "east";
  flight.refused({.plan = "p", .object = deployment, .reason = "gone"});
  EXPECT_TRUE(flight.empty());
}

// ---- Statuses of queues -------------------------------------------------------------------------

class QueueInFlightTest : public InFlightTest {
 protected:
  QueueInFlightTest() { cluster.apply(queue({})); }
  /// Allocated, and promised 1 more.
  static Queue queue(Quotas allocated, std::string uid = "q1") {
    Queue made{.name = "team", .uid = std::move(uid)};
    if (!allocated.empty()) made.preempting = {{"cpu", 1'000}};
    made.allocated = std::move(allocated);
    return made;
  }
  void send_status(std::int64_t allocated, std::int64_t now, std::string plan = "p") {
    Plan sent{.id = std::move(plan)};
    sent.queue_status = {{.name = "team",
                          .uid = "q1",
                          .allocated = {{"cpu", allocated}},
                          .preempting = {{"cpu", 1'000}}}};
    flight.sent(sent, cluster, Time{now});
  }
  Queue stored_queue() const { return cluster.own<Queue>().begin()->second; }
  Queue seen_queue(const Queue& shown) { return std::get<Queue>(flight.seen(shown)); }
};

TEST_F(QueueInFlightTest, AStatusIsLaidOverUntilItIsSeen) {
  send_status(2'000, 0);
  EXPECT_EQ(look(1), 1U);
  EXPECT_EQ(stored_queue(), queue({{"cpu", 2'000}}));
  EXPECT_EQ(look(2), 0U);
  Queue edited = queue({});  // By another client, before our status was written.
  edited.weight = 7;
  EXPECT_EQ(seen_queue(edited).weight, 7);
  EXPECT_EQ(seen_queue(edited).allocated, (Quotas{{"cpu", 2'000}}));
  EXPECT_EQ(seen_queue(queue({{"cpu", 2'000}})), queue({{"cpu", 2'000}}));
  EXPECT_TRUE(flight.empty());
}

TEST_F(QueueInFlightTest, TheNewestStatusCounts) {
  send_status(2'000, 0);
  look(1);
  send_status(3'000, 2, "p2");
  EXPECT_EQ(look(3), 1U);
  EXPECT_EQ(seen_queue(queue({{"cpu", 2'000}})).allocated, (Quotas{{"cpu", 3'000}}));
  // The older one was refused: that says nothing about the newer.
  EXPECT_FALSE(flight.refused({.plan = "p", .object = *parse_ref("Queue team")}).has_value());
  EXPECT_FALSE(flight.empty());
  const auto before = flight.refused({.plan = "p2", .object = *parse_ref("Queue team")});
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(std::get<Queue>(*before), queue({{"cpu", 2'000}}));  // As it was shown last.
  EXPECT_TRUE(flight.empty());
}

TEST_F(QueueInFlightTest, AStatusThatNeverComesIsForgotten) {
  send_status(2'000, 0);
  look(1);
  EXPECT_EQ(look(9'999), 0U);
  EXPECT_EQ(look(10'000), 1U);
  EXPECT_EQ(stored_queue(), queue({}));
  EXPECT_TRUE(flight.empty());
}

TEST_F(QueueInFlightTest, AnotherQueueOfThatNameHasItsOwn) {
  send_status(2'000, 0);
  look(1);
  EXPECT_EQ(seen_queue(queue({}, "q2")), queue({}, "q2"));
  EXPECT_TRUE(flight.empty());
  send_status(2'000, 2);
  flight.seen(Removal{.kind = ObjectKind::queue, .name = "team"});
  EXPECT_TRUE(flight.empty());
}

}  // namespace
}  // namespace makeway
