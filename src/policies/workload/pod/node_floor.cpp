#include "policies/workload/pod/node_floor.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/checked_math.hpp"

namespace makeway {

NodeFloor::NodeFloor(World& world, PodFit& fit)
    : world_(world), fit_(fit), floor_(world.configuration().workload) {
  const WorkloadSettings& settings = world.configuration().workload;
  const auto at = [&](ScoreKey key) { return std::ranges::find(settings.score_keys, key); };
  const auto end = settings.score_keys.end();
  // Sums and ages are those of the fewest victims, who are the fewest below that priority.
  useful_ = settings.score_priority == ScorePriority::unit && at(ScoreKey::victims) != end &&
            at(ScoreKey::highest_priority) < at(ScoreKey::victims) &&
            at(ScoreKey::victims) <= at(ScoreKey::priority_sum) &&
            at(ScoreKey::victims) <= at(ScoreKey::lost_work) &&
            at(ScoreKey::highest_priority) <= at(ScoreKey::oldest_victim) &&
            floor_.value(0, 0) != ScoreFloor::anything;
}

void NodeFloor::start(NodeIndex node, std::int64_t highest) {
  node_ = node;
  highest_ = highest;
  held_.clear();
  fit_.scratch().for_each_pod(node, [&](PodIndex pod) {
    const std::int32_t priority = world_.rules().priority_of(pod);
    if (priority <= highest) held_.push_back({.pod = pod, .priority = priority});
  });
}

std::int64_t NodeFloor::value(std::size_t key) {
  const std::int64_t by_highest = floor_.value(key, highest_);
  if (by_highest != ScoreFloor::anything) return by_highest;
  switch (world_.configuration().workload.score_keys[key]) {
    case ScoreKey::members_not_placed:
    case ScoreKey::budget_violations:
    case ScoreKey::secondary_victims:
    case ScoreKey::groups_below_minimum:
    case ScoreKey::disrupted_groups:
    case ScoreKey::grouped_victims:
    case ScoreKey::largest_victim:
    case ScoreKey::victims_age: return 0;
    case ScoreKey::stopped_pods:
    case ScoreKey::victims: return victims_ = count_victims();
    case ScoreKey::priority_sum: return least_priority_sum();
    case ScoreKey::lost_work: return least_lost_work();
    case ScoreKey::oldest_victim: return youngest();
    case ScoreKey::raw_priority_sum:
    case ScoreKey::highest_priority: return ScoreFloor::anything;
  }
  return ScoreFloor::anything;
}

std::int64_t NodeFloor::count_victims() {
  const Cluster& cluster = world_.cluster();
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(node_);
  const std::span<const std::int64_t> used = fit_.scratch().used(node_);
  std::int64_t count = 1;
  for (const ResourceAmount& wanted : fit_.requests()) {
    const std::size_t column = wanted.resource.value;
    std::int64_t missing = saturated_add(wanted.amount, used[column]) - allocatable[column];
    if (missing <= 0) continue;
    amounts_.clear();
    for (const Held& held : held_) {
      for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[held.pod])) {
        if (item.resource == wanted.resource) amounts_.push_back(item.amount);
      }
    }
    std::ranges::sort(amounts_, std::greater{});
    std::int64_t needed = 0;
    for (const std::int64_t amount : amounts_) {
      if (missing <= 0) break;
      missing -= amount;
      ++needed;
    }
    count = std::max(count, needed);
  }
  return count;
}

std::int64_t NodeFloor::least_priority_sum() {
  amounts_.clear();
  for (const Held& held : held_) amounts_.push_back(held.priority);
  const auto others = std::min(static_cast<std::size_t>(victims_ - 1), amounts_.size());
  std::ranges::partial_sort(amounts_, amounts_.begin() + static_cast<std::ptrdiff_t>(others));
  return std::accumulate(amounts_.begin(), amounts_.begin() + static_cast<std::ptrdiff_t>(others),
                         highest_);
}

std::int64_t NodeFloor::least_lost_work() {
  amounts_.clear();
  for (const Held& held : held_) amounts_.push_back(world_.rules().lost_work_seconds(held.pod));
  const auto count = std::min(static_cast<std::size_t>(victims_), amounts_.size());
  std::ranges::partial_sort(amounts_, amounts_.begin() + static_cast<std::ptrdiff_t>(count));
  return std::accumulate(amounts_.begin(), amounts_.begin() + static_cast<std::ptrdiff_t>(count),
                         std::int64_t{0});
}

std::int64_t NodeFloor::youngest() {
  std::int64_t age = std::numeric_limits<std::int64_t>::max();
  for (const Held& held : held_) {
    if (held.priority != highest_) continue;
    age = std::min(age, (world_.rules().now() - world_.rules().started(held.pod)).ms);
  }
  return age;
}

}  // namespace makeway
