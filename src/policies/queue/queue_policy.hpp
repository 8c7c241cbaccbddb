// The queue stage of a cycle (SPEC section 3, decision 0008): divides the cluster, moves room
// between queues, and makes pods leave queues that use more than they may.
#pragma once

#include "policies/shared/draft.hpp"

namespace makeway {

/// Nothing happens where no Queue exists or `queue.enabled` is off. Otherwise the plan has its
/// queues and their claims, and `world.limits()` holds later asks to what their queue may use. Left
/// out (law 14), it moves nothing, and asks are held to what was allocated before.
void decide_queues(Draft& draft, bool left_out);

}  // namespace makeway
