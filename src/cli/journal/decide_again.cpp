#include "cli/journal/decide_again.hpp"

namespace makeway::cli {

LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain) {
  PlanTools used = tools;
  used.keep_going = true;  // As the loop that was recorded.
  if (!cycle.judged) {
    used.check = [](const Cluster&, const Configuration&, const Plan&) {
      return std::vector<LawBreach>();
    };
  }
  return make_lawful_plan(world.cluster(), rules.configuration,
                          {.now = cycle.now,
                           .preset = std::string(rules.preset),
                           .asks = cycle.due,
                           .explain = explain,
                           .contain = tools.contain},
                          used);
}

}  // namespace makeway::cli
