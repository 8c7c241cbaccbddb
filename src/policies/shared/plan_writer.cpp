#include "policies/shared/plan_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/check.hpp"
#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

struct Template {
  ReasonCode code;
  std::string_view words;
};

constexpr std::array<Template, 290> templates = {{
    // Shared by policies.
    {ReasonCode::as_written, "{0}"},
    {ReasonCode::named, "{0}"},
    {ReasonCode::of_object, "{0}: {1}"},
    {ReasonCode::makes_room_for, "makeway: makes room for {0}: {1}"},
    {ReasonCode::makes_room_then, "makeway: makes room for {0}: {1}; {2}"},
    {ReasonCode::may_preempt_later, "may preempt only {0} after its creation, from {1} on"},
    {ReasonCode::takes_long, ", which may take {0}; nothing sooner was found"},
    {ReasonCode::late_pods_do_not_help,
     "; {0} {0|pod leaves|pods leave} only after more than {1} (engine.leaveWaitMax), "
     "and waiting for that alone would not help"},
    {ReasonCode::fits_on_after_asks, "fits on {0} once the asks before it are placed"},
    {ReasonCode::fits_on_after_pods, "fits on {0} once {1} leaving {1|pod is|pods are} gone"},
    {ReasonCode::lower_priority, "lower priority ({0} < {1})"},
    {ReasonCode::and_its_group, ", its group leaves as a whole"},
    {ReasonCode::and_already_leaving, ", already leaving"},
    {ReasonCode::needs_unsupported, "{0}, so it is not placed"},
    {ReasonCode::by_name, "name"},
    {ReasonCode::by_priority, "priority: {0} against {1}"},
    {ReasonCode::stays_not_lower, "not of lower priority"},
    {ReasonCode::stays_higher, "of higher priority"},
    {ReasonCode::stays_leaving_late, "leaving, but not soon"},
    {ReasonCode::stays_leaving_overdue, "leaving, but overdue"},
    {ReasonCode::stays_leaving_uncounted, "leaving, which does not count yet"},
    {ReasonCode::stays_placed, "placed by this plan"},
    {ReasonCode::stays_nominated, "nominated"},
    {ReasonCode::stays_reserved, "the node is reserved for it"},
    {ReasonCode::stays_with_claim, "uses the claim"},
    {ReasonCode::stays_in_other_queue, "in another queue"},
    {ReasonCode::stays_opted_out, "opted out"},
    {ReasonCode::stays_pinned, "can run on one node only"},
    {ReasonCode::stays_pinned_too, "also can run on one node only"},
    {ReasonCode::stays_without_class, "of no class of victims"},
    {ReasonCode::stays_of_other_scheduler, "of another scheduler"},
    {ReasonCode::stays_under_two_budgets, "under two disruption budgets"},
    {ReasonCode::stays_scaled_only, "belongs to ReplicaSchedule {0}, which is only scaled down"},
    {ReasonCode::stays_kernel, why_kernel_stays},
    {ReasonCode::stays_mirror, "mirror pod"},
    {ReasonCode::stays_marked, "marked as protected"},
    {ReasonCode::stays_system_critical, "system-critical"},
    {ReasonCode::stays_with_group, "its group cannot leave as a whole"},
    {ReasonCode::stays_with_large_group, "its group has more pods than maxVictims"},
    {ReasonCode::only_candidate, "only candidate"},
    // Requests.
    {ReasonCode::already_runs, "it already runs on node {0}"},
    {ReasonCode::belongs_to_schedule, "it belongs to {0}, and Kubernetes places it"},
    {ReasonCode::not_its_placements,
     "the given placements are not those of its pending pods: {0:key}"},
    {ReasonCode::given_node_missing, "the given node {0} does not exist"},
    {ReasonCode::belongs_to_group, "it belongs to {0}, and a group asks as a whole"},
    {ReasonCode::belongs_below_minimum, "it belongs to {0}, whose minimum of {1} has no place yet"},
    // Pods.
    {ReasonCode::pod_waits_for_minimum,
     "has room now, and waits until the minimum of its group is bound"},
    {ReasonCode::place_needs_leaving_pods,
     "its queue has room only once pods have left that its place depends on"},
    {ReasonCode::pod_fits, "fits now on {0} of {1} {1|node|nodes}"},
    {ReasonCode::pod_awaits_preempted, "waits for preempted pods to leave its nominated node {0}"},
    {ReasonCode::pods_leave, "{0} {0|pod|pods} of lower priority must leave {1}"},
    {ReasonCode::pods_leave_elsewhere,
     "{0} {0|pod|pods} of lower priority must leave so that it fits on {1}"},
    {ReasonCode::no_node_tried, "no node was tried: {0} is used up"},
    {ReasonCode::no_nodes, "there are no nodes"},
    {ReasonCode::no_ordinary_node, "no node takes ordinary pods (regime pods)"},
    {ReasonCode::claim_forbids, "cannot be placed on any node: {0}"},
    {ReasonCode::any_node, "any node"},
    {ReasonCode::any_node_of_domain, "any node of {0}, where its group has to stay"},
    {ReasonCode::unfit_and_never_preempts,
     "does not fit on {0}, and its preemptionPolicy is Never: {1:;}"},
    {ReasonCode::unfit_when_all_left,
     "does not fit on {0}, even with every evictable pod gone: {1:;}"},
    {ReasonCode::no_victims_found, "no set of victims found that makes room: {0:;}"},
    {ReasonCode::nodes_refuse, "{0} {0|node|nodes}: {1}"},
    {ReasonCode::more_refusals, "and {0} {0|reason|reasons} more"},
    {ReasonCode::budget_allows_none, "budget {0} allows no eviction"},
    {ReasonCode::budget_keeps_group, "budget {0} does not let its whole group leave"},
    {ReasonCode::budget_allows_no_more, "budget {0} allows no further eviction"},
    {ReasonCode::other_on_same_node, "{0} on the same node"},
    {ReasonCode::pod_rule, "workload: units of lower priority leave one node"},
    {ReasonCode::other_node, "node {0}"},
    {ReasonCode::no_other_node, "no other node can hold it"},
    {ReasonCode::node_was_given, "none: the node was given"},
    {ReasonCode::by_given_place, "given"},
    {ReasonCode::by_nominated_node, "not its nominated node"},
    {ReasonCode::by_avoided_taints, "taints that it would rather avoid: {0} against {1}"},
    {ReasonCode::by_preferences, "preferences: {0} against {1} points"},
    {ReasonCode::by_spread, "wished spread: {0} pods against {1}"},
    {ReasonCode::by_fullness, "fullness: {0} against {1} permille"},
    {ReasonCode::nomination_ends, "; {0:name} is no longer nominated to {1}"},
    {ReasonCode::nomination_ends_for, ", where {0} goes"},
    {ReasonCode::nominations_end, "; in all, {0} of its pods lose their nomination"},
    // Groups.
    {ReasonCode::group_fits,
     "{0} of its {1} pending {1|pod|pods} {0|fits|fit} now, on {2} {2|node|nodes}"},
    {ReasonCode::group_fits_after_asks, "fits once the asks before it are placed"},
    {ReasonCode::group_fits_after_pods, "fits once {0} leaving {0|pod is|pods are} gone"},
    {ReasonCode::group_preempts,
     "{0} {0|pod|pods} of lower priority must leave so that {1} of its {2} pending "
     "{2|pod|pods} {1|fits|fit}, on {3} {3|node|nodes}"},
    {ReasonCode::group_search_ended,
     "no placement found for enough of its pods before {0} ended the search"},
    {ReasonCode::group_free_room_unproven,
     "; free room for them is not ruled out: {0} was reached"},
    {ReasonCode::group_spoils_places,
     "no placement found that leaves every other pod the place it was promised or "
     "nominated to"},
    {ReasonCode::group_too_few, "too few of its pods can be placed; for {0:name}: {1}"},
    {ReasonCode::given_nodes_apart,
     "the given nodes are not in one domain of {0:,} that the group allows"},
    {ReasonCode::no_domain,
     "no domain of {0:,} can hold the whole group: no node has the label, or its "
     "running members are in several domains or in none"},
    {ReasonCode::group_undefined,
     "its PodGroup is not in the input or in quarantine, so its rules are unknown"},
    {ReasonCode::group_below_minimum, "only {0} of the {1} pods of its minimum exist"},
    {ReasonCode::group_refused, "refused: {0}"},
    {ReasonCode::group_awaits_preempted,
     "waits for preempted pods to leave the nodes that its members are nominated to"},
    {ReasonCode::group_unfit_never_preempts, "does not fit, and its preemptionPolicy is Never"},
    {ReasonCode::group_unplaced_never_preempts,
     "no placement found, and its preemptionPolicy is Never"},
    {ReasonCode::group_no_further_member, "no placement found for a further member"},
    {ReasonCode::group_minimum_runs,
     "{0}; its minimum runs, so no pod is evicted for more (workload.evictFor)"},
    {ReasonCode::group_rule, "workload: units of lower priority leave for a group"},
    {ReasonCode::other_placement, "the placement on {0}"},
    {ReasonCode::other_placement_in, "the placement on {0} in {1}"},
    {ReasonCode::no_other_placement, "none: no other placement found"},
    {ReasonCode::nodes_were_given, "none: the nodes were given"},
    {ReasonCode::by_topology, "preferred topology"},
    // Queues.
    {ReasonCode::queue_title, "queue {0}"},
    {ReasonCode::room_outside_queues, "the room outside queues"},
    {ReasonCode::queue_full_never, "{0}, and its preemptionPolicy is Never"},
    {ReasonCode::queue_full_spoils, "{0}, and evicting {1} would spoil the placement"},
    {ReasonCode::queue_full_too_little, "{0}, and {1} free too little"},
    {ReasonCode::queue_own_pods, "its pods of lower priority"},
    {ReasonCode::outside_own_pods, "pods of lower priority outside queues"},
    {ReasonCode::queue_awaits_promise, "waits until {0} has received what it is promised"},
    {ReasonCode::queue_awaits_departures, "waits until {0} uses less than it may"},
    {ReasonCode::queue_full, "{0} is full: it may use {1:;}"},
    {ReasonCode::queue_too_small, "{0} is too small for it: it may use {1:;}"},
    {ReasonCode::queue_column, "{0} {1}, holds {2}, and {3} more is requested"},
    {ReasonCode::outside_too_small,
     "it is in no queue, and the room that is promised to no queue is too small: {0:,}"},
    {ReasonCode::outside_too_small_by_weight,
     "it is in no queue, and the room that is promised to no queue is too small: "
     "{0:,} (by weight, queues are promised everything)"},
    {ReasonCode::outside_column, "{0} {1} left for a request of {2}"},
    {ReasonCode::amount_of, "{0} {1}"},
    {ReasonCode::queue_parts, "{0:;}"},
    {ReasonCode::queue_gets_at_once, "{0:,} at once"},
    {ReasonCode::queue_gets_later, "{0:,} once pods that hold it are gone"},
    {ReasonCode::queue_delayed, "no pod is evicted for {0:,} before its pods have waited {1}"},
    {ReasonCode::queue_unmet, "no queue gives {0:,}: {1:;}"},
    {ReasonCode::queue_rounding,
     "no pod is evicted for {0:,}: it exceeds the exact share and comes from free "
     "room only"},
    {ReasonCode::queue_overuses_limit, "it uses more than it may, so some of its own pods leave"},
    {ReasonCode::queue_overuses_share,
     "it uses more than it deserves, so some of its own pods leave"},
    {ReasonCode::queue_conceded, "it keeps {0:,} more than it deserves, held by pods that stay"},
    {ReasonCode::queue_stuck, "it uses {0:,} more than it may, held by pods that stay"},
    {ReasonCode::queue_lacks_fraction, "it lacks less than one unit"},
    {ReasonCode::queue_within_limits, "it uses no more than it may"},
    {ReasonCode::keepers, "{0:,}"},
    {ReasonCode::no_keepers, "no queue has more than it deserves"},
    {ReasonCode::keeper_not_reclaimable, "{0} is not reclaimable"},
    {ReasonCode::keeper_stuck, "{0} has leaving pods that do not terminate"},
    {ReasonCode::keeper_protected, "{0} has pods that may not be evicted"},
    {ReasonCode::keeper_limited, "{0} gives only what it holds beyond a limit"},
    {ReasonCode::keeper_and_more, "{0} (and {1} more)"},
    {ReasonCode::queue_loses_over_limit, "queue {0} uses more than it may"},
    {ReasonCode::queue_loses_over_share, "queue {0} uses more than it deserves"},
    {ReasonCode::queue_gives_back, "queue {0} gives back to {1}"},
    {ReasonCode::queue_limit_rule, "queue: pods beyond what the queue may use"},
    {ReasonCode::queue_share_rule, "queue: pods beyond what the queue deserves"},
    {ReasonCode::chosen_alone, "{0}; no other pod there may leave"},
    {ReasonCode::chosen_over, "{0}; chosen over {1} ({2})"},
    {ReasonCode::no_other_in_queue, "none: no other pod in queue {0} may leave"},
    {ReasonCode::by_need, "need: less important pods free too little"},
    {ReasonCode::by_budget, "budget-violations: 0 against 1"},
    {ReasonCode::by_phase, "phase: not started against started"},
    {ReasonCode::by_runtime, "runtime: {0} s against {1} s"},
    {ReasonCode::by_freed_amount, "need: the other frees too little"},
    {ReasonCode::by_excess, "frees less beyond the need, then name"},
    // Required nodes.
    {ReasonCode::pinned_fits, "fits on node {0}, the only one it can run on"},
    {ReasonCode::pinned_node_missing, "can run on node {0} only, and there is no such node"},
    {ReasonCode::pinned_node_too_small, "can run on node {0} only, which is too small for it: {1}"},
    {ReasonCode::pinned_node_refuses, "can run on node {0} only, which cannot take it: {1}"},
    {ReasonCode::pinned_reservation_ends, "; its reservation of the node ends"},
    {ReasonCode::pinned_reserved_now, "node {0} is reserved from now on, preemption starts in {1}"},
    {ReasonCode::pinned_reserved_since, "node {0} is reserved since {2}, preemption starts in {1}"},
    {ReasonCode::pinned_never_preempts,
     "does not fit on node {0}, and its preemptionPolicy is Never: {1}"},
    {ReasonCode::pinned_unfit_when_all_left,
     "does not fit on node {0}, even with every evictable pod gone: {1}"},
    {ReasonCode::pinned_unfit_beside_kept,
     "does not fit on node {0} beside those for whom room is kept there, even with "
     "every evictable pod gone: {1}"},
    {ReasonCode::pinned_no_victims,
     "no victims found on node {0} by required_node.victimSelection: {1:;}"},
    {ReasonCode::pinned_pods_leave,
     "{0} {0|pod|pods} must leave {1}, the only node it can run on ({2:+}, {3})"},
    {ReasonCode::pinned_rule, "required node: pods of equal or lower priority leave the node"},
    {ReasonCode::pinned_lower_rule, "required node: pods of lower priority leave the node"},
    {ReasonCode::pinned_any_rule, "required node: pods of any priority leave the node"},
    {ReasonCode::equal_priority, "equal priority ({0}), and the ask can run on this node only"},
    {ReasonCode::higher_priority, "higher priority ({0} > {1}), which does not protect it here"},
    {ReasonCode::no_other_pod, "none: no other pod could leave"},
    {ReasonCode::by_deviation, "deviation: {0:percent} against {1:percent}"},
    {ReasonCode::by_class, "class: {0} against {1}"},
    {ReasonCode::by_coverage, "covers more of what is missing: {0} against {1} permille"},
    {ReasonCode::by_age, "age: the younger one leaves"},
    {ReasonCode::by_size_or_name, "size or name"},
    {ReasonCode::by_covering, "covers what is missing; the other does not"},
    {ReasonCode::by_pods, "pods: 1 against {0}"},
    {ReasonCode::by_fit, "the ask fits without evicting the other"},
    {ReasonCode::by_fit_or_budget,
     "the ask fits without evicting the other, or a budget protects it"},
    {ReasonCode::ladder_victims, "{0} {0|victim|victims}"},
    {ReasonCode::ladder_victims_second_pass, "{0} {0|victim|victims}, on the second pass"},
    {ReasonCode::ladder_deviates, "no candidate that covers it is within {0} %"},
    {ReasonCode::ladder_deviates_or_budgets,
     "no candidate that covers it is within {0} % and within budgets"},
    {ReasonCode::ladder_too_many,
     "more than {0} pods would have to leave (required_node.maxVictims)"},
    {ReasonCode::ladder_groups_unfit, "it would not fit with the rest of their groups gone"},
    {ReasonCode::ladder_groups_too_many,
     "with the rest of their groups more than {0} pods would have to leave "
     "(required_node.maxVictims)"},
    {ReasonCode::ladder_uncovered, "no candidate covers the shortfall"},
    {ReasonCode::ladder_blocked, "a pod of a later class is in the way"},
    {ReasonCode::ladder_budgets, "a budget protects a pod that would have to leave"},
    {ReasonCode::ladder_unfit, "it would not fit even then"},
    {ReasonCode::ladder_breaks_promise, "an earlier ask would lose its place"},
    // Sessions.
    {ReasonCode::session_fits_on_node, "fits on node {0} of resource group {1}"},
    {ReasonCode::session_fits_on_nodes, "fits on {0} nodes of resource group {1}"},
    {ReasonCode::session_continues_on_node, "runs on on node {0} of resource group {1}"},
    {ReasonCode::session_continues_on_nodes, "runs on on {0} nodes of resource group {1}"},
    {ReasonCode::session_fits_after_sessions,
     "fits once the sessions before it have started or left"},
    {ReasonCode::session_fits_after_one, "fits once {0:key} has left"},
    {ReasonCode::session_fits_after_several, "fits once {0:key} and {1} more have left"},
    {ReasonCode::session_no_open_node, "no node of resource group {0} takes kernels"},
    {ReasonCode::session_nothing_to_preempt,
     "has no room in resource group {0}, and no running session {1} may be preempted"},
    {ReasonCode::session_unfit_without_one,
     "has no room in resource group {0}, even without the 1 session {1} that may be "
     "preempted"},
    {ReasonCode::session_unfit_without_all,
     "has no room in resource group {0}, even without all {2} sessions {1} that may "
     "be preempted"},
    {ReasonCode::session_memory_stays, "; a session that is suspended keeps its memory"},
    {ReasonCode::session_first_only,
     "has no room, and only {0}, the first that does not fit, may preempt in resource "
     "group {1}"},
    {ReasonCode::session_before_only,
     "has no room, and only {0}, which comes before it, may preempt in resource group "
     "{1}"},
    {ReasonCode::of_lower_priority, "of lower priority"},
    {ReasonCode::of_lower_tiers, "of lower tiers"},
    {ReasonCode::oldest_first, "oldest first"},
    {ReasonCode::newest_first, "newest first"},
    {ReasonCode::least_lost_work_first, "least lost work first"},
    {ReasonCode::fewest_sessions, "fewest sessions, then oldest first"},
    {ReasonCode::session_preempts,
     "{0} {0|session|sessions} {1} of resource group {2} {0|leaves|leave}: {3}"},
    {ReasonCode::session_node_lost,
     "is suspended on node {0}, which is no longer in its resource group; 'makeway "
     "session resume' makes it pending, without its memory"},
    {ReasonCode::session_suspended, "is suspended, and its nodes have no room for it yet"},
    {ReasonCode::lower_tier, "lower tier ({0} < {1})"},
    {ReasonCode::session_rule, "session: sessions {0} in resource group {1}, {2}"},
    {ReasonCode::by_freed_room, "room: the other does not free what is missing"},
    {ReasonCode::no_other_session, "no other session may leave"},
    {ReasonCode::no_choice, "no choice"},
    {ReasonCode::by_tier, "tier: {0} against {1}"},
    {ReasonCode::by_lost_work, "lost work: {0}s against {1}s"},
    {ReasonCode::by_start, "{0}: started {1} against {2}"},
    {ReasonCode::priority_above, "priority above {0}"},
    {ReasonCode::exempt_until, "exempt until {0}"},
    {ReasonCode::stays_suspended, "suspended, and keeps its memory"},
    {ReasonCode::stays_not_lower_tier, "not of a lower tier"},
    {ReasonCode::stays_in_other_group, "of another resource group"},
    {ReasonCode::stays_not_running, "not running"},
    {ReasonCode::stays_leaving, "leaving"},
    {ReasonCode::stays_by_spec, "its spec says preemptible: false"},
    {ReasonCode::stays_by_partition, "its partition is not preemptible"},
    {ReasonCode::stays_preempted_often, "preempted as often as session.maxPreemptions allows"},
    {ReasonCode::stays_in_namespace, "in a protected namespace"},
    {ReasonCode::stays_too_young, "younger than the minimum runtime"},
    {ReasonCode::session_ends, "it ends"},
    {ReasonCode::session_requeues, "it is pending again from {0} on"},
    {ReasonCode::session_awaits_user, "it waits until a user resumes it"},
    {ReasonCode::session_awaits_autoscaler, "its autoscaler may start another one"},
    {ReasonCode::session_keeps_memory, "it keeps its memory and continues once there is room"},
    // Replicas.
    {ReasonCode::replica_force_deleting, "is being force-deleted"},
    {ReasonCode::replica_grace_over, "terminating, and its grace period is over"},
    {ReasonCode::replica_grace_ignored, "terminating; its grace period is not waited for"},
    {ReasonCode::replica_time_is_up, "terminating, its time is up at {0}"},
    {ReasonCode::replica_terminating, "terminating"},
    {ReasonCode::replica_terminating_not_lower, "terminating, and not of lower priority"},
    {ReasonCode::replica_surplus, "surplus: {0} run, {1} committed"},
    {ReasonCode::replica_claim_stands, "the claim of the previous plan stands"},
    {ReasonCode::replica_rule, "replica: room that is closest to being free, on one node"},
    {ReasonCode::by_kept_claim, "kept"},
    {ReasonCode::replica_no_other_node, "no other node is possible"},
    {ReasonCode::by_only_one, "only one"},
    {ReasonCode::by_no_victim, "nobody"},
    {ReasonCode::replica_place, "node {0}"},
    {ReasonCode::replica_place_of_plane, "node {0} of plane {1}"},
    {ReasonCode::replica_no_place, "no placement found: {0:;}"},
    {ReasonCode::replica_more_nodes, "; and {0} more {0|node|nodes}"},
    {ReasonCode::replica_at_least_more_nodes, "; and at least {0} more {0|node|nodes}"},
    {ReasonCode::replica_no_nodes, "none of its planes has a node that takes pods"},
    {ReasonCode::replica_unfit_when_all_left,
     "no node of its planes has room for a replica, even with every evictable pod "
     "gone: {0}"},
    {ReasonCode::replica_room_is_free, "it lacks no replica; what it claimed is free again"},
    {ReasonCode::replica_fits, "there is room: {0:,}"},
    {ReasonCode::replica_count_in_plane, "{0} in plane {1}"},
    {ReasonCode::replica_lost_to,
     "lost a replica in plane {0} to {1}; it gets nothing until that is finished"},
    {ReasonCode::replica_claims_node, "node {0} in plane {1}: {2}"},
    {ReasonCode::replicas_wait, "{0} replicas wait for room, each on one node"},
    {ReasonCode::replica_own_surplus,
     "; it waits for surplus replicas of its own there, which a scale-up would only "
     "keep"},
    {ReasonCode::replica_no_place_for_more, "; no placement found for {0} more"},
    {ReasonCode::replica_last, "the last replica of {0:key} in plane {1}"},
    {ReasonCode::replica_frozen_surplus,
     "frozen: surplus pods of its deployment in plane {0} do not terminate"},
    {ReasonCode::replica_promised_to, "promised to {0}"},
    {ReasonCode::replica_promised, "promised to others"},
    {ReasonCode::replica_force_delete_stuck, "force-deleted, but does not terminate"},
    {ReasonCode::replica_terminating_stuck,
     "stuck terminating, and may not be force-deleted for it"},
    {ReasonCode::replica_surplus_stuck, "surplus that does not terminate"},
    {ReasonCode::replica_in_whole_group, "in a group that leaves whole"},
    {ReasonCode::replica_frozen_raised, "frozen: its deployment gets replicas there in this cycle"},
    {ReasonCode::replica_spared,
     "spared: its deployment was scaled down for it, and Kubernetes removed another "
     "pod"},
    {ReasonCode::replica_holder, "{0:key} is {1}"},
    {ReasonCode::replica_more_pods, "{0} more {0|pod|pods}"},
    {ReasonCode::replica_room_promised, "room is promised to {0:,}"},
    {ReasonCode::replica_on_its_way, "{0}, whose replica is on its way"},
    {ReasonCode::replica_room_came, "its room became free after this ask was decided"},
    {ReasonCode::replica_short_of, "short of {0} by {1}"},
    {ReasonCode::replica_obstacle, "{0}: {1:,}"},
    {ReasonCode::replicas_go, "{0} {0|replica|replicas} in plane {1} {0|goes|go} for {2:,}"},
    {ReasonCode::replica_unmet, "unmet {0} -> {1}"},
    {ReasonCode::replica_and_unmet, "{0}; {1}"},
    {ReasonCode::replica_losses, "{0:;}"},
    {ReasonCode::by_number, "{0}: {1} against {2}"},
}};

constexpr bool templates_are_in_order() {
  for (std::size_t at = 0; at < templates.size(); ++at) {
    if (templates.at(at).code != static_cast<ReasonCode>(at)) return false;
  }
  return true;
}
static_assert(templates_are_in_order(), "a template stands where its code says");

constexpr std::array<std::string_view, 7> kind_names = {
    "Pod", "kernel", "PodGroup", "Session", "Deployment", "ReplicaSchedule", "namespace"};

class Writer {
 public:
  explicit Writer(const Cluster& cluster) : cluster_(cluster) {}

  void write(const Reason& reason);
  Sentence take() { return std::move(made_); }

 private:
  void write_field(std::string_view field, const Reason& reason);
  void write_argument(const Argument& argument, std::string_view spec);
  void write_object(const ObjectName& object, std::string_view spec);
  void write_number(std::int64_t number);
  ObjectName name_of(PodIndex pod) const;
  ObjectName name_of(UnitIndex unit) const;

  const Cluster& cluster_;
  Sentence made_;
};

void Writer::write(const Reason& reason) {
  std::string_view rest = templates.at(static_cast<std::size_t>(reason.code)).words;
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('{'), rest.size());
    made_.add(rest.substr(0, open));
    rest.remove_prefix(open);
    if (rest.empty()) return;
    const std::size_t close = rest.find('}');
    write_field(rest.substr(1, close - 1), reason);
    rest.remove_prefix(close + 1);
  }
}

/// What stands between braces.
void Writer::write_field(std::string_view field, const Reason& reason) {
  const auto at = static_cast<std::size_t>(field.front() - '0');
  CHECK(at < reason.arguments.size(), "a reason lacks an argument");
  const Argument& argument = reason.arguments[at];
  field.remove_prefix(1);
  if (!field.starts_with('|')) {
    if (!field.empty()) field.remove_prefix(1);
    return write_argument(argument, field);
  }
  field.remove_prefix(1);
  const std::size_t bar = field.find('|');
  const bool is_one = std::get<std::int64_t>(argument.value()) == 1;
  made_.add(is_one ? field.substr(0, bar) : field.substr(bar + 1));
}

void Writer::write_number(std::int64_t number) {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), number);
  made_.add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

ObjectName Writer::name_of(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  if (pods.flags[pod].kernel) {  // Its name is the whole key: "shop/train/main".
    const std::string key = cluster_.pod_key(pod);
    const std::size_t slash = key.find('/');
    return {.kind = MentionKind::kernel,
            .namespace_name = key.substr(0, slash),
            .name = key.substr(slash + 1)};
  }
  return {.kind = MentionKind::pod,
          .namespace_name = std::string(cluster_.text(pods.namespace_name[pod])),
          .name = std::string(pods.name[pod.value]),
          .plane = std::string(cluster_.text(pods.plane[pod]))};
}

ObjectName Writer::name_of(UnitIndex unit) const {
  const Unit& row = cluster_.units()[unit];
  if (row.kind == UnitKind::pod) return name_of(row.pod);
  const Group& group = cluster_.groups()[row.group];
  return {.kind = MentionKind::pod_group,
          .namespace_name = std::string(cluster_.text(group.namespace_name)),
          .name = std::string(cluster_.text(group.name)),
          .plane = std::string(cluster_.text(group.plane))};
}

void Writer::write_object(const ObjectName& object, std::string_view spec) {
  if (spec == "name") return made_.add(object.name);
  const ObjectKeyView key{object.namespace_name, object.name, object.plane};
  const std::string_view kind = object.namespace_name.empty()
                                    ? "Queue"
                                    : kind_names.at(static_cast<std::size_t>(object.kind));
  const std::string words = spec == "key" ? key_text(key) : object_text(kind, key);
  if (object.namespace_name.empty()) return made_.add(words);
  made_.add_mention(object.kind, object.namespace_name, words);
}

std::string_view separator(std::string_view spec) {
  return spec == "," ? ", " : spec == "+" ? " + " : "; ";
}

/// As the table of queues shows it: cores with decimals.
std::string decimal_amount(const Quantity& quantity) {
  if (!counted_in_thousandths(quantity.resource) || quantity.amount % 1'000 == 0) {
    return exact_amount(quantity.resource, quantity.amount);
  }
  std::string text = fmt::format("{}.{:03}", quantity.amount / 1'000, quantity.amount % 1'000);
  while (text.ends_with('0')) text.pop_back();
  return text;
}

void Writer::write_argument(const Argument& argument, std::string_view spec) {
  struct Visitor {
    Writer& writer;
    std::string_view spec;

    void operator()(std::int64_t number) const {
      if (spec == "percent") return writer.made_.add(percent_text(number));
      writer.write_number(number);
    }
    void operator()(const std::string& name) const { writer.made_.add(name); }
    void operator()(Time time) const { writer.made_.add(to_text(time)); }
    void operator()(Duration duration) const { writer.made_.add(to_text(duration)); }
    void operator()(const Quantity& quantity) const {
      writer.made_.add(quantity.decimals ? decimal_amount(quantity)
                                         : exact_amount(quantity.resource, quantity.amount));
    }
    void operator()(PodIndex pod) const { writer.write_object(writer.name_of(pod), spec); }
    void operator()(UnitIndex unit) const { writer.write_object(writer.name_of(unit), spec); }
    void operator()(NodeIndex node) const {
      writer.made_.add(writer.cluster_.text(writer.cluster_.nodes().name[node]));
    }
    void operator()(const ObjectName& object) const { writer.write_object(object, spec); }
    void operator()(const Sentence& sentence) const { writer.made_.add(sentence); }
    void operator()(const Reasons& reasons) const {
      for (std::size_t at = 0; at < reasons.size(); ++at) {
        if (at > 0) writer.made_.add(separator(spec));
        writer.write(reasons[at]);
      }
    }
  };
  std::visit(Visitor{*this, spec}, argument.value());
}

MentionKind mention_kind_of(AskKind kind) {
  switch (kind) {
    case AskKind::pod_group: return MentionKind::pod_group;
    case AskKind::replica_schedule: return MentionKind::replica_schedule;
    case AskKind::session: return MentionKind::session;
    case AskKind::pod:
    case AskKind::queue: break;
  }
  return MentionKind::pod;
}

}  // namespace

Sentence write_reason(const Cluster& cluster, const Reason& reason) {
  Writer writer(cluster);
  writer.write(reason);
  return writer.take();
}

std::string write_text(const Cluster& cluster, const Reason& reason) {
  return write_reason(cluster, reason).text;
}

void set_reason(const Cluster& cluster, PlanAsk& ask, const Reason& reason) {
  Sentence sentence = write_reason(cluster, reason);
  ask.reason = sentence.text;
  ask.reason_mentions = Mentions(std::move(sentence));
}

void add_reason(const Cluster& cluster, PlanAsk& ask, const Reason& reason) {
  Sentence sentence = reason_sentence(ask);
  const bool known = ask.reason_mentions.known_for(ask.reason);
  sentence.add(write_reason(cluster, reason));
  ask.reason = sentence.text;
  if (known) ask.reason_mentions = Mentions(std::move(sentence));
}

Sentence reason_sentence(const PlanAsk& ask) {
  return {.text = ask.reason, .mentions = ask.reason_mentions.items()};
}

ObjectName object_of(const PlanAsk& ask) {
  return {.kind = mention_kind_of(ask.kind),
          .namespace_name = ask.namespace_name,
          .name = ask.name,
          .plane = ask.plane};
}

Sentence refusal_sentence(const PlanRefusal& refusal) {
  Sentence sentence{.text = refusal_text(refusal), .mentions = {}};
  if (refusal.reason != RefusalReason::volume_in_use || refusal.holders.empty()) return sentence;
  // It ends with the pod that uses the claim.
  const PlanHolder& user = refusal.holders.front();
  const std::string name = key_text({user.namespace_name, user.name, user.plane});
  CHECK(sentence.text.ends_with(name), "a refusal ends with the user of the claim");
  sentence.text.resize(sentence.text.size() - name.size());
  sentence.add_mention(MentionKind::pod, user.namespace_name, name);
  return sentence;
}

std::string percent_text(std::int64_t ppm) {
  const std::int64_t tenths = ppm / 1'000 + (ppm % 1'000 == 0 ? 0 : 1);
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

}  // namespace makeway
