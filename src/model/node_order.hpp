// NodeOrder: the pods of every node, most important first, with running sums of their requests.
//
// Row k of a node is the sum over its k + 1 most important pods. So "what would be free if
// everything below priority P left" is: count the pods of priority >= P (binary search), read one
// row, subtract from allocatable. Sums saturate instead of wrapping.
//
// A guarded pod is one that may stay whatever its priority: of a group, leaving already, mirror,
// opted out, marked, kept, of a critical class. Below the lowest guarded priority of a node the
// sums say exactly which pods may leave.
//
// All nodes share flat arrays; a node owns a block in them with some slack. Inserting and erasing
// cost O(pods on that node); a block that outgrows its slack moves to a free one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "base/index.hpp"
#include "base/plain_vector.hpp"
#include "model/ids.hpp"

namespace makeway {

/// One resource amount of an interned request row.
struct ResourceAmount {
  ResourceIndex resource;
  std::int64_t amount = 0;

  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};
std::uint64_t hash_of(const ResourceAmount& amount);

using RequestRow = std::span<const ResourceAmount>;

class NodeOrder {
 public:
  static constexpr std::int32_t no_guarded_pod = std::numeric_limits<std::int32_t>::max();

  std::span<const PodIndex> pods(NodeIndex node) const {
    const Block& block = blocks_[node];
    return {pods_.data() + block.begin, block.count};
  }
  /// Preemption priorities of `pods(node)`, descending.
  std::span<const std::int32_t> priorities(NodeIndex node) const {
    const Block& block = blocks_[node];
    return {priorities_.data() + block.begin, block.count};
  }
  /// How many pods of the node have at least this preemption priority. O(log pods).
  std::size_t count_at_least(NodeIndex node, std::int32_t priority) const;
  /// Usage per resource column of the `count` most important pods. One lookup.
  std::span<const std::int64_t> used_by_first(NodeIndex node, std::size_t count) const {
    const Block& block = blocks_[node];
    CHECK(count <= block.count, "more pods than the node has");
    if (count == 0) return zero_row_;
    return {sums_.data() + (block.begin + count - 1) * columns_, columns_};
  }
  std::span<const std::int64_t> used(NodeIndex node) const {
    return used_by_first(node, blocks_[node].count);
  }
  /// One node, for callers that look at it several times.
  struct View {
    std::span<const std::int32_t> priorities;
    const std::int64_t* sums;  ///< Of the first pod.
    const std::int64_t* zero;
    std::size_t columns;

    /// As `used_by_first`; `count` is not checked.
    const std::int64_t* used_by_first(std::size_t count) const {
      return count == 0 ? zero : sums + (count - 1) * columns;
    }
  };
  View view(NodeIndex node) const {
    const Block& block = blocks_[node];
    return {.priorities = {priorities_.data() + block.begin, block.count},
            .sums = sums_.data() + block.begin * columns_,
            .zero = zero_row_.data(),
            .columns = columns_};
  }
  /// The lowest preemption priority of a guarded pod on the node, or `no_guarded_pod`.
  std::int32_t lowest_guarded(NodeIndex node) const { return blocks_[node].lowest_guarded; }
  /// By position in `pods(node)`: 1 for guarded pods.
  std::span<const std::uint8_t> guarded(NodeIndex node) const {
    const Block& block = blocks_[node];
    return {guarded_.data() + block.begin, block.count};
  }
  std::size_t columns() const { return columns_; }
  /// Asks for the memory that a look at the least important pods needs.
  void prefetch(NodeIndex node) const {
    const Block& block = blocks_[node];
    const std::uint64_t last = block.begin + (block.count == 0 ? 0 : block.count - 1);
    __builtin_prefetch(priorities_.data() + last);
    __builtin_prefetch(sums_.data() + last * columns_);
  }
  std::size_t bytes() const;

  struct Entry {
    PodIndex pod;
    std::int32_t priority = 0;
    bool guarded = false;
    RequestRow requests;
  };

  void resize_nodes(std::size_t nodes) { blocks_.resize(nodes); }

  /// Puts the entry at `position`; `requests_of(pod)` gives the row of any pod of the node.
  template <class RequestsOf>
  void insert(NodeIndex node, std::size_t position, const Entry& entry,
              const RequestsOf& requests_of) {
    open_gap(node, position, entry);
    sum_from(node, position, requests_of);
  }

  template <class RequestsOf>
  void erase(NodeIndex node, std::size_t position, const RequestsOf& requests_of) {
    close_gap(node, position);
    sum_from(node, position, requests_of);
  }

  /// Replaces everything; `entries` holds each node's pods in order, nodes one after the other,
  /// `counts` how many belong to each. O(all).
  void rebuild(std::span<const Entry> entries, std::span<const std::uint32_t> counts,
               std::size_t columns);

 private:
  struct Block {
    std::uint64_t begin = 0;
    std::uint32_t capacity = 0;
    std::uint32_t count = 0;
    std::int32_t lowest_guarded = no_guarded_pod;
  };

  static std::uint32_t capacity_for(std::uint32_t count);
  Block allocate(std::uint32_t count);
  void open_gap(NodeIndex node, std::size_t position, const Entry& entry);
  void close_gap(NodeIndex node, std::size_t position);
  void find_lowest_guarded(Block& block) const;
  void write_sum(std::uint64_t at, bool first, RequestRow requests);

  template <class RequestsOf>
  void sum_from(NodeIndex node, std::size_t position, const RequestsOf& requests_of) {
    const Block& block = blocks_[node];
    for (std::size_t k = position; k < block.count; ++k) {
      write_sum(block.begin + k, k == 0, requests_of(pods_[block.begin + k]));
    }
  }

  IndexedVector<NodeIndex, Block> blocks_;
  PlainVector<PodIndex> pods_;
  PlainVector<std::int32_t> priorities_;
  PlainVector<std::uint8_t> guarded_;
  PlainVector<std::int64_t> sums_;
  std::vector<std::int64_t> zero_row_ = std::vector<std::int64_t>(4);
  std::size_t columns_ = 4;
  std::map<std::uint32_t, std::vector<std::uint64_t>> free_blocks_;  ///< By capacity.
};

}  // namespace makeway
