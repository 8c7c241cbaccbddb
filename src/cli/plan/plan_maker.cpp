#include "cli/plan/plan_maker.hpp"

#include <fmt/format.h>

#include <chrono>

#include "cli/plan/bug_report.hpp"
#include "codec/writer.hpp"
#include "model/validation/validation.hpp"

namespace makeway::cli {
namespace {

std::int64_t steady_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Says what else could have been meant where the unit is not there at all.
void add_near_misses(Problems& problems, const std::optional<AskName>& ask,
                     const Cluster& cluster) {
  if (!ask || is_there(*ask, cluster)) return;
  for (Problem& problem : problems) problem.remedy = near_misses(*ask, cluster);
}

}  // namespace

PlanTools real_tools() {
  return {.decide = decide, .check = check_plan, .microseconds = steady_microseconds};
}

std::string timing_line(const PlanTiming& timing) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.integer_field("load", timing.load);
  writer.integer_field("snapshot", timing.snapshot);
  writer.integer_field("decide", timing.decide);
  writer.integer_field("check", timing.check);
  if (timing.cases) writer.integer_field("cases", *timing.cases);
  writer.end_object();
  return text;
}

void name_configuration(ConfigurationDocument& document, bool changed) {
  if (document.name.empty()) document.name = "custom";
  // What it was made from is no longer what it is.
  if (changed) document.name += "-changed";
}

PlanAttempt make_plan(const PlanCase& item, const PlanTools& tools, PlanTiming& timing) {
  PlanRequest request{.now = item.now ? *item.now : newest_time(item.cluster),
                      .preset = item.configuration.name,
                      .placements = item.placements,
                      .explain = item.explain};
  if (item.ask) request.ask = resolve_ask(*item.ask, item.cluster);
  const Configuration& configuration = item.configuration.configuration;
  if (Problems capped = find_cap_errors(item.cluster, configuration); !capped.empty()) {
    return {.plan = {}, .problems = std::move(capped), .bug = {}};
  }

  const std::int64_t start = tools.microseconds();
  Decision decision = tools.decide(item.cluster, configuration, request);
  const std::int64_t decided = tools.microseconds();
  timing.decide += decided - start;
  PlanAttempt attempt{.problems = std::move(decision.problems)};
  for (Problem& problem : attempt.problems) {
    if (problem.field == "ask") problem.field = item.ask_field;
  }
  add_near_misses(attempt.problems, request.ask, item.cluster);
  if (!decision.plan) return attempt;

  const std::vector<LawBreach> breaches = tools.check(item.cluster, configuration, *decision.plan);
  timing.check += tools.microseconds() - decided;
  if (breaches.empty()) {
    attempt.plan = std::move(decision.plan);
  } else {
    attempt.bug = report_bug({.cluster = item.cluster,
                              .configuration = item.configuration,
                              .request = request,
                              .plan_id = decision.plan->id,
                              .breaches = breaches});
  }
  return attempt;
}

}  // namespace makeway::cli
