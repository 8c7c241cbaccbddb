// NodeScan: what running sums alone say about every node, before any search starts.
//
// For an ask and a node: the lowest priority P such that the ask may fit once everybody up to P has
// left. Only resources are looked at, and nobody is protected, so the true answer is never lower:
// an admissible bound on the highest priority among the victims. A node that nothing has touched
// costs one binary search over its pods and a few rows of sums (model/node_order.hpp); a touched
// one a walk over its pods.
//
// Where nobody below the ask is guarded and only resources count, the sums even say why a node is
// out (`refusal`), without any pod being looked at.
#pragma once

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
  /// Not even with everybody below the ask's priority gone.
  static constexpr std::int64_t hopeless = std::numeric_limits<std::int64_t>::max();

  NodeScan(PodFit& fit, const VictimRules& rules);

  /// Told a few nodes ahead, memory is there when it is needed.
  void soon(NodeIndex node) const { survey_.cluster().order().prefetch(node); }
  bool has_room(NodeIndex node) const {
    return fits_beside(survey_.allocatable(node).data(), scratch_.used(node).data());
  }
  /// The bound, or `hopeless` when it is above `limit`.
  std::int64_t lowest_priority(NodeIndex node, std::int64_t limit) const;

  /// Whether everybody below the ask's priority may leave, so that `refusal` is the whole truth.
  bool tells_all(NodeIndex node) const {
    return by_order_ && by_priority_alone_ && !scratch_.touched(node) &&
           survey_.cluster().order().lowest_guarded(node) >= ask_priority_ &&
           fit_.only_resources(node);
  }
  /// What the node lacks when everybody below the ask's priority has left; none: it has room.
  std::optional<Refused> refusal(NodeIndex node) const;

 private:
  bool fits_beside(const std::int64_t* allocatable, const std::int64_t* used) const {
    for (const ResourceAmount& item : requests_) {
      const std::size_t column = item.resource.value;
      if (item.amount > allocatable[column] - used[column]) return false;
    }
    return true;
  }
  std::int64_t walk(NodeIndex node, std::int64_t limit) const;
  std::int32_t priority_of(PodIndex pod) const;

  PodFit& fit_;
  Survey& survey_;
  const Scratch& scratch_;
  RequestRow requests_;
  std::int64_t ask_priority_ = 0;
  bool by_order_ = true;  ///< The order of pods on nodes is by the priority that protects them.
  bool by_priority_alone_ = true;
  mutable std::vector<std::pair<std::int32_t, PodIndex>> pods_;  ///< Reused by `walk`.
  mutable std::vector<std::int64_t> used_;                       ///< Likewise.
};

}  // namespace makeway
