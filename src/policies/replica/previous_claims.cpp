#include "policies/replica/previous_claims.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "model/planes.hpp"

namespace makeway {

PreviousClaims::PreviousClaims(const Fleet& fleet)
    : fleet_(fleet), begin_(fleet.deployments().size() + 1), steps_(fleet.shares().size()) {
  for (std::uint32_t at = 0; at < fleet.deployments().size(); ++at) {
    const DeploymentIndex ask{at};
    begin_[ask] = static_cast<std::uint32_t>(claims_.size());
    for (const ReplicaClaim& record : fleet.deployments()[ask].object->status.claims) {
      claims_.push_back(resolve(ask, record));
    }
  }
  begin_[DeploymentIndex::from(fleet.deployments().size())] =
      static_cast<std::uint32_t>(claims_.size());
}

PreviousClaim PreviousClaims::resolve(DeploymentIndex ask, const ReplicaClaim& record) {
  PreviousClaim claim{.ask = ask, .record = &record};
  const Cluster& cluster = fleet_.cluster();
  const std::optional<PlaceIndex> place = fleet_.find_place(record.plane, record.node);
  if (place && fleet_.planes()[fleet_.places()[*place].plane].name == record.plane) {
    const auto share = fleet_.find_share(ask, fleet_.places()[*place].plane);
    if (share && fleet_.shares()[*share].listed) {
      claim.place = *place;
      claim.share = *share;
    }
  }
  for (const ClaimedVictim& victim : record.victims) {
    count_step(record, victim);
    const auto pod = find_claimed_victim(cluster, record, victim);
    if (!pod) continue;
    const auto [at, is_new] = about_.try_emplace(*pod, &victim);
    if (!is_new && victim.committed && !at->second->committed) at->second = &victim;
    const NodeIndex node = cluster.pods().node[*pod];
    if (!place || node != fleet_.places()[*place].node) continue;
    const auto replica = fleet_.find_replica(*place, *pod);
    if (replica) {
      claim.victims.push_back(*replica);
    } else {
      claim.unknown_victim = true;
    }
  }
  return claim;
}

std::span<const PreviousClaim> PreviousClaims::of(DeploymentIndex ask) const {
  const std::uint32_t begin = begin_[ask];
  return std::span(claims_).subspan(begin, begin_[DeploymentIndex{ask.value + 1}] - begin);
}

const ClaimedVictim* PreviousClaims::about(PodIndex pod) const {
  const auto found = about_.find(pod);
  return found == about_.end() ? nullptr : found->second;
}

bool PreviousClaims::still_leaves(const PreviousClaim& claim, ReplicaIndex victim,
                                  const ReplicaNeed& need) const {
  const FleetReplica& replica = fleet_.replica(victim);
  if (!fleet_.usable(replica, need.priority)) return false;
  if (replica.victim_class != ReplicaClass::committed) return true;
  const ClaimedVictim* const known = about(replica.pod);
  if (known == nullptr || !known->committed) return false;
  const std::int64_t together = committed_victims(claim, replica.share);
  return together <= steps_[replica.share] && together <= fleet_.spare(replica.share);
}

std::int64_t PreviousClaims::committed_victims(const PreviousClaim& claim, ShareIndex share) const {
  return std::ranges::count_if(claim.victims, [&](ReplicaIndex victim) {
    const FleetReplica& replica = fleet_.replica(victim);
    return replica.victim_class == ReplicaClass::committed && replica.share == share;
  });
}

std::optional<PlaneIndex> PreviousClaims::plane_named(std::string_view name) const {
  const auto plane = std::ranges::find(fleet_.planes(), name, &FleetPlane::name);
  if (plane == fleet_.planes().end()) return std::nullopt;
  return PlaneIndex::from(static_cast<std::size_t>(plane - fleet_.planes().begin()));
}

void PreviousClaims::count_step(const ReplicaClaim& record, const ClaimedVictim& victim) {
  if (!victim.committed) return;
  const auto loser = fleet_.find_deployment(victim.namespace_name, victim.deployment);
  const std::optional<PlaneIndex> plane = plane_named(record.plane);
  if (!loser || !plane) return;
  const auto share = fleet_.find_share(*loser, *plane);
  if (share && *victim.committed < fleet_.shares()[*share].committed) ++steps_[*share];
}

/// The commit that the claim lowered the pod's deployment to; nothing: it did not, or the pod is of
/// another one by now.
std::optional<std::int64_t> PreviousClaims::lowered_to(const ReplicaClaim& record,
                                                       const FleetReplica& replica) const {
  const DeploymentIndex owner = fleet_.shares()[replica.share].deployment;
  const std::string_view deployment = fleet_.deployments()[owner].object->deployment;
  for (const ClaimedVictim& victim : record.victims) {
    const bool same = find_pod_in_plane(fleet_.cluster(), record.plane, victim.namespace_name,
                                        victim.name) == replica.pod;
    if (same && victim.committed && victim.deployment == deployment) return victim.committed;
  }
  return std::nullopt;
}

std::vector<MissedVictim> PreviousClaims::missed(
    const PreviousClaim& claim, const ReplicaNeed& need,
    IndexedVector<ShareIndex, std::int64_t>& steps) const {
  std::vector<MissedVictim> found;
  for (const ReplicaIndex victim : claim.victims) {
    const FleetReplica& replica = fleet_.replica(victim);
    if (replica.victim_class != ReplicaClass::committed) continue;
    const std::optional<std::int64_t> lowered = lowered_to(*claim.record, replica);
    if (!lowered || !fleet_.usable(replica, need.priority)) continue;
    if (steps[replica.share]-- > 0) continue;
    const FleetShare& share = fleet_.shares()[replica.share];
    const ReplicaSchedule& loser = *fleet_.deployments()[share.deployment].object;
    found.push_back({.plane = claim.record->plane,
                     .node = claim.record->node,
                     .namespace_name = loser.namespace_name,
                     .deployment = loser.deployment,
                     .committed = std::min(*lowered, share.committed)});
  }
  return found;
}

std::optional<MissedPlace> PreviousClaims::find(const MissedVictim& missed) const {
  const std::optional<PlaceIndex> place = fleet_.find_place(missed.plane, missed.node);
  const auto loser = fleet_.find_deployment(missed.namespace_name, missed.deployment);
  if (!place || !loser) return std::nullopt;
  const PlaneIndex plane = fleet_.places()[*place].plane;
  const std::optional<ShareIndex> share = fleet_.find_share(*loser, plane);
  if (!share || fleet_.planes()[plane].name != missed.plane) return std::nullopt;
  if (fleet_.shares()[*share].committed <= missed.committed) return std::nullopt;
  return MissedPlace{.place = *place, .share = *share};
}

void PreviousClaims::keep(const PreviousClaim& claim) {
  for (const ReplicaIndex victim : claim.victims) {
    const FleetReplica& replica = fleet_.replica(victim);
    if (replica.victim_class == ReplicaClass::committed) --steps_[replica.share];
  }
}

bool PreviousClaims::stands(const PreviousClaim& claim, const ReplicaNeed& need) const {
  if (!claim.place.exists() || claim.unknown_victim || !fleet_.places()[claim.place].open) {
    return false;
  }
  for (const ReplicaIndex victim : claim.victims) {
    if (!still_leaves(claim, victim, need)) return false;
  }
  const std::span<const std::int64_t> room = fleet_.room(claim.place);
  for (std::size_t column = 0; column < fleet_.columns(); ++column) {
    if (need.request[column] == 0) continue;
    std::int64_t there = room[column];
    for (const ReplicaIndex victim : claim.victims) {
      there = saturated_add(there, fleet_.freed(fleet_.replica(victim))[column]);
    }
    if (there < need.request[column]) return false;
  }
  return true;
}

std::vector<std::int64_t> PreviousClaims::held(const PreviousClaim& claim) const {
  std::vector<PodIndex> still_there;
  for (const ReplicaIndex victim : claim.victims) {
    const FleetReplica& replica = fleet_.replica(victim);
    if (!replica.awaited) still_there.push_back(replica.pod);
  }
  std::vector<std::int64_t> amounts(fleet_.columns());
  fleet_.copy_columns(
      claim_need(fleet_.cluster(), *fleet_.deployments()[claim.ask].object, still_there), amounts);
  return amounts;
}

}  // namespace makeway
