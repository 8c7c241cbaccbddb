// KernelRoom: what is free on a session's nodes, and whether its kernels find room there. The
// judge's own arithmetic; private to check_plan*.cpp.
//
// Only resources that the kernels ask for are counted. A KernelRoom is a value: what-if is a copy
// with something added or taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/index.hpp"
#include "judge/naive_fit.hpp"

namespace makeway {

/// What one kernel takes, in the order of the resources of its KernelRoom.
using KernelNeed = std::vector<std::int64_t>;

enum class Finding : std::uint8_t { no, yes, unknown };  ///< Unknown: that was too much work.

/// Nodes that take kernels at all, as far as that is known: cordons and taints are the same for
/// every kernel.
enum class Openness : std::uint8_t { unknown, open, closed };
using OpenNodes = IndexedVector<NodeIndex, Openness>;

/// Nodes where kernels may go, and what is free there. Many sessions ask about the same nodes while
/// none comes or leaves, so what was read last is kept.
class KernelNodes {
 public:
  explicit KernelNodes(std::vector<NodeIndex> nodes);

  std::span<const NodeIndex> nodes() const { return nodes_; }  ///< Sorted.
  /// Node by node, in the order of the resources.
  const std::vector<std::int64_t>& free(const NaiveWorld& world,
                                        const std::vector<ResourceIndex>& resources);

 private:
  struct Known {
    std::uint64_t changes = 0;
    std::vector<ResourceIndex> resources;
    std::vector<std::int64_t> free;
  };

  std::vector<NodeIndex> nodes_;
  std::map<const NaiveWorld*, Known> known_;
};

class KernelRoom {
 public:
  /// `nodes` must outlive it and its copies. `rows`: of each kernel the rows that want room.
  /// `open`: what is known, and what is found; null: they are there already, and nothing but room
  /// matters.
  KernelRoom(NaiveWorld& world, KernelNodes& nodes, const std::vector<std::vector<PodIndex>>& rows,
             OpenNodes* open);

  /// Nothing on other nodes.
  void add(PodIndex row, NodeIndex node) { change(row, node, 1); }
  void take(PodIndex row, NodeIndex node) { change(row, node, -1); }
  /// Never more than the other has.
  void limit(const KernelRoom& other);

  /// Whether each kernel fits on its node beside the others.
  bool fits(std::span<const NodeIndex> places) const;
  /// Whether there are such nodes.
  Finding find() const;

 private:
  class Search;

  void read_needs(const Cluster& cluster, const std::vector<std::vector<PodIndex>>& rows);
  void change(PodIndex row, NodeIndex node, std::int64_t sign);
  std::size_t find_node(NodeIndex node) const;  ///< As many as there are nodes: none of them.
  std::span<const std::int64_t> free(std::size_t node) const {
    return std::span(free_).subspan(node * resources_.size(), resources_.size());
  }
  bool holds(std::size_t node, const KernelNeed& need) const;
  void move(std::size_t node, const KernelNeed& need, std::int64_t sign);
  std::int64_t how_many(std::size_t node, const KernelNeed& need, std::int64_t most) const;

  const Cluster* cluster_;
  std::vector<ResourceIndex> resources_;
  std::vector<KernelNeed> needs_;
  std::span<const NodeIndex> nodes_;  ///< Sorted.
  std::vector<std::uint8_t> open_;
  std::vector<std::int64_t> free_;  ///< Node by node.
};

}  // namespace makeway
