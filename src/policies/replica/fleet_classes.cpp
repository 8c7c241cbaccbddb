// Which pods of a fleet are how close to leaving, and who may be a victim.
#include <algorithm>

#include "policies/replica/fleet.hpp"

namespace makeway {
namespace {

/// Newest first: below 0 when a comes first. Nobody knows how old a pod without a time is; it comes
/// last.
int newer_first(Time a, Time b) { return a == b ? 0 : a > b ? -1 : 1; }

int higher_name_first(const Cluster& cluster, PodIndex a, PodIndex b) {
  const PodColumns& pods = cluster.pods();
  const int by_name = pods.name[b.value].compare(pods.name[a.value]);
  if (by_name != 0) return by_name;
  return cluster.text(pods.namespace_name[b]).compare(cluster.text(pods.namespace_name[a]));
}

}  // namespace

void Fleet::classify_leaving(FleetReplica& replica) const {
  const PodColumns& pods = cluster().pods();
  const Time deletion = pods.deletion[replica.pod];
  const Duration patience = world_.configuration().engine.leave_timeout;
  const auto recorded = force_deleted_.find(replica.pod);
  const bool ours = recorded != force_deleted_.end();
  const std::int32_t grace = pods.deletion_grace_seconds[replica.pod];
  if (ours || grace == 0) {
    replica.victim_class = ReplicaClass::force_deleting;
    // Force-deletion makes it go earlier; its own time is counted on all the same.
    const Time since = ours ? std::max(recorded->second, deletion) : deletion;
    replica.expired = !(now() - since < patience);
    return;
  }
  replica.victim_class = ReplicaClass::terminating;
  replica.expired = !(now() - deletion < patience);
  const bool at_end = settings().force_delete_after == ForceDeleteAfter::grace_period;
  const Duration earlier{at_end ? 0 : std::int64_t{-1000} * grace};
  replica.force_from = deletion + earlier + settings().force_delete_extra_delay;
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

/// Those that Kubernetes would most likely remove.
void Fleet::mark_surplus(ShareIndex index) {
  FleetShare& share = shares_[index];
  const std::span<ReplicaIndex> pods =
      std::span(in_share_).subspan(share.begin, share.end - share.begin);
  std::map<PlaceIndex, std::int64_t> siblings;
  for (const ReplicaIndex pod : pods) ++siblings[replicas_[pod].place];
  const auto by_key = [&](const FleetReplica& a, const FleetReplica& b, SurplusKey key) {
    switch (key) {
      case SurplusKey::not_ready:
        return int{cluster().pods().flags[a.pod].ready} - int{cluster().pods().flags[b.pod].ready};
      case SurplusKey::siblings: {
        const std::int64_t more = siblings[b.place] - siblings[a.place];
        return more == 0 ? 0 : more < 0 ? -1 : 1;
      }
      case SurplusKey::newest: return newer_first(a.created, b.created);
      case SurplusKey::higher_name: return higher_name_first(cluster(), a.pod, b.pod);
    }
    return 0;
  };
  std::ranges::sort(pods, [&](ReplicaIndex left, ReplicaIndex right) {
    const FleetReplica& a = replicas_[left];
    const FleetReplica& b = replicas_[right];
    for (const SurplusKey key : settings().surplus_keys) {
      if (const int order = by_key(a, b, key); order != 0) return order < 0;
    }
    return higher_name_first(cluster(), a.pod, b.pod) < 0;
  });
  share.surplus = share.running - share.committed;
  const ReplicaSchedule& schedule = *deployments_[share.deployment].object;
  for (const ReplicaIndex pod : pods.first(static_cast<std::size_t>(share.surplus))) {
    FleetReplica& replica = replicas_[pod];
    replica.victim_class = ReplicaClass::surplus;
    replica.rank = class_rank_[static_cast<std::size_t>(ReplicaClass::surplus)];
    const std::optional<Time> since = surplus_since(schedule, replica.pod);
    replica.expired = since && !(now() - *since < settings().surplus_timeout);
    if (!replica.expired) ++share.surplus_moving;
  }
  if (share.committed == 0 && settings().protect_last_replica) replicas_[pods.back()].last = true;
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
  if (a.rank != b.rank) return a.rank < b.rank;
  for (const ReplicaTieKey key : settings().tie_keys) {
    int order = 0;
    switch (key) {
      case ReplicaTieKey::priority:
        order = a.priority == b.priority ? 0 : a.priority < b.priority ? -1 : 1;
        break;
      case ReplicaTieKey::plane_score: break;  // The plane is the same.
      case ReplicaTieKey::newest: order = newer_first(a.created, b.created); break;
      case ReplicaTieKey::higher_name: order = higher_name_first(cluster(), a.pod, b.pod); break;
    }
    if (order != 0) return order < 0;
  }
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

bool Fleet::anybody_leaves(DeploymentIndex deployment, PlaneIndex plane) const {
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
  const std::int64_t kept = settings().protect_last_replica ? 1 : 0;
  return std::min(row.committed, row.running) - kept - row.lowered;
}

bool Fleet::forcible(const FleetReplica& replica, std::int32_t ask_priority) const {
  return replica.victim_class == ReplicaClass::terminating && !replica.is_protected &&
         (replica.priority < ask_priority || settings().force_delete_any_priority);
}

bool Fleet::ever_usable(const FleetReplica& replica, std::int32_t ask_priority) const {
  if (replica.rank == rank_never) return false;
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
