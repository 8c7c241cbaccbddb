#include "model/session_lifecycle.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "model/object_text.hpp"
#include "model/session_names.hpp"

namespace makeway {

SessionStanding standing_of(const Session& session, Time now) {
  const SessionStatus& status = session.status;
  switch (status.phase) {
    case SessionPhase::pending: return SessionStanding::pending;
    case SessionPhase::running:
      return status.ends_at ? SessionStanding::leaving : SessionStanding::running;
    case SessionPhase::suspended: return SessionStanding::suspended;
    case SessionPhase::ended: return SessionStanding::ended;
    case SessionPhase::preempted: {
      const bool back = status.fate == SessionFate::requeues && status.resume_after &&
                        *status.resume_after <= now;
      return back ? SessionStanding::pending : SessionStanding::off_queue;
    }
  }
  CHECK(false, "unknown phase");
}

namespace {

ResumeRule rule_of(const SessionSettings& settings, SessionType type) {
  switch (type) {
    case SessionType::batch: return settings.resume_batch;
    case SessionType::interactive: return settings.resume_interactive;
    case SessionType::inference: return settings.resume_inference;
  }
  CHECK(false, "unknown type");
}

}  // namespace

Time runs_since(const Session& session, Time now) {
  return session.status.started.value_or(std::min(session.created.value_or(now), now));
}

SessionFate fate_of(const SessionSettings& settings, const Session& session,
                    const Partition* partition) {
  const bool divided = partition != nullptr;
  if (divided && partition->mode == PartitionMode::suspend) return SessionFate::suspends;
  if (divided && partition->mode == PartitionMode::cancel) return SessionFate::ends;
  if (session.type == SessionType::inference && session.autoscaler) {
    return SessionFate::to_autoscaler;
  }
  // The mode `requeue` of a partition speaks for every session of it that does not say otherwise.
  const bool requeue = session.requeue.value_or(divided);
  const bool checkpointing = session.checkpointing && session.type != SessionType::inference;
  const bool forbidden = session.requeue.has_value() && !*session.requeue;
  switch (rule_of(settings, session.type)) {
    case ResumeRule::never: return SessionFate::ends;
    case ResumeRule::on_request: return SessionFate::on_request;
    case ResumeRule::when_declared:
      return requeue || (checkpointing && !forbidden) ? SessionFate::requeues : SessionFate::ends;
  }
  CHECK(false, "unknown rule");
}

Duration backoff_after(const SessionSettings& settings, std::int64_t preemptions) {
  if (settings.backoff_first.ms <= 0) return {0};
  const Backoff backoff{.first = settings.backoff_first, .max = settings.backoff_max};
  return backoff.after(std::max<std::int64_t>(preemptions, 1));
}

Session start_session(Session session, std::span<const KernelPlace> places, Time now) {
  for (Kernel& kernel : session.kernels) {
    const auto place = std::ranges::find(places, kernel.name, &KernelPlace::kernel);
    CHECK(place != places.end(), "a kernel without a place");
    kernel.node = place->node;
    kernel.nominated_node.clear();
  }
  session.status.phase = SessionPhase::running;
  session.status.started = now;
  session.status.ends_at.reset();
  session.status.fate.reset();
  session.status.resume_after.reset();
  return session;
}

Session nominate_session(Session session, std::span<const KernelPlace> places) {
  for (Kernel& kernel : session.kernels) {
    const auto place = std::ranges::find(places, kernel.name, &KernelPlace::kernel);
    kernel.nominated_node = place == places.end() ? std::string() : place->node;
  }
  return session;
}

Session notice_session(Session session, const SessionNotice& notice) {
  session.status.ends_at = notice.ends_at;
  session.status.preemptions += 1;
  session.status.preempted_by = notice.by;
  session.status.preempted_at = notice.now;
  session.status.fate = notice.fate;
  session.status.resume_after = notice.resume_after;
  return session;
}

Session take_off_session(Session session) {
  const SessionFate fate = session.status.fate.value_or(SessionFate::ends);
  session.status.ends_at.reset();
  if (fate == SessionFate::suspends) {
    session.status.phase = SessionPhase::suspended;
    return session;
  }
  const bool returns = fate == SessionFate::requeues || fate == SessionFate::on_request;
  session.status.phase = returns ? SessionPhase::preempted : SessionPhase::ended;
  session.status.started.reset();
  for (Kernel& kernel : session.kernels) kernel.node.clear();
  return session;
}

Session run_on_session(Session session) {
  session.status.phase = SessionPhase::running;
  session.status.fate.reset();
  session.status.resume_after.reset();
  return session;
}

Result<Session> resume_session(Session session) {
  switch (session.status.phase) {
    case SessionPhase::pending: return input_error("it is pending already");
    case SessionPhase::running: return input_error("it is running");
    case SessionPhase::ended:
      return input_error("it has ended; only a preempted or suspended session can be resumed");
    case SessionPhase::suspended:
    case SessionPhase::preempted: break;
  }
  for (Kernel& kernel : session.kernels) kernel.node.clear();
  session.status.phase = SessionPhase::pending;
  session.status.started.reset();
  session.status.fate.reset();
  session.status.resume_after.reset();
  return session;
}

}  // namespace makeway
