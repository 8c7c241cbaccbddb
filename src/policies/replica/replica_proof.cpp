#include "policies/replica/replica_proof.hpp"

#include "base/checked_math.hpp"

namespace makeway {

ReplicaProof::Missing ReplicaProof::missing_on(PlaceIndex place, std::uint32_t request,
                                               std::int32_t priority) {
  fleet_.first_room(place, room_);
  for (const ReplicaIndex index : fleet_.in_order(place)) {
    const FleetReplica& replica = fleet_.replica(index);
    if (!fleet_.ever_usable(replica, priority)) continue;
    for (std::size_t column = 0; column < room_.size(); ++column) {
      room_[column] = saturated_add(room_[column], fleet_.amounts(replica)[column]);
    }
  }
  const std::span<const std::int64_t> amounts = fleet_.request(request);
  for (std::size_t column = 0; column < room_.size(); ++column) {
    if (amounts[column] == 0 || room_[column] >= amounts[column]) continue;
    return {.column = column, .amount = saturated_sub(amounts[column], room_[column])};
  }
  return {};
}

const ReplicaProof::Verdict& ReplicaProof::judge_plane(std::uint32_t request, PlaneIndex plane,
                                                       std::int32_t priority) {
  known_.resize(fleet_.request_count() * fleet_.planes().size());
  Known& known = known_[request * fleet_.planes().size() + plane.value];
  Verdict& verdict = known.verdict;
  const bool as_before = known.judged && (!verdict.possible ||
                                          missing_on(verdict.place, request, priority).amount == 0);
  if (as_before) return verdict;
  known.judged = true;
  verdict = {};
  for (std::uint32_t at = fleet_.planes()[plane].begin; at < fleet_.planes()[plane].end; ++at) {
    const PlaceIndex place{at};
    if (!fleet_.places()[place].open) continue;
    ++verdict.places;
    const Missing missing = missing_on(place, request, priority);
    verdict.possible = missing.amount == 0;
    const bool better = verdict.possible || !verdict.place.exists() ||
                        missing.column > verdict.column ||
                        (missing.column == verdict.column && missing.amount < verdict.missing);
    if (!better) continue;
    verdict.column = missing.column;
    verdict.missing = missing.amount;
    verdict.place = place;
    if (verdict.possible) break;
  }
  return verdict;
}

ReplicaProof::Verdict ReplicaProof::judge(DeploymentIndex deployment, std::int32_t priority) {
  const FleetDeployment& row = fleet_.deployments()[deployment];
  Verdict all;
  for (std::uint32_t at = row.begin; at < row.end; ++at) {
    const PlaneIndex plane = fleet_.shares()[ShareIndex{at}].plane;
    const Verdict& one = judge_plane(row.request, plane, priority);
    all.places += one.places;
    if (one.possible) all.possible = true;
    const bool better =
        one.place.exists() && (!all.place.exists() || one.column > all.column ||
                               (one.column == all.column && one.missing < all.missing));
    if (better) {
      all.column = one.column;
      all.missing = one.missing;
      all.place = one.place;
    }
  }
  return all;
}

}  // namespace makeway
