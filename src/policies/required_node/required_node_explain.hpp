// The words of an answer to a pinned pod. Built from what the ladder saw.
#pragma once

#include "policies/required_node/victim_ladder.hpp"

namespace makeway {

/// "3.5 %", rounded up to tenths.
std::string percent_text(std::int64_t ppm);

/// Victims with their causes, who was spared, and the reason.
void explain_ladder(Cycle& cycle, const VictimLadder& ladder, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanAsk& ask);

/// Everybody who may leave, by class and in the order of the class; `chosen` are victims.
void tell_candidates(const Cycle& cycle, const VictimLadder& ladder,
                     const CandidateList& candidates, std::span<const std::uint32_t> chosen,
                     PlanReservation& told);

/// Names who holds what is short on the node and cannot be made to leave.
void explain_pinned_holders(Cycle& cycle, const VictimClasses& classes, NodeIndex node,
                            PlanAsk& ask);

}  // namespace makeway
