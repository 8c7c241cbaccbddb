#include "policies/replica/replica_obstacles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked_math.hpp"
#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

constexpr std::size_t holders_max = 5;
constexpr std::size_t told_max = 3;  ///< Of holders, in one sentence.

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

std::string ReplicaObstacles::schedule_text(DeploymentIndex index) const {
  const ReplicaSchedule& object = *fleet_.deployments()[index].object;
  return object_text(row_of<ReplicaSchedule>.name, object.namespace_name, object.name);
}

std::string ReplicaObstacles::last_text(const FleetReplica& replica) const {
  const FleetShare& share = fleet_.shares()[replica.share];
  const ReplicaSchedule& object = *fleet_.deployments()[share.deployment].object;
  return fmt::format("the last replica of {}/{} in plane {}", object.namespace_name,
                     object.deployment, fleet_.planes()[share.plane].name);
}

std::string ReplicaObstacles::why_not_committed(const ReplicaAsk& ask, const FleetReplica& replica,
                                                std::map<ShareIndex, std::int64_t>& spare) const {
  const FleetShare& share = fleet_.shares()[replica.share];
  if (replica.priority >= ask.need.priority) return "not of lower priority";
  if (replica.is_protected) {
    const std::string_view shield = world_.rules().protection_from_scale_down(replica.pod);
    return shield.empty() ? "in a group that leaves whole" : std::string(shield);
  }
  if (share.raised > 0) return "frozen: its deployment gets replicas there in this cycle";
  if (share.surplus_moving < share.surplus) {
    return fmt::format("frozen: surplus pods of its deployment in plane {} do not terminate",
                       fleet_.planes()[share.plane].name);
  }
  const MissedPlace here{.place = replica.place, .share = replica.share};
  if (std::ranges::binary_search(ask.missed, here)) {
    return "spared: its deployment was scaled down for it, and Kubernetes removed another pod";
  }
  const auto [left, is_new] = spare.try_emplace(replica.share, fleet_.spare(replica.share));
  if (left->second < 1) return last_text(replica);
  --left->second;
  return {};
}

std::string ReplicaObstacles::why_not(const ReplicaAsk& ask, ReplicaIndex index,
                                      std::map<ShareIndex, std::int64_t>& spare) const {
  const FleetReplica& replica = fleet_.replica(index);
  if (replica.taken) {
    const auto taker = takers_.find(index);
    return taker == takers_.end() ? "promised to others"
                                  : fmt::format("promised to {}", schedule_text(taker->second));
  }
  if (replica.last) return last_text(replica);
  const std::int32_t priority = ask.need.priority;
  switch (replica.victim_class) {
    case ReplicaClass::force_deleting:
      return replica.expired ? "force-deleted, but does not terminate" : "";
    case ReplicaClass::terminating:
      if (!replica.expired || fleet_.forcible(replica, priority)) return {};
      return "stuck terminating, and may not be force-deleted for it";
    case ReplicaClass::surplus: return replica.expired ? "surplus that does not terminate" : "";
    case ReplicaClass::committed: return why_not_committed(ask, replica, spare);
  }
  return {};
}

PlanHolder ReplicaObstacles::holder(const FleetReplica& replica, std::string why) const {
  const Cluster& cluster = fleet_.cluster();
  return {.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[replica.pod])),
          .name = std::string(cluster.pods().name[replica.pod.value]),
          .priority = replica.priority,
          .why = std::move(why)};
}

/// Who has room there besides by victims.
void ReplicaObstacles::find_promises(const ReplicaAsk& ask, ReplicaObstacle& obstacle) const {
  const auto add = [&](DeploymentIndex index, std::string_view how) {
    if (index == ask.deployment) return;
    std::string text = fmt::format("{}{}", schedule_text(index), how);
    const auto known = std::ranges::find(obstacle.promises, text);
    if (known == obstacle.promises.end()) obstacle.promises.push_back(std::move(text));
  };
  for (const ReplicaScaleUp& item : run_.on_their_way) {
    if (item.place != obstacle.place) continue;
    add(fleet_.shares()[item.share].deployment, ", whose replica is on its way");
  }
  for (const ReplicaAsk& other : run_.asks) {
    for (const ReplicaScaleUp& item : other.scale_ups) {
      if (item.place == obstacle.place) add(other.deployment, "");
    }
    for (const ReplicaClaimChoice& claim : other.claims) {
      if (claim.place == obstacle.place) add(other.deployment, "");
    }
  }
}

ReplicaObstacle ReplicaObstacles::at(const ReplicaAsk& ask, PlaceIndex place) const {
  ReplicaObstacle obstacle{.place = place, .holders = {}, .promises = {}};
  const std::span<const std::int64_t> room = fleet_.room(place);
  std::vector<std::int64_t> left(room.begin(), room.end());
  std::map<ShareIndex, std::int64_t> spare;
  std::vector<std::pair<ReplicaIndex, std::string>> stay;
  for (const ReplicaIndex index : fleet_.in_order(place)) {
    std::string why = why_not(ask, index, spare);
    const std::span<const std::int64_t> freed = fleet_.freed(fleet_.replica(index));
    for (std::size_t column = 0; why.empty() && column < left.size(); ++column) {
      left[column] = saturated_add(left[column], freed[column]);
    }
    if (!why.empty()) stay.emplace_back(index, std::move(why));
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
    obstacle.holders.push_back(holder(replica, std::move(why)));
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

std::string place_text(const Fleet& fleet, PlaceIndex place) {
  const Cluster& cluster = fleet.cluster();
  const NodeIndex node = fleet.places()[place].node;
  const std::string_view plane = cluster.text(cluster.nodes().plane[node]);
  return fmt::format("node {}{}{}", node_name(cluster, node),
                     plane.empty() ? std::string_view{} : of_plane, plane);
}

std::string ReplicaObstacles::text(const ReplicaObstacle& obstacle) const {
  std::vector<std::string> parts;
  for (const PlanHolder& holder : obstacle.holders) {
    if (parts.size() == told_max) break;
    parts.push_back(fmt::format("{}/{} is {}", holder.namespace_name, holder.name, holder.why));
  }
  if (obstacle.holders.size() > told_max) {
    parts.push_back(counted(std::ssize(obstacle.holders) - std::ssize(parts), "more pod"));
  }
  if (parts.empty() && !obstacle.promises.empty()) {
    parts.push_back(fmt::format("room is promised to {}", fmt::join(obstacle.promises, ", ")));
  }
  if (parts.empty() && obstacle.missing == 0) {
    parts.emplace_back("its room became free after this ask was decided");
  }
  if (parts.empty()) {
    parts.push_back(
        fmt::format("short of {} by {}", fleet_.column_name(obstacle.column),
                    exact_amount(fleet_.column_name(obstacle.column), obstacle.missing)));
  }
  return fmt::format("{}: {}", place_text(fleet_, obstacle.place), fmt::join(parts, ", "));
}

}  // namespace makeway
