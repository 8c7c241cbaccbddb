// ReplicaObstacles: why an ask for replicas finds nothing, node by node: what holds the room there,
// and why it is not to be had.
//
// Looked at when all asks are decided. What a less important ask got in this cycle could not
// have served this ask, or it would have it. Only the first places by plane and name are looked
// at: more is not read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "policies/replica/replica_run.hpp"

namespace makeway {

/// One node that does not do.
struct ReplicaObstacle {
  PlaceIndex place;
  std::size_t column = 0;             ///< Of what it is short.
  std::int64_t missing = 0;           ///< When all are gone that the ask could still take.
  std::vector<PlanHolder> holders;    ///< They hold that, and do not go; in order of the classes.
  std::vector<std::string> promises;  ///< "ReplicaSchedule default/reco": it has room there.
};

class ReplicaObstacles {
 public:
  ReplicaObstacles(const World& world, const ReplicaRun& run);

  /// At most `places_max` open places of the ask's planes.
  std::vector<ReplicaObstacle> of(const ReplicaAsk& ask) const;
  ReplicaObstacle at(const ReplicaAsk& ask, PlaceIndex place) const;
  /// "node n1: default/web-1 is the last replica of default/web in plane eu"
  std::string text(const ReplicaObstacle& obstacle) const;
  static constexpr std::size_t places_max = 100;

 private:
  /// Empty: the ask could still have it.
  std::string why_not(const ReplicaAsk& ask, ReplicaIndex index,
                      std::map<ShareIndex, std::int64_t>& spare) const;
  std::string why_not_committed(const ReplicaAsk& ask, const FleetReplica& replica,
                                std::map<ShareIndex, std::int64_t>& spare) const;
  std::string last_text(const FleetReplica& replica) const;
  std::string schedule_text(DeploymentIndex index) const;
  PlanHolder holder(const FleetReplica& replica, std::string why) const;
  void find_promises(const ReplicaAsk& ask, ReplicaObstacle& obstacle) const;

  const World& world_;
  const ReplicaRun& run_;
  const Fleet& fleet_;
  std::map<ReplicaIndex, DeploymentIndex> takers_;
};

/// "node n1 of plane east": nodes of other planes may have the same name.
std::string place_text(const Fleet& fleet, PlaceIndex place);

}  // namespace makeway
