// EqualNodes: recognises nodes on which a search would find the same score.
//
// Two nodes are equal for asks of one class when they have the same room beside pods that stay, and
// below the ask's priority pods that are alike in everything that victims are chosen and scored by.
// Only nodes that nothing has touched and on which nothing but resources counts are compared;
// guarded pods, budgets, controllers and loss units tie a pod to others elsewhere, so a node with
// such a pod is equal to none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/fit.hpp"
#include "engine/world.hpp"

namespace makeway {

class EqualNodes {
 public:
  EqualNodes(World& world, std::int32_t ask_priority);

  /// Whether the best victims on the node and their score follow from the node alone.
  bool local(const PodFit& fit, NodeIndex node);
  /// The same number for equal nodes, from 0 on. None: it is compared with no other.
  std::optional<std::size_t> kind_of(const PodFit& fit, NodeIndex node);

 private:
  struct Known {
    NodeIndex node;  ///< The first of its kind.
    std::size_t kind = 0;
  };

  std::size_t staying(NodeIndex node) const {
    return world_.cluster().order().count_at_least(node, ask_priority_);
  }
  bool lone(NodeIndex node, std::span<const PodIndex> pods);
  std::uint64_t hash(NodeIndex node, std::span<const PodIndex> leaving) const;
  bool equal(NodeIndex a, NodeIndex b) const;

  World& world_;
  std::int32_t ask_priority_;
  bool cascades_count_;
  std::size_t kinds_ = 0;
  std::map<std::uint64_t, std::vector<Known>> known_;  ///< By hash.
};

}  // namespace makeway
