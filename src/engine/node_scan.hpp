// NodeScan: what running sums alone say about every node, before any search starts.
//
// For an ask and a node: the lowest priority P such that the ask may fit once all pods up to P have
// left. Only resources are looked at, and no pod is protected, so the true answer is never lower:
// an admissible bound on the highest priority among the victims. A node costs one binary search
// over its pods and a few rows of sums (model/node_order.hpp); those of touched nodes are made when
// they are first looked at, and stay until the next move.
//
// Where no pod below the ask is guarded and only resources count, the sums even say why a node is
// out (`refusal`), without any pod being looked at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/fit.hpp"
#include "engine/victims.hpp"

namespace makeway {

class NodeScan {
 public:
  /// There is room already, as far as resources go.
  static constexpr std::int64_t room = std::numeric_limits<std::int64_t>::min();
  /// Not even with all pods below the ask's priority gone.
  static constexpr std::int64_t infeasible = std::numeric_limits<std::int64_t>::max();

  NodeScan(PodFit& fit, const VictimRules& rules);

  static constexpr std::size_t ahead = 8;
  /// Called `ahead` nodes before its turn, a node's memory is there when it is needed.
  void soon(NodeIndex node) const { survey_.cluster().order().prefetch(node); }
  bool has_room(NodeIndex node) const { return has_room(node, scratch_.used(node)); }
  /// The same, were `used` all that is used on the node.
  bool has_room(NodeIndex node, std::span<const std::int64_t> used) const {
    return fits_beside(survey_.allocatable(node).data(), used.data());
  }
  /// The bound, or `infeasible` when it is above `limit`.
  std::int64_t lowest_priority(NodeIndex node, std::int64_t limit) const;

  /// Whether all pods below the ask's priority may leave, so that `refusal` is the whole truth.
  bool tells_all(NodeIndex node) const {
    return by_order_ && by_priority_alone_ && !scratch_.touched(node) &&
           survey_.cluster().order().lowest_guarded(node) >= ask_priority_ &&
           fit_.only_resources(node);
  }
  /// What the node lacks when all pods below the ask's priority have left; none: it has room.
  std::optional<Refused> refusal(NodeIndex node) const;

 private:
  bool fits_beside(const std::int64_t* allocatable, const std::int64_t* used) const {
    return std::ranges::all_of(requests_, [&](const ResourceAmount& item) {
      const std::size_t column = item.resource.value;
      return item.amount <= allocatable[column] - used[column];
    });
  }
  NodeOrder::View view_of(NodeIndex node) const;
  void order_pods(NodeIndex node, Scratch::Order& order) const;

  PodFit& fit_;
  Survey& survey_;
  const Scratch& scratch_;
  RequestRow requests_;
  std::int64_t ask_priority_ = 0;
  bool by_order_ = true;  ///< The order of pods on nodes is by the priority that protects them.
  bool by_priority_alone_ = true;
  const VictimRules& rules_;
  mutable std::vector<std::pair<std::int32_t, PodIndex>> pods_;  ///< Reused by `order_pods`.
  mutable Scratch::Order order_;  ///< Of an untouched node, where the cluster's order does not do.
};

}  // namespace makeway
