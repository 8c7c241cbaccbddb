#include "policies/queue/queue_table.hpp"

#include <algorithm>
#include <limits>

#include "base/checked_math.hpp"
#include "base/wide.hpp"
#include "policies/queue/division.hpp"

namespace makeway {

std::int64_t stated(const Amounts& amounts, std::string_view resource, std::int64_t missing) {
  const auto at = std::ranges::find(amounts, resource, &Amount::resource);
  return at == amounts.end() ? missing : at->amount;
}

QueueTable::QueueTable(const Cluster& cluster, const Configuration& configuration,
                       const VictimRules& rules)
    : cluster_(cluster) {
  list_queues(configuration);
  list_resources();
  numbers_.resize(entries_.size() * resources_.size());
  count_pods(rules);
  divide_all(configuration.queue.division);
  read_status();
  recall_gifts();
}

bool QueueTable::in_devices(std::size_t column) const {
  const ResourceIndex resource = resources_[column];
  return resource != resource_cpu && resource != resource_memory && resource != resource_storage;
}

std::int64_t QueueTable::limit(QueueRow row, std::size_t column) const {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const Queue* const queue = entries_[row.value].object;
  if (queue == nullptr) return unlimited;
  return stated(queue->limit, cluster_.resources().name(resources_[column]), unlimited);
}

/// Rows by name; the default queue has one if an object or a pod asks for it.
void QueueTable::list_queues(const Configuration& configuration) {
  const std::string& fallback = configuration.queue.default_queue;
  entries_.reserve(cluster_.own<Queue>().size() + 1);
  for (const auto& [key, queue] : cluster_.own<Queue>()) {
    entries_.push_back({.name = queue.name,
                        .object = &queue,
                        .weight = queue.weight,
                        .priority = queue.priority,
                        .reclaimable = queue.reclaimable});
  }
  link_queues(fallback);
  if (find_row(fallback).exists()) return;
  for (std::uint32_t slot = 0; slot < cluster_.pods().slots(); ++slot) {
    if (!is_pod(PodIndex{slot}) || row_of(PodIndex{slot}).exists()) continue;
    entries_.insert(std::ranges::lower_bound(entries_, fallback, {}, &QueueEntry::name),
                    {.name = fallback, .weight = configuration.queue.default_weight});
    return link_queues(fallback);
  }
}

QueueRow QueueTable::find_row(std::string_view name) const {
  const auto at = std::ranges::lower_bound(entries_, name, {}, &QueueEntry::name);
  if (at == entries_.end() || at->name != name) return {};
  return QueueRow{static_cast<std::uint32_t>(at - entries_.begin())};
}

/// Who is whose child, and where pods belong.
void QueueTable::link_queues(std::string_view fallback) {
  for (QueueEntry& entry : entries_) entry.children.clear();
  roots_.clear();
  leaves_.clear();
  QueueRow parent;  // Often the same as the one before.
  for (std::uint32_t at = 0; at < entries_.size(); ++at) {
    QueueEntry& entry = entries_[at];
    const std::string_view name =
        entry.object == nullptr ? std::string_view{} : entry.object->parent;
    if (!parent.exists() || entries_[parent.value].name != name) parent = find_row(name);
    entry.parent = parent;
    (parent.exists() ? entries_[parent.value].children : roots_).push_back(QueueRow{at});
  }
  row_of_queue_.assign(cluster_.strings().size(), find_row(fallback));
  for (std::uint32_t at = 0; at < entries_.size(); ++at) {
    if (!entries_[at].leaf()) continue;
    leaves_.push_back(QueueRow{at});
    const auto id = cluster_.strings().find(entries_[at].name);
    if (id) row_of_queue_[id->value] = QueueRow{at};
  }
}

void QueueTable::subtract_kernels(std::vector<std::int64_t>& sums) const {
  for (const auto& [key, kernels] : cluster_.kernel_rows()) {
    for (const KernelRows& kernel : kernels) {
      for (const PodIndex row : {kernel.row, kernel.memory}) {
        if (!row.exists() || !cluster_.pods().node[row].exists()) continue;
        for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[row])) {
          sums[item.resource.value] = saturated_sub(sums[item.resource.value], item.amount);
        }
      }
    }
  }
}

void QueueTable::list_resources() {
  const ResourceTable& table = cluster_.resources();
  std::vector<std::int64_t> sums(table.size());
  for (const NodeIndex node : cluster_.home_nodes()) {
    for (const ResourceAmount& item : cluster_.requests(cluster_.nodes().allocatable[node])) {
      sums[item.resource.value] = saturated_add(sums[item.resource.value], item.amount);
    }
  }
  subtract_kernels(sums);
  for (std::uint32_t at = 0; at < sums.size(); ++at) {
    if (sums[at] > 0 && ResourceIndex{at} != resource_pods) resources_.push_back(ResourceIndex{at});
  }
  std::ranges::sort(resources_, {}, [&](ResourceIndex resource) { return table.name(resource); });
  column_of_.assign(sums.size(), no_column);
  for (std::size_t column = 0; column < resources_.size(); ++column) {
    column_of_[resources_[column].value] = column;
    totals_.push_back(sums[resources_[column].value]);
  }
}

/// By resource, what the node has that has most of it.
std::vector<std::int64_t> QueueTable::largest_nodes() const {
  std::vector<std::int64_t> largest(cluster_.resources().size());
  for (const NodeIndex node : cluster_.home_nodes()) {
    for (const ResourceAmount& item : cluster_.requests(cluster_.nodes().allocatable[node])) {
      std::int64_t& most = largest[item.resource.value];
      most = std::max(most, item.amount);
    }
  }
  return largest;
}

/// Nobody is to leave for a pod that no node could hold.
bool QueueTable::can_ever_run(PodIndex pod, std::span<const std::int64_t> largest) const {
  const PodColumns& pods = cluster_.pods();
  return cluster_.shape(pods.shape[pod]).unsupported.empty() &&
         std::ranges::all_of(cluster_.requests(pods.requests[pod]),
                             [&](const ResourceAmount& item) {
                               return item.amount <= largest[item.resource.value];
                             });
}

void QueueTable::count_pods(const VictimRules& rules) {
  const PodColumns& pods = cluster_.pods();
  const std::vector<std::int64_t> largest = largest_nodes();
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    const bool bound = pods.node[pod].exists();
    if (!is_pod(pod) || (!bound && pods.deletion[pod] != no_time)) continue;
    if (bound ? is_nowhere(pod) : !can_ever_run(pod, largest)) continue;
    const QueueRow row = row_of(pod);
    const bool leaves = bound && rules.credited(pod);
    const bool young = !bound && rules.delayed_until(pods.created[pod]).has_value();
    for (const ResourceAmount& item : cluster_.requests(pods.requests[pod])) {
      const std::size_t column = column_of_[item.resource.value];
      if (column == no_column) continue;
      QueueNumbers& numbers = at(row, column);
      std::int64_t& sum = bound ? numbers.used : numbers.pending;
      sum = saturated_add(sum, item.amount);
      if (leaves) numbers.leaving = saturated_add(numbers.leaving, item.amount);
      if (young) numbers.young = saturated_add(numbers.young, item.amount);
    }
  }
}

void QueueTable::read_status() {
  for (const QueueRow row : leaves_) {
    const Queue* const queue = entries_[row.value].object;
    for (std::size_t column = 0; column < resources_.size(); ++column) {
      QueueNumbers& numbers = at(row, column);
      const std::string_view name = cluster_.resources().name(resources_[column]);
      numbers.allocated_before =
          queue == nullptr ? numbers.used : stated(queue->allocated, name, numbers.used);
      numbers.promised_before = queue == nullptr ? 0 : stated(queue->preempting, name, 0);
      numbers.allocated = numbers.allocated_before;
    }
  }
}

/// The default queue without an object has no status. What is leaving it beyond its share counts as
/// given, as far as that is missing for what others were promised or do not use yet.
void QueueTable::recall_gifts() {
  const auto home = std::ranges::find(entries_, nullptr, &QueueEntry::object);
  if (home == entries_.end()) return;
  const QueueRow row{static_cast<std::uint32_t>(home - entries_.begin())};
  for (std::size_t column = 0; column < resources_.size(); ++column) {
    Wide above = -Wide{totals_[column]};
    Wide promised = 0;
    bool any_unused = false;
    for (const QueueRow leaf : leaves_) {
      const QueueNumbers& numbers = at(leaf, column);
      const std::int64_t kept =
          std::min(numbers.allocated, std::max(numbers.used, numbers.deserved));
      const std::int64_t lacks = std::max<std::int64_t>(0, numbers.deserved - kept);
      above += kept;
      promised += std::min(numbers.promised_before, lacks);
      any_unused = any_unused || kept > numbers.used;
    }
    QueueNumbers& own = at(row, column);
    const std::int64_t most = std::min(own.leaving, own.used - own.deserved);
    const Wide given = std::min<Wide>(most, above + promised);
    if (given <= 0 || (promised == 0 && !any_unused)) continue;
    own.allocated -= static_cast<std::int64_t>(given);
    own.allocated_before = own.allocated;
  }
}

// ---- Division ---------------------------------------------------------------------------------

void QueueTable::divide_all(Division division) {
  std::vector<Bounds> bounds(entries_.size());
  for (std::size_t column = 0; column < resources_.size(); ++column) {
    for (const QueueRow root : roots_) find_bounds(root, column, division, bounds);
    divide_among(roots_, column, {.amount = totals_[column]}, bounds);
  }
}

/// Fills in the bounds of the queue and of everything below it.
QueueTable::Bounds QueueTable::find_bounds(QueueRow row, std::size_t column, Division division,
                                           std::vector<Bounds>& bounds) const {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const QueueEntry& entry = entries_[row.value];
  const std::string_view name = cluster_.resources().name(resources_[column]);
  const Queue* const queue = entry.object;
  const std::int64_t most = limit(row, column);
  std::int64_t floor = queue == nullptr ? 0 : stated(queue->guarantee, name, 0);
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

void QueueTable::divide_among(std::span<const QueueRow> siblings, std::size_t column,
                              DividedTotal total, const std::vector<Bounds>& bounds) {
  std::vector<Claimant> claimants;
  claimants.reserve(siblings.size());
  for (const QueueRow row : siblings) {
    const Bounds& own = bounds[row.value];
    // Nobody gets more than there is, and sums of unlimited caps stay small.
    const std::int64_t most = saturated_add(total.amount, total.rounding);
    claimants.push_back({.weight = entries_[row.value].weight,
                         .floor = own.floor,
                         .cap = std::max(own.floor, std::min(own.cap, most))});
  }
  std::vector<Share> shares(siblings.size());
  divide(total.amount, claimants, shares);
  if (total.rounding > 0) mark_rounded(total, claimants, shares);
  for (std::size_t at_sibling = 0; at_sibling < siblings.size(); ++at_sibling) {
    const QueueRow row = siblings[at_sibling];
    QueueNumbers& numbers = at(row, column);
    numbers.deserved = shares[at_sibling].amount;
    numbers.rounded = shares[at_sibling].rounded;
    if (entries_[row.value].leaf()) continue;
    // Of finer units the tolerance holds anyway.
    const bool matters = numbers.rounded && in_devices(column);
    divide_among(entries_[row.value].children, column,
                 {.amount = numbers.deserved, .rounding = matters ? total.rounding + 1 : 0},
                 bounds);
  }
}

/// A share of a rounded total is rounded, unless it would be the same of all that the exact total
/// may be.
void QueueTable::mark_rounded(DividedTotal total, std::span<const Claimant> claimants,
                              std::span<Share> shares) {
  std::vector<Share> other(shares.size());
  const std::int64_t least = std::max<std::int64_t>(0, total.amount - total.rounding);
  for (const std::int64_t amount : {least, saturated_add(total.amount, total.rounding)}) {
    divide(amount, claimants, other);
    for (std::size_t at_share = 0; at_share < shares.size(); ++at_share) {
      Share& share = shares[at_share];
      share.rounded = share.rounded || other[at_share] != share;
    }
  }
}

}  // namespace makeway
