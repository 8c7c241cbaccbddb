// What the two phases leave behind, for the code that writes the plan. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/replica/claim_ranking.hpp"
#include "policies/replica/previous_claims.hpp"
#include "policies/shared/deciding.hpp"

namespace makeway {

struct ReplicaVictimChoice {
  ReplicaIndex replica;
  std::int64_t committed_after = 0;  ///< Of a committed one: what its share is lowered to.
};

struct ReplicaClaimChoice {
  PlaceIndex place;
  ShareIndex share;
  const PreviousClaim* kept = nullptr;
  std::int64_t free = 0;       ///< Of the counted resource, for this replica, free already.
  std::int64_t left_over = 0;  ///< The same, freed by others beyond their need.
  std::vector<ReplicaVictimChoice> victims;  ///< Least intrusive first.
  PlaceIndex alternative;
  Reason decided_by;
};

/// A replica that comes, and where that is expected.
struct ReplicaScaleUp {
  ShareIndex share;
  PlaceIndex place;
};

struct ReplicaAsk {
  DeploymentIndex deployment;
  ReplicaNeed need;
  std::vector<MissedPlace> missed;         ///< Sorted; `need` refers to it.
  std::vector<MissedVictim> missed_names;  ///< The same, and those that do not matter any more.
  bool silent = false;  ///< It does not ask in this cycle; its claims hold their room.
  std::int64_t left = 0;
  std::vector<ShareIndex> by_score;
  std::vector<ReplicaScaleUp> scale_ups;
  std::vector<ReplicaClaimChoice> claims;
};

/// Which deployment took a replica, and where.
struct ReplicaLoss {
  DeploymentIndex by;
  PlaneIndex plane;
};

struct ReplicaRun {
  Fleet& fleet;
  const PreviousClaims& previous;
  std::vector<ReplicaAsk> asks;              ///< In the order in which they are decided.
  std::vector<ReplicaScaleUp> on_their_way;  ///< Committed before, and not bound yet.
  IndexedVector<DeploymentIndex, ReplicaLoss> losses;
};

/// `named`: only some ask, and nothing is known about the others.
void add_replica_entries(Draft& draft, const ReplicaRun& run, bool named, Deciding& deciding);

}  // namespace makeway
