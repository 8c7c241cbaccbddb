// NodeScan: what running sums alone say about every node, before any search starts.
//
// For an ask and a node: the lowest priority P such that the ask may fit once everybody up to P has
// left. Only resources are looked at, and nobody is protected, so the true answer is never lower:
// an admissible bound on the highest priority among the victims. A node that nothing has touched
// costs one binary search over its pods and a few rows of sums (model/node_order.hpp); a touched
// one a walk over its pods.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/fit.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"

namespace makeway {

class NodeScan {
 public:
  /// There is room already, as far as resources go.
  static constexpr std::int64_t room = std::numeric_limits<std::int64_t>::min();
  /// Not even with everybody below the ask's priority gone.
  static constexpr std::int64_t hopeless = std::numeric_limits<std::int64_t>::max();

  /// `honour_preemption_priority`: as in the configuration; the order of pods on nodes is by
  /// preemption priority, so without it every node is walked.
  NodeScan(Survey& survey, const Scratch& scratch, const PodFit& fit,
           bool honour_preemption_priority);

  bool has_room(NodeIndex node) const;
  /// The bound, or any value above `limit` when it is above `limit`.
  std::int64_t lowest_priority(NodeIndex node, std::int64_t limit) const;

 private:
  bool fits_beside(NodeIndex node, std::span<const std::int64_t> used) const;
  std::int64_t walk(NodeIndex node) const;
  std::int32_t priority_of(PodIndex pod) const;

  Survey& survey_;
  const Scratch& scratch_;
  RequestRow requests_;
  std::int32_t ask_priority_ = 0;
  bool by_order_ = true;
  mutable std::vector<std::pair<std::int32_t, PodIndex>> pods_;  ///< Reused by `walk`.
};

}  // namespace makeway
