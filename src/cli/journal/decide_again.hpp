// The plan of a recorded cycle, made again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/lawful_plan.hpp"
#include "journal/journal_records.hpp"
#include "journal/journal_world.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// By which rules; those of the journal, or others.
struct ReplayRules {
  const Configuration& configuration;
  std::string_view preset;
  std::string_view configuration_hash;  ///< Empty: that of the configuration.
};

/// On the cluster as it was. A cycle that was not judged is not judged now either.
LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain);

// How a plan differs from the recorded one, of which there is the document, or only the id.

/// Byte for byte: the id, whether the plan acts, and the document.
bool is_recorded_plan(const CycleRecord& cycle, const std::optional<Plan>& plan);

/// Lines that say which asks came to something else, and what. Not empty.
std::string plan_difference(const CycleRecord& cycle, const std::optional<Plan>& plan);

}  // namespace makeway::cli
