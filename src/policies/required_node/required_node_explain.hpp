// The words of an answer to a pinned pod. Built from what the ladder saw.
#pragma once

#include "policies/required_node/victim_ladder.hpp"

namespace makeway {

/// Victims with their causes, and the reason.
void explain_ladder(World& world, const VictimLadder& ladder, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanAsk& ask);

/// Which pods could have been evicted and stay.
void explain_spared(const Cluster& cluster, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanExplanation& explanation);

/// Every pod that may leave, by class and in the order of the class; `chosen` are victims.
void explain_candidates(const World& world, const VictimLadder& ladder,
                        const CandidateList& candidates, std::span<const std::uint32_t> chosen,
                        PlanReservation& report);

/// Names the pods that hold what is short on the node and cannot be evicted.
void explain_pinned_holders(World& world, const VictimClasses& classes, NodeIndex node,
                            PlanAsk& ask);

}  // namespace makeway
