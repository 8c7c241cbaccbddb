#include "policies/replica/replica_proof.hpp"

#include "base/checked_math.hpp"

namespace makeway {

ReplicaProof::Verdict ReplicaProof::judge_plane(std::uint32_t request, PlaneIndex plane,
                                                std::int32_t priority) {
  known_.resize(fleet_.request_count() * fleet_.planes().size());
  Known& known = known_[request * fleet_.planes().size() + plane.value];
  if (known.verdict && known.priority == priority) return *known.verdict;
  Verdict verdict;
  const std::span<const std::int64_t> amounts = fleet_.request(request);
  for (std::uint32_t at = fleet_.planes()[plane].begin; at < fleet_.planes()[plane].end; ++at) {
    const PlaceIndex place{at};
    if (!fleet_.places()[place].open) continue;
    ++verdict.places;
    std::vector<std::int64_t> room = fleet_.first_room(place);
    for (const ReplicaIndex index : fleet_.in_order(place)) {
      const FleetReplica& replica = fleet_.replica(index);
      if (!fleet_.ever_usable(replica, priority)) continue;
      for (std::size_t column = 0; column < room.size(); ++column) {
        room[column] = saturated_add(room[column], fleet_.amounts(replica)[column]);
      }
    }
    std::size_t column = 0;
    while (column < room.size() && (amounts[column] == 0 || room[column] >= amounts[column])) {
      ++column;
    }
    if (column == room.size()) {
      verdict.possible = true;
      break;
    }
    const std::int64_t missing = saturated_sub(amounts[column], room[column]);
    const bool better = !verdict.place.exists() || column > verdict.column ||
                        (column == verdict.column && missing < verdict.missing);
    if (!better) continue;
    verdict.column = column;
    verdict.missing = missing;
    verdict.place = place;
  }
  known = {.priority = priority, .verdict = verdict};
  return verdict;
}

ReplicaProof::Verdict ReplicaProof::judge(DeploymentIndex deployment, std::int32_t priority) {
  const FleetDeployment& row = fleet_.deployments()[deployment];
  Verdict all;
  for (std::uint32_t at = row.begin; at < row.end; ++at) {
    const PlaneIndex plane = fleet_.shares()[ShareIndex{at}].plane;
    const Verdict one = judge_plane(row.request, plane, priority);
    const std::int64_t places = all.places + one.places;
    if (one.possible) all.possible = true;
    const bool better =
        one.place.exists() && (!all.place.exists() || one.column > all.column ||
                               (one.column == all.column && one.missing < all.missing));
    if (better) {
      all.column = one.column;
      all.missing = one.missing;
      all.place = one.place;
    }
    all.places = places;
  }
  return all;
}

}  // namespace makeway
