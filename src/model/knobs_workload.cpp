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
    of_ask(choice<workload, &Workload::node_score>(
        {"workload.nodeScore", "2",
         "Among nodes with room, the fullest (pack) or the emptiest (spread) is taken. Packing "
         "keeps whole nodes free, which is what large asks need."})),
    of_ask(choices<workload, &Workload::score_keys>(
        {"workload.scoreKeys", "2",
         "The score of a plan, smaller is better, the first difference decides; names come last. "
         "stopped-pods are the victims and the pods that stop with them, in gangs which they take "
         "below their minimum and in workloads that one lost pod stops, such as a JobSet; their "
         "lost work counts, too. raw-priority-sum adds 2^31 to each priority, as kube-scheduler "
         "does; oldest-victim is the age of the oldest victim of the highest "
         "priority. grouped-victims (pods of groups), largest-victim (pods of the largest unit) "
         "and victims-age let ties fall on less important units."})),
};

}  // namespace

std::span<const Knob> workload_knobs() { return workload_rows; }

}  // namespace makeway::knob_tables
