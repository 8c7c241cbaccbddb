#include "control/interrupted_gangs.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "control/scheduler_name.hpp"
#include "model/request.hpp"

namespace makeway {
namespace {

// No policy decides these evictions; the plan says why.

/// Bound to a node and not leaving.
bool is_staying(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().node[pod].exists() && cluster.pods().deletion[pod] == no_time;
}

/// The members that stay, by name.
std::vector<Pod> staying_members(const Cluster& cluster, const Group& group) {
  std::vector<Pod> members;
  for (const PodIndex pod : group.members) {
    if (is_staying(cluster, pod)) members.push_back(cluster.pod(pod));
  }
  std::ranges::sort(members, {}, &Pod::name);
  return members;
}

/// As one: the write queue goes on with the others when a budget refuses a member.
enum class LeaveTogether : bool { no, yes };

/// Adds an ask for the group and an eviction for each of its members.
void evict_members(const Cluster& cluster, const Group& group, const std::vector<Pod>& members,
                   std::string_view reason, LeaveTogether together, Plan& plan) {
  PlanAsk ask{.kind = AskKind::pod_group,
              .namespace_name = std::string(cluster.text(group.namespace_name)),
              .name = std::string(cluster.text(group.name)),
              .reason = std::string(reason)};
  const ObjectRef asks = ref_of(ask);
  for (const Pod& pod : members) {
    if (together == LeaveTogether::yes) {
      ask.victims.push_back({.namespace_name = pod.namespace_name,
                             .name = pod.name,
                             .uid = pod.uid,
                             .node = pod.node,
                             .unit = ref_text(asks)});
    }
    plan.actions.push_back({.type = ActionType::evict,
                            .namespace_name = pod.namespace_name,
                            .name = pod.name,
                            .uid = pod.uid,
                            .node = pod.node,
                            .ask = asks});
  }
  plan.asks.push_back(std::move(ask));
}

}  // namespace

// ---- Binds --------------------------------------------------------------------------------------

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
    if (running >= unit.minimum && !started_binds_.contains(name)) continue;
    StartedBind& begun = started_binds_.try_emplace(name, StartedBind{.since = now}).first->second;
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

bool InterruptedGangBinds::add_members(const Cluster& cluster, GroupIndex group,
                                       const StartedBind& begun, Plan& plan) {
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
  for (auto at = started_binds_.begin(); at != started_binds_.end();) {
    const auto group = cluster.find_group(at->first.first, at->first.second);
    const bool is_over = now >= at->second.since + settings_.gang_bind_timeout;
    bool is_done = !group || is_whole(cluster, in_flight, *group);
    if (!is_done && is_over) {
      is_done = !add_members(cluster, *group, at->second, plan);
      at->second.since = now;
      at->second.was_rolled_back = true;
    }
    at = is_done ? started_binds_.erase(at) : std::next(at);
  }
  return plan.actions.empty() ? std::nullopt : std::optional(std::move(plan));
}

std::optional<Time> InterruptedGangBinds::next_due() const {
  std::optional<Time> next;
  for (const auto& [name, begun] : started_binds_) {
    const Time end = begun.since + settings_.gang_bind_timeout;
    if (!next || end < *next) next = end;
  }
  return next;
}

// ---- Evictions ----------------------------------------------------------------------------------

namespace {

/// A member has left, or is leaving, because it was preempted, and a member stays.
bool is_partly_evicted(const Cluster& cluster, const Group& group) {
  bool is_leaving = false;
  bool is_marked = false;
  std::int64_t staying = 0;
  for (const PodIndex pod : group.members) {
    const bool marked = cluster.pods().flags[pod].disrupted_by_preemption;
    if (is_staying(cluster, pod)) {
      ++staying;
      is_marked = is_marked || marked;
    } else {
      is_leaving = is_leaving || (marked && cluster.pods().node[pod].exists());
    }
  }
  const bool lacks_minimum =
      group.object && group.object->policy.gang && staying < group.object->policy.minimum;
  return staying > 0 && (is_leaving || (is_marked && lacks_minimum));
}

bool any_in_flight(const std::vector<Pod>& pods, const InFlight& in_flight) {
  return std::ranges::any_of(
      pods, [&](const Pod& pod) { return in_flight.has_pod(pod.namespace_name, pod.name); });
}

}  // namespace

void InterruptedGangEvictions::find(const Cluster& cluster,
                                    const std::vector<std::string>& schedulers, Time now) {
  until_ = now + leave_timeout_;
  next_ = now;
  for (const Group& group : cluster.groups()) {
    const bool is_here = group.object && cluster.text(group.plane).empty();
    if (!is_here || group.object->policy.mode != DisruptionMode::all) continue;
    if (!is_partly_evicted(cluster, group)) continue;
    const Pod first = cluster.pod(group.members.front());
    if (!names_scheduler(first, schedulers)) continue;
    gangs_.emplace(cluster.text(group.namespace_name), cluster.text(group.name));
  }
}

std::optional<Plan> InterruptedGangEvictions::due(const Cluster& cluster, const InFlight& in_flight,
                                                  Time now) {
  if (gangs_.empty() || now < next_) return std::nullopt;
  if (now >= until_) {
    gangs_.clear();
    return std::nullopt;
  }
  next_ = now + again;
  Plan plan{.now = now};
  for (auto at = gangs_.begin(); at != gangs_.end();) {
    const auto group = cluster.find_group(at->first, at->second);
    const bool is_over = !group || !is_partly_evicted(cluster, cluster.groups()[*group]);
    if (!is_over) {
      const Group& gang = cluster.groups()[*group];
      const std::vector<Pod> rest = staying_members(cluster, gang);
      if (!any_in_flight(rest, in_flight)) {
        evict_members(cluster, gang, rest, interrupted_eviction_reason, LeaveTogether::yes, plan);
      }
    }
    at = is_over ? gangs_.erase(at) : std::next(at);
  }
  return plan.actions.empty() ? std::nullopt : std::optional(std::move(plan));
}

std::optional<Time> InterruptedGangEvictions::next_due() const {
  return gangs_.empty() ? std::nullopt : std::optional(next_);
}

}  // namespace makeway
