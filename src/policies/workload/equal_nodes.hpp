// EqualNodes: recognises a node on which the search would find what it found on another one.
//
// Two nodes are equal for an ask when they have the same room, and pods that are alike in
// everything that victims are chosen and scored by. Only nodes that nothing has touched and on
// which nothing but resources counts are compared; groups, budgets and controllers tie a pod to
// others elsewhere, so a node with such a pod is equal to none. Of equal nodes the first by name
// wins, the others need no search.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/fit.hpp"
#include "policies/cycle.hpp"

namespace makeway {

class EqualNodes {
 public:
  EqualNodes(Cycle& cycle, PodFit& fit) : cycle_(cycle), fit_(fit) {}

  /// How many equal nodes were shown before this one.
  std::int64_t seen(NodeIndex node);

 private:
  struct Known {
    NodeIndex node;
    std::int64_t count = 0;
  };

  bool comparable(NodeIndex node) const;
  std::uint64_t hash(NodeIndex node) const;
  bool equal(NodeIndex a, NodeIndex b) const;
  bool alike(PodIndex a, PodIndex b) const;

  Cycle& cycle_;
  PodFit& fit_;
  std::map<std::uint64_t, std::vector<Known>> known_;  ///< By hash.
};

}  // namespace makeway
