// QueueTable: the queues of a cluster and their numbers, resource by resource.
//
// Rows are by name. Pods belong to leaves (model/queue_membership.hpp); pods outside every queue
// have a row of their own behind the others. Divided are the resources that nodes have, except the
// number of pods, less what pods outside hold or are nominated to; they are columns here, by name,
// with numbers of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/checked_math.hpp"
#include "engine/holds.hpp"
#include "engine/victims.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/queue_membership.hpp"
#include "policies/queue/division.hpp"

namespace makeway {

struct QueueEntry {
  std::string_view name;
  const Queue* object = nullptr;
  QueueRow parent;  ///< None: it divides the cluster.
  std::vector<QueueRow> children;
  std::int64_t weight = 1;
  std::int32_t priority = 0;
  bool reclaimable = true;

  bool leaf() const { return children.empty(); }
};

/// One resource of one queue. Of queues with children only the division is filled in.
struct QueueNumbers {
  std::int64_t used = 0;
  std::int64_t leaving = 0;  ///< Of `used`, on its way out: for its queue it has left.
  std::int64_t stuck = 0;    ///< Of `leaving`, what no ask counts on any more (law 6).
  std::int64_t pending = 0;
  std::int64_t young = 0;  ///< Of `pending`, what no pod is evicted for yet.
  std::int64_t allocated_before = 0;
  std::int64_t promised_before = 0;  ///< `preempting` of the last cycle.
  std::int64_t deserved = 0;
  std::int64_t certain = 0;  ///< Of `deserved`, what others may be made to leave for.
  std::int64_t kept = 0;  ///< Allocated, without what it gave back or cannot be promised any more.
  std::int64_t conceded = 0;  ///< Used beyond that by pods that cannot leave; allocated at once.
  std::int64_t allocated = 0;
  std::int64_t preempting = 0;

  std::int64_t staying() const { return used - leaving; }
  /// What its pods hold until further notice.
  std::int64_t holding() const { return staying() + stuck; }
  /// What it lacks and others may be made to leave for.
  std::int64_t claim() const { return certain - allocated - preempting; }
  /// Of what it deserves, the part that it deserves only for young pods.
  std::int64_t deserved_young() const {
    return std::clamp<std::int64_t>(deserved - used - (pending - young), 0, young);
  }
  /// What may run once others have left: beyond its share a queue keeps only what its pods hold.
  std::int64_t lasting() const { return saturated_add(std::min(allocated, deserved), preempting); }
};

class QueueTable {
 public:
  QueueTable(Survey& survey, const Holds& holds, const Configuration& configuration,
             const VictimRules& rules);

  std::size_t size() const { return entries_.size(); }
  /// The row of pods outside every queue.
  QueueRow outside() const { return QueueRow::from(entries_.size()); }
  /// With that one.
  std::size_t rows() const { return entries_.size() + 1; }
  const QueueEntry& entry(QueueRow row) const { return entries_[row.value]; }
  std::span<const QueueRow> leaves() const { return leaves_; }

  std::size_t resources() const { return resources_.size(); }
  ResourceIndex resource(std::size_t column) const { return resources_[column]; }
  std::int64_t total(std::size_t column) const { return totals_[column]; }
  /// Of one queue; the largest number there is: none.
  std::int64_t limit(QueueRow row, std::size_t column) const;
  /// A unit of it is a whole device.
  bool in_devices(std::size_t column) const;
  /// The column of a resource; none: it is not divided.
  static constexpr std::size_t no_column = ~std::size_t{0};
  std::size_t column(ResourceIndex resource) const { return column_of_[resource.value]; }

  QueueNumbers& at(QueueRow row, std::size_t column) {
    return numbers_[row.value * resources_.size() + column];
  }
  const QueueNumbers& at(QueueRow row, std::size_t column) const {
    return numbers_[row.value * resources_.size() + column];
  }

  /// Of all rows, to begin again with.
  const std::vector<QueueNumbers>& numbers() const { return numbers_; }
  void restore(const std::vector<QueueNumbers>& numbers) { numbers_ = numbers; }

  const QueueMembership& membership() const { return membership_; }
  QueueRow row_of(UnitIndex unit) const {
    const QueueRow row = membership_.of(unit);
    return row.exists() ? row : outside();
  }
  QueueRow row_of(PodIndex pod) const { return row_of_pod_[pod]; }
  /// Bound to a node that does not count: it uses nothing of what is divided, and frees nothing.
  bool is_nowhere(PodIndex pod) const {
    const NodeIndex node = cluster_.pods().node[pod];
    return node.exists() && !membership_.counts(node);
  }

  /// After the stage: pods outside may use what they hold, and what no queue is promised.
  void open_to_outside();

 private:
  void list_queues();
  QueueRow find_row(std::string_view name) const;
  void list_resources();
  bool some_node_takes(Survey& survey, PodIndex pod) const;
  void count_pods(Survey& survey, const Holds& holds, const VictimRules& rules);
  /// What pods outside hold on a node, now and once leaving pods have left.
  struct OutsideHeld {
    std::vector<std::int64_t> now;
    std::vector<std::int64_t> after;
  };
  void hold_outside(const Holds& holds, PodIndex pod, OutsideHeld& held) const;
  void count_totals(const OutsideHeld& held);
  void read_status();
  void divide_all(const QueueSettings& settings);
  struct Bounds {
    std::int64_t floor = 0;
    std::int64_t cap = 0;
  };
  Bounds find_bounds(QueueRow row, std::size_t column, Division division,
                     std::vector<Bounds>& bounds) const;
  void divide_among(std::span<const QueueRow> siblings, std::size_t column, Share total,
                    const std::vector<Bounds>& bounds);

  const Cluster& cluster_;
  QueueMembership membership_;
  std::vector<QueueEntry> entries_;
  std::vector<QueueRow> leaves_;
  std::vector<QueueRow> roots_;
  std::vector<ResourceIndex> resources_;
  std::vector<std::size_t> column_of_;
  std::vector<std::int64_t> totals_;
  std::vector<std::int64_t> held_outside_;  ///< By column, whatever the nodes have.
  std::vector<QueueNumbers> numbers_;
  IndexedVector<PodIndex, QueueRow> row_of_pod_;
};

/// What an object says about a resource, or `missing`.
std::int64_t stated(const Amounts& amounts, std::string_view resource, std::int64_t missing);

}  // namespace makeway
