// The knobs of src/policies/workload: pods and pod groups ask, pods and pod groups are victims.
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Workload = WorkloadSettings;
constexpr auto workload = &Configuration::workload;
constexpr Limits priorities = {.minimum = priority_min, .maximum = priority_max};

constexpr std::array workload_rows = {
    of_ask(choice<workload, &Workload::evict_for>(
        {"workload.evictFor", "2",
         "Which members victims are evicted for: a gang's minimum, then every further member as an "
         "ask of its own (each); the minimum only, further members fill free room (minimum); as "
         "many members as possible (all)."})),
    of_ask(choice<workload, &Workload::below_minimum>(
        {"workload.belowMinimum", "2",
         "A victim group that falls below its minimum keeps running degraded (keep) or leaves as a "
         "whole (evict)."})),
    of_ask(plain<workload, &Workload::above_minimum_first>(
        {"workload.aboveMinimumFirst", "2",
         "Among members of equal priority of one group, those above the gang minimum leave "
         "first."})),
    plain<workload, &Workload::protect_marked_members>(
        {"workload.protectMarkedMembers", "2",
         "A member marked makeway.dev/protected is never a victim while its group runs."}),
    choice<workload, &Workload::pods_not_matching_priority>(
        {"workload.podsNotMatchingPriority", "2",
         "A group whose pods carry another priority than the group is reported and the group's "
         "counts (report), or the group is refused as an ask (refuse)."}),
    plain<workload, &Workload::honour_preemption_priority>(
        {"workload.honourPreemptionPriority", "2",
         "A preemption priority of its own is read. Otherwise every unit has its scheduling "
         "priority only."}),
    integer<workload, &Workload::preemption_priority_above_max>(
        {"workload.preemptionPriorityAboveMax", "2",
         "How far a preemption priority may lie above the scheduling priority. The default is "
         "beyond every distance, so nothing is capped."},
        {.minimum = 0, .maximum = priority_distance_max}),
    integer<workload, &Workload::preemption_priority_from>(
        {"workload.preemptionPriorityFrom", "2",
         "The lowest scheduling priority whose preemption priority may differ from it."},
        priorities),
    integer<workload, &Workload::preemption_priority_to>(
        {"workload.preemptionPriorityTo", "2",
         "The highest scheduling priority whose preemption priority may differ from it."},
        priorities),
    of_ask(choice<workload, &Workload::group_domains>(
        {"workload.groupDomains", "2",
         "A group is tried in each topology domain that it allows (topology), or its topology "
         "constraint is not read and the whole cluster is its one domain (cluster)."})),
    of_ask(choice<workload, &Workload::member_order>(
        {"workload.memberOrder", "2",
         "In which order the members of a group are placed: the hardest to place first (largest), "
         "or by priority, then creation (creation)."})),
    of_ask(choice<workload, &Workload::node_score>(
        {"workload.nodeScore", "2",
         "Among nodes with room, the fullest (pack) or the emptiest (spread) is taken. Packing "
         "keeps whole nodes free, which is what large asks need."})),
    of_ask(choice<workload, &Workload::placement_guide>(
        {"workload.placementGuide", "2",
         "When victims are needed, a place is chosen by which pods would have to leave (victims), "
         "or by nodeScore on a cluster from which all potential victims are gone (node-score)."})),
    of_ask(integer<workload, &Workload::placements_max>(
        {"workload.placementsMax", "2",
         "How many further placements are tried for a group in each domain: member by member, with "
         "detours, and with single victims kept. Fewer where members times nodes are many."},
        {.minimum = 1, .maximum = 1'000})),
    of_ask(plain<workload, &Workload::start_from_simple_plans>(
        {"workload.startFromSimplePlans", "2",
         "Simpler plans are tried as well, and the best score wins: as kube-scheduler and KEP-5710 "
         "would plan, without victims under a budget, with the smallest members first."})),
    of_ask(choice<workload, &Workload::search>(
        {"workload.search", "2",
         "The usual search (fast), or one that proves its plan the best on the score within "
         "engine.exactStepsMax (exact)."})),
    of_ask(choice<workload, &Workload::priority_search>(
        {"workload.prioritySearch", "2",
         "How the lowest priority is found above which no victim is needed: not at all (none), by "
         "halving (bisect), upward step by step (scan), or by halving where the constraints are "
         "monotone and upward elsewhere (adaptive)."})),
    of_ask(choices<workload, &Workload::importance_keys>(
        {"workload.importanceKeys", "2",
         "What makes a victim more important, and so put back earlier: higher priority; a group "
         "or its member over a lone pod (kind); more pods (size); started earlier (age); more lost "
         "work. Names come last."})),
    of_ask(choice<workload, &Workload::victim_choice>(
        {"workload.victimChoice", "2",
         "Which pods leave a node: those that cannot be put back (put-back), or the set that is "
         "best on the score, found by branch and bound within engine.victimStepsMax (best)."})),
    of_ask(choice<workload, &Workload::put_back>(
        {"workload.putBack", "2",
         "Victims that still fit are put back, most important first: not at all (none), in one "
         "pass (once), or until nothing changes (until-stable)."})),
    of_ask(choice<workload, &Workload::put_back_scope>(
        {"workload.putBackScope", "2",
         "A put-back must leave the plan feasible in every constraint on every node it touches "
         "(every-node), or only for the ask on the ask's own nodes (ask-nodes)."})),
    choice<workload, &Workload::leaving_room>(
        {"workload.leavingRoom", "1",
         "Leaving pods free their room for the ask (credited), hold it until they are gone "
         "(occupied), or are candidates like any other pod (victims)."}),
    choice<workload, &Workload::nomination_held_by>(
        {"workload.nominationHeldBy", "1",
         "An ask gets no new victims while its nominated placement stays possible (placement), or "
         "while a pod of lower priority that a scheduler preempted is still leaving its nominated "
         "node (preempted-pods)."}),
    of_ask(choices<workload, &Workload::score_keys>(
        {"workload.scoreKeys", "2",
         "The score of a plan, smaller is better, the first difference decides; names come last. "
         "stopped-pods are the victims and the pods that stop with them, in gangs which they take "
         "below their minimum and in workloads that one lost pod stops, such as a JobSet; their "
         "lost work counts, too. raw-priority-sum adds 2^31 to each priority, as kube-scheduler "
         "does; oldest-victim is the age of the oldest victim of the highest "
         "priority. grouped-victims (pods of groups), largest-victim (pods of the largest unit) "
         "and victims-age let ties fall on less important units."})),
    of_ask(choice<workload, &Workload::score_priority>(
        {"workload.scorePriority", "2",
         "The priorities in the score are those of the victims' units (unit) or the pods' own "
         "(pod)."})),
};

}  // namespace

std::span<const Knob> workload_knobs() { return workload_rows; }

}  // namespace makeway::knob_tables
