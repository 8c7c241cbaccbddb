#include "policies/replica/replica_obstacles.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"

namespace makeway {
namespace {

constexpr std::size_t holders_max = 5;
constexpr std::size_t listed_max = 3;  ///< Of holders, in one sentence.

}  // namespace

ReplicaObstacles::ReplicaObstacles(const World& world, const ReplicaRun& run)
    : world_(world), run_(run), fleet_(run.fleet) {
  for (const ReplicaAsk& ask : run.asks) {
    for (const ReplicaClaimChoice& claim : ask.claims) {
      for (const ReplicaVictimChoice& victim : claim.victims) {
        takers_[victim.replica] = ask.deployment;
      }
    }
  }
}

ObjectName schedule_name(const Fleet& fleet, DeploymentIndex index) {
  const ReplicaSchedule& object = *fleet.deployments()[index].object;
  return {.kind = MentionKind::replica_schedule,
          .namespace_name = object.namespace_name,
          .name = object.name};
}

Reason ReplicaObstacles::last_reason(const FleetReplica& replica) const {
  const FleetShare& share = fleet_.shares()[replica.share];
  const ReplicaSchedule& object = *fleet_.deployments()[share.deployment].object;
  return {.code = ReasonCode::replica_last,
          .arguments = {ObjectName{.kind = MentionKind::deployment,
                                   .namespace_name = object.namespace_name,
                                   .name = object.deployment},
                        fleet_.planes()[share.plane].name}};
}

std::optional<Reason> ReplicaObstacles::why_not_committed(
    const ReplicaAsk& ask, const FleetReplica& replica,
    std::map<ShareIndex, std::int64_t>& spare) const {
  const FleetShare& share = fleet_.shares()[replica.share];
  if (replica.priority >= ask.need.priority) return Reason{.code = ReasonCode::stays_not_lower};
  if (replica.is_protected) {
    const std::optional<Reason> shield =
        stay_reason(world_.rules().protection_from_scale_down(replica.pod));
    return shield ? shield : Reason{.code = ReasonCode::replica_in_whole_group};
  }
  if (share.raised > 0) return Reason{.code = ReasonCode::replica_frozen_raised};
  if (share.surplus_moving < share.surplus) {
    return Reason{.code = ReasonCode::replica_frozen_surplus,
                  .arguments = {fleet_.planes()[share.plane].name}};
  }
  const MissedPlace here{.place = replica.place, .share = replica.share};
  if (std::ranges::binary_search(ask.missed, here)) {
    return Reason{.code = ReasonCode::replica_spared};
  }
  const auto [left, is_new] = spare.try_emplace(replica.share, fleet_.spare(replica.share));
  if (left->second < 1) return last_reason(replica);
  --left->second;
  return std::nullopt;
}

std::optional<Reason> ReplicaObstacles::why_not(const ReplicaAsk& ask, ReplicaIndex index,
                                                std::map<ShareIndex, std::int64_t>& spare) const {
  const FleetReplica& replica = fleet_.replica(index);
  if (replica.taken) {
    const auto taker = takers_.find(index);
    if (taker == takers_.end()) return Reason{.code = ReasonCode::replica_promised};
    return Reason{.code = ReasonCode::replica_promised_to,
                  .arguments = {schedule_name(fleet_, taker->second)}};
  }
  if (replica.last) return last_reason(replica);
  const auto stuck_if = [](bool is_stuck, ReasonCode code) {
    return is_stuck ? std::optional(Reason{.code = code}) : std::nullopt;
  };
  const std::int32_t priority = ask.need.priority;
  switch (replica.victim_class) {
    case ReplicaClass::force_deleting:
      return stuck_if(replica.expired, ReasonCode::replica_force_delete_stuck);
    case ReplicaClass::terminating:
      return stuck_if(replica.expired && !fleet_.forcible(replica, priority),
                      ReasonCode::replica_terminating_stuck);
    case ReplicaClass::surplus: return stuck_if(replica.expired, ReasonCode::replica_surplus_stuck);
    case ReplicaClass::committed: return why_not_committed(ask, replica, spare);
  }
  return std::nullopt;
}

void ReplicaObstacles::add_holder(const FleetReplica& replica, Reason why,
                                  ReplicaObstacle& obstacle) const {
  const Cluster& cluster = fleet_.cluster();
  PlanHolder& holder = obstacle.holders.emplace_back(PlanHolder{
      .namespace_name = std::string(cluster.text(cluster.pods().namespace_name[replica.pod])),
      .name = std::string(cluster.pods().name[replica.pod.value]),
      .priority = replica.priority,
      .why = write_text(cluster, why)});
  obstacle.holders_stay.push_back({.code = ReasonCode::replica_holder,
                                   .arguments = {ObjectName{.kind = MentionKind::pod,
                                                            .namespace_name = holder.namespace_name,
                                                            .name = holder.name},
                                                 std::move(why)}});
}

/// Asks that have room there besides by victims.
void ReplicaObstacles::find_promises(const ReplicaAsk& ask, ReplicaObstacle& obstacle) const {
  const auto add = [&](DeploymentIndex index, bool on_its_way) {
    if (index == ask.deployment) return;
    const ReplicaPromise promise{.deployment = index, .on_its_way = on_its_way};
    const auto known = std::ranges::find(obstacle.promises, promise);
    if (known == obstacle.promises.end()) obstacle.promises.push_back(promise);
  };
  for (const ReplicaScaleUp& item : run_.on_their_way) {
    if (item.place != obstacle.place) continue;
    add(fleet_.shares()[item.share].deployment, true);
  }
  for (const ReplicaAsk& other : run_.asks) {
    for (const ReplicaScaleUp& item : other.scale_ups) {
      if (item.place == obstacle.place) add(other.deployment, false);
    }
    for (const ReplicaClaimChoice& claim : other.claims) {
      if (claim.place == obstacle.place) add(other.deployment, false);
    }
  }
}

ReplicaObstacle ReplicaObstacles::at(const ReplicaAsk& ask, PlaceIndex place) const {
  ReplicaObstacle obstacle{.place = place, .holders = {}, .holders_stay = {}, .promises = {}};
  const std::span<const std::int64_t> room = fleet_.room(place);
  std::vector<std::int64_t> left(room.begin(), room.end());
  std::map<ShareIndex, std::int64_t> spare;
  std::vector<std::pair<ReplicaIndex, Reason>> stay;
  for (const ReplicaIndex index : fleet_.in_order(place)) {
    std::optional<Reason> why = why_not(ask, index, spare);
    const std::span<const std::int64_t> freed = fleet_.freed(fleet_.replica(index));
    for (std::size_t column = 0; !why && column < left.size(); ++column) {
      left[column] = saturated_add(left[column], freed[column]);
    }
    if (why) stay.emplace_back(index, *std::move(why));
  }
  for (std::size_t column = 0; column < left.size(); ++column) {
    if (ask.need.request[column] == 0 || left[column] >= ask.need.request[column]) continue;
    obstacle.column = column;
    obstacle.missing = saturated_sub(ask.need.request[column], left[column]);
    break;
  }
  for (auto& [index, why] : stay) {
    const FleetReplica& replica = fleet_.replica(index);
    if (fleet_.amounts(replica)[obstacle.column] == 0) continue;
    if (obstacle.holders.size() == holders_max) break;
    add_holder(replica, std::move(why), obstacle);
  }
  find_promises(ask, obstacle);
  return obstacle;
}

std::vector<ReplicaObstacle> ReplicaObstacles::of(const ReplicaAsk& ask) const {
  std::vector<ReplicaObstacle> obstacles;
  const FleetDeployment& row = fleet_.deployments()[ask.deployment];
  for (std::uint32_t share = row.begin; share < row.end; ++share) {
    const FleetPlane& plane = fleet_.planes()[fleet_.shares()[ShareIndex{share}].plane];
    for (std::uint32_t place = plane.begin; place < plane.end; ++place) {
      if (obstacles.size() == places_max) return obstacles;
      if (fleet_.places()[PlaceIndex{place}].open) obstacles.push_back(at(ask, PlaceIndex{place}));
    }
  }
  return obstacles;
}

Reason place_reason(const Fleet& fleet, PlaceIndex place) {
  const Cluster& cluster = fleet.cluster();
  const NodeIndex node = fleet.places()[place].node;
  const std::string_view plane = cluster.text(cluster.nodes().plane[node]);
  return {.code = plane.empty() ? ReasonCode::replica_place : ReasonCode::replica_place_of_plane,
          .arguments = {node, plane}};
}

Reason ReplicaObstacles::reason(const ReplicaObstacle& obstacle) const {
  Reasons parts;
  for (const Reason& stays : obstacle.holders_stay) {
    if (parts.size() == listed_max) break;
    parts.push_back(stays);
  }
  if (obstacle.holders.size() > listed_max) {
    parts.push_back({.code = ReasonCode::replica_more_pods,
                     .arguments = {obstacle.holders.size() - listed_max}});
  }
  if (parts.empty() && !obstacle.promises.empty()) {
    Reasons promises;
    for (const ReplicaPromise& promise : obstacle.promises) {
      promises.push_back(
          {.code = promise.on_its_way ? ReasonCode::replica_on_its_way : ReasonCode::named,
           .arguments = {schedule_name(fleet_, promise.deployment)}});
    }
    parts.push_back(
        {.code = ReasonCode::replica_room_promised, .arguments = {std::move(promises)}});
  }
  if (parts.empty() && obstacle.missing == 0) {
    parts.push_back({.code = ReasonCode::replica_room_came});
  }
  if (parts.empty()) {
    const std::string resource(fleet_.column_name(obstacle.column));
    parts.push_back(
        {.code = ReasonCode::replica_short_of,
         .arguments = {resource, Quantity{.resource = resource, .amount = obstacle.missing}}});
  }
  return {.code = ReasonCode::replica_obstacle,
          .arguments = {place_reason(fleet_, obstacle.place), std::move(parts)}};
}

}  // namespace makeway
