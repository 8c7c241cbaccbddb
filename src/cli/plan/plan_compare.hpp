// Two plans for the same cluster under two configurations, side by side: which asks have another
// outcome, which victims only one of them has, and on which key or rule they differ.
#pragma once

#include <string>
#include <string_view>

#include "cli/plan/ask_name.hpp"
#include "cli/terminal.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// A plan, under the name of its configuration.
struct PlanSide {
  std::string_view name;
  const Plan& plan;
  /// The same plan with explanations and many alternatives; null: keys are not shown.
  const Plan* explained = nullptr;
  const Configuration& configuration;
};

/// How many asks have another outcome.
std::size_t differing_asks(const Plan& first, const Plan& second);

/// Of asks of one owner that differ in the same way, the first is shown.
std::string comparison_text(const PlanSide& first, const PlanSide& second, const Parties& parties,
                            const Palette& palette);

}  // namespace makeway::cli
