// InterruptedGangEvictions: gangs of which an earlier process evicted only a part (SPEC section
// 8, Gangs).
//
// A group whose disruption mode is `all` leaves as one, but each of its pods is a call of its own.
// A process that is killed between two of them leaves a rest behind that only holds room, and the
// next plan may choose other victims: then two gangs are stopped. So the cluster as it is first
// shown is searched for such groups, and their rest is evicted before anything else is decided.
//
// A group has begun to leave if one of its pods is leaving with the mark of a preemption, or if one
// that stays has that mark and the minimum is not there any more (its others may be gone already).
// A mark alone does not count: no pod has left, and the mark is removed after two minutes. Only
// groups of our own pods count. A member that could not be evicted (a brake, a pause, a budget) is
// tried later, until `engine.leaveTimeout` after the start; then the gang is treated as any other.
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

  /// As the cluster is first shown. Pods of these schedulers are ours; none: all are.
  void find(const Cluster& cluster, const std::vector<std::string>& schedulers, Time now);
  /// The evictions that are due, as a plan without an id. To be called after every batch.
  std::optional<Plan> due(const Cluster& cluster, const InFlight& in_flight, Time now);
  /// When an eviction may be tried once more; none: no gang is watched.
  std::optional<Time> next_due() const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace and name.
  static constexpr Duration again{1'000};

  Duration leave_timeout_;
  std::set<Name> gangs_;
  Time until_;
  Time next_;
};

/// What the plan says of such a gang, and the condition of its victims.
inline constexpr std::string_view interrupted_eviction_reason =
    "the others of its gang had to leave";

}  // namespace makeway
