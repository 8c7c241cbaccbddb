// The knobs that every policy obeys: compatibility, protection, budgets, engine.
#include "model/compatibility.hpp"
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Protection = ProtectionSettings;
using Engine = EngineSettings;
constexpr auto protection = &Configuration::protection;
constexpr auto engine = &Configuration::engine;
constexpr Limits steps = {.minimum = 1, .maximum = 1'000'000'000'000};

/// The one knob that stands for many fields.
constexpr Knob compatibility_row = {
    .path = compatibility_path,
    .type = KnobType::choice,
    .spec = "1",
    .documentation =
        "The rules to follow where schedulers differ: a bundle of rules that exist together "
        "only. The laws that a bundle waives are listed by every plan, and a live run refuses "
        "those that waive 1, 1-claims, 2, 3, 5 or 8. In a profile only the rules count that say "
        "how places and victims are looked for.",
    .choices = choice_names<Compatibility>,
    .scope = KnobScope::ask,
    .get = [](const Configuration& configuration) -> KnobValue {
      return std::string(choice_name(configuration.compatibility));
    },
    .put =
        [](Configuration& configuration, const KnobValue& value) {
          apply_compatibility(configuration,
                              choice_of<Compatibility>(std::get<std::string>(value)));
        }};

constexpr std::array protection_rows = {
    plain<protection, &Protection::protect_system_critical>(
        {"protection.protectSystemCritical", "1",
         "Pods of the classes system-node-critical and system-cluster-critical are never "
         "victims."}),
    plain<protection, &Protection::namespaces>(
        {"protection.namespaces", "1", "Pods in these namespaces are never victims."}, true),
    plain<protection, &Protection::minimum_runtime>(
        {"protection.minimumRuntime", "1",
         "A pod that has run for less than this is no victim yet."}),
    plain<protection, &Protection::preempt_other_schedulers>(
        {"protection.preemptOtherSchedulers", "1",
         "In a live run, pods of other schedulers may be victims too. From files and in shadow "
         "mode every pod counts, whichever scheduler placed it."}),
};

constexpr std::array budget_rows = {
    choice<&Configuration::budgets, &BudgetSettings::mode>(
        {"budgets.mode", "1",
         "Disruption budgets are avoided where possible (best-effort, as Kubernetes does) or never "
         "violated (strict). The shorthand is budgets=strict."}),
};

constexpr std::array engine_rows = {
    of_ask(plain<engine, &Engine::preemption_delay>(
        {"engine.preemptionDelay", "1",
         "How long an ask waits before it may preempt, so that an autoscaler can act first."})),
    plain<engine, &Engine::leave_timeout>(
        {"engine.leaveTimeout", "1",
         "How long after its deletion timestamp the room of a leaving pod still counts as coming. "
         "After that a dead kubelet or a stuck finalizer blocks no ask."}),
    plain<engine, &Engine::leave_wait_max>(
        {"engine.leaveWaitMax", "1",
         "Room that becomes free only after more than this is not counted at first: an ask is "
         "tried "
         "without it, and waits for it only if nothing else is found. Victims of its own "
         "nomination "
         "always count. So a pod with a grace period of years blocks no ask."}),
    of_ask(integer<engine, &Engine::cascade_depth>(
        {"engine.cascadeDepth", "2",
         "How many further preemptions are followed when a victim's controller recreates it; their "
         "victims are the secondary victims. 0 follows none."},
        {.minimum = 0, .maximum = 8})),
    of_ask(integer<engine, &Engine::victim_steps_max>(
        {"engine.victimStepsMax", "1",
         "Bound of the choice of victims, per ask: the number of removals and put-backs that are "
         "tried."},
        steps)),
    of_ask(integer<engine, &Engine::placement_steps_max>(
        {"engine.placementStepsMax", "1",
         "Bound of the placement search, per ask: the number of (member, node) pairs that are "
         "tried."},
        steps)),
    integer<engine, &Engine::plan_steps_max>({"engine.planStepsMax", "1",
                                              "Bound of all searches of a plan together, in the "
                                              "same steps as the bounds per ask. When it "
                                              "is reached, later pods are placed only where there "
                                              "is room, later groups and sessions not "
                                              "at all, and they say so."},
                                             steps),
    integer<engine, &Engine::alternatives_max>(
        {"engine.alternativesMax", "1",
         "How many rejected alternatives an explanation keeps for each ask."},
        {.minimum = 1, .maximum = 1'000}),
};

// One array, because a span needs neighbours in memory.
constexpr auto general_rows = [] {
  std::array<Knob, 1 + protection_rows.size() + budget_rows.size() + engine_rows.size()> all{};
  all.front() = compatibility_row;
  auto end = std::ranges::copy(protection_rows, all.begin() + 1).out;
  end = std::ranges::copy(budget_rows, end).out;
  std::ranges::copy(engine_rows, end);
  return all;
}();

}  // namespace

std::span<const Knob> general_knobs() { return general_rows; }

}  // namespace makeway::knob_tables
