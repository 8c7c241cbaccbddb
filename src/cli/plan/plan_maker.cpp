#include "cli/plan/plan_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/plan/bug_report.hpp"
#include "codec/plan_codec.hpp"
#include "codec/writer.hpp"
#include "model/validation/doubts.hpp"
#include "model/validation/regimes.hpp"
#include "model/validation/validation.hpp"
#include "policies/decide.hpp"

namespace makeway::cli {
namespace {

std::int64_t steady_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Says what else could have been meant where the unit is not there at all.
void add_near_misses(Problems& problems, const PlanRequest& request, const Cluster& cluster) {
  for (Problem& problem : problems) {
    const auto ask = std::ranges::find(request.asks, problem.object,
                                       [](const AskName& name) { return ask_text(name); });
    if (ask == request.asks.end() || is_there(*ask, cluster)) continue;
    problem.remedy = near_misses(*ask, cluster, request.now);
  }
}

PlanQuarantine plan_quarantine(const Quarantine& quarantine) {
  PlanQuarantine summary{.objects = static_cast<std::int64_t>(quarantine.objects()),
                         .problems = static_cast<std::int64_t>(quarantine.problems().count())};
  for (const Problem& problem : quarantine.problems()) {
    summary.first.push_back({.object = problem.object,
                             .field = problem.field,
                             .value = problem.value,
                             .message = problem.message,
                             .remedy = problem.remedy});
  }
  return summary;
}

}  // namespace

PlanTools real_tools() {
  return {.decide = decide,
          .check = check_plan,
          .identify = plan_identity,
          .microseconds = steady_microseconds,
          .contain = MAKEWAY_CONTAIN != 0};
}

std::string timing_line(const PlanTiming& timing) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.integer_field("load", timing.load);
  writer.integer_field("snapshot", timing.snapshot);
  writer.integer_field("decide", timing.decide);
  writer.integer_field("check", timing.check);
  writer.integer_field("refused", timing.refused);
  writer.integer_field("leftOut", timing.left_out);
  if (timing.cases) writer.integer_field("cases", *timing.cases);
  writer.end_object();
  return text;
}

void name_configuration(ConfigurationDocument& document, const ConfigurationChoice& choice) {
  if (document.name.empty()) document.name = "custom";
  if (choice.live_trust) document.name += "-live";
  // What it was made from is no longer what it is.
  if (!choice.overrides.empty()) document.name += "-changed";
}

Problems plan_doubts(const Loaded& loaded, const Configuration& configuration) {
  Problems doubts = find_regime_problems(loaded.cluster, configuration);
  doubts.make_warnings();  // The first claim wins.
  doubts.append(find_doubts(loaded.cluster, configuration, loaded.quarantine));
  loaded.origins.locate(doubts, loaded.cluster);
  return doubts;
}

TrustReport honour_marks(Loaded& loaded, const Configuration& configuration,
                         std::optional<Time> now, bool live) {
  std::set<std::pair<std::string_view, std::string_view>> daemon_sets;
  for (const WorkloadPods& workload : loaded.workloads) {
    if (workload.kind == "DaemonSet") daemon_sets.emplace(workload.namespace_name, workload.name);
  }
  TrustReport report = apply_trust(
      loaded.cluster, configuration,
      {.has_daemon_set = [&](std::string_view space,
                             std::string_view name) { return daemon_sets.contains({space, name}); },
       .now = now});
  if (live && loaded.configuration) {
    report.add(TrustMark::configuration, "Configuration", "metadata.name",
               loaded.configuration->name);
  }
  return report;
}

void keep_going_beyond_caps(Loaded& loaded, const Configuration& configuration) {
  Quarantine capped;
  quarantine_caps(loaded.cluster, configuration, capped);
  loaded.origins.locate(capped.problems(), loaded.cluster);
  loaded.quarantine.append(std::move(capped));
}

PlanAttempt make_plan(const PlanCase& item, const PlanTools& tools, PlanTiming& timing,
                      BugFiles& bug_files) {
  PlanRequest request{.now = item.now ? *item.now : newest_time(item.cluster),
                      .preset = item.configuration.name,
                      .placements = item.placements,
                      .explain = item.explain};
  Result<std::vector<AskName>> asks = resolve_asks(item.asks, item.cluster, item.workloads);
  if (!asks) {
    return {.plan = {},
            .problems = {{.field = std::string(item.ask_field), .message = asks.error().message}}};
  }
  request.asks = std::move(*asks);
  const Configuration& configuration = item.configuration.configuration;
  if (Problems capped = find_cap_errors(item.cluster, configuration); !capped.empty()) {
    return {.problems = std::move(capped)};
  }
  LawfulPlan made = make_lawful_plan(item.cluster, configuration, request, tools);
  timing.decide += made.decide_us;
  timing.check += made.check_us;
  timing.refused += std::ssize(made.refused);
  if (made.plan) timing.left_out += std::ssize(made.plan->left_out);
  PlanAttempt attempt{.problems = std::move(made.problems)};
  for (Problem& problem : attempt.problems) {
    if (problem.field == "ask") problem.field = item.ask_field;
  }
  add_near_misses(attempt.problems, request, item.cluster);
  attempt.shows_bug = made.shows_bug();
  if (attempt.shows_bug) {
    attempt.bug = report_bug({.cluster = item.cluster,
                              .configuration = item.configuration,
                              .request = request,
                              .made = made},
                             bug_files);
  }
  attempt.plan = std::move(made.plan);
  if (attempt.plan && item.quarantine != nullptr) {
    attempt.plan->quarantine = plan_quarantine(*item.quarantine);
  }
  if (attempt.plan && item.trust != nullptr) {
    for (const NotHonoured& each : item.trust->list()) {
      attempt.plan->not_honoured.push_back({.mark = std::string(choice_name(each.mark)),
                                            .marks = each.objects,
                                            .object = each.object,
                                            .field = each.field,
                                            .value = each.value,
                                            .reason = std::string(reason_of(each.mark))});
    }
  }
  return attempt;
}

}  // namespace makeway::cli
