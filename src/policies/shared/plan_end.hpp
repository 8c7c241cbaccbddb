// What follows from the answers: actions and conditions.
#pragma once

#include "policies/shared/draft.hpp"

namespace makeway {

/// Fills everything of `draft.plan` that the asks do not say themselves, but for its id.
void finish_plan(Draft& draft);

}  // namespace makeway
