// A single pod asks (SPEC section 2).
//
// In this order, and the first that works is the answer:
//  1. It fits now, and also in what will be: bind (law 1). See node_choice.hpp for the node.
//  2. It fits once pods that are leaving, or victims of earlier asks, are gone: wait (laws 6
//     and 7).
//  3. Its nomination is held by pods that are leaving (`workload.nominationHeldBy`): wait.
//  4. Somebody must leave: every node is tried (victim_search.hpp), the best score wins, then the
//     first node by name. Not for preemptionPolicy Never; not before `engine.preemptionDelay`.
//  5. Nothing: infeasible when that is proven, not-found otherwise.
#pragma once

#include <optional>

#include "policies/cycle.hpp"

namespace makeway {

/// Decides about the pod, adds the answer to the plan and to the worlds of the cycle. `only`: the
/// node that is given, if it is.
void decide_pod(Cycle& cycle, PodIndex pod, std::optional<NodeIndex> only);

}  // namespace makeway
