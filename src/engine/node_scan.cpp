#include "engine/node_scan.hpp"

#include <algorithm>

#include "base/checked_math.hpp"

namespace makeway {

namespace {

/// How many of the descending priorities are above. With a good limit only the last few are not, so
/// these come first; the rest is a binary search without branches, which nobody could predict.
std::size_t count_above(std::span<const std::int32_t> priorities, std::int64_t highest) {
  constexpr std::size_t last_few = 4;
  const std::int32_t* first = priorities.data();
  std::size_t length = priorities.size();
  for (std::size_t tried = 0; tried < last_few && length > 0; ++tried, --length) {
    if (first[length - 1] > highest) return length;
  }
  while (length > 0) {
    const std::size_t half = (length + 1) / 2;
    first += first[half - 1] > highest ? half : 0;
    length -= half;
  }
  return static_cast<std::size_t>(first - priorities.data());
}

}  // namespace

NodeScan::NodeScan(PodFit& fit, const VictimRules& rules)
    : fit_(fit),
      survey_(fit.survey()),
      scratch_(fit.scratch()),
      requests_(fit.requests()),
      ask_priority_(fit.priority()),
      by_order_(rules.configuration().workload.honour_preemption_priority),
      by_priority_alone_(rules.by_priority_alone()) {}

std::int32_t NodeScan::priority_of(PodIndex pod) const {
  const Cluster& cluster = survey_.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  return by_order_ ? unit.preemption_priority : unit.scheduling_priority;
}

std::int64_t NodeScan::lowest_priority(NodeIndex node, std::int64_t limit) const {
  if (!by_order_ || scratch_.touched(node)) return walk(node, limit);
  const NodeOrder::View view = survey_.cluster().order().view(node);
  const std::int64_t* const allocatable = survey_.allocatable(node).data();
  // The pods that stay whatever happens: those above the limit, and those the ask cannot touch.
  std::size_t low = count_above(view.priorities, std::min(limit, ask_priority_ - 1));
  if (!fits_beside(allocatable, view.used_by_first(low))) return hopeless;
  // The most pods, from the most important down, beside which the ask fits.
  std::size_t high = view.priorities.size();
  if (fits_beside(allocatable, view.used_by_first(high))) return room;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fits_beside(allocatable, view.used_by_first(middle)) ? low : high) = middle;
  }
  return view.priorities[low];  // The most important one that cannot stay.
}

/// Pods leave from the lowest priority up until the ask fits.
std::int64_t NodeScan::walk(NodeIndex node, std::int64_t limit) const {
  if (has_room(node)) return room;
  const Cluster& cluster = survey_.cluster();
  const std::int64_t highest = std::min(limit, ask_priority_ - 1);
  pods_.clear();
  scratch_.for_each_pod(node, [&](PodIndex pod) {
    if (priority_of(pod) <= highest) pods_.emplace_back(priority_of(pod), pod);
  });
  std::ranges::sort(pods_);
  const std::span<const std::int64_t> before = scratch_.used(node);
  used_.assign(before.begin(), before.end());
  const std::int64_t* const allocatable = survey_.allocatable(node).data();
  for (const auto& [priority, pod] : pods_) {
    for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
      std::int64_t& amount = used_[item.resource.value];
      amount = saturated_sub(amount, item.amount);
    }
    if (fits_beside(allocatable, used_.data())) return priority;
  }
  return hopeless;
}

std::optional<Refused> NodeScan::refusal(NodeIndex node) const {
  const NodeOrder& order = survey_.cluster().order();
  const std::size_t staying = count_above(order.priorities(node), ask_priority_ - 1);
  return fit_.check_resources(node, order.used_by_first(node, staying));
}

}  // namespace makeway
