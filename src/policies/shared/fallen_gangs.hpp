// Gangs that leave whole because their victims take them below their minimum
// (below-minimum `evict`, SPEC section 2).
//
// The rest of such a gang leaves as well. What that frees spares others: a victim stays where the
// rest of a gang alone makes room enough (law 4).
#pragma once

#include <functional>

#include "engine/budgets.hpp"
#include "engine/scratch.hpp"
#include "engine/victims.hpp"

namespace makeway {

/// A unit of one list with its pods, at the end of another.
void append_unit(const VictimList& from, VictimUnit unit, VictimList& to);

/// The world that the victims have left, and whose rules count in it.
struct FallenIn {
  const Cluster& cluster;
  Scratch& scratch;
  const VictimRules& rules;
  Budgets& budgets;
};

/// Adds the rest of gangs that the victims take below their minimum, and takes out what need not
/// leave any more. `works`: whether, in that world as it is then, those that come have their room.
/// All victims have left the world, before and after; spared ones are back in it. False: with the
/// whole gangs gone it does not work, as for an ask that must be near one of them; the victims are
/// as they were.
bool take_fallen_whole(const FallenIn& world, const std::function<bool()>& works,
                       VictimList& victims);

/// The same for scoring victims: the world is as it was, except that spared ones are back.
bool add_fallen_and_spare(const FallenIn& world, const std::function<bool()>& works,
                          VictimList& victims);

}  // namespace makeway
