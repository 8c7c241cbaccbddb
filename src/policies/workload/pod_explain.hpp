// The words of an answer to a pod: reasons, causes, alternatives. Built from what the search saw.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/workload/victim_search.hpp"

namespace makeway {

std::string fits_reason(const PlanAsk& ask);
std::string waits_reason(const PlanAsk& ask);
std::string infeasible_reason(const PlanAsk& ask, bool never_preempts, bool unproven);

/// The pods that have to leave before the ask fits on the node; by namespace and name. `fit` is
/// over the world `after`.
std::vector<PodPlacement> needed_leavers(Cycle& cycle, PodFit& fit, NodeIndex node);

/// Victims with their causes, the spared, the alternatives and the reason. `best` comes best first
/// and is not empty.
void explain_candidates(Cycle& cycle, std::span<const Candidate> best, PlanAsk& ask);

}  // namespace makeway
