// A pod that can run on one node only asks (SPEC section 5).
//
// In this order, and the first that works is the answer:
//  1. Its node is not there, or will never take it (cordon, taint, larger than the node):
//     infeasible.
//  2. It fits now, and also in what will be: bind (law 1).
//  3. It fits once pods that are leaving, or victims of earlier asks, are gone: wait (law 6).
//  4. Its reservation, which begins now unless the pod says since when, is younger than
//     `preemptionStartDelay`: wait. Others may use the room until victims are chosen.
//  5. Pods must leave (victim_ladder.hpp). Not for preemptionPolicy Never.
//  6. Nothing: infeasible when that is proven, not-found otherwise. The node stays reserved.
//
// A reservation is the plan's action `reserve`: carrying it out writes since when it is
// (`makeway.dev/reserved-since`), and whether its room is promised: its victims are chosen, or what
// is leaving makes enough room. Then the plan nominates the pod, too, and no other ask gets the
// room. Between pinned pods of one node the order of asks decides, so their room is not their own
// against each other. Nothing is remembered of earlier preemptions: if a pod takes the room, it
// starts again.
#pragma once

#include <memory>

#include "policies/policy.hpp"

namespace makeway {

/// Null: nothing is pending.
std::unique_ptr<Policy> make_required_node_policy(const PolicyContext& context);

}  // namespace makeway
