// Where an ask goes for which nobody has to leave: now, or once somebody who is leaving is gone.
//
// Its nominated node, when it fits there. Otherwise by fullness: the sum, over the resources that
// it asks for, of used / allocatable in thousandths with the ask placed; `workload.nodeScore` pack
// takes the fullest node, spread the emptiest. Ties by name. Deterministic, integers only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/fit.hpp"
#include "policies/cycle.hpp"

namespace makeway {

struct NodeChoice {
  std::optional<NodeIndex> now;    ///< It fits there at once.
  std::optional<NodeIndex> later;  ///< It will fit there; only nodes where it does not fit now.
  std::int64_t fitting_now = 0;    ///< How many nodes there were to choose from.
  /// Where explanations are wanted: the next best nodes of the same kind, best first.
  std::vector<PlanAlternative> others;
};

/// `now` may be null: then it is the same world as `after`.
NodeChoice choose_node(Cycle& cycle, PodFit& after, PodFit* now, std::span<const NodeIndex> domain);

}  // namespace makeway
