// The words of an answer to a pinned pod. Built from what the ladder saw.
#pragma once

#include "policies/required_node/victim_ladder.hpp"

namespace makeway {

/// Victims with their causes, and the reason.
void explain_ladder(World& world, const VictimLadder& ladder, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanAsk& ask);

/// Who could have been made to leave and stays.
void explain_spared(const Cluster& cluster, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanExplanation& explanation);

/// Everybody who may leave, by class and in the order of the class; `chosen` are victims.
void explain_candidates(const World& world, const VictimLadder& ladder,
                        const CandidateList& candidates, std::span<const std::uint32_t> chosen,
                        PlanReservation& told);

/// Names who holds what is short on the node and cannot be made to leave.
void explain_pinned_holders(World& world, const VictimClasses& classes, NodeIndex node,
                            PlanAsk& ask);

}  // namespace makeway
