// What follows from the answers: actions, conditions, and the plan's identity.
#pragma once

#include "policies/shared/cycle.hpp"

namespace makeway {

/// Fills everything of `cycle.plan` that the asks do not say themselves.
void finish_plan(Cycle& cycle);

}  // namespace makeway
