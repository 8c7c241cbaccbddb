// The judge's own reading of SPEC section 6: the order of turns, which sessions an ask may preempt,
// which of them leave first, and what becomes of a preempted session. Straight from the objects.
// Private to check_plan*.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

class SessionRules {
 public:
  SessionRules(const Cluster& cluster, const Configuration& configuration, Time now);

  const Session* find(const std::string& namespace_name, const std::string& name) const;
  /// Null: its group is not divided.
  const Partition* partition(const Session& session) const;
  std::int32_t priority(const Session& session) const;
  /// 0: its group is not divided.
  std::int32_t tier(const Session& session) const;
  /// Where its kernels may go, by name: its group's nodes, or its partition's among them.
  const std::vector<NodeIndex>& nodes(const Session& session) const;
  /// Where it may run on once it was suspended there.
  const std::vector<NodeIndex>& group_nodes(const Session& session) const;
  /// Sessions of the group that hold their room and are not leaving.
  const std::vector<const Session*>& running(const std::string& group) const;

  bool waits_for_its_turn(const Session& session) const;
  /// By tier, priority and age. A nomination may put one before its equals, so both ways is
  /// possible.
  bool tried_before(const Session& one, const Session& other) const;

  bool leaving(const Session& session) const {
    return session.status.phase == SessionPhase::running && session.status.ends_at.has_value();
  }
  /// Why the ask may not preempt it; empty: it may.
  std::string protection(const Session& ask, const Session& victim) const;
  /// Sessions that hold their room and that it may preempt; the same for all of its rank.
  const std::vector<const Session*>& may_leave_for(const Session& ask) const;
  PreemptionOrder order(const Session& session) const;
  /// Whether every ordering rule makes one leave before the other. Never both ways; neither way
  /// where no rule applies.
  bool leaves_before(const Session& one, const Session& other) const;

  SessionFate fate(const Session& victim) const;
  Time ends_at(const Session& victim) const;
  /// When it is pending again by itself; nothing: it is not.
  std::optional<Time> resume_after(const Session& victim) const;
  PlanCost cost(const Session& victim) const;

 private:
  using Place = std::pair<std::string, std::string>;  ///< Group and partition.

  const std::vector<NodeIndex>& nodes_of(const std::string& name_of_group,
                                         const Partition* part) const;
  Time since(const Session& session) const;
  std::string protection_by_age(const Session& victim) const;
  ResumeRule resume_rule(const Session& victim) const;
  std::int64_t order_value(const Session& session) const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  const SessionSettings& settings_;
  Time now_;
  std::set<std::string> divided_;
  mutable std::map<Place, std::vector<NodeIndex>> nodes_;
  std::map<std::string, std::vector<const Session*>> running_;
  /// By group, tier and priority of the ask.
  mutable std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::vector<const Session*>>
      may_leave_;
};

/// "Session default/train"
std::string session_text(const Session& session);

}  // namespace makeway
