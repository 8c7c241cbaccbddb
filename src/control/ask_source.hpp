// AskSource: which asks of one sort are due (backlog, sessions, ReplicaSchedules, the queue stage).
//
// The loop asks its sources in turn, decides about everything that is due in one cycle, and reports
// to each of them what became of it.
#pragma once

#include <optional>
#include <vector>

#include "control/port.hpp"
#include "model/cluster.hpp"
#include "model/request.hpp"

namespace makeway {

class AskSource {
 public:
  AskSource() = default;
  AskSource(const AskSource&) = default;
  AskSource& operator=(const AskSource&) = default;
  AskSource(AskSource&&) = default;
  AskSource& operator=(AskSource&&) = default;
  virtual ~AskSource() = default;

  /// The asks that are due, in order; they are not due again before something changes, or in time.
  virtual std::vector<AskName> take_due(const Cluster& cluster, Time now) = 0;
  /// The earliest time at which an ask is due without a change; none: no ask is. Without `retries`,
  /// of those asks for which the answer may be different then.
  virtual std::optional<Time> next_due(Time now, bool retries) const = 0;
  /// A cycle was decided: its asks, its plan, and when time alone may change what was decided.
  virtual void learn(const std::vector<AskName>& taken, const Plan& plan,
                     const std::optional<Time>& recheck_at, Time now) = 0;
  /// The world refused an action; of other sorts of asks nothing happens.
  virtual void back_off(const Receipt& receipt, Time now) = 0;
  /// The judge refused what was decided about the ask, or it could not be decided: a retry is
  /// expected to end in the same way.
  virtual void not_decided(const AskName& ask, Time now) = 0;
};

}  // namespace makeway
