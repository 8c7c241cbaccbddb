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
  // Sums and ages are those of the fewest victims, which are the fewest below that priority.
  useful_ = settings.score_priority == ScorePriority::unit && at(ScoreKey::victims) != end &&
            at(ScoreKey::highest_priority) < at(ScoreKey::victims) &&
            at(ScoreKey::victims) <= at(ScoreKey::priority_sum) &&
            at(ScoreKey::victims) <= at(ScoreKey::lost_work) &&
            at(ScoreKey::victims) <= at(ScoreKey::victims_age) &&
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

std::strong_ordering NodeFloor::compare(NodeIndex node, std::int64_t highest,
                                        const ScoreTerms& score) {
  start(node, highest);
  for (std::size_t key = 0; key < score.size(); ++key) {
    const std::strong_ordering order = value(key) <=> score[key].value;
    if (order != std::strong_ordering::equal) return order;
  }
  return std::strong_ordering::equal;
}

std::int64_t NodeFloor::value(std::size_t key) {
  if (world_.configuration().workload.score_keys[key] == ScoreKey::budget_violations) {
    return least_violations();
  }
  const std::int64_t by_highest = floor_.value(key, highest_);
  if (by_highest != ScoreFloor::anything) return by_highest;
  switch (world_.configuration().workload.score_keys[key]) {
    case ScoreKey::members_not_placed:
    case ScoreKey::budget_violations:
    case ScoreKey::secondary_victims:
    case ScoreKey::groups_below_minimum:
    case ScoreKey::disrupted_groups:
    case ScoreKey::grouped_victims: return 0;
    case ScoreKey::largest_victim: return 1;
    case ScoreKey::stopped_pods:
    case ScoreKey::victims: return victims_ = count_victims();
    case ScoreKey::priority_sum: return least_priority_sum();
    case ScoreKey::lost_work: return least_lost_work();
    case ScoreKey::oldest_victim: return youngest();
    case ScoreKey::victims_age: return least_age();
    case ScoreKey::raw_priority_sum:
    case ScoreKey::highest_priority: return ScoreFloor::anything;
  }
  return ScoreFloor::anything;
}

std::int64_t NodeFloor::amount_of(PodIndex pod, ResourceIndex resource) const {
  const Cluster& cluster = world_.cluster();
  for (const ResourceAmount& item : request_of(cluster, pod)) {
    if (item.resource == resource) return item.amount;
  }
  return 0;
}

/// How much must be freed; not positive: nothing.
std::int64_t NodeFloor::missing(const ResourceAmount& wanted) const {
  const std::size_t column = wanted.resource.value;
  return saturated_add(wanted.amount, fit_.scratch().used(node_)[column]) -
         world_.survey().allocatable(node_)[column];
}

/// How many of `amounts_` are needed at least.
std::int64_t NodeFloor::fewest(std::int64_t missing) {
  std::ranges::sort(amounts_, std::greater{});
  std::int64_t needed = 0;
  for (const std::int64_t amount : amounts_) {
    if (missing <= 0) break;
    missing -= amount;
    ++needed;
  }
  return needed;
}

std::int64_t NodeFloor::least_violations() {
  if (!world_.budgets().any()) return 0;
  cheap_.clear();
  dear_.clear();
  fit_.scratch().for_each_pod(node_, [&](PodIndex pod) {
    if (world_.rules().priority_of(pod) >= fit_.priority()) return;
    (world_.budgets().exhausted(pod) ? dear_ : cheap_).push_back(pod);
  });
  if (dear_.empty()) return 0;
  std::int64_t least = 0;
  for (const ResourceAmount& wanted : fit_.requests()) {
    std::int64_t open = missing(wanted);
    for (std::size_t at = 0; at < cheap_.size() && open > 0; ++at) {
      open -= amount_of(cheap_[at], wanted.resource);
    }
    if (open <= 0) continue;
    amounts_.clear();
    for (const PodIndex pod : dear_) amounts_.push_back(amount_of(pod, wanted.resource));
    least = std::max(least, fewest(open));
  }
  return least;
}

std::int64_t NodeFloor::count_victims() {
  std::int64_t count = 1;
  for (const ResourceAmount& wanted : fit_.requests()) {
    const std::int64_t open = missing(wanted);
    if (open <= 0) continue;
    amounts_.clear();
    for (const Held& held : held_) amounts_.push_back(amount_of(held.pod, wanted.resource));
    count = std::max(count, fewest(open));
  }
  return count;
}

std::int64_t NodeFloor::sum_of_least(std::int64_t count) {
  const auto end = amounts_.begin() + std::min(count, std::ssize(amounts_));
  std::ranges::partial_sort(amounts_, end);
  return std::accumulate(amounts_.begin(), end, std::int64_t{0});
}

std::int64_t NodeFloor::least_priority_sum() {
  amounts_.clear();
  for (const Held& held : held_) amounts_.push_back(held.priority);
  return highest_ + sum_of_least(victims_ - 1);
}

std::int64_t NodeFloor::least_lost_work() {
  amounts_.clear();
  for (const Held& held : held_) amounts_.push_back(world_.rules().lost_work_seconds(held.pod));
  return sum_of_least(victims_);
}

std::int64_t NodeFloor::least_age() {
  amounts_.clear();
  for (const Held& held : held_) amounts_.push_back(world_.rules().age_ms(held.pod));
  return sum_of_least(victims_);
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
