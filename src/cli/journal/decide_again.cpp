#include "cli/journal/decide_again.hpp"

#include <utility>
#include <vector>

namespace makeway::cli {
namespace {

/// The asks under these rules: a kind that they do not schedule would not have been due, and would
/// make the whole plan fail.
std::vector<AskName> asking(const std::vector<AskName>& due, const Configuration& rules) {
  std::vector<AskName> asks = due;
  std::erase_if(asks, [&](const AskName& ask) {
    return (ask.kind == AskKind::session && !rules.session.enabled) ||
           (ask.kind == AskKind::replica_schedule && !rules.replica.enabled);
  });
  return asks;
}

}  // namespace

LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain) {
  std::vector<AskName> asks = asking(cycle.due, rules.configuration);
  if (asks.empty() && !cycle.due.empty()) {
    // An empty list of asks would mean all of them.
    LawfulPlan empty;
    empty.plan = Plan{.preset = std::string(rules.preset), .now = cycle.now};
    return empty;
  }
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
                           .configuration_hash = std::string(rules.configuration_hash),
                           .asks = std::move(asks),
                           .explain = explain,
                           .contain = tools.contain},
                          used);
}

}  // namespace makeway::cli
