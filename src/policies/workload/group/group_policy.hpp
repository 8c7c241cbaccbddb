// A group asks (SPEC section 2): a gang for its minimum, a basic group for one member.
//
// The steps are those of every ask (policies/shared/ask_driver.hpp); here they mean:
//   now, soon  enough members fit, in one domain: these are placed, and all others that fit
//   preempt    pods leave (group_search.hpp) for the members that are needed, or for as many as
//              possible (`workload.evictFor`); further members fill what is free then. Not for
//              preemptionPolicy Never; not before `engine.preemptionDelay`. No pod is evicted
//              unless all members that are needed have a place. Nothing found is infeasible when
//              that is proven.
#pragma once

#include <span>

#include "policies/shared/draft.hpp"

namespace makeway {

/// Decides about the group, adds the answer to the plan and to the worlds of the cycle. `given`:
/// where its members are to go, if that is said.
void decide_group(Draft& draft, UnitIndex unit, std::span<const PodOnNode> given);

}  // namespace makeway
