// KernelRoom: what is free on a session's nodes, and whether its kernels find room there. The
// judge's own arithmetic; private to check_plan*.cpp.
//
// Only resources that the kernels ask for are counted. A KernelRoom is a value: what-if is a copy
// with something added or taken.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/naive_fit.hpp"

namespace makeway {

/// What one kernel takes, in the order of the resources of its KernelRoom.
using KernelNeed = std::vector<std::int64_t>;

enum class Finding : std::uint8_t { no, yes, unknown };  ///< Unknown: that was too much work.

class KernelRoom {
 public:
  /// `rows`: of each kernel the rows that want room; a node that refuses them whatever its room has
  /// none, unless `staying` says that they are there already.
  KernelRoom(NaiveWorld& world, std::span<const NodeIndex> nodes,
             const std::vector<std::vector<PodIndex>>& rows, bool staying);

  const std::vector<KernelNeed>& needs() const { return needs_; }
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
  struct NodeRoom {
    NodeIndex node;
    bool open = true;
    std::vector<std::int64_t> free;
  };
  class Search;

  void change(PodIndex row, NodeIndex node, std::int64_t sign);
  NodeRoom* at(NodeIndex node);  ///< Null: none of its nodes.
  static bool holds(const NodeRoom& room, const KernelNeed& need);
  static std::int64_t how_many(const NodeRoom& room, const KernelNeed& need, std::int64_t most);

  const Cluster* cluster_;
  std::vector<ResourceIndex> resources_;
  std::vector<KernelNeed> needs_;
  std::vector<NodeRoom> rooms_;  ///< By node.
};

}  // namespace makeway
