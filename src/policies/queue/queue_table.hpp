// QueueTable: the queues of a cluster and their numbers, resource by resource.
//
// Rows are by name. Pods belong to leaves; a pod that names no queue, or none that is a leaf, to
// the default queue, which has a row once somebody belongs to it. Divided are the resources that
// nodes have and sessions do not hold, except the number of pods; they are columns here, by name,
// with numbers of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/checked_math.hpp"
#include "engine/victims.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "policies/queue/division.hpp"

namespace makeway {

struct QueueTag;
using QueueRow = Index<QueueTag>;

struct QueueEntry {
  std::string_view name;
  const Queue* object = nullptr;  ///< Null: the default queue without an object.
  QueueRow parent;                ///< None: it divides the cluster.
  std::vector<QueueRow> children;
  std::int64_t weight = 1;
  std::int32_t priority = 0;
  bool reclaimable = true;

  bool leaf() const { return children.empty(); }
};

/// One resource of one queue. Of queues with children only the division is filled in.
struct QueueNumbers {
  std::int64_t used = 0;
  std::int64_t leaving = 0;  ///< Of `used`, on its way out and credited.
  std::int64_t pending = 0;
  std::int64_t young = 0;  ///< Of `pending`, what nobody is made to leave for yet.
  std::int64_t allocated_before = 0;
  std::int64_t promised_before = 0;  ///< `preempting` of the last cycle.
  std::int64_t deserved = 0;
  bool rounded = false;   ///< What it deserves exactly lies between two units.
  std::int64_t kept = 0;  ///< Allocated, without what it gave back or nobody can promise any more.
  std::int64_t conceded = 0;  ///< Used beyond that by pods that cannot leave; allocated at once.
  std::int64_t allocated = 0;
  std::int64_t preempting = 0;

  std::int64_t staying() const { return used - leaving; }
  /// Of what it deserves, the part that it deserves only for young pods.
  std::int64_t deserved_young() const {
    return std::clamp<std::int64_t>(deserved - used - (pending - young), 0, young);
  }
  /// What may run once others have left: beyond its share a queue keeps only what its pods hold.
  std::int64_t lasting() const { return saturated_add(std::min(allocated, deserved), preempting); }
};

class QueueTable {
 public:
  QueueTable(const Cluster& cluster, const Configuration& configuration, const VictimRules& rules);

  std::size_t size() const { return entries_.size(); }
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

  QueueRow row_of(UnitIndex unit) const {
    return row_of_queue_[cluster_.units()[unit].queue.value];
  }
  QueueRow row_of(PodIndex pod) const { return row_of(cluster_.pods().unit[pod]); }
  /// Bound to a node that is not there: it uses nothing of what is divided, and frees nothing.
  bool is_nowhere(PodIndex pod) const {
    const NodeIndex node = cluster_.pods().node[pod];
    return node.exists() && !cluster_.nodes().flags[node].exists;
  }

 private:
  bool is_pod(PodIndex pod) const {
    const PodFlags flags = cluster_.pods().flags[pod];
    return flags.exists && !flags.kernel;
  }
  void list_queues(const Configuration& configuration);
  void link_queues(std::string_view fallback);
  QueueRow find_row(std::string_view name) const;
  void list_resources();
  /// What sessions hold is not the queues' to divide.
  void subtract_kernels(std::vector<std::int64_t>& sums) const;
  std::vector<std::int64_t> largest_nodes() const;
  bool can_ever_run(PodIndex pod, std::span<const std::int64_t> largest) const;
  void count_pods(const VictimRules& rules);
  void read_status();
  void recall_gifts();
  void divide_all(Division division);
  struct Bounds {
    std::int64_t floor = 0;
    std::int64_t cap = 0;
  };
  Bounds find_bounds(QueueRow row, std::size_t column, Division division,
                     std::vector<Bounds>& bounds) const;
  struct DividedTotal {
    std::int64_t amount = 0;
    std::int64_t rounding = 0;  ///< The exact one differs by less than this; 0: it is exact.
  };
  void divide_among(std::span<const QueueRow> siblings, std::size_t column, DividedTotal total,
                    const std::vector<Bounds>& bounds);
  static void mark_rounded(DividedTotal total, std::span<const Claimant> claimants,
                           std::span<Share> shares);

  const Cluster& cluster_;
  std::vector<QueueEntry> entries_;
  std::vector<QueueRow> leaves_;
  std::vector<QueueRow> roots_;
  std::vector<ResourceIndex> resources_;
  std::vector<std::size_t> column_of_;
  std::vector<std::int64_t> totals_;
  std::vector<QueueNumbers> numbers_;
  std::vector<QueueRow> row_of_queue_;  ///< By the id of the queue's name.
};

/// What an object says about a resource, or `missing`.
std::int64_t stated(const Amounts& amounts, std::string_view resource, std::int64_t missing);

}  // namespace makeway
