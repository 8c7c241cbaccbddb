#include "control/interrupted_gang_evictions.hpp"

#include <algorithm>

#include "model/names.hpp"

namespace makeway {
namespace {

bool stays(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().node[pod].exists() && cluster.pods().deletion[pod] == no_time;
}

bool is_of(const Pod& pod, const std::vector<std::string>& schedulers) {
  const std::string_view name = pod.scheduler.empty() ? names::default_scheduler : pod.scheduler;
  return schedulers.empty() || std::ranges::find(schedulers, name) != schedulers.end();
}

/// Somebody of it has left, or is leaving, because it was preempted, and somebody stays.
bool is_partly_evicted(const Cluster& cluster, const Group& group) {
  bool is_leaving = false;
  bool is_marked = false;
  std::int64_t staying = 0;
  for (const PodIndex pod : group.members) {
    const bool marked = cluster.pods().flags[pod].disrupted_by_preemption;
    if (stays(cluster, pod)) {
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

/// All that stay, in the order of their names; none: an effect of ours on one is not seen yet.
std::vector<Pod> rest_of(const Cluster& cluster, const Group& group, const InFlight& in_flight) {
  std::vector<Pod> rest;
  for (const PodIndex pod : group.members) {
    if (!stays(cluster, pod)) continue;
    rest.push_back(cluster.pod(pod));
    if (in_flight.has_pod(rest.back().namespace_name, rest.back().name)) return {};
  }
  std::ranges::sort(rest, {}, &Pod::name);
  return rest;
}

void tell_rest(const std::vector<Pod>& rest, PlanAsk ask, Plan& plan) {
  for (const Pod& pod : rest) {
    ask.victims.push_back({.namespace_name = pod.namespace_name,
                           .name = pod.name,
                           .uid = pod.uid,
                           .node = pod.node,
                           .unit = ask_text(ask)});
    plan.actions.push_back({.type = ActionType::evict,
                            .namespace_name = pod.namespace_name,
                            .name = pod.name,
                            .uid = pod.uid,
                            .node = pod.node,
                            .ask = ask_text(ask)});
  }
  plan.asks.push_back(std::move(ask));
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
    if (!is_of(first, schedulers)) continue;
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
      const std::vector<Pod> rest = rest_of(cluster, cluster.groups()[*group], in_flight);
      PlanAsk ask{.kind = AskKind::pod_group,
                  .namespace_name = at->first,
                  .name = at->second,
                  .reason = std::string(interrupted_eviction_reason)};
      if (!rest.empty()) tell_rest(rest, std::move(ask), plan);
    }
    at = is_over ? gangs_.erase(at) : std::next(at);
  }
  return plan.actions.empty() ? std::nullopt : std::optional(std::move(plan));
}

std::optional<Time> InterruptedGangEvictions::next_due() const {
  return gangs_.empty() ? std::nullopt : std::optional(next_);
}

}  // namespace makeway
