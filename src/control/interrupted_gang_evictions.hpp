// InterruptedGangEvictions: gangs that a process before us made leave, and not whole (SPEC section
// 8).
//
// A group whose disruption mode is `all` leaves as one, but each of its pods is a call of its own.
// Killed between two of them, a process leaves a rest behind that only holds room, and the next
// plan may find somebody else who leaves instead: then both are stopped. So the first sight is
// searched for such groups, and their rest is told to leave before anything else is decided.
//
// A group has begun to leave if one of its pods is leaving with the mark of a preemption, or if one
// that stays has that mark and the minimum is not there any more (who left may be gone already).
// A mark alone is none: nobody has left then, and the mark is taken back after two minutes. Only
// groups of our own pods count. Whoever could not be told (a brake, a pause, a budget) is told
// later, until `engine.leaveTimeout` after the first sight; then the gang is one like others.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/in_flight.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

class InterruptedGangEvictions {
 public:
  /// How long the rest may take to leave.
  explicit InterruptedGangEvictions(Duration leave_timeout) : leave_timeout_(leave_timeout) {}

  /// The first sight. Whose pods are ours, by schedulerName; none: everybody's.
  void find(const Cluster& cluster, const std::vector<std::string>& schedulers, Time now);
  /// Who must go now, as a plan without an id; none: nobody. To be asked after every batch.
  std::optional<Plan> due(const Cluster& cluster, const InFlight& in_flight, Time now);
  /// When somebody may have to be told once more; none: no gang is watched.
  std::optional<Time> next_due() const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace and name.
  static constexpr Duration again{1'000};

  Duration leave_timeout_;
  std::set<Name> gangs_;
  Time until_;
  Time next_;
};

/// What the plan says of such a gang; its pods are told the same.
inline constexpr std::string_view interrupted_eviction_reason =
    "the others of its gang had to leave";

}  // namespace makeway
