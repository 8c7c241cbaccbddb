// OwnKindAsks: which sessions, or which ReplicaSchedules, are pending, and when they are tried.
//
// The backlog has pods and groups only. Sessions and schedules are few, and depend on each other:
// only the first session that does not fit may preempt, schedules are scaled in one stage. So all
// of a kind that are pending are tried together, whenever anything has changed, when one returns
// to the queue, at the time that the decision named, and, where an action was refused, after a
// while. A schedule that has got everything it wants is tried while it still claims something, so
// that its claims end.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/backoff.hpp"
#include "control/ask_source.hpp"
#include "control/port.hpp"
#include "model/request.hpp"

namespace makeway {

class OwnKindAsks final : public AskSource {
 public:
  /// There are no asks while the policy is not enabled.
  OwnKindAsks(AskKind kind, const Configuration& configuration)
      : kind_(kind),
        is_enabled_(kind == AskKind::session ? configuration.session.enabled
                                             : configuration.replica.enabled) {}

  void note(const Change& change);
  /// All of them or none, sorted.
  std::vector<AskName> take_due(const Cluster& cluster, Time now) override;
  /// What is due already, and was not taken, stays due.
  void learn(const std::vector<AskName>& /*taken*/, const Plan& /*plan*/,
             const std::optional<Time>& recheck_at, Time now) override {
    const bool is_due = recheck_at_ && *recheck_at_ <= now;
    if (!is_due) recheck_at_ = recheck_at;
  }
  /// An action for one of them was refused: all are tried again, 1 s later, doubling to 60 s, and
  /// no later than a receipt says that it may succeed.
  void back_off(const Receipt& receipt, Time now) override;
  void not_decided(const AskName& ask, Time now) override;
  std::optional<Time> next_due(Time now, bool retries = true) const override;

 private:
  void try_again(Time now, const std::optional<Time>& again_at);
  void note_session(const Session& session);
  void note_schedule(const ReplicaSchedule& schedule);

  AskKind kind_;
  bool is_enabled_;
  std::map<AskName, Time> pending_;  ///< From when on.
  bool awake_ = false;               ///< Something has changed.
  std::optional<Time> recheck_at_;
  Time tried_{no_time};
  std::optional<Time> retry_at_;
  bool retry_may_succeed_ = true;
  std::int64_t failures_ = 0;  ///< In a row.
};

}  // namespace makeway
