// QueueCaps: how much more the leaves below each limit may get, for one resource.
//
// The cluster's total is a limit above all queues, and a queue with children may have one of its
// own. What is allocated below a limit never grows beyond it; it may be beyond already, after a
// limit was lowered or nodes went away. A move between two leaves below a limit leaves it as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/wide.hpp"
#include "policies/queue/queue_table.hpp"

namespace makeway {

class QueueCaps {
 public:
  using Cap = std::uint32_t;
  static constexpr Cap whole_cluster = 0;
  static constexpr Cap none = ~Cap{0};

  QueueCaps(const QueueTable& table, std::size_t column);

  /// Copies the current numbers of the table.
  void count_allocated();
  void count_held();

  /// The innermost limit above the leaf; from there outwards with `above`.
  Cap cap_of(QueueRow leaf) const { return cap_of_[leaf.value]; }
  Cap above(Cap cap) const { return entries_[cap].above; }
  bool contains(Cap cap, QueueRow leaf) const;
  /// Inner limits before outer ones.
  std::vector<Cap> inner_first() const;

  /// Negative: so much is allocated beyond the limit.
  Wide slack(Cap cap) const { return entries_[cap].slack; }
  /// What the leaf may get of room that is there or comes.
  std::int64_t room(QueueRow leaf) const;
  /// The same of room that is there.
  std::int64_t room_now(QueueRow leaf) const;
  /// The same of what another leaf gives.
  std::int64_t room_from(QueueRow leaf, QueueRow giver) const;

  /// The leaf gets more, or less where the amount is negative.
  void add(QueueRow leaf, std::int64_t amount);
  void add_now(QueueRow leaf, std::int64_t amount);

 private:
  struct Entry {
    Cap above = none;
    std::uint32_t depth = 0;
    std::int64_t limit = 0;
    Wide slack = 0;  ///< Below the limit, beside what is allocated or taken.
    Wide now = 0;    ///< The same beside what is allocated or used.
  };
  void find_cap(QueueRow row);

  const QueueTable& table_;
  std::size_t column_;
  std::vector<Entry> entries_;
  std::vector<Cap> cap_of_;  ///< By row: the innermost limit, its own included if it has children.
};

}  // namespace makeway
