// NodeVictims: what one place would lose for one replica, and how two places compare.
//
// On one place: victims by class, priority, age and name until the replica fits, then
// those that are not needed are put back, most intrusive first. One pass is enough: what was needed
// beside more victims is needed beside fewer. So the set is irreducible (law 4).
//
// Between places: a replica of one GPU goes where the victim is lowest in that same order; several
// GPUs by the keys of compare_nodes. Names decide last.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "model/reason.hpp"
#include "policies/replica/fleet.hpp"

namespace makeway {

/// Scaling the share down from here did not free the place for the ask: Kubernetes removed another
/// pod.
struct MissedPlace {
  PlaceIndex place;
  ShareIndex share;

  friend auto operator<=>(const MissedPlace&, const MissedPlace&) = default;
};

/// One replica that looks for room.
struct ReplicaNeed {
  std::span<const std::int64_t> request;  ///< A row of the fleet.
  std::int32_t priority = 0;
  bool one = false;                     ///< One GPU.
  std::span<const MissedPlace> missed;  ///< Sorted: not scaled down for it again there.
};

/// What a place would cost.
struct PlaceCost {
  static constexpr std::int32_t no_priority = std::numeric_limits<std::int32_t>::min();

  PlaceIndex place;
  std::uint32_t version = 0;                      ///< Of the place; see ClaimRanking.
  std::int32_t worst_class = -1;                  ///< Rank of the class; -1: none has to leave.
  std::int32_t highest_priority = no_priority;    ///< Of those that lose something.
  std::int32_t any_priority = no_priority;        ///< Of all victims.
  std::int32_t committed_priority = no_priority;  ///< The highest among the committed victims.
  std::int32_t secondary = 0;
  std::int32_t committed = 0;
  std::int32_t victims = 0;
  std::int64_t excess = 0;
  ReplicaIndex worst;  ///< The most intrusive victim.
};

class NodeVictims {
 public:
  explicit NodeVictims(const Fleet& fleet);

  /// False: the replica does not fit, whatever may leave. `victims`, least intrusive first, stays
  /// valid until the next call.
  bool evaluate(PlaceIndex place, const ReplicaNeed& need, PlaceCost& cost);
  std::span<const ReplicaIndex> victims() const { return victims_; }

  /// Puts back what the replica does not need of these, which are enough; least intrusive first.
  void reduce(PlaceIndex place, const ReplicaNeed& need, std::vector<ReplicaIndex>& victims);

  /// Below 0: a is better. `scores`: of the planes, for this ask. `key`, if given, receives the key
  /// that decided: "highest-priority: 10 against 20".
  int compare(const ReplicaNeed& need, const PlaceCost& a, std::int64_t a_score, const PlaceCost& b,
              std::int64_t b_score, Reason* key = nullptr) const;

 private:
  bool collect(PlaceIndex place, const ReplicaNeed& need);
  void put_back(const ReplicaNeed& need, std::vector<ReplicaIndex>& victims);
  int compare_victims(const PlaceCost& a, std::int64_t a_score, const PlaceCost& b,
                      std::int64_t b_score, Reason* key) const;
  int compare_nodes(const PlaceCost& a, std::int64_t a_score, const PlaceCost& b,
                    std::int64_t b_score, Reason* key) const;
  // By the most intrusive victim of each.
  int compare_newest(const PlaceCost& a, const PlaceCost& b, Reason* key) const;
  int compare_names(const PlaceCost& a, const PlaceCost& b, Reason* key) const;
  static int compare_classes(const PlaceCost& a, const PlaceCost& b, std::string_view name,
                             Reason* key);
  const FleetReplica& worst_of(const PlaceCost& cost) const;
  std::string_view name_of(const FleetReplica& replica) const;
  void find_secondary();

  const Fleet& fleet_;
  std::vector<ReplicaIndex> victims_;
  std::vector<std::int64_t> spare_;  ///< Room less request, per column.
  /// Deployments that could make others leave in turn, if they lost a replica.
  IndexedVector<DeploymentIndex, std::uint8_t> may_preempt_;
};

}  // namespace makeway
