#include "cli/journal/decide_again.hpp"

#include <algorithm>
#include <vector>

namespace makeway::cli {
namespace {

/// Who asks under these rules: a kind that they do not schedule would not have been due, and would
/// cost the others their plan. Nobody left: all of them, and the plan's problems say why.
std::vector<AskName> asking(const std::vector<AskName>& due, const Configuration& rules) {
  std::vector<AskName> asks = due;
  std::erase_if(asks, [&](const AskName& ask) {
    return (ask.kind == AskKind::session && !rules.session.enabled) ||
           (ask.kind == AskKind::replica_schedule && !rules.replica.enabled);
  });
  return asks.empty() ? due : asks;
}

}  // namespace

LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain) {
  PlanTools used = tools;
  if (!cycle.judged) {
    used.check = [](const Cluster&, const Configuration&, const Plan&) {
      return std::vector<LawBreach>();
    };
  }
  return make_lawful_plan(world.cluster(), rules.configuration,
                          {.now = cycle.now,
                           .preset = std::string(rules.preset),
                           .asks = asking(cycle.due, rules.configuration),
                           .explain = explain,
                           .contain = tools.contain},
                          used);
}

}  // namespace makeway::cli
