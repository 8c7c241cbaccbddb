// A pod that can run on one node only asks (SPEC section 5).
//
// The steps are those of every ask (policies/shared/ask_driver.hpp); here they mean:
//   refused    its node is not there, or will never take it (cordon, taint, larger than the node)
//   preempt    pods leave (victim_ladder.hpp), but not while its reservation, which begins now
//              unless the pod says since when, is younger than `preemptionStartDelay`: others may
//              use the room until victims are chosen. Not for preemptionPolicy Never. Nothing found
//              is infeasible when that is proven; the node stays reserved.
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
