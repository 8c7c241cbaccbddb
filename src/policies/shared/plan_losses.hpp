// What the plan costs whom: lost work of victims, what becomes of their groups, and how long each
// ask has waited.
#pragma once

#include "policies/shared/draft.hpp"

namespace makeway {

/// Fills costs, disrupted groups and pending times of the finished asks of `draft.plan`.
void add_losses(Draft& draft);

}  // namespace makeway
