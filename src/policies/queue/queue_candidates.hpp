// QueueCandidates: which pods may leave which queue, the least important first.
//
// A candidate is a pod, or a group of mode `all` with all its pods. Not leaving, not protected, not
// decided in this cycle. Of the pods that a disruption budget governs, as many as it allows are
// ordinary; the others come after all ordinary ones, or are no candidates where budgets are strict.
//
// Which pods leave one queue: its candidates in classes, and the set that is chosen.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/world.hpp"
#include "policies/queue/queue_table.hpp"

namespace makeway {

struct QueueCandidate {
  QueueRow queue;
  UnitIndex unit;
  PodIndex first;  ///< Its only pod, or the first by name.
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  std::int32_t priority = 0;
  bool violates_budget = false;
  bool has_started = false;
  Time started;  ///< Of a group: the earliest start.
};

class QueueCandidates {
 public:
  static constexpr std::int64_t every_priority = std::int64_t{1} << 40;

  /// Of the rows that are marked, and only pods of lower priority than `priority_below`.
  QueueCandidates(World& world, const QueueTable& table, std::span<const std::uint8_t> marked,
                  std::int64_t priority_below);

  /// The least important first; equals by name.
  std::span<const QueueCandidate> of(QueueRow row) const {
    return std::span(candidates_).subspan(ranges_[row.value].begin, ranges_[row.value].size);
  }
  /// Counts again what budgets allow in a queue, after other queues have lost pods.
  void charge_budgets(QueueRow row);
  /// Limits what the queue's candidates free of a resource to what they free now, even if budgets
  /// allow more: pods of other queues spend the budgets first.
  void limit_freeable(QueueRow row, std::size_t column);
  std::span<const PodIndex> pods_of(const QueueCandidate& candidate) const {
    return std::span(pods_).subspan(candidate.begin, candidate.size);
  }
  /// What all of a queue's candidates hold of a resource.
  std::int64_t freeable(QueueRow row, std::size_t column) const {
    return freeable_[row.value * table_.resources() + column];
  }
  void add_amounts(const QueueCandidate& candidate, std::span<std::int64_t> sums) const;
  /// Negative: `a` leaves before `b`; 0: they are of one class.
  int compare_importance(const QueueCandidate& a, const QueueCandidate& b) const;
  bool name_before(const QueueCandidate& a, const QueueCandidate& b) const;

 private:
  bool may_leave(PodIndex pod) const;
  void collect(std::span<const std::uint8_t> marked, std::int64_t priority_below);
  void add(QueueRow row, UnitIndex unit, std::span<const PodIndex> pods);
  void sum_up(QueueRow row);
  struct Range {
    std::size_t begin = 0;
    std::size_t size = 0;  ///< Without those that strict budgets keep; they stand behind.
    std::size_t all = 0;
  };
  void sort_by_queue();
  void sort(const Range& range);

  World& world_;
  const QueueTable& table_;
  std::vector<QueueCandidate> candidates_;  ///< Queue by queue.
  std::vector<PodIndex> pods_;
  std::vector<Range> ranges_;  ///< By row.
  std::vector<std::int64_t> freeable_;
  std::vector<std::int64_t> freeable_max_;  ///< The limit of each; empty: none is limited.
};

struct QueueLosers {
  std::vector<std::uint32_t> chosen;  ///< Among the queue's candidates, the least important first.
  std::string_view bound;             ///< That was reached; empty: none.
};

/// The candidates must be able to free the need.
QueueLosers choose_losers(World& world, const QueueTable& table, const QueueCandidates& candidates,
                          QueueRow row, std::span<const std::int64_t> need);

}  // namespace makeway
