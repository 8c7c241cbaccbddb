// The knobs that every policy obeys: protection, budgets, engine.
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Protection = ProtectionSettings;
using Engine = EngineSettings;
constexpr auto protection = &Configuration::protection;
constexpr auto engine = &Configuration::engine;
constexpr Limits steps = {.minimum = 1, .maximum = 1'000'000'000'000};

constexpr std::array protection_rows = {
    plain<protection, &Protection::protect_system_critical>(
        {"protection.protectSystemCritical", "1",
         "Pods of the classes system-node-critical and system-cluster-critical are never "
         "victims."}),
    plain<protection, &Protection::protect_mirror_pods>(
        {"protection.protectMirrorPods", "1",
         "Mirror and static pods are never victims: their kubelet would bring them back at once."}),
    plain<protection, &Protection::protect_opted_out>(
        {"protection.protectOptedOut", "1",
         "Pods with allow-preemption \"false\" are never victims. For a pinned pod, "
         "required_node.victimClasses decides instead."}),
    plain<protection, &Protection::pinned>(
        {"protection.pinned", "1",
         "Pods that can run on one node only (by node affinity, annotation or a DaemonSet that "
         "owns them) are not victims of other pods and groups. For a pinned pod, "
         "required_node.pinnedBy decides instead."}),
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
    choice<&Configuration::budgets, &BudgetSettings::counted_over>(
        {"budgets.countedOver", "2",
         "Which evictions count as budget violations when places are compared: those of the final "
         "victims, or, as kube-scheduler does, those found in one walk over all potential victims "
         "before any of them is spared (only with workload.victimChoice put-back)."}),
};

constexpr std::array engine_rows = {
    choices<engine, &Engine::laws_waived>(
        {"engine.lawsWaived", "1",
         "Laws that plans may break in order to reproduce a peer; 4-gangs waives law 4 for pod "
         "groups only, 1-claims and 4-claims for what queues claim. Every plan lists them, and a "
         "live run refuses 1, 1-claims, 2, 3, 5 and 8."},
        true),
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
    of_ask(integer<engine, &Engine::cascade_steps_max>(
        {"engine.cascadeStepsMax", "2",
         "Bound of following cascades, per ask: the number of nodes that are tried for recreated "
         "victims."},
        steps)),
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
    of_ask(integer<engine, &Engine::exact_steps_max>(
        {"engine.exactStepsMax", "2",
         "Bound of the exact search, per ask: the number of partial plans that are expanded."},
        steps)),
    integer<engine, &Engine::plan_steps_max>({"engine.planStepsMax", "1",
                                              "Bound of all searches of a plan together, in the "
                                              "same steps as the bounds per ask. When it "
                                              "is reached, later pods are placed only where there "
                                              "is room, later groups and sessions not "
                                              "at all, and they say so."},
                                             steps),
    integer<engine, &Engine::containment_rounds_max>(
        {"engine.containmentRoundsMax", "1",
         "How often a cycle is decided again without the asks whose plan broke a law, a bug in "
         "Makeway (law 14). After that the plan is empty."},
        {.minimum = 0, .maximum = 1'000}),
    integer<engine, &Engine::alternatives_max>(
        {"engine.alternativesMax", "1",
         "How many rejected alternatives an explanation keeps for each ask."},
        {.minimum = 1, .maximum = 1'000}),
    integer<engine, &Engine::unpacked_ratio_max>(
        {"engine.unpackedRatioMax", "1",
         "How many times its packed size a gzip file may unpack to; up to 1 GiB is always allowed. "
         "It counts from a preset, a file or the command line: a Configuration among the input is "
         "read too late."},
        {.minimum = 1, .maximum = 1'000'000}),
};

// One array, because a span needs neighbours in memory.
constexpr auto general_rows = [] {
  std::array<Knob, protection_rows.size() + budget_rows.size() + engine_rows.size()> all{};
  auto end = std::ranges::copy(protection_rows, all.begin()).out;
  end = std::ranges::copy(budget_rows, end).out;
  std::ranges::copy(engine_rows, end);
  return all;
}();

}  // namespace

std::span<const Knob> general_knobs() { return general_rows; }

}  // namespace makeway::knob_tables
