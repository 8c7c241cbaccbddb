// What follows from an ask whose pods we bind: actions, and conditions of pods.
#pragma once

#include <string_view>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

void add_evictions(const Cluster& cluster, const PlanAsk& ask, Plan& plan);
/// Its pods are bound, or nominated where it does not fit yet.
void add_placements(const Cluster& cluster, const PlanAsk& ask, Plan& plan);
/// It waits, and no place is kept for it.
void add_wait(const PlanAsk& ask, Plan& plan);
/// The condition is false unless it fits.
void add_unscheduled(const PlanAsk& ask, std::string_view condition, Plan& plan);

std::string uid_of(const Cluster& cluster, const PodPlacement& placement);

}  // namespace makeway
