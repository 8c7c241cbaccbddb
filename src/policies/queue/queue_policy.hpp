// The queue stage of a cycle (SPEC section 3, decision 0008): divides the cluster, moves room
// between queues, and makes pods leave queues that use more than they may. The plan has its queues
// and their claims, and from then on the World holds asks to what their queue may use. Left out
// (law 14), the stage moves nothing, and asks are held to what was allocated before.
#pragma once

#include <memory>

#include "policies/policy.hpp"

namespace makeway {

/// Null: no Queue exists, or `queue.enabled` is off.
std::unique_ptr<Policy> make_queue_policy(const PolicyContext& context);

}  // namespace makeway
