// Replicas whose placement is not ours (SPEC section 4): one cycle.
//
//  1. Replicas that are committed and not bound yet are on their way: they hold room first.
//  2. A deployment that lost a replica to a standing claim is out: it neither asks nor takes.
//  3. Normal phase, asks by priority: free room goes to unmet replicas; scale-ups. Claims that
//     stand hold their room against asks of equal or lower priority (law 7).
//  4. Preemption phase, asks by priority: claims that stand are kept, then each replica that is
//     still unmet gets the best place and its victims.
//
// Priorities, classes and commits are those of the cluster throughout; what this cycle gives and
// takes is counted beside them. It runs after all other policies: it binds nothing, so no ask
// could see what it holds.
#pragma once

#include <memory>

#include "policies/policy.hpp"
#include "policies/replica/fleet.hpp"

namespace makeway {

/// Null: there is no ReplicaSchedule, or `replica.enabled` is off, and none is named.
std::unique_ptr<Policy> make_replica_policy(const PolicyContext& context);

}  // namespace makeway
