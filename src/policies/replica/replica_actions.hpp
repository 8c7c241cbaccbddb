// What the world is asked to do for replicas: scale-up, scale-down, force-delete, wait.
#pragma once

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The ask is one of a ReplicaSchedule.
void add_replica_actions(const Cluster& cluster, const PlanAsk& ask, Plan& plan);

}  // namespace makeway
