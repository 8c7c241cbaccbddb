// Two plans for the same cluster under two configurations, side by side: which asks come to
// something else, what leaves under one of them only, and on which key or rule they part.
#pragma once

#include <string>
#include <string_view>

#include "cli/palette.hpp"
#include "cli/plan/plan_parties.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// A plan, under the name of its configuration.
struct PlanSide {
  std::string_view name;
  const Plan& plan;
  /// The same plan with explanations and many alternatives; null: keys are not told.
  const Plan* explained = nullptr;
  const Configuration& configuration;
};

/// How many asks come to something else.
std::size_t differing_asks(const Plan& first, const Plan& second);

/// Asks of one owner that part in the same manner are told by the first of them.
std::string comparison_text(const PlanSide& first, const PlanSide& second, const Parties& parties,
                            const Palette& palette);

}  // namespace makeway::cli
