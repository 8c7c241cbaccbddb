#include "cli/risk/protection_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "cli/risk/stopping_units.hpp"
#include "cli/text.hpp"
#include "model/normalize.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view budget_name = "makeway-risk-budget";

std::set<std::string> names_of(const std::vector<PlanVictim>& victims) {
  std::set<std::string> names;
  for (const PlanVictim& victim : victims) {
    names.insert(key_text({victim.namespace_name, victim.name, victim.plane}));
  }
  return names;
}

class Trials {
 public:
  Trials(const TrialSettings& settings, EvictionProbe& probe, PlanQuestions& questions)
      : settings_(settings), probe_(probe), questions_(questions) {}

  std::vector<ProtectionTrial> run() {
    opt_out();
    raise_priority();
    add_budget();
    set_minimum_runtime();
    return std::move(trials_);
  }

 private:
  void opt_out();
  void raise_priority();
  void add_budget();
  void set_minimum_runtime();
  /// With another pod in its place, which is put back afterwards.
  void with_pod(std::string change, const Pod& pod);
  void report(std::string change, const ConfigurationDocument& configuration);
  ProtectionTrial in_todays_plan(const ConfigurationDocument& configuration);
  ProtectionTrial for_smallest(const ConfigurationDocument& configuration);
  std::string stops_with(const PlanAsk& ask) const {
    return cli::stops_with(ask, settings_.cluster, settings_.pod);
  }
  std::int32_t priority_of_ask() const {
    return settings_.taker != nullptr ? settings_.taker->priority : settings_.smallest->priority;
  }

  const TrialSettings& settings_;
  EvictionProbe& probe_;
  PlanQuestions& questions_;
  std::vector<ProtectionTrial> trials_;
};

/// Victims that were none before: "; shop/other leaves instead".
std::string instead_text(const std::vector<PlanVictim>& before,
                         const std::vector<PlanVictim>& after) {
  std::vector<std::string> others;
  std::ranges::set_difference(names_of(after), names_of(before), std::back_inserter(others));
  if (others.empty()) return {};
  const bool one = others.size() == 1;
  return fmt::format("; {} {} instead", few_names(std::move(others)), one ? "leaves" : "leave");
}

ProtectionTrial Trials::in_todays_plan(const ConfigurationDocument& configuration) {
  const std::optional<Plan> plan = questions_.today(settings_.cluster, configuration);
  if (!plan) return {.result = "could not be planned"};
  const auto all_victims = [](const Plan& of) {
    std::vector<PlanVictim> victims;
    for (const PlanAsk& ask : of.asks) {
      victims.insert(victims.end(), ask.victims.begin(), ask.victims.end());
    }
    return victims;
  };
  for (const PlanAsk& ask : plan->asks) {
    if (probe_.evicts(ask)) {
      return {.result = fmt::format("is evicted for {}", ask_text(ask))};
    }
  }
  for (const PlanAsk& ask : plan->asks) {
    std::string unit = stops_with(ask);
    if (unit.empty()) continue;
    std::string result = fmt::format("stops with {} for {}", unit, ask_text(ask));
    return {.result = std::move(result), .stops_with = std::move(unit)};
  }
  ProtectionTrial trial{
      .protects = true,
      .result = "stays" + instead_text(all_victims(settings_.today), all_victims(*plan))};
  const auto taker = std::ranges::find(plan->asks, ask_text(*settings_.taker),
                                       [](const PlanAsk& ask) { return ask_text(ask); });
  if (taker == plan->asks.end() || taker->replicas) return trial;
  if (taker->kind == AskKind::queue) {
    if (taker->victims.empty()) {
      trial.result += fmt::format("; then {} takes nothing", ask_text(*taker));
    }
  } else if (taker->placements.empty()) {
    trial.result += fmt::format("; then {} finds no place", ask_text(*taker));
  }
  return trial;
}

ProtectionTrial Trials::for_smallest(const ConfigurationDocument& configuration) {
  const std::optional<PlanAsk> answer = probe_.ask_again(*settings_.smallest, configuration);
  if (!answer) return {.result = "could not be planned"};
  if (probe_.evicts(*answer)) return {.result = "is evicted all the same"};
  const std::string instead = instead_text(settings_.smallest->answer.victims, answer->victims);
  if (std::string unit = stops_with(*answer); !unit.empty()) {
    return {.result = fmt::format("stops with {}{}", unit, instead), .stops_with = std::move(unit)};
  }
  ProtectionTrial trial{.protects = true, .result = "stays" + instead};
  if (answer->placements.empty()) trial.result += "; then that ask finds no place";
  return trial;
}

void Trials::report(std::string change, const ConfigurationDocument& configuration) {
  ProtectionTrial trial =
      settings_.taker != nullptr ? in_todays_plan(configuration) : for_smallest(configuration);
  trial.change = std::move(change);
  trials_.push_back(std::move(trial));
}

void Trials::with_pod(std::string change, const Pod& pod) {
  const Pod before = settings_.cluster.pod(settings_.pod);
  settings_.cluster.apply(pod);
  report(std::move(change), settings_.configuration);
  settings_.cluster.apply(before);
}

void Trials::opt_out() {
  Pod pod = settings_.cluster.pod(settings_.pod);
  if (pod.opted_out) return;
  // SPEC section 10: do not recommend a mark that does not count.
  const TrustSettings& trust = settings_.configuration.configuration.trust;
  const bool counts =
      trust.mode == TrustMode::files ||
      std::ranges::find(trust.namespaces, pod.namespace_name) != trust.namespaces.end();
  if (!counts) return;
  pod.opted_out = true;
  with_pod("annotation makeway.dev/allow-preemption: \"false\"", pod);
}

/// As high as the ask's: law 2 wants victims of strictly lower priority.
void Trials::raise_priority() {
  Pod pod = settings_.cluster.pod(settings_.pod);
  const std::int32_t priority = priority_of_ask();
  const Unit& unit = settings_.cluster.units()[settings_.cluster.pods().unit[settings_.pod]];
  if (unit.kind != UnitKind::pod || unit.preemption_priority >= priority) return;
  pod.priority = priority;
  pod.priority_class.clear();
  pod.notes.preemption_priority_class.clear();
  with_pod(fmt::format("priority {} instead of {}", priority, unit.preemption_priority), pod);
}

/// A budget for pods with its labels that allows nothing: as budgets are taken now, and strictly.
void Trials::add_budget() {
  const Pod pod = settings_.cluster.pod(settings_.pod);
  if (pod.labels.empty()) return;
  LabelSelector selector;
  for (const auto& [key, value] : pod.labels) {
    selector.requirements.push_back({.key = key, .operation = Operator::in, .values = {value}});
  }
  normalize(selector);
  settings_.cluster.apply(DisruptionBudget{.namespace_name = pod.namespace_name,
                                           .name = std::string(budget_name),
                                           .uid = {},
                                           .plane = {},
                                           .selector = selector,
                                           .available_min = {},
                                           .unavailable_max = CountOrPercent{},
                                           .disruptions_allowed = 0,
                                           .disrupted_pods = {}});
  const BudgetMode mode = settings_.configuration.configuration.budgets.mode;
  report(fmt::format("a budget that allows no eviction (budgets.mode={})", choice_name(mode)),
         settings_.configuration);
  if (mode != BudgetMode::strict) {
    ConfigurationDocument strict = settings_.configuration;
    strict.configuration.budgets.mode = BudgetMode::strict;
    report("the same budget with budgets.mode=strict", strict);
  }
  settings_.cluster.apply(Removal{.kind = ObjectKind::disruption_budget,
                                  .namespace_name = pod.namespace_name,
                                  .name = std::string(budget_name),
                                  .plane = {}});
}

void Trials::set_minimum_runtime() {
  constexpr std::int64_t ms_per_minute = 60'000;
  const Time started = settings_.cluster.pods().started[settings_.pod];
  if (started == no_time || started > questions_.now()) return;
  const std::int64_t age = questions_.now().ms - started.ms;
  ConfigurationDocument longer = settings_.configuration;
  longer.configuration.protection.minimum_runtime =
      Duration{(age / ms_per_minute + 1) * ms_per_minute};
  report(
      fmt::format("protection.minimumRuntime={} (it has run for {})",
                  to_text(longer.configuration.protection.minimum_runtime), to_text(Duration{age})),
      longer);
}

}  // namespace

std::vector<ProtectionTrial> try_protections(const TrialSettings& settings, EvictionProbe& probe,
                                             PlanQuestions& questions) {
  if (settings.taker == nullptr && settings.smallest == nullptr) return {};
  return Trials(settings, probe, questions).run();
}

}  // namespace makeway::cli
