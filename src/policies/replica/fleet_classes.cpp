// How close to leaving the pods of a fleet are, and which may be victims.
#include <algorithm>

#include "policies/replica/fleet.hpp"

namespace makeway {
namespace {

int higher_name_first(const Cluster& cluster, PodIndex a, PodIndex b) {
  const PodColumns& pods = cluster.pods();
  const int by_name = pods.name[b.value].compare(pods.name[a.value]);
  if (by_name != 0) return by_name;
  return cluster.text(pods.namespace_name[b]).compare(cluster.text(pods.namespace_name[a]));
}

}  // namespace

void Fleet::classify_leaving(FleetReplica& replica) const {
  const Departures& departures = world_.departures();
  const Time leaves_at = departures.leaves_at(replica.pod);
  const auto recorded = force_deleted_.find(replica.pod);
  const bool ours = recorded != force_deleted_.end();
  if (ours || cluster().pods().deletion_grace_seconds[replica.pod] == 0) {
    replica.victim_class = ReplicaClass::force_deleting;
    // Force-deletion makes it go earlier; its own time is counted on all the same.
    const Time since = ours ? std::max(recorded->second, leaves_at) : leaves_at;
    replica.expired = departures.is_patience_over(since);
    return;
  }
  replica.victim_class = ReplicaClass::terminating;
  replica.expired = departures.stuck(replica.pod);
  replica.force_from = Departures::forced_from(cluster(), settings(), replica.pod);
}

void Fleet::order_shares() {
  std::uint32_t begin = 0;
  for (std::uint32_t at = 0; at < shares_.size(); ++at) {
    FleetShare& share = shares_[ShareIndex{at}];
    share.begin = share.end = begin;
    begin += static_cast<std::uint32_t>(share.running);
  }
  in_share_.resize(begin);
  for (std::uint32_t at = 0; at < replicas_.size(); ++at) {
    const FleetReplica& replica = replicas_[ReplicaIndex{at}];
    if (replica.victim_class != ReplicaClass::committed) continue;
    in_share_[shares_[replica.share].end++] = ReplicaIndex{at};
  }
  for (std::uint32_t at = 0; at < shares_.size(); ++at) {
    if (shares_[ShareIndex{at}].running > shares_[ShareIndex{at}].committed) {
      mark_surplus(ShareIndex{at});
    }
  }
}

/// The pods that Kubernetes would most likely remove.
void Fleet::mark_surplus(ShareIndex index) {
  FleetShare& share = shares_[index];
  const std::span<ReplicaIndex> pods =
      std::span(in_share_).subspan(share.begin, share.end - share.begin);
  std::map<PlaceIndex, std::int64_t> siblings;
  for (const ReplicaIndex pod : pods) ++siblings[replicas_[pod].place];
  std::ranges::sort(pods, [&](ReplicaIndex left, ReplicaIndex right) {
    const FleetReplica& a = replicas_[left];
    const FleetReplica& b = replicas_[right];
    const bool a_ready = cluster().pods().flags[a.pod].ready;
    if (a_ready != cluster().pods().flags[b.pod].ready) return !a_ready;
    if (siblings[a.place] != siblings[b.place]) return siblings[a.place] > siblings[b.place];
    if (a.created != b.created) return a.created > b.created;
    return higher_name_first(cluster(), a.pod, b.pod) < 0;
  });
  share.surplus = share.running - share.committed;
  const ReplicaSchedule& schedule = *deployments_[share.deployment].object;
  for (const ReplicaIndex pod : pods.first(static_cast<std::size_t>(share.surplus))) {
    FleetReplica& replica = replicas_[pod];
    replica.victim_class = ReplicaClass::surplus;
    const std::optional<Time> since = surplus_since(schedule, replica.pod);
    replica.expired = since && !(now() - *since < settings().surplus_timeout);
    if (!replica.expired) ++share.surplus_moving;
  }
  if (share.committed == 0) replicas_[pods.back()].last = true;
}

std::optional<Time> Fleet::surplus_since(const ReplicaSchedule& schedule, PodIndex pod) const {
  const std::string_view name = cluster().pods().name[pod.value];
  const std::string_view plane = cluster().text(cluster().pods().plane[pod]);
  const std::vector<SurplusPod>& known = schedule.status.surplus;
  const auto found = std::ranges::find_if(
      known, [&](const SurplusPod& each) { return each.name == name && each.plane == plane; });
  return found == known.end() ? std::nullopt : std::optional(found->since);
}

bool Fleet::before_in_place(const FleetReplica& a, const FleetReplica& b) const {
  if (a.victim_class != b.victim_class) return a.victim_class < b.victim_class;
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.created != b.created) return a.created > b.created;
  return higher_name_first(cluster(), a.pod, b.pod) < 0;
}

void Fleet::order_places() {
  in_order_.resize(replicas_.size());
  for (std::uint32_t at = 0; at < in_order_.size(); ++at) in_order_[at] = ReplicaIndex{at};
  for (std::uint32_t at = 0; at < places_.size(); ++at) {
    const FleetPlace& place = places_[PlaceIndex{at}];
    const std::span<ReplicaIndex> here =
        std::span(in_order_).subspan(place.begin, place.end - place.begin);
    std::ranges::sort(here, [this](ReplicaIndex a, ReplicaIndex b) {
      return before_in_place(replicas_[a], replicas_[b]);
    });
    const bool conditional = std::ranges::any_of(here, [this](ReplicaIndex index) {
      const FleetReplica& replica = replicas_[index];
      // Only for some asks it may be used at all, or is force-deleted instead of waited for.
      return replica.victim_class == ReplicaClass::terminating && !replica.is_protected &&
             (replica.expired || now() >= replica.force_from);
    });
    if (conditional) conditional_places_.push_back(PlaceIndex{at});
  }
}

bool Fleet::some_pod_leaves(DeploymentIndex deployment, PlaneIndex plane) const {
  for (std::uint32_t at = planes_[plane].begin; at < planes_[plane].end; ++at) {
    for (const ReplicaIndex index : in_order(PlaceIndex{at})) {
      const FleetReplica& replica = replicas_[index];
      const bool leaves = replica.victim_class != ReplicaClass::committed;
      if (!leaves || !replica.share.exists()) continue;
      if (shares_[replica.share].deployment == deployment) return true;
    }
  }
  return false;
}

std::int64_t Fleet::spare(ShareIndex share) const {
  const FleetShare& row = shares_[share];
  // Its surplus does not go, so one more would not go either.
  if (row.surplus_moving < row.surplus) return 0;
  constexpr std::int64_t last_replica = 1;  // Scaling to zero may take very long.
  return std::min(row.committed, row.running) - last_replica - row.lowered;
}

bool Fleet::forcible(const FleetReplica& replica, std::int32_t ask_priority) const {
  return replica.victim_class == ReplicaClass::terminating && !replica.is_protected &&
         (replica.priority < ask_priority || settings().force_delete_any_priority);
}

bool Fleet::ever_usable(const FleetReplica& replica, std::int32_t ask_priority) const {
  switch (replica.victim_class) {
    case ReplicaClass::force_deleting: return !replica.expired;
    case ReplicaClass::terminating: return !replica.expired || forcible(replica, ask_priority);
    case ReplicaClass::surplus: return !replica.expired;
    case ReplicaClass::committed: return !replica.is_protected && replica.priority < ask_priority;
  }
  return false;
}

bool Fleet::usable(const FleetReplica& replica, std::int32_t ask_priority) const {
  if (replica.taken || replica.last) return false;
  // What it obtained in this cycle would only make up for what it loses: no action would follow.
  if (replica.victim_class == ReplicaClass::committed && shares_[replica.share].raised > 0) {
    return false;
  }
  return ever_usable(replica, ask_priority);
}

ReplicaAction Fleet::action(const FleetReplica& replica, std::int32_t ask_priority) const {
  if (replica.victim_class == ReplicaClass::committed) return ReplicaAction::scale_down;
  if (forcible(replica, ask_priority) && now() >= replica.force_from) {
    return ReplicaAction::force_delete;
  }
  return ReplicaAction::wait;
}

void Fleet::take(ReplicaIndex index) {
  FleetReplica& replica = replicas_[index];
  CHECK(!replica.taken, "a victim serves one claim");
  replica.taken = true;
  if (replica.victim_class == ReplicaClass::committed) ++shares_[replica.share].lowered;
}

void Fleet::release(ReplicaIndex index) {
  FleetReplica& replica = replicas_[index];
  CHECK(replica.taken, "only a victim can be put back");
  replica.taken = false;
  if (replica.victim_class == ReplicaClass::committed) --shares_[replica.share].lowered;
}

}  // namespace makeway
