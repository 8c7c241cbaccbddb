#include "control/interrupted_gang_binds.hpp"

#include <algorithm>
#include <vector>

#include "control/gang_eviction.hpp"

namespace makeway {

void InterruptedGangBinds::sent(const Plan& plan, const Cluster& cluster, Time now) {
  if (settings_.gang_rollback == GangRollback::none) return;
  for (const PlanAction& action : plan.actions) {
    if (action.type != ActionType::bind || !action.plane.empty()) continue;
    const auto pod = cluster.find_pod(action.namespace_name, action.name);
    if (!pod) continue;
    const Unit& unit = cluster.units()[cluster.pods().unit[*pod]];
    if (unit.kind != UnitKind::group || !unit.gang) continue;
    const Group& group = cluster.groups()[unit.group];
    // A pod that joins a running gang is finished or not by itself.
    const auto running = std::ranges::count_if(
        group.members, [&](PodIndex member) { return is_staying(cluster, member); });
    const Name name{action.namespace_name, std::string(cluster.text(group.name))};
    if (running >= unit.minimum && !begun_.contains(name)) continue;
    Begun& begun = begun_.try_emplace(name, Begun{.since = now}).first->second;
    begun.since = begun.was_rolled_back ? now : begun.since;  // It is begun anew.
    begun.was_rolled_back = false;
    begun.uids.insert(action.uid);
  }
}

bool InterruptedGangBinds::is_whole(const Cluster& cluster, const InFlight& in_flight,
                                    GroupIndex group) {
  std::int64_t bound = 0;
  for (const PodIndex pod : cluster.groups()[group].members) {
    const bool is_assumed = in_flight.has_pod(cluster.text(cluster.pods().namespace_name[pod]),
                                              cluster.pods().name[pod.value]);
    if (is_staying(cluster, pod) && !is_assumed) ++bound;
  }
  return bound >= cluster.units()[cluster.groups()[group].unit].minimum;
}

bool InterruptedGangBinds::add_members(const Cluster& cluster, GroupIndex group, const Begun& begun,
                                       Plan& plan) {
  const Group& gang = cluster.groups()[group];
  std::vector<Pod> members = staying_members(cluster, gang);
  std::erase_if(members, [&](const Pod& pod) { return !begun.uids.contains(pod.uid); });
  if (members.empty()) return false;
  evict_members(cluster, gang, members, rollback_reason, LeaveTogether::no, plan);
  return true;
}

std::optional<Plan> InterruptedGangBinds::due(const Cluster& cluster, const InFlight& in_flight,
                                              Time now) {
  Plan plan{.now = now};
  for (auto at = begun_.begin(); at != begun_.end();) {
    const auto group = cluster.find_group(at->first.first, at->first.second);
    const bool is_over = now >= at->second.since + settings_.gang_bind_timeout;
    bool is_done = !group || is_whole(cluster, in_flight, *group);
    if (!is_done && is_over) {
      is_done = !add_members(cluster, *group, at->second, plan);
      at->second.since = now;
      at->second.was_rolled_back = true;
    }
    at = is_done ? begun_.erase(at) : std::next(at);
  }
  return plan.actions.empty() ? std::nullopt : std::optional(std::move(plan));
}

std::optional<Time> InterruptedGangBinds::next_due() const {
  std::optional<Time> next;
  for (const auto& [name, begun] : begun_) {
    const Time end = begun.since + settings_.gang_bind_timeout;
    if (!next || end < *next) next = end;
  }
  return next;
}

}  // namespace makeway
