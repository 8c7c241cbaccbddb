// What a PodDisruptionBudget without a status allows: hand-written manifests have none.
//
// As the disruption controller computes it: desired = minAvailable, or expected - maxUnavailable;
// percentages of the governed pods round up; allowed = healthy - desired, at least 0. Expected are
// all governed pods, healthy those that run on a node and are not leaving.
#pragma once

#include "model/cluster.hpp"

namespace makeway {

void fill_budget_status(Cluster& cluster);

}  // namespace makeway
