// ReplicaObstacles: why an ask for replicas finds nothing, node by node: what holds the room there,
// and why the ask cannot have it.
//
// Made when all asks are decided. What a less important ask got in this cycle could not have served
// this ask, or it would have it. Only the first places by plane and name are examined: no reader
// needs more.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "policies/replica/replica_run.hpp"

namespace makeway {

/// Room for a replica of another schedule.
struct ReplicaPromise {
  DeploymentIndex deployment;
  bool on_its_way = false;  ///< The replica is not there yet, but was scaled up before.

  friend bool operator==(const ReplicaPromise&, const ReplicaPromise&) = default;
};

/// One node without room.
struct ReplicaObstacle {
  PlaceIndex place;
  std::size_t column = 0;                ///< Of what it is short.
  std::int64_t missing = 0;              ///< When all are gone that the ask could still take.
  std::vector<PlanHolder> holders;       ///< They hold that and stay; in order of the classes.
  Reasons holders_stay;                  ///< Why, of each holder: "default/web-1 is ...".
  std::vector<ReplicaPromise> promises;  ///< Schedules that have room there.
};

class ReplicaObstacles {
 public:
  ReplicaObstacles(const World& world, const ReplicaRun& run);

  /// At most `places_max` open places of the ask's planes.
  std::vector<ReplicaObstacle> of(const ReplicaAsk& ask) const;
  ReplicaObstacle at(const ReplicaAsk& ask, PlaceIndex place) const;
  /// "node n1: default/web-1 is the last replica of default/web in plane eu"
  Reason reason(const ReplicaObstacle& obstacle) const;
  static constexpr std::size_t places_max = 100;

 private:
  /// None: the ask could still have it.
  std::optional<Reason> why_not(const ReplicaAsk& ask, ReplicaIndex index,
                                std::map<ShareIndex, std::int64_t>& spare) const;
  std::optional<Reason> why_not_committed(const ReplicaAsk& ask, const FleetReplica& replica,
                                          std::map<ShareIndex, std::int64_t>& spare) const;
  Reason last_reason(const FleetReplica& replica) const;
  void add_holder(const FleetReplica& replica, Reason why, ReplicaObstacle& obstacle) const;
  void find_promises(const ReplicaAsk& ask, ReplicaObstacle& obstacle) const;

  const World& world_;
  const ReplicaRun& run_;
  const Fleet& fleet_;
  std::map<ReplicaIndex, DeploymentIndex> takers_;
};

/// "node n1 of plane east": nodes of other planes may have the same name.
Reason place_reason(const Fleet& fleet, PlaceIndex place);
ObjectName schedule_name(const Fleet& fleet, DeploymentIndex index);

}  // namespace makeway
