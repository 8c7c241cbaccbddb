// What a session's entry in the plan says: where it fits, what it waits for, which leave and why.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/session/session_candidates.hpp"
#include "policies/session/session_victims.hpp"

namespace makeway {

void explain_fit(const SessionTable& table, const SessionEntry& entry, PlanAsk& ask);
/// What it waits for at these places: an irreducible set of leaving kernels.
void explain_waiting(World& world, const SessionTable& table, const SessionEntry& entry,
                     const std::vector<SessionPlace>& places, PlanAsk& ask);
void explain_no_help(const SessionTable& table, const SessionEntry& entry, std::size_t candidates,
                     PlanAsk& ask);
/// Which nodes refuse it, and what holds the room there; `room` is what there is when all left that
/// may be made to.
void explain_refusals(World& world, const SessionTable& table, const SessionCandidates& order,
                      const SessionEntry& entry, const RoomRows& room, PlanAsk& ask);
/// Another session of its group is the one that may preempt.
void explain_not_its_turn(World& world, const SessionTable& table, SessionIndex first,
                          PlanAsk& ask);
void explain_victims(World& world, const SessionTable& table, const SessionCandidates& order,
                     const SessionVictims& victims, const SessionEntry& entry,
                     std::span<const SessionIndex> candidates, PlanAsk& ask);

/// "Session default/train"
std::string session_text(const SessionEntry& entry);

}  // namespace makeway
