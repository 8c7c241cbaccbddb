#include "control/own_kind_asks.hpp"

#include <algorithm>
#include <variant>

namespace makeway {

void OwnKindAsks::note(const Change& change) {
  if (const Session* const session = std::get_if<Session>(&change)) {
    note_session(*session);
  } else if (const ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&change)) {
    note_schedule(*schedule);
  } else if (const Removal* const gone = std::get_if<Removal>(&change)) {
    const ObjectKind own =
        kind_ == AskKind::session ? ObjectKind::session : ObjectKind::replica_schedule;
    if (gone->kind == own && gone->plane.empty()) {
      pending_.erase({.kind = kind_, .namespace_name = gone->namespace_name, .name = gone->name});
    }
  }
  awake_ = !pending_.empty();
}

void OwnKindAsks::note_session(const Session& session) {
  if (!is_enabled_ || kind_ != AskKind::session || !session.plane.empty()) return;
  const AskName name{.kind = kind_, .namespace_name = session.namespace_name, .name = session.name};
  const SessionStatus& status = session.status;
  pending_.erase(name);
  if (status.phase == SessionPhase::pending || status.phase == SessionPhase::suspended) {
    pending_[name] = no_time;
  } else if (status.phase == SessionPhase::preempted && status.resume_after &&
             status.fate == SessionFate::requeues) {
    pending_[name] = *status.resume_after;
  }
}

void OwnKindAsks::note_schedule(const ReplicaSchedule& schedule) {
  if (!is_enabled_ || kind_ != AskKind::replica_schedule || !schedule.plane.empty()) return;
  const AskName name{
      .kind = kind_, .namespace_name = schedule.namespace_name, .name = schedule.name};
  pending_.erase(name);
  if (schedule.unmet > 0 || !schedule.status.claims.empty()) pending_[name] = no_time;
}

void OwnKindAsks::back_off(const Receipt& receipt, Time now) {
  const std::optional<AskName> ask = as_ask(receipt.concerned());
  if (!ask || ask->kind != kind_) return;
  retry_may_succeed_ = true;
  try_again(now, receipt.again_at);
}

void OwnKindAsks::not_decided(const AskName& ask, Time now) {
  if (ask.kind != kind_) return;
  if (!retry_at_) retry_may_succeed_ = false;
  try_again(now, std::nullopt);
}

void OwnKindAsks::try_again(Time now, const std::optional<Time>& again_at) {
  constexpr Backoff backoff{.first = {1'000}, .max = {60'000}};
  if (!retry_at_) retry_at_ = backoff.next_try(now, ++failures_);
  // Of several that were refused, the one that may succeed first takes the others along.
  retry_at_ = backoff.no_later_than(*retry_at_, again_at, now);
}

std::vector<AskName> OwnKindAsks::take_due(const Cluster& /*cluster*/, Time now) {
  const std::optional<Time> next = next_due(now);
  if (!next || *next > now) return {};
  std::vector<AskName> due;
  for (const auto& [name, from] : pending_) {
    if (from <= now) due.push_back(name);
  }
  if (!retry_at_) failures_ = 0;  // Nothing was refused since they were tried.
  awake_ = false;
  tried_ = now;
  retry_at_.reset();
  if (recheck_at_ && *recheck_at_ <= now) recheck_at_.reset();
  return due;
}

std::optional<Time> OwnKindAsks::next_due(Time now, bool retries) const {
  std::optional<Time> next;
  bool any = false;
  for (const auto& [name, from] : pending_) {
    any = any || from <= now;
    if (from > tried_) next = std::min(next.value_or(from), from);
  }
  if (any && awake_) return now;
  if (any && retry_at_ && (retries || retry_may_succeed_))
    next = std::min(next.value_or(*retry_at_), *retry_at_);
  if (any && recheck_at_) next = std::min(next.value_or(*recheck_at_), *recheck_at_);
  return next;
}

}  // namespace makeway
