// WaitingAsks: which asks wait for a place, and what the last decision said of each.
//
// For the views of a run (the dashboard's board, the terminal view): it is fed with answers and
// looks at the cluster when a view is drawn. It decides nothing.
//
// Rules
//  1. Pending pods wait, those of a group as one; of a cluster with several schedulers only those
//     that name one of ours. Sessions wait while they are pending or suspended, and while they are
//     to come back after a preemption; ReplicaSchedules while replicas are unmet.
//  2. An answer is kept as long as its ask waits: another ask of the same name was not
//     decided about yet.
//  3. Highest priority first, then longest waiting, then by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/request.hpp"

namespace makeway {

struct AskAnswer {
  Outcome outcome = Outcome::infeasible;
  std::string reason;
};

struct WaitingAsk {
  AskName name;
  std::int32_t priority = 0;
  std::int64_t pods = 0;  ///< That wait; of a ReplicaSchedule its unmet replicas.
  std::optional<Time> since;
  std::string remark;  ///< Why no decision will come; empty: one will.
};

class WaitingAsks {
 public:
  /// Another loop decides anew.
  void forget_answers() { answers_.clear(); }
  void note(const AskName& ask, AskAnswer answer) { answers_[ask] = std::move(answer); }
  void note(const Plan& plan);

  /// Pods with one of these schedulerNames are ours; none: all are. O(pending), sessions and
  /// schedules.
  void look(const Cluster& cluster, const Configuration& configuration,
            std::span<const std::string> schedulers = {});

  /// As of the last `look`.
  const std::vector<WaitingAsk>& all() const { return asks_; }
  /// Null: it was not decided yet, or it does not wait.
  const AskAnswer* answer_of(const AskName& ask) const;

 private:
  std::map<AskName, AskAnswer> answers_;
  std::vector<WaitingAsk> asks_;
};

}  // namespace makeway
