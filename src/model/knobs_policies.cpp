// The knobs of src/policies/queue, replica and required_node.
#include "model/knob_tables.hpp"

namespace makeway::knob_tables {
namespace {

using Queue = QueueSettings;
using Replica = ReplicaSettings;
using RequiredNode = RequiredNodeSettings;
constexpr auto queue = &Configuration::queue;
constexpr auto replica = &Configuration::replica;
constexpr auto required_node = &Configuration::required_node;

constexpr std::array queue_rows = {
    plain<queue, &Queue::enabled>(
        {"queue.enabled", "3",
         "The queue stage runs when queues exist, and other policies take victims only from the "
         "ask's own queue. Off: queues are not read."}),
    choice<queue, &Queue::division>(
        {"queue.division", "3",
         "How the cluster is divided: by weight, capped by each queue's demand and refilled "
         "(max-min), or total x weight / sum of weights (by-weight)."}),
    plain<queue, &Queue::preempt_within_queue>(
        {"queue.preemptWithinQueue", "3",
         "Inside one queue a job of higher priority may preempt a lower one, by the rules of the "
         "workload policy."}),
};

constexpr std::array replica_rows = {
    plain<replica, &Replica::enabled>(
        {"replica.enabled", "4",
         "Unmet replicas of deployments are scheduled over planes. Off: ReplicaSchedules are not "
         "read."}),
    plain<replica, &Replica::resource>(
        {"replica.resource", "4", "The resource that replicas are counted in."}),
    plain<replica, &Replica::force_delete_any_priority>(
        {"replica.forceDeleteAnyPriority", "4",
         "Terminating pods of deployments of equal or higher priority may be force-deleted too; "
         "otherwise they are waited for."}),
    choice<replica, &Replica::force_delete_after>(
        {"replica.forceDeleteAfter", "4",
         "A terminating pod is force-deleted at the end of its grace period, or in the next cycle "
         "although its process may still use the GPU."}),
    plain<replica, &Replica::force_delete_extra_delay>(
        {"replica.forceDeleteExtraDelay", "4", "Waited on top of forceDeleteAfter."}),
    plain<replica, &Replica::surplus_timeout>(
        {"replica.surplusTimeout", "4",
         "A surplus pod that has not started to terminate after this loses its preference."}),
};

constexpr std::array required_node_rows = {
    plain<required_node, &RequiredNode::enabled>(
        {"required_node.enabled", "5",
         "Pods that can run on one node only have a policy of their own. Off: they are ordinary "
         "asks of the workload policy."}),
    plain<required_node, &RequiredNode::preemption_start_delay>(
        {"required_node.preemptionStartDelay", "5",
         "How old a reservation must be before preemption starts, when the cluster comes from "
         "files."}),
    plain<required_node, &RequiredNode::preemption_start_delay_live>(
        {"required_node.preemptionStartDelayLive", "5", "The same in a live run."}),
    plain<required_node, &RequiredNode::allow_equal_priority>(
        {"required_node.allowEqualPriority", "5",
         "Pods of the pinned pod's own priority may be victims."}),
    plain<required_node, &RequiredNode::victim_classes>(
        {"required_node.victimClasses", "5",
         "Victim classes, first to last resort: regular (every pod), owner, opted-out, and further "
         "ones as label:KEY=VALUE or annotation:makeway.dev/NAME=VALUE. A pod belongs to the last "
         "listed class that matches it; without any it is no candidate. Where opted-out is not "
         "listed, pods that opted out are no candidates."}),
    choices<required_node, &RequiredNode::victim_selection>(
        {"required_node.victimSelection", "5",
         "Strategies with fallback: one victim of the right size (single); lower priority, then "
         "largest, until covered (multiple); candidates in their order until covered (prefix)."}),
    integer<required_node, &RequiredNode::deviation_percent>(
        {"required_node.deviationPercent", "5",
         "For single: how far the victim's size may deviate from the pinned pod's request, either "
         "way."},
        {.minimum = 0, .maximum = 1'000'000}),
    integer<required_node, &RequiredNode::max_victims>(
        {"required_node.maxVictims", "5",
         "How many pods may be evicted for one pinned pod, group members included."},
        {.minimum = 1, .maximum = 1'000'000}),
};

// One array, because a span needs neighbours in memory.
constexpr auto policy_rows = [] {
  std::array<Knob, queue_rows.size() + replica_rows.size() + required_node_rows.size()> all{};
  auto end = std::ranges::copy(queue_rows, all.begin()).out;
  end = std::ranges::copy(replica_rows, end).out;
  std::ranges::copy(required_node_rows, end);
  return all;
}();

}  // namespace

std::span<const Knob> placement_policy_knobs() { return policy_rows; }

}  // namespace makeway::knob_tables
