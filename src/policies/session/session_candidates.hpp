// SessionCandidates: which running sessions may be made to leave, and in which order.
//
// Where a group is not divided, a session may leave for a session of strictly higher priority if
// its own is at most the group's preemptiblePriority. In a divided group tiers are compared instead
// (law 2), and a session or its partition says whether it is preemptible. In both, none leaves
// that was preempted maxPreemptions times, is in a protected namespace, or is younger than the
// minimum runtime or its partition's exempt time.
//
// Order: lowest tier, lowest priority, then as preemptionOrder says (`fewest` is `oldest` here, see
// session_victims.hpp), then namespace and name. The same for every ask of a group, so those that
// an ask may take are the first of one list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/reason.hpp"
#include "policies/session/session_table.hpp"

namespace makeway {

class SessionCandidates {
 public:
  SessionCandidates(const SessionTable& table, const Configuration& configuration);

  /// Least important first.
  std::span<const SessionIndex> of(const SessionEntry& ask);
  /// All of the group that may be preempted, in that order.
  std::span<const SessionIndex> all(SessionGroupIndex group);
  bool preemptible(const SessionEntry& entry) const;
  /// "its priority 10 is above 5", ...; none: it may be preempted.
  std::optional<Reason> why_not(const SessionEntry& entry) const;
  /// On which key `first` comes before `second`: "priority: 1 against 3".
  Reason decided_by(SessionIndex first, SessionIndex second) const;
  /// "oldest first", ...
  static Reason order_reason(PreemptionOrder order);

 private:
  enum class Stays : std::uint8_t {
    nothing_keeps_it,
    not_running,
    leaving,
    not_preemptible,
    above_threshold,
    preempted_often,
    protected_namespace,
    too_young,
    exempt,
  };

  Stays stays(const SessionEntry& entry) const;
  std::int64_t order_key(const SessionEntry& entry, PreemptionOrder order) const;
  void sort_group(SessionGroupIndex group);

  const SessionTable& table_;
  const Configuration& configuration_;
  IndexedVector<SessionGroupIndex, std::vector<SessionIndex>>
      sorted_;  ///< By group, once it was asked for.
  IndexedVector<SessionGroupIndex, std::uint8_t> known_;
};

}  // namespace makeway
