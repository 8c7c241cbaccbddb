// The knobs of trust: which marks on objects count (SPEC section 10).
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Trust = TrustSettings;
constexpr auto trust = &Configuration::trust;

constexpr std::array trust_rows = {
    plain<trust, &Trust::namespaces>(
        {"trust.namespaces", "10",
         "Trusted namespaces, besides those with the label makeway.dev/trusted: \"true\". They "
         "matter only where another knob of this section says trusted."},
        true),
    choice<trust, &Trust::pinned>(
        {"trust.pinned", "10",
         "Who has the privileges of a pod that can run on one node only: everyone who is pinned, "
         "or only pods of a DaemonSet that exists in a trusted namespace (trusted). Others then "
         "are ordinary pods with one node. --trust live: trusted."}),
    choice<trust, &Trust::protection>(
        {"trust.protection", "10",
         "Where allow-preemption, protected and owner protect a pod: everywhere, or in trusted "
         "namespaces. --trust live: trusted."}),
    choice<trust, &Trust::preemption_priority>(
        {"trust.preemptionPriority", "10",
         "A preemption priority above the administrator's caps "
         "(workload.preemptionPriorityAboveMax, From, To) is an error (everyone), or the cap is "
         "used instead (capped); where no cap is set, capped honours trusted namespaces only. "
         "--trust live: capped."}),
    choice<trust, &Trust::group_priority>(
        {"trust.groupPriority", "10",
         "The priority of a group whose pods carry another one: the group's (everyone), or the "
         "lowest of group and pods (lowest). --trust live: lowest."}),
    choice<trust, &Trust::queue_labels>(
        {"trust.queueLabels", "10",
         "Whose queue labels count: everybody's, or, for a Queue that lists namespaces, only those "
         "of these namespaces (listed). --trust live: listed."}),
    choice<trust, &Trust::outside_queues>(
        {"trust.outsideQueues", "10",
         "Whose pods may run in no queue where queues exist: everybody's, or only those of trusted "
         "namespaces; the others are not placed."}),
    choice<trust, &Trust::deployment_labels>(
        {"trust.deploymentLabels", "10",
         "Which pods with the label makeway.dev/deployment belong to a ReplicaSchedule with a "
         "spec.selector: all of its namespace, or only those that the selector names (selected). "
         "--trust live: selected."}),
    choice<trust, &Trust::sessions>(
        {"trust.sessions", "10",
         "Whose sessions count in a ResourceGroup that lists namespaces: everybody's, or only "
         "those of these namespaces (listed). --trust live: listed."}),
    choice<trust, &Trust::replica_schedules>(
        {"trust.replicaSchedules", "10",
         "Where a ReplicaSchedule counts: everywhere, or in trusted namespaces. --trust live: "
         "trusted."}),
    choice<trust, &Trust::cost_max>(
        {"trust.costMax", "10",
         "What limits preemption-cost and last-checkpoint: nothing, or the run time of the pod or "
         "group (run-time); a checkpoint ahead then counts as now. --trust live: run-time."}),
    choice<trust, &Trust::notes>(
        {"trust.notes", "10",
         "Whether the annotations reserved-since, promised, evicted-for and plan are read "
         "(everyone) "
         "or not (never): live, memory is in status. --trust live: never."}),
};

}  // namespace

std::span<const Knob> trust_knobs() { return trust_rows; }

}  // namespace makeway::knob_tables
