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
    choice<queue, &Queue::evict_up_to>(
        {"queue.evictUpTo", "3",
         "How much of its claim a queue gets by eviction: its exact share, rounded down at every "
         "level (exact-share; the unit above it comes from free room only), or all that it "
         "deserves."}),
    choice<queue, &Queue::excess_leaves>(
        {"queue.excessLeaves", "3",
         "When pods leave a queue that uses more than it deserves: as far as another queue claims "
         "it (when-claimed), or always."}),
    choices<queue, &Queue::receiver_keys>(
        {"queue.receiverKeys", "3",
         "In which order receivers are served: by the queue's priority, by the largest "
         "(deserved - allocated) / deserved (ratio). Names come last."}),
    choices<queue, &Queue::victim_keys>(
        {"queue.victimKeys", "3",
         "Which pods leave a queue first: lower priority, pending before running (phase), shorter "
         "running time (runtime). Names come last."}),
    plain<queue, &Queue::preempt_within_queue>(
        {"queue.preemptWithinQueue", "3",
         "Inside one queue a job of higher priority may preempt a lower one, by the rules of the "
         "workload policy."}),
    plain<queue, &Queue::default_queue>(
        {"queue.defaultQueue", "3",
         "The Queue object, if there is one, of pods that name none and whose namespace none "
         "lists. Without it they are outside every queue."}),
    integer<queue, &Queue::victim_steps_max>(
        {"queue.victimStepsMax", "3",
         "Steps in the search for the best set among pods of equal importance in one queue; then "
         "the largest go first."},
        {.minimum = 0, .maximum = 1'000'000'000}),
};

constexpr std::array replica_rows = {
    plain<replica, &Replica::enabled>(
        {"replica.enabled", "4",
         "Unmet replicas of deployments are scheduled over planes. Off: ReplicaSchedules are not "
         "read."}),
    plain<replica, &Replica::resource>(
        {"replica.resource", "4", "The resource that replicas are counted in."}),
    choices<replica, &Replica::class_order>(
        {"replica.classOrder", "4",
         "Victim classes, least intrusive first; a class that is missing is never used. The class "
         "comes before priority, so that a victim stays the same through its life."}),
    choices<replica, &Replica::tie_keys>(
        {"replica.tieKeys", "4",
         "Inside a class: lower pod priority, lower score of the plane, newer creation, lexically "
         "higher name."}),
    choices<replica, &Replica::node_keys>(
        {"replica.nodeKeys", "4",
         "How nodes are compared when several GPUs are needed, smaller is better. "
         "highest-priority is that of the victims that lose something (scaled down or "
         "force-deleted), any-priority that of all victims; newest and higher-name are those of "
         "the most intrusive victim. The name of the node comes last."}),
    choices<replica, &Replica::surplus_keys>(
        {"replica.surplusKeys", "4",
         "Which pods of a deployment count as its surplus, the most likely first: not ready, more "
         "siblings on the node, newest, higher name."}),
    plain<replica, &Replica::protect_last_replica>(
        {"replica.protectLastReplica", "4",
         "The last replica of a deployment in a plane is never a victim: scaling to zero may take "
         "very long."}),
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
    plain<replica, &Replica::keep_previous_plan>(
        {"replica.keepPreviousPlan", "4",
         "Ask, node and victims of the previous plan are kept while they remain valid."}),
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
    plain<required_node, &RequiredNode::honour_preemption_policy>(
        {"required_node.honourPreemptionPolicy", "5",
         "A pinned pod with preemptionPolicy Never evicts no pod."}),
    choices<required_node, &RequiredNode::pinned_by>(
        {"required_node.pinnedBy", "5",
         "Other pinned pods are never victims; a pod counts as one by its node affinity, by the "
         "annotation makeway.dev/required-node, or by a DaemonSet among its owners."},
        true),
    plain<required_node, &RequiredNode::allow_equal_priority>(
        {"required_node.allowEqualPriority", "5",
         "Pods of the pinned pod's own priority may be victims."}),
    plain<required_node, &RequiredNode::allow_higher_priority>(
        {"required_node.allowHigherPriority", "5",
         "Pods of a higher priority than the pinned pod's may be victims: no pod is spared for its "
         "priority. Breaks law 2, which has to be waived."}),
    choice<required_node, &RequiredNode::candidates_hold>(
        {"required_node.candidatesHold", "5",
         "A candidate must hold some of a resource that is short (scarce-amount), or name any "
         "resource that the ask names, even with amount 0 (resource-name)."}),
    plain<required_node, &RequiredNode::victim_classes>(
        {"required_node.victimClasses", "5",
         "Victim classes, first to last resort: regular (every pod), owner, opted-out, and further "
         "ones as label:KEY=VALUE or annotation:makeway.dev/NAME=VALUE. A pod belongs to the last "
         "listed class that matches it; without any it is no candidate. Where opted-out is not "
         "listed, protection.protectOptedOut decides about such pods."}),
    choice<required_node, &RequiredNode::class_steps>(
        {"required_node.classSteps", "5",
         "victimSelection runs on the first class, then on the first two, and so on "
         "(cumulative), or once on all of them in order (together)."}),
    choices<required_node, &RequiredNode::class_keys>(
        {"required_node.classKeys", "5",
         "The order inside a class: lower priority, younger, smaller. Names come last."}),
    choices<required_node, &RequiredNode::victim_selection>(
        {"required_node.victimSelection", "5",
         "Strategies with fallback: one victim of the right size (single); lower priority, then "
         "largest, until covered (multiple); candidates in their order until covered (prefix)."}),
    choice<required_node, &RequiredNode::multiple_order>(
        {"required_node.multipleOrder", "5",
         "For multiple: lower priority first and then the largest (priority-first), or the largest "
         "whatever its priority (largest-first)."}),
    integer<required_node, &RequiredNode::deviation_percent>(
        {"required_node.deviationPercent", "5",
         "For single: how far the victim's size may deviate from the pinned pod's request, either "
         "way."},
        {.minimum = 0, .maximum = 1'000'000}),
    integer<required_node, &RequiredNode::max_victims>(
        {"required_node.maxVictims", "5",
         "How many pods may be evicted for one pinned pod, group members included."},
        {.minimum = 1, .maximum = 1'000'000}),
    choice<required_node, &RequiredNode::coverage>(
        {"required_node.coverage", "5",
         "Victims are gathered until they cover what is missing besides the free room (shortfall), "
         "or until their own sum covers the whole request (own-sum)."}),
    plain<required_node, &RequiredNode::refuse_negative_room>(
        {"required_node.refuseNegativeRoom", "5",
         "There are no victims at all when some resource of the node, asked for or not, would "
         "still be overcommitted afterwards."}),
    choice<required_node, &RequiredNode::leaving_room>(
        {"required_node.leavingRoom", "1",
         "Leaving pods free their room for the ask (credited), hold it until they are gone "
         "(occupied), or are candidates like any other pod (victims)."}),
    choice<required_node, &RequiredNode::put_back>(
        {"required_node.putBack", "5",
         "Victims that are not needed are put back: not at all (none), in one pass (once), or "
         "until nothing changes (until-stable)."}),
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
