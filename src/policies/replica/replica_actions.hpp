// What the world is asked to do for replicas: scale-up, scale-down, force-delete, wait.
//
// The net schedule of a plan (SPEC section 4): one new count a deployment and plane, and what it is
// for.
#pragma once

#include <optional>

#include "model/cluster.hpp"
#include "model/plan.hpp"
#include "model/reason.hpp"

namespace makeway {

/// The ask is one of a ReplicaSchedule.
void add_replica_actions(const Cluster& cluster, const PlanAsk& ask, Plan& plan);

/// Adds up what the asks of the plan scale up and down, and names those that lose replicas and do
/// not ask themselves.
void add_net_schedule(const Cluster& cluster, Plan& plan);

/// "; unmet 0 -> 1" where the schedule loses replicas by the plan; empty: it does not.
std::optional<Reason> unmet_reason(const Plan& plan, const PlanAsk& ask);

}  // namespace makeway
