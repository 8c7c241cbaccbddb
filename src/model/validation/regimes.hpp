// Nodes that two policies would schedule, and asks for what others place (SPEC section 1).
#pragma once

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// Errors: nodes that two policies claim (sessions win). Warnings: pending pods of ReplicaSchedules
/// that name our scheduler, although Kubernetes places them. O(nodes + pods) where there are any.
Problems find_regime_problems(const Cluster& cluster, const Configuration& configuration);

}  // namespace makeway
