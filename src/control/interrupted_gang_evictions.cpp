#include "control/interrupted_gang_evictions.hpp"

#include <algorithm>

#include "control/gang_eviction.hpp"
#include "control/scheduler_name.hpp"

namespace makeway {
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
