// What follows from the answers: actions, conditions, and the plan's identity.
#pragma once

#include "policies/shared/draft.hpp"

namespace makeway {

/// Fills everything of `draft.plan` that the asks do not say themselves.
void finish_plan(Draft& draft);

}  // namespace makeway
