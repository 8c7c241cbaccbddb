// Pods outside every queue that wait while nodes have room (SPEC section 3): legal, and surprising,
// because room is promised to queues first, whatever the priority of such a pod.
#pragma once

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

/// One warning about all of them, or none. Without a plan: pending pods that a node has room for;
/// with one: those of its asks that get no place although a node has room beside its placements.
/// O(nodes * resources + different requests of such pods * nodes).
Problems find_pods_outside_queues(const Cluster& cluster, const Configuration& configuration,
                                  const Plan* plan);

}  // namespace makeway
