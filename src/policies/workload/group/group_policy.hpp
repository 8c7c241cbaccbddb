// A group asks (SPEC section 2): a gang for its minimum, a basic group for one member.
//
// In this order, and the first that works is the answer:
//  1. Enough members fit now, and also in what will be: these are bound, and all others that fit.
//  2. Enough fit once pods that are leaving, or victims of earlier asks, are gone: wait.
//  3. Its nominations are held by pods that are leaving (`workload.nominationHeldBy`): wait.
//  4. Others must leave (group_search.hpp): for the members that are needed, or for as many as
//     possible (`workload.evictFor`); further members fill what is free then. Not for
//     preemptionPolicy Never; not before `engine.preemptionDelay`. No pod is touched unless all
//     that are needed have a place.
//  5. Nothing: infeasible when that is proven, not-found otherwise.
#pragma once

#include <span>

#include "policies/shared/draft.hpp"

namespace makeway {

/// Decides about the group, adds the answer to the plan and to the worlds of the cycle. `given`:
/// where its members are to go, if that is said.
void decide_group(Draft& draft, UnitIndex unit, std::span<const PodOnNode> given);

}  // namespace makeway
