// The words of an answer to a pod: reasons, causes, alternatives. Built from what the search saw.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/workload/victim_search.hpp"

namespace makeway {

std::string fits_reason(const PlanAsk& ask);
std::string waits_reason(const PlanAsk& ask);

/// Why an ask has no place.
enum class Unplaced : std::uint8_t { proven, unproven, never, unsupported };
std::string nothing_reason(const PlanAsk& ask, Unplaced why);

/// Names, on the example node of each refusal, who holds what is short and cannot leave.
void explain_holders(Cycle& cycle, PlanAsk& ask);

/// The pods of the world `now` that have to be gone before the ask fits on the node, an irreducible
/// set of them; by namespace and name.
std::vector<PodPlacement> needed_leavers(Cycle& cycle, PodFit& now, NodeIndex node);

/// Victims with their causes, the spared, the alternatives and the reason. `best` comes best first
/// and is not empty.
void explain_candidates(Cycle& cycle, std::span<const Candidate> best, PlanAsk& ask);

}  // namespace makeway
