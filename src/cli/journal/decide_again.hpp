// The plan of a recorded cycle, made again.
#pragma once

#include <string_view>

#include "control/lawful_plan.hpp"
#include "journal/journal_world.hpp"

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

}  // namespace makeway::cli
