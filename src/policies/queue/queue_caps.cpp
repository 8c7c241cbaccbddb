#include "policies/queue/queue_caps.hpp"

#include <algorithm>
#include <limits>

namespace makeway {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t at_least_zero(Wide amount) {
  return static_cast<std::int64_t>(std::clamp<Wide>(amount, 0, unlimited));
}

}  // namespace

QueueCaps::QueueCaps(const QueueTable& table, std::size_t column)
    : table_(table), column_(column), cap_of_(table.size(), none) {
  entries_.push_back({.limit = table.total(column)});
  for (const QueueRow leaf : table.leaves()) find_cap(leaf);
}

/// Up to the first queue whose limit is known, then down again.
void QueueCaps::find_cap(QueueRow row) {
  std::vector<QueueRow> path;
  for (; row.exists() && cap_of_[row.value] == none; row = table_.entry(row).parent) {
    path.push_back(row);
  }
  Cap cap = row.exists() ? cap_of_[row.value] : whole_cluster;
  for (; !path.empty(); path.pop_back()) {
    const std::int64_t limit = table_.limit(path.back(), column_);
    if (!table_.entry(path.back()).leaf() && limit != unlimited) {
      entries_.push_back({.above = cap, .depth = entries_[cap].depth + 1, .limit = limit});
      cap = static_cast<Cap>(entries_.size() - 1);
    }
    cap_of_[path.back().value] = cap;
  }
}

void QueueCaps::count_allocated() {
  for (Entry& entry : entries_) entry.slack = entry.limit;
  for (const QueueRow leaf : table_.leaves()) add(leaf, table_.at(leaf, column_).allocated);
}

void QueueCaps::count_held() {
  for (Entry& entry : entries_) entry.now = entry.limit;
  for (const QueueRow leaf : table_.leaves()) {
    const QueueNumbers& numbers = table_.at(leaf, column_);
    add_now(leaf, std::max(numbers.allocated, numbers.used));
  }
}

bool QueueCaps::contains(Cap cap, QueueRow leaf) const {
  Cap at = cap_of(leaf);
  while (at != none && entries_[at].depth > entries_[cap].depth) at = above(at);
  return at == cap;
}

std::vector<QueueCaps::Cap> QueueCaps::inner_first() const {
  std::vector<Cap> caps;
  caps.reserve(entries_.size());
  for (Cap cap = 0; cap < entries_.size(); ++cap) caps.push_back(cap);
  std::ranges::stable_sort(caps, std::ranges::greater{},
                           [this](Cap cap) { return entries_[cap].depth; });
  return caps;
}

std::int64_t QueueCaps::room(QueueRow leaf) const {
  Wide least = unlimited;
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) {
    least = std::min(least, entries_[cap].slack);
  }
  return at_least_zero(least);
}

std::int64_t QueueCaps::room_now(QueueRow leaf) const {
  Wide least = unlimited;
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) {
    least = std::min(least, entries_[cap].now);
  }
  return at_least_zero(least);
}

std::int64_t QueueCaps::room_from(QueueRow leaf, QueueRow giver) const {
  Wide least = unlimited;
  for (Cap cap = cap_of(leaf); !contains(cap, giver); cap = above(cap)) {
    least = std::min(least, entries_[cap].slack);
  }
  return at_least_zero(least);
}

void QueueCaps::add(QueueRow leaf, std::int64_t amount) {
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) entries_[cap].slack -= amount;
}

void QueueCaps::add_now(QueueRow leaf, std::int64_t amount) {
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) entries_[cap].now -= amount;
}

}  // namespace makeway
