// Law 7 as one predicate: whether room that is kept for one pending unit is closed to another ask.
//
// A hold is a nomination, or the reservation of a pinned pod (SPEC section 5). An ask of equal or
// lower rank may not use the room; an ask of strictly higher rank may, and the nomination is then
// invalid. A reservation is closed to every ask, whatever its rank, except asks that take turns on
// its node: other pinned pods of the node, and asks that are nominated there. A void hold keeps
// nothing. `nomination_hold` says what is void, once: its callers differ in what they know about
// the node.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "model/ids.hpp"

namespace makeway {

class Cluster;

/// The scheduling priority; for sessions the tier of the partition comes first.
struct HoldRank {
  std::int32_t tier = 0;
  std::int32_t priority = 0;

  friend auto operator<=>(const HoldRank&, const HoldRank&) = default;

  static constexpr std::int32_t any = std::numeric_limits<std::int32_t>::max();
  /// Above every nomination: of an ask that only reservations concern.
  static constexpr HoldRank highest() { return {.tier = any, .priority = any}; }
  /// Below every nomination: of an ask that leaves all nominated room alone.
  static constexpr HoldRank lowest() {
    return {.tier = std::numeric_limits<std::int32_t>::min(),
            .priority = std::numeric_limits<std::int32_t>::min()};
  }
};

/// Room of a node that is kept for a pending pod.
struct Hold {
  PodIndex pod;
  UnitIndex unit;
  NodeIndex node;
  HoldRank rank;
  bool reserved = false;  ///< Of a pinned pod that can use the node.
  bool is_void = false;   ///< The nomination can never come true.
  /// It can come true, so it keeps room of its queue, too. A nomination that never can is void,
  /// except where kube-scheduler lets it stand.
  bool may_come = true;
};

struct NominationFacts {
  bool regime_admits = false;  ///< The pod may go to nodes of that regime (SPEC section 1).
  bool node_takes = false;     ///< Were it empty. Kernels have rules of their own about nodes.
  bool pinned = false;         ///< To some node: it only reserves it until its victims are chosen.
  bool infeasible_stands = false;  ///< `workload.nominationHeldBy` preempted-pods
};

/// The nomination of a pod to a node.
Hold nomination_hold(const Cluster& cluster, PodIndex pod, NodeIndex node,
                     const NominationFacts& facts);

/// The ask that wants the room.
struct HoldAsk {
  PodIndex pod;    ///< Its own hold does not block it.
  UnitIndex unit;  ///< Nor do holds of members of this unit; none: only its own.
  HoldRank rank;
  NodeIndex turns_on;  ///< The node that it is pinned or nominated to; none: neither.
};

inline bool blocks(const Hold& hold, const HoldAsk& ask) {
  if (hold.is_void || hold.pod == ask.pod) return false;
  if (ask.unit.exists() && hold.unit == ask.unit) return false;
  if (hold.reserved && hold.node != ask.turns_on) return true;
  return hold.rank >= ask.rank;
}

}  // namespace makeway
