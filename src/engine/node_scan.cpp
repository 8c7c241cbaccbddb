#include "engine/node_scan.hpp"

#include <algorithm>

#include "base/checked_math.hpp"

namespace makeway {

NodeScan::NodeScan(Survey& survey, const Scratch& scratch, const PodFit& fit,
                   bool honour_preemption_priority)
    : survey_(survey),
      scratch_(scratch),
      requests_(fit.requests()),
      by_order_(honour_preemption_priority) {
  const Cluster& cluster = survey.cluster();
  ask_priority_ = cluster.units()[cluster.pods().unit[fit.ask()]].scheduling_priority;
}

bool NodeScan::fits_beside(NodeIndex node, std::span<const std::int64_t> used) const {
  const std::span<const std::int64_t> allocatable = survey_.allocatable(node);
  return std::ranges::all_of(requests_, [&](const ResourceAmount& item) {
    return item.amount <= allocatable[item.resource.value] - used[item.resource.value];
  });
}

bool NodeScan::has_room(NodeIndex node) const { return fits_beside(node, scratch_.used(node)); }

std::int32_t NodeScan::priority_of(PodIndex pod) const {
  const Cluster& cluster = survey_.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  return by_order_ ? unit.preemption_priority : unit.scheduling_priority;
}

std::int64_t NodeScan::lowest_priority(NodeIndex node, std::int64_t limit) const {
  if (!by_order_ || scratch_.touched(node)) return walk(node);
  const NodeOrder& order = survey_.cluster().order();
  const std::span<const std::int32_t> priorities = order.priorities(node);
  // The pods that stay whatever happens: those above the limit, and those the ask cannot touch.
  const std::int64_t highest = std::min<std::int64_t>(limit, std::int64_t{ask_priority_} - 1);
  const auto stays = [&](std::int32_t priority) { return priority > highest; };
  const auto first = std::ranges::partition_point(priorities, stays);
  auto low = static_cast<std::size_t>(first - priorities.begin());
  if (!fits_beside(node, order.used_by_first(node, low))) return hopeless;
  // The most pods, from the most important down, beside which the ask fits.
  std::size_t high = priorities.size();
  if (fits_beside(node, order.used_by_first(node, high))) return room;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fits_beside(node, order.used_by_first(node, middle)) ? low : high) = middle;
  }
  return priorities[low];  // The most important one that cannot stay.
}

/// Pods leave from the lowest priority up until the ask fits.
std::int64_t NodeScan::walk(NodeIndex node) const {
  if (has_room(node)) return room;
  const Cluster& cluster = survey_.cluster();
  pods_.clear();
  scratch_.for_each_pod(node, [&](PodIndex pod) {
    if (priority_of(pod) < ask_priority_) pods_.emplace_back(priority_of(pod), pod);
  });
  std::ranges::sort(pods_);
  const std::span<const std::int64_t> before = scratch_.used(node);
  std::vector<std::int64_t> used(before.begin(), before.end());
  for (const auto& [priority, pod] : pods_) {
    for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
      std::int64_t& amount = used[item.resource.value];
      amount = saturated_sub(amount, item.amount);
    }
    if (fits_beside(node, used)) return priority;
  }
  return hopeless;
}

}  // namespace makeway
