#include "model/node_order.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "base/checked_math.hpp"
#include "base/intern.hpp"

namespace makeway {

std::uint64_t hash_of(const ResourceAmount& amount) {
  return hash_combine(amount.resource.value, static_cast<std::uint64_t>(amount.amount));
}

std::size_t NodeOrder::count_at_least(NodeIndex node, std::int32_t priority) const {
  const std::span<const std::int32_t> all = priorities(node);
  return static_cast<std::size_t>(std::ranges::upper_bound(all, priority, std::greater{}) -
                                  all.begin());
}

std::size_t NodeOrder::bytes() const {
  return blocks_.bytes() + pods_.capacity() * sizeof(PodIndex) +
         priorities_.capacity() * sizeof(std::int32_t) + guarded_.capacity() +
         sums_.capacity() * sizeof(std::int64_t);
}

/// Four sizes per doubling: little slack is wasted and freed blocks are found again.
std::uint32_t NodeOrder::capacity_for(std::uint32_t count) {
  const std::uint32_t step = std::max(4U, std::bit_floor(std::max(count, 2U) - 1) / 4);
  return (count + step - 1) / step * step;
}

NodeOrder::Block NodeOrder::allocate(std::uint32_t count) {
  const std::uint32_t capacity = capacity_for(count);
  const auto free = free_blocks_.find(capacity);
  if (free != free_blocks_.end() && !free->second.empty()) {
    const std::uint64_t begin = free->second.back();
    free->second.pop_back();
    return {.begin = begin, .capacity = capacity, .count = 0};
  }
  const std::uint64_t begin = pods_.size();
  pods_.resize(begin + capacity);
  priorities_.resize(begin + capacity);
  guarded_.resize(begin + capacity);
  sums_.resize((begin + capacity) * columns_);
  return {.begin = begin, .capacity = capacity, .count = 0};
}

void NodeOrder::open_gap(NodeIndex node, std::size_t position, const Entry& entry) {
  Block block = blocks_[node];
  CHECK(position <= block.count);
  if (block.count == block.capacity) {
    Block moved = allocate(block.count + 1);
    const auto copy = [&](auto& column, std::size_t width) {
      std::copy_n(column.data() + block.begin * width, block.count * width,
                  column.data() + moved.begin * width);
    };
    copy(pods_, 1);
    copy(priorities_, 1);
    copy(guarded_, 1);
    copy(sums_, columns_);
    moved.count = block.count;
    if (block.capacity > 0) free_blocks_[block.capacity].push_back(block.begin);
    block = moved;
  }
  const auto put = [&](auto& column, const auto& value) {
    auto* const row = column.data() + block.begin;
    std::copy_backward(row + position, row + block.count, row + block.count + 1);
    row[position] = value;
  };
  put(pods_, entry.pod);
  put(priorities_, entry.priority);
  put(guarded_, static_cast<std::uint8_t>(entry.guarded));
  ++block.count;
  find_lowest_guarded(block);
  blocks_[node] = block;
}

void NodeOrder::close_gap(NodeIndex node, std::size_t position) {
  Block& block = blocks_[node];
  CHECK(position < block.count);
  const auto take = [&](auto& column) {
    auto* const row = column.data() + block.begin;
    std::copy(row + position + 1, row + block.count, row + position);
  };
  take(pods_);
  take(priorities_);
  take(guarded_);
  --block.count;
  find_lowest_guarded(block);
}

void NodeOrder::find_lowest_guarded(Block& block) const {
  block.lowest_guarded = no_guarded_pod;
  for (std::uint64_t at = block.begin + block.count; at-- > block.begin;) {
    if (guarded_[at] == 0) continue;
    block.lowest_guarded = priorities_[at];
    return;
  }
}

void NodeOrder::write_sum(std::uint64_t at, bool first, RequestRow requests) {
  std::int64_t* const row = sums_.data() + at * columns_;
  if (first) {
    std::fill_n(row, columns_, 0);
  } else {
    std::copy_n(row - columns_, columns_, row);
  }
  for (const ResourceAmount& request : requests) {
    row[request.resource.value] = saturated_add(row[request.resource.value], request.amount);
  }
}

void NodeOrder::rebuild(std::span<const Entry> entries, std::span<const std::uint32_t> counts,
                        std::size_t columns) {
  columns_ = columns;
  zero_row_.assign(columns, 0);
  free_blocks_.clear();
  std::uint64_t total = 0;
  blocks_.resize(counts.size());
  for (std::size_t slot = 0; slot < counts.size(); ++slot) {
    const std::uint32_t capacity = capacity_for(counts[slot]);
    blocks_[NodeIndex::from(slot)] = {.begin = total, .capacity = capacity, .count = counts[slot]};
    total += capacity;
  }
  const auto fresh = [total](auto& column, std::size_t width) {
    std::remove_reference_t<decltype(column)>(total * width).swap(column);
  };
  fresh(pods_, 1);
  fresh(priorities_, 1);
  fresh(guarded_, 1);
  fresh(sums_, columns_);
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < counts.size(); ++slot) {
    Block& block = blocks_[NodeIndex::from(slot)];
    for (std::uint64_t k = 0; k < block.count; ++k) {
      const Entry& entry = entries[next++];
      pods_[block.begin + k] = entry.pod;
      priorities_[block.begin + k] = entry.priority;
      guarded_[block.begin + k] = static_cast<std::uint8_t>(entry.guarded);
      write_sum(block.begin + k, k == 0, entry.requests);
    }
    find_lowest_guarded(block);
  }
}

}  // namespace makeway
