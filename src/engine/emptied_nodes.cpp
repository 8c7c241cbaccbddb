#include "engine/emptied_nodes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

bool orders_agree(const Cluster& cluster, const Configuration& configuration) {
  if (configuration.workload.honour_preemption_priority) return true;
  return std::ranges::all_of(cluster.units(), [](const Unit& unit) {
    return unit.preemption_priority == unit.scheduling_priority;
  });
}

}  // namespace

EmptiedNodes::EmptiedNodes(Survey& survey, Scratch& world, VictimRules& rules, Budgets& budgets,
                           const Scope& scope)
    : cluster_(survey.cluster()),
      world_(world),
      rules_(rules),
      budgets_(budgets),
      nodes_(scope.nodes),
      ask_priority_(scope.ask_priority),
      highest_(scope.ask_priority),
      columns_(cluster_.order().columns()),
      by_order_(orders_agree(cluster_, rules.configuration())),
      violations_(cluster_.pods().slots()),
      kept_(cluster_.pods().slots()),
      whole_leaves_(cluster_.units().size()),
      own_of_(cluster_.nodes().slots()),
      emptied_(cluster_.nodes().slots()),
      expected_at_(cluster_.nodes().slots()) {
  if (budgets.any()) mark_budgets(scope);
  keep({});
}

/// Only pods under a budget are looked at.
void EmptiedNodes::mark_budgets(const Scope& scope) {
  VictimList list;
  const auto governed = [&](PodIndex pod) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    const bool whole = unit.kind == UnitKind::group && unit.mode == DisruptionMode::all;
    return whole || budgets_.governed(pod);
  };
  rules_.collect_some(world_, nodes_, ask_priority_, governed, list);
  std::ranges::sort(list.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return rules_.more_important(a, b);
  });
  mark_violations(budgets_, list, scope.charge_order);
  if (rules_.configuration().budgets.mode == BudgetMode::strict) {
    const VictimList before = list;
    keep_within_budgets(budgets_, list);
    std::vector<PodIndex> firsts;
    firsts.reserve(list.units.size());
    for (const VictimUnit& unit : list.units) firsts.push_back(unit.first);
    std::ranges::sort(firsts);
    for (const VictimUnit& unit : before.units) {
      if (std::ranges::binary_search(firsts, unit.first)) continue;
      const auto pods = before.pods_of(unit);
      kept_by_budgets_.insert(kept_by_budgets_.end(), pods.begin(), pods.end());
    }
  }
  std::vector<std::uint8_t> violates;
  violates.reserve(list.units.size());
  for (const VictimUnit& unit : list.units) {
    violates.push_back(unit.violations > 0 ? 1 : 0);
    violations_.writable(unit.first) = unit.violations;
  }
  std::vector<VictimUnit> others;
  violating_ = split_victims(list, violates, others);
}

// ---- Leaving -----------------------------------------------------------------------------------

void EmptiedNodes::keep(std::span<const PodIndex> pods) {
  const bool as_before =
      !own_.empty() && kept_pods_.size() == kept_by_budgets_.size() + pods.size() &&
      std::ranges::equal(std::span(kept_pods_).subspan(kept_by_budgets_.size()), pods);
  if (as_before) return;
  std::vector<PodIndex> all = kept_by_budgets_;
  all.insert(all.end(), pods.begin(), pods.end());
  keep_only(std::move(all));
}

void EmptiedNodes::keep_none() {
  if (kept_by_budgets_.empty()) return keep({});
  if (!kept_pods_.empty()) keep_only({});
}

void EmptiedNodes::keep_only(std::vector<PodIndex> pods) {
  for (const PodIndex pod : kept_pods_) kept_.writable(pod) = 0;
  kept_pods_ = std::move(pods);
  for (const PodIndex pod : kept_pods_) kept_.writable(pod) = 1;
  make_own_sums();
}

bool EmptiedNodes::leaves(PodIndex pod) const {
  if (rules_.priority_of(pod) >= ask_priority_ || kept_[pod] != 0) return false;
  if (rules_.leaving(pod)) return false;
  const UnitIndex index = cluster_.pods().unit[pod];
  const Unit& unit = cluster_.units()[index];
  const bool whole = unit.kind == UnitKind::group && unit.mode == DisruptionMode::all;
  return whole ? whole_group_leaves(index) : rules_.may_leave(world_, pod);
}

bool EmptiedNodes::whole_group_leaves(UnitIndex unit) const {
  std::uint8_t& known = whole_leaves_.writable(unit);
  if (known == 0) {
    const std::vector<PodIndex>& members = cluster_.groups()[cluster_.units()[unit].group].members;
    const bool held = std::ranges::any_of(members, [&](PodIndex member) {
      return world_.node_of(member).exists() && !rules_.leaving(member) &&
             !rules_.may_leave(world_, member);
    });
    known = held ? 1 : 2;
  }
  return known == 2;
}

std::int64_t EmptiedNodes::potential_victims() const {
  auto count = static_cast<std::int64_t>(priorities_.size());
  for (const NodeIndex node : nodes_) {
    if (own_of_[node] != plain) continue;
    const std::size_t all = cluster_.order().priorities(node).size();
    count += static_cast<std::int64_t>(all - cluster_.order().count_at_least(node, ask_priority_));
  }
  return count;
}

/// The lowest and the highest priority of a pod that may leave.
std::pair<std::int32_t, std::int32_t> EmptiedNodes::priorities() const {
  std::int32_t lowest = ask_priority_;
  std::int32_t highest = std::numeric_limits<std::int32_t>::min();
  for (const std::int32_t priority : priorities_) {
    lowest = std::min(lowest, priority);
    highest = std::max(highest, priority);
  }
  for (const NodeIndex node : nodes_) {
    if (own_of_[node] != plain) continue;
    const std::span<const std::int32_t> held = cluster_.order().priorities(node);
    const std::size_t staying = cluster_.order().count_at_least(node, ask_priority_);
    if (staying == held.size()) continue;
    lowest = std::min(lowest, held.back());
    highest = std::max(highest, held[staying]);
  }
  return {lowest, highest};
}

std::vector<std::int32_t> EmptiedNodes::distinct_priorities() const {
  std::vector<std::int32_t> all = priorities_;
  for (const NodeIndex node : nodes_) {
    if (own_of_[node] != plain) continue;
    const std::span<const std::int32_t> held = cluster_.order().priorities(node);
    const auto leavers = held.subspan(cluster_.order().count_at_least(node, ask_priority_));
    all.insert(all.end(), leavers.begin(), leavers.end());
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

// ---- What is left -------------------------------------------------------------------------------

/// Whether the cluster's sums say what stays on the node, whatever the highest priority.
bool EmptiedNodes::is_plain(NodeIndex node) const {
  return by_order_ && rules_.by_priority_alone() && !world_.touched(node) &&
         cluster_.order().lowest_guarded(node) >= ask_priority_;
}

void EmptiedNodes::make_own_sums() {
  for (const NodeIndex node : nodes_) {
    if (own_of_[node] != plain) own_of_.writable(node) = plain;
  }
  all_leave_ = true;
  own_.assign(1, {});
  priorities_.clear();
  rows_.clear();
  std::vector<NodeIndex> with_kept;
  with_kept.reserve(kept_pods_.size());
  for (const PodIndex pod : kept_pods_) with_kept.push_back(cluster_.pods().node[pod]);
  std::ranges::sort(with_kept);
  for (const NodeIndex node : nodes_) {
    if (!is_plain(node) || std::ranges::binary_search(with_kept, node)) make_own_sums(node);
  }
}

void EmptiedNodes::make_own_sums(NodeIndex node) {
  std::vector<std::pair<std::int32_t, PodIndex>> leavers;
  world_.for_each_pod(node, [&](PodIndex pod) {
    const std::int32_t priority = rules_.priority_of(pod);
    if (leaves(pod)) {
      leavers.emplace_back(priority, pod);
    } else if (priority < ask_priority_) {
      all_leave_ = false;
    }
  });
  const auto more_important = [](const auto& a, const auto& b) { return a.first > b.first; };
  if (!std::ranges::is_sorted(leavers, more_important)) {
    std::ranges::stable_sort(leavers, more_important);
  }
  own_of_.writable(node) = static_cast<std::uint32_t>(own_.size());
  const auto begin = static_cast<std::uint32_t>(priorities_.size());
  own_.push_back({.begin = begin, .end = begin + static_cast<std::uint32_t>(leavers.size())});
  // Rows of this node come after those of the nodes before, each of which has one more than pods.
  const std::size_t first = rows_.size();
  rows_.resize(first + (leavers.size() + 1) * columns_);
  std::int64_t* row = rows_.data() + first + leavers.size() * columns_;
  std::ranges::copy(world_.used(node), row);
  for (std::size_t at = leavers.size(); at-- > 0; row -= columns_) {
    std::copy_n(row, columns_, row - columns_);
    for (const ResourceAmount& item : request_of(cluster_, leavers[at].second)) {
      std::int64_t& used = (row - columns_)[item.resource.value];
      used = saturated_sub(used, item.amount);
    }
  }
  for (const auto& [priority, pod] : leavers) priorities_.push_back(priority);
}

void EmptiedNodes::start(std::int32_t highest) {
  highest_ = highest;
  for (const NodeIndex node : emptied_nodes_) emptied_.writable(node) = 0;
  emptied_nodes_.clear();
  for (const auto& [pod, node] : expected_pods_) expected_at_.writable(node) = 0;
  expected_pods_.clear();
  expected_.clear();
  gone_.clear();
}

/// Pods at or above it stay.
std::int32_t EmptiedNodes::limit_below(std::int32_t highest) const {
  return highest >= ask_priority_ ? ask_priority_ : highest + 1;
}

std::span<const std::int64_t> EmptiedNodes::used(NodeIndex node, std::int32_t highest) const {
  if (is_empty(node)) return world_.used(node);
  const std::int32_t limit = limit_below(highest);
  const std::uint32_t own_at = own_of_[node];
  if (own_at == plain) {
    const NodeOrder& order = cluster_.order();
    return order.used_by_first(node, order.count_at_least(node, limit));
  }
  const Own& own = own_[own_at];
  const auto held = std::span(priorities_).subspan(own.begin, own.end - own.begin);
  const auto stays =
      std::ranges::partition_point(held, [&](std::int32_t priority) { return priority >= limit; });
  // One row more than pods for each node before.
  const std::size_t row = own.begin + (own_at - 1) + static_cast<std::size_t>(stays - held.begin());
  return std::span(rows_).subspan(row * columns_, columns_);
}

std::size_t EmptiedNodes::count_room(PodFit& fit, std::int32_t highest, std::size_t enough) const {
  std::size_t count = 0;
  for (const NodeIndex node : nodes_) {
    if (count >= enough) break;
    if (fit.refused_by_node(node)) continue;
    const std::int64_t fitting =
        fit.count_beside(node, used(node, highest), static_cast<std::int64_t>(enough));
    count += static_cast<std::size_t>(fitting);
  }
  return std::min(count, enough);
}

std::int32_t EmptiedNodes::lowest_with_room(PodFit& fit, std::size_t wanted) const {
  auto [low, high] = priorities();
  while (low < high) {
    const std::int32_t middle = std::midpoint(low, high);
    if (count_room(fit, middle, wanted) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return high;
}

// ---- The world ----------------------------------------------------------------------------------

void EmptiedNodes::empty(NodeIndex node) {
  if (is_empty(node)) return;
  remove_units(node, [this](PodIndex pod) { return kept_[pod] == 0; });
  if (expected_at_[node] != 0) {
    for (const auto& [pod, there] : expected_pods_) {
      if (there == node) world_.place(pod, node);
    }
    expected_at_.writable(node) = 0;
  }
  emptied_.writable(node) = 1;
  emptied_nodes_.push_back(node);
}

void EmptiedNodes::expect(PodIndex pod, NodeIndex node) {
  std::uint32_t& at = expected_at_.writable(node);
  if (at == 0) {
    const std::span<const std::int64_t> before = used(node, highest_);
    at = static_cast<std::uint32_t>(expected_.size()) + 1;
    expected_.insert(expected_.end(), before.begin(), before.end());
  }
  expected_pods_.emplace_back(pod, node);
  for (const ResourceAmount& item : request_of(cluster_, pod)) {
    std::int64_t& used = expected_[at - 1 + item.resource.value];
    used = saturated_add(used, item.amount);
  }
}

void EmptiedNodes::remove_unit_of(PodIndex pod) {
  remove_units(world_.node_of(pod), [&](PodIndex other) { return other == pod; });
}

template <class Wanted>
void EmptiedNodes::remove_units(NodeIndex node, const Wanted& wanted) {
  const std::size_t first = gone_.units.size();
  list_units(node, wanted, gone_);
  for (std::size_t at = first; at < gone_.units.size(); ++at) {
    world_.remove(gone_.pods_of(gone_.units[at]));
  }
}

void EmptiedNodes::list_units(NodeIndex node, VictimList& list) {
  list_units(node, [this](PodIndex pod) { return kept_[pod] == 0; }, list);
}

template <class Wanted>
void EmptiedNodes::list_units(NodeIndex node, const Wanted& wanted, VictimList& list) {
  const std::size_t first = list.units.size();
  rules_.collect_some(world_, std::span(&node, 1), limit_below(highest_), wanted, list);
  for (std::size_t at = first; at < list.units.size(); ++at) {
    list.units[at].violations = violations_[list.units[at].first];
  }
}

void EmptiedNodes::empty_all() {
  for (const NodeIndex node : nodes_) empty(node);
}

}  // namespace makeway
