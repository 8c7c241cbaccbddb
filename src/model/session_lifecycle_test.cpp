#include "model/session_lifecycle.hpp"

#include <gtest/gtest.h>

#include <array>

namespace makeway {
namespace {

constexpr Time noon{43'200'000};
constexpr Duration minute{60'000};

Session running() {
  Session session{.namespace_name = "default",
                  .name = "train",
                  .created = Time{0},
                  .resource_group = "gpu",
                  .priority = 3,
                  .checkpointing = true,
                  .kernels = {{.name = "a", .requests = {{"cpu", 1}}, .node = "n1"},
                              {.name = "b", .requests = {{"cpu", 1}}, .node = "n2"}}};
  session.status.phase = SessionPhase::running;
  session.status.started = Time{1'000};
  return session;
}

SessionNotice notice(SessionFate fate) {
  SessionNotice notice{
      .by = "Session default/urgent", .fate = fate, .now = noon, .ends_at = noon + minute};
  if (fate == SessionFate::requeues) notice.resume_after = notice.ends_at + Duration{30'000};
  return notice;
}

TEST(SessionLifecycle, BackOffDoublesUpToItsEnd) {
  const SessionSettings settings;
  constexpr std::array<std::int64_t, 8> seconds = {30, 60, 120, 240, 480, 900, 900, 900};
  for (std::size_t at = 0; at < seconds.size(); ++at) {
    EXPECT_EQ(backoff_after(settings, static_cast<std::int64_t>(at) + 1).ms, seconds[at] * 1'000);
  }
  EXPECT_EQ(backoff_after(settings, 1'000'000).ms, 900'000);
  EXPECT_EQ(backoff_after(SessionSettings{.backoff_first = {}}, 50).ms, 0);
}

TEST(SessionLifecycle, TheFateFollowsFromTypeAndDeclaration) {
  const SessionSettings settings;
  Session session = running();
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::requeues);
  session.checkpointing = false;
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::ends);
  session.requeue = true;
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::requeues);
  session.type = SessionType::inference;
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::requeues);
  session.autoscaler = true;
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::to_autoscaler);
  session.autoscaler = false;
  session.requeue.reset();
  session.checkpointing = true;  // Says nothing for inference.
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::ends);
  session.type = SessionType::interactive;
  EXPECT_EQ(fate_of(settings, session, nullptr), SessionFate::on_request);
  EXPECT_EQ(fate_of(SessionSettings{.resume_interactive = ResumeRule::never}, session, nullptr),
            SessionFate::ends);
}

TEST(SessionLifecycle, ThePartitionsModeComesFirst) {
  const SessionSettings settings;
  Session session = running();
  session.checkpointing = false;
  Partition partition{.name = "free", .mode = PartitionMode::requeue};
  EXPECT_EQ(fate_of(settings, session, &partition), SessionFate::requeues);
  session.requeue = false;
  EXPECT_EQ(fate_of(settings, session, &partition), SessionFate::ends);
  partition.mode = PartitionMode::cancel;
  session.requeue = true;
  EXPECT_EQ(fate_of(settings, session, &partition), SessionFate::ends);
  partition.mode = PartitionMode::suspend;
  EXPECT_EQ(fate_of(settings, session, &partition), SessionFate::suspends);
}

TEST(SessionLifecycle, APreemptedSessionComesBackAsItWas) {
  const Session before = running();
  Session session = notice_session(before, notice(SessionFate::requeues));
  EXPECT_EQ(standing_of(session, noon), SessionStanding::leaving);
  EXPECT_EQ(session.kernels, before.kernels);  // Still there.
  session = take_off_session(session);
  EXPECT_EQ(session.status.phase, SessionPhase::preempted);
  EXPECT_EQ(session.status.preemptions, 1);
  EXPECT_EQ(session.status.preempted_by, "Session default/urgent");
  EXPECT_EQ(standing_of(session, noon + minute), SessionStanding::off_queue);
  EXPECT_EQ(standing_of(session, noon + Duration{90'000}), SessionStanding::pending);
  EXPECT_EQ(session.created, before.created);
  session = start_session(session, std::array{KernelPlace{"a", "n3"}, KernelPlace{"b", "n3"}},
                          noon + Duration{120'000});
  EXPECT_EQ(standing_of(session, noon), SessionStanding::running);
  EXPECT_EQ(session.kernels.front().node, "n3");
  EXPECT_EQ(session.status.preemptions, 1);
  EXPECT_FALSE(session.status.fate || session.status.resume_after || session.status.ends_at);
}

TEST(SessionLifecycle, ASuspendedSessionStaysWhereItIs) {
  const Session before = running();
  Session session = take_off_session(notice_session(before, notice(SessionFate::suspends)));
  EXPECT_EQ(standing_of(session, noon), SessionStanding::suspended);
  EXPECT_EQ(session.kernels, before.kernels);
  session = run_on_session(session);
  EXPECT_EQ(standing_of(session, noon), SessionStanding::running);
  EXPECT_EQ(session.status.started, before.status.started);
}

TEST(SessionLifecycle, ASuspendedSessionThatIsResumedGivesUpItsNodes) {
  const Session session =
      take_off_session(notice_session(running(), notice(SessionFate::suspends)));
  const Result<Session> resumed = resume_session(session);
  ASSERT_TRUE(resumed.has_value());
  EXPECT_EQ(standing_of(*resumed, noon), SessionStanding::pending);
  EXPECT_TRUE(resumed->kernels.front().node.empty());
  EXPECT_FALSE(resumed->status.started || resumed->status.fate);
}

TEST(SessionLifecycle, OnlyPreemptedSessionsAreResumed) {
  EXPECT_FALSE(resume_session(running()).has_value());
  const Session ended = take_off_session(notice_session(running(), notice(SessionFate::ends)));
  EXPECT_EQ(ended.status.phase, SessionPhase::ended);
  EXPECT_FALSE(resume_session(ended).has_value());
  const Session waiting =
      take_off_session(notice_session(running(), notice(SessionFate::on_request)));
  EXPECT_EQ(standing_of(waiting, Time{noon.ms * 100}), SessionStanding::off_queue);
  const Result<Session> resumed = resume_session(waiting);
  ASSERT_TRUE(resumed.has_value());
  EXPECT_EQ(standing_of(*resumed, noon), SessionStanding::pending);
  EXPECT_EQ(resumed->status.preemptions, 1);
  EXPECT_EQ(resumed->name, "train");
}

}  // namespace
}  // namespace makeway
