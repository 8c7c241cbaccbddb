// The words of an answer to a pod: reasons, causes, alternatives. Built from what the search saw.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "policies/workload/victim_search.hpp"

namespace makeway {

/// "1 pod", "3 pods"
std::string counted(std::int64_t count, std::string_view what);

std::string fits_reason(const PlanAsk& ask);
std::string waits_reason(const PlanAsk& ask);

/// Why an ask has no place.
enum class Unplaced : std::uint8_t { proven, unproven, never, unsupported };
std::string nothing_reason(const PlanAsk& ask, Unplaced why);

/// Names, on the example node of each refusal, who holds what is short and cannot leave.
void explain_holders(Cycle& cycle, PlanAsk& ask);

/// The pods of the world `now` that have to be gone before `fits` says yes, an irreducible set of
/// them; by namespace and name. Those that leave `nodes` are kept in the set before others.
std::vector<PodPlacement> needed_leavers(Cycle& cycle, std::span<const NodeIndex> nodes,
                                         const std::function<bool()>& fits);

/// A victim with its reason; what it was compared with is left open.
PlanVictim victim_of(Cycle& cycle, const VictimUnit& unit, PodIndex pod, const PlanAsk& ask,
                     std::string_view rule);
void explain_spared(Cycle& cycle, std::span<const VictimUnit> spared, std::size_t victims,
                    PlanExplanation& explanation);

/// Victims with their causes, the spared, the alternatives and the reason. `best` comes best first
/// and is not empty.
void explain_candidates(Cycle& cycle, std::span<const Candidate> best, PlanAsk& ask);

}  // namespace makeway
