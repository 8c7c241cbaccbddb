#include "policies/queue/queue_table.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/checked_math.hpp"
#include "base/wide.hpp"
#include "policies/queue/division.hpp"

namespace makeway {

std::int64_t stated(const Amounts& amounts, std::string_view resource, std::int64_t missing) {
  const auto at = std::ranges::find(amounts, resource, &Amount::resource);
  return at == amounts.end() ? missing : at->amount;
}

QueueTable::QueueTable(Survey& survey, const Holds& holds, const Configuration& configuration,
                       const VictimRules& rules)
    : cluster_(survey.cluster()), membership_(cluster_, configuration) {
  list_queues();
  list_resources();
  numbers_.resize(rows() * resources_.size());
  count_pods(survey, holds, rules);
  divide_all(configuration.queue);
  read_status();
}

bool QueueTable::in_devices(std::size_t column) const {
  const ResourceIndex resource = resources_[column];
  return resource != resource_cpu && resource != resource_memory && resource != resource_storage;
}

std::int64_t QueueTable::limit(QueueRow row, std::size_t column) const {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  return stated(entries_[row.value].object->limit, cluster_.resources().name(resources_[column]),
                unlimited);
}

/// Rows by name, and the children of each.
void QueueTable::list_queues() {
  entries_.reserve(cluster_.own<Queue>().size());
  for (const auto& [key, queue] : cluster_.own<Queue>()) {
    entries_.push_back({.name = queue.name,
                        .object = &queue,
                        .weight = queue.weight,
                        .priority = queue.priority,
                        .reclaimable = queue.reclaimable});
  }
  QueueRow parent;  // Often the same as the one before.
  for (std::uint32_t at = 0; at < entries_.size(); ++at) {
    const std::string_view name = entries_[at].object->parent;
    if (!parent.exists() || entries_[parent.value].name != name) parent = find_row(name);
    entries_[at].parent = parent;
    (parent.exists() ? entries_[parent.value].children : roots_).push_back(QueueRow{at});
  }
  for (std::uint32_t at = 0; at < entries_.size(); ++at) {
    if (entries_[at].leaf()) leaves_.push_back(QueueRow{at});
  }
}

QueueRow QueueTable::find_row(std::string_view name) const {
  const auto at = std::ranges::lower_bound(entries_, name, {}, &QueueEntry::name);
  if (at == entries_.end() || at->name != name) return {};
  return QueueRow{static_cast<std::uint32_t>(at - entries_.begin())};
}

void QueueTable::list_resources() {
  const ResourceTable& table = cluster_.resources();
  std::vector<std::uint8_t> there(table.size());
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (!membership_.counts(node)) continue;
    for (const ResourceAmount& item : cluster_.requests(cluster_.nodes().allocatable[node])) {
      if (item.amount > 0 && item.resource != resource_pods) there[item.resource.value] = 1;
    }
  }
  for (std::uint32_t at = 0; at < there.size(); ++at) {
    if (there[at] != 0) resources_.push_back(ResourceIndex{at});
  }
  std::ranges::sort(resources_, {}, [&](ResourceIndex resource) { return table.name(resource); });
  column_of_.assign(there.size(), no_column);
  for (std::size_t column = 0; column < resources_.size(); ++column) {
    column_of_[resources_[column].value] = column;
  }
}

/// No pod leaves for one that no node would take even if it were empty.
bool QueueTable::some_node_takes(Survey& survey, PodIndex pod) const {
  return std::ranges::any_of(cluster_.home_nodes(), [&](NodeIndex node) {
    return membership_.counts(node) && survey.could_take(pod, node);
  });
}

/// A bound pod holds its place, a nominated one will.
void QueueTable::hold_outside(const Holds& holds, PodIndex pod, OutsideHeld& held) const {
  const PodColumns& pods = cluster_.pods();
  const bool bound = pods.node[pod].exists();
  const bool leaving = Departures::leaving(cluster_, pod);
  const NodeIndex node = bound ? pods.node[pod] : pods.nominated[pod];
  if (!node.exists() || !membership_.counts(node) || (!bound && leaving)) return;
  if (!bound && !holds.may_come(pod)) return;
  if (held.now.empty()) {
    held.now.resize(cluster_.nodes().slots() * resources_.size());
    held.after.resize(held.now.size());
  }
  for (const ResourceAmount& item : request_of(cluster_, pod)) {
    const std::size_t column = column_of_[item.resource.value];
    if (column == no_column) continue;
    const std::size_t at = node.value * resources_.size() + column;
    if (bound) held.now[at] = saturated_add(held.now[at], item.amount);
    if (!leaving) held.after[at] = saturated_add(held.after[at], item.amount);
  }
}

void QueueTable::count_totals(const OutsideHeld& held) {
  totals_.assign(resources_.size(), 0);
  held_outside_.assign(resources_.size(), 0);
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (!membership_.counts(node)) continue;
    for (const ResourceAmount& item : cluster_.requests(cluster_.nodes().allocatable[node])) {
      const std::size_t column = column_of_[item.resource.value];
      if (column == no_column) continue;
      const std::size_t at = node.value * resources_.size() + column;
      const std::int64_t outside = held.now.empty() ? 0 : std::max(held.now[at], held.after[at]);
      const std::int64_t left = std::max<std::int64_t>(0, saturated_sub(item.amount, outside));
      totals_[column] = saturated_add(totals_[column], left);
    }
  }
  for (std::size_t at = 0; at < held.now.size(); ++at) {
    std::int64_t& sum = held_outside_[at % resources_.size()];
    sum = saturated_add(sum, std::max(held.now[at], held.after[at]));
  }
}

void QueueTable::count_pods(Survey& survey, const Holds& holds, const VictimRules& rules) {
  const PodColumns& pods = cluster_.pods();
  row_of_pod_ = IndexedVector<PodIndex, QueueRow>(pods.slots(), outside());
  using Kind = std::tuple<ShapeId, RequestId, NotesId>;
  std::map<Kind, bool> taken;  // Whether some node takes pods of that kind.
  OutsideHeld held;
  for (const PodIndex pod : cluster_.each_row()) {
    const QueueRow member_of = membership_.of(pod);
    const QueueRow row = member_of.exists() ? member_of : outside();
    row_of_pod_[pod] = row;
    if (row == outside()) hold_outside(holds, pod, held);
    const bool bound = pods.node[pod].exists();
    const bool leaving = rules.departures().leaving(pod);
    if (bound ? is_nowhere(pod) : leaving || row == outside()) continue;
    if (!bound) {
      const Kind kind{pods.shape[pod], pods.requests[pod], pods.notes[pod]};
      const auto [at, is_new] = taken.try_emplace(kind, false);
      if (is_new) at->second = some_node_takes(survey, pod);
      if (!at->second) continue;
    }
    const bool young = !bound && rules.delayed_until(pods.created[pod]).has_value();
    for (const ResourceAmount& item : request_of(cluster_, pod)) {
      const std::size_t column = column_of_[item.resource.value];
      if (column == no_column) continue;
      QueueNumbers& numbers = at(row, column);
      std::int64_t& sum = bound ? numbers.used : numbers.pending;
      sum = saturated_add(sum, item.amount);
      if (leaving) numbers.leaving = saturated_add(numbers.leaving, item.amount);
      if (rules.departures().stuck(pod)) {
        numbers.stuck = saturated_add(numbers.stuck, item.amount);
      }
      if (young) numbers.young = saturated_add(numbers.young, item.amount);
    }
  }
  count_totals(held);
}

void QueueTable::read_status() {
  for (const QueueRow row : leaves_) {
    const Queue& queue = *entries_[row.value].object;
    for (std::size_t column = 0; column < resources_.size(); ++column) {
      QueueNumbers& numbers = at(row, column);
      const std::string_view name = cluster_.resources().name(resources_[column]);
      numbers.allocated_before = stated(queue.allocated, name, numbers.used);
      numbers.promised_before = stated(queue.preempting, name, 0);
      numbers.allocated = numbers.allocated_before;
    }
  }
}

void QueueTable::open_to_outside() {
  for (std::size_t column = 0; column < resources_.size(); ++column) {
    Wide held = 0;
    Wide promised = 0;
    for (const QueueRow leaf : leaves_) {
      const QueueNumbers& numbers = at(leaf, column);
      held += std::max(numbers.allocated, numbers.used);
      promised += Wide{numbers.allocated} + numbers.preempting;
    }
    const auto left = [&](Wide amount) {
      return static_cast<std::int64_t>(std::max<Wide>(0, totals_[column] - amount));
    };
    QueueNumbers& numbers = at(outside(), column);
    const std::int64_t now = left(std::max(held, promised));
    numbers.allocated = numbers.deserved = saturated_add(held_outside_[column], now);
    numbers.preempting = left(promised) - now;
  }
}

// ---- Division ---------------------------------------------------------------------------------

void QueueTable::divide_all(const QueueSettings& settings) {
  std::vector<Bounds> bounds(entries_.size());
  for (std::size_t column = 0; column < resources_.size(); ++column) {
    for (const QueueRow root : roots_) find_bounds(root, column, settings.division, bounds);
    const std::int64_t total = totals_[column];
    divide_among(roots_, column, {.amount = total, .certain = total}, bounds);
    if (settings.evict_up_to == EvictUpTo::exact_share) continue;
    for (const QueueRow leaf : leaves_) at(leaf, column).certain = at(leaf, column).deserved;
  }
}

/// Fills in the bounds of the queue and of everything below it.
QueueTable::Bounds QueueTable::find_bounds(QueueRow row, std::size_t column, Division division,
                                           std::vector<Bounds>& bounds) const {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const QueueEntry& entry = entries_[row.value];
  const std::string_view name = cluster_.resources().name(resources_[column]);
  const std::int64_t most = limit(row, column);
  std::int64_t floor = stated(entry.object->guarantee, name, 0);
  std::int64_t cap = unlimited;
  if (!entry.leaf()) {
    Bounds sum;
    for (const QueueRow child : entry.children) {
      const Bounds below = find_bounds(child, column, division, bounds);
      sum.floor = saturated_add(sum.floor, below.floor);
      sum.cap = saturated_add(sum.cap, below.cap);
    }
    floor = std::max(floor, sum.floor);
    cap = sum.cap;
  } else if (division == Division::max_min) {
    const QueueNumbers& numbers = at(row, column);
    cap = saturated_add(numbers.used, numbers.pending);
  }
  floor = std::min(floor, most);
  cap = std::max(floor, std::min(cap, most));
  return bounds[row.value] = {.floor = floor, .cap = cap};
}

/// Children divide their parent's share; what is certain of theirs is a part of what is certain of
/// it.
void QueueTable::divide_among(std::span<const QueueRow> siblings, std::size_t column, Share total,
                              const std::vector<Bounds>& bounds) {
  std::vector<Claimant> claimants;
  claimants.reserve(siblings.size());
  for (const QueueRow row : siblings) {
    const Bounds& own = bounds[row.value];
    // No queue gets more than there is, and sums of unlimited caps stay small.
    claimants.push_back({.weight = entries_[row.value].weight,
                         .floor = own.floor,
                         .cap = std::max(own.floor, std::min(own.cap, total.amount))});
  }
  std::vector<Share> shares(siblings.size());
  divide(total.amount, claimants, shares);
  std::vector<Share> certain = shares;
  if (total.certain != total.amount) divide(total.certain, claimants, certain);
  for (std::size_t at_sibling = 0; at_sibling < siblings.size(); ++at_sibling) {
    const QueueRow row = siblings[at_sibling];
    QueueNumbers& numbers = at(row, column);
    numbers.deserved = shares[at_sibling].amount;
    numbers.certain = certain[at_sibling].certain;
    if (entries_[row.value].leaf()) continue;
    divide_among(entries_[row.value].children, column,
                 {.amount = numbers.deserved, .certain = numbers.certain}, bounds);
  }
}

}  // namespace makeway
