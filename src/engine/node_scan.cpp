#include "engine/node_scan.hpp"

#include <algorithm>

namespace makeway {
namespace {

/// How many of the descending priorities are above. With a good limit only the last few are not, so
/// these come first; the rest is a binary search without branches, which are unpredictable.
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
      by_priority_alone_(rules.by_priority_alone()),
      rules_(rules) {}

std::int64_t NodeScan::lowest_priority(NodeIndex node, std::int64_t limit) const {
  const NodeOrder::View view = view_of(node);
  const std::int64_t* const allocatable = survey_.allocatable(node).data();
  // The pods that stay whatever happens: those above the limit, and those the ask cannot touch.
  std::size_t low = count_above(view.priorities, std::min(limit, ask_priority_ - 1));
  if (!fits_beside(allocatable, view.used_by_first(low))) return infeasible;
  // The most pods, from the most important down, beside which the ask fits.
  std::size_t high = view.priorities.size();
  if (fits_beside(allocatable, view.used_by_first(high))) return room;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fits_beside(allocatable, view.used_by_first(middle)) ? low : high) = middle;
  }
  return view.priorities[low];  // The most important one that cannot stay.
}

NodeOrder::View NodeScan::view_of(NodeIndex node) const {
  NodeOrder::View view = survey_.cluster().order().view(node);
  const bool touched = scratch_.touched(node);
  if (by_order_ && !touched) return view;
  Scratch::Order& order = touched ? scratch_.order_of_touched(node) : order_;
  if (!touched || !order.valid) order_pods(node, order);
  view.priorities = order.priorities;
  view.sums = order.sums.data();
  return view;
}

void NodeScan::order_pods(NodeIndex node, Scratch::Order& order) const {
  const Cluster& cluster = survey_.cluster();
  const std::size_t columns = cluster.order().columns();
  pods_.clear();
  scratch_.for_each_pod(node,
                        [&](PodIndex pod) { pods_.emplace_back(rules_.priority_of(pod), pod); });
  std::ranges::sort(pods_, std::ranges::greater{});
  order.priorities.clear();
  order.sums.assign(pods_.size() * columns, 0);
  for (std::size_t at = 0; at < pods_.size(); ++at) {
    std::int64_t* const row = order.sums.data() + at * columns;
    if (at > 0) std::copy_n(row - columns, columns, row);
    order.priorities.push_back(pods_[at].first);
    add_request({row, columns}, request_of(cluster, pods_[at].second));
  }
  order.valid = true;
}

std::optional<Refused> NodeScan::refusal(NodeIndex node) const {
  const NodeOrder& order = survey_.cluster().order();
  const std::size_t staying = count_above(order.priorities(node), ask_priority_ - 1);
  return fit_.check_resources(node, order.used_by_first(node, staying));
}

}  // namespace makeway
