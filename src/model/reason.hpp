// Reason: why something was decided, as data. A code and typed arguments; policies make nothing
// else, and plan_writer.hpp is the one place that knows the words of each code.
//
// An argument that names an object says which kind it is and whose namespace it belongs to, so that
// the sentence knows what may not be shown to other tenants (sentence.hpp).
//
// Reasons are made when an answer is made, never inside a search: they allocate.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "model/sentence.hpp"

namespace makeway {

/// In the order of the table in plan_writer.cpp, which has the words.
enum class ReasonCode : std::uint16_t {
  // Shared by policies.
  as_written,
  named,
  of_object,
  makes_room_for,
  makes_room_then,
  may_preempt_later,
  takes_long,
  late_pods_do_not_help,
  fits_on_after_asks,
  fits_on_after_pods,
  lower_priority,
  and_its_group,
  and_already_leaving,
  needs_unsupported,
  by_name,
  by_priority,
  stays_not_lower,
  stays_higher,
  stays_leaving_late,
  stays_leaving_overdue,
  stays_leaving_uncounted,
  stays_placed,
  stays_nominated,
  stays_reserved,
  stays_with_claim,
  stays_in_other_queue,
  stays_opted_out,
  stays_pinned,
  stays_pinned_too,
  stays_without_class,
  stays_of_other_scheduler,
  stays_under_two_budgets,
  stays_scaled_only,
  stays_kernel,
  stays_mirror,
  stays_marked,
  stays_system_critical,
  stays_with_group,
  stays_with_large_group,
  only_candidate,
  // Requests.
  already_runs,
  belongs_to_schedule,
  not_its_placements,
  given_node_missing,
  belongs_to_group,
  belongs_below_minimum,
  // Pods.
  pod_waits_for_minimum,
  place_needs_leaving_pods,
  pod_fits,
  pod_awaits_preempted,
  pods_leave,
  pods_leave_elsewhere,
  no_node_tried,
  no_nodes,
  no_ordinary_node,
  claim_forbids,
  any_node,
  any_node_of_domain,
  unfit_and_never_preempts,
  unfit_when_all_left,
  no_victims_found,
  nodes_refuse,
  more_refusals,
  budget_allows_none,
  budget_keeps_group,
  budget_allows_no_more,
  other_on_same_node,
  pod_rule,
  other_node,
  no_other_node,
  node_was_given,
  by_given_place,
  by_nominated_node,
  by_avoided_taints,
  by_preferences,
  by_spread,
  by_fullness,
  nomination_ends,
  nomination_ends_for,
  nominations_end,
  // Groups.
  group_fits,
  group_fits_after_asks,
  group_fits_after_pods,
  group_preempts,
  group_search_ended,
  group_free_room_unproven,
  group_spoils_places,
  group_too_few,
  given_nodes_apart,
  no_domain,
  group_undefined,
  group_below_minimum,
  group_refused,
  group_awaits_preempted,
  group_unfit_never_preempts,
  group_unplaced_never_preempts,
  group_no_further_member,
  group_minimum_runs,
  group_rule,
  other_placement,
  other_placement_in,
  no_other_placement,
  nodes_were_given,
  by_topology,
  // Queues.
  queue_title,
  room_outside_queues,
  queue_full_never,
  queue_full_spoils,
  queue_full_too_little,
  queue_own_pods,
  outside_own_pods,
  queue_awaits_promise,
  queue_awaits_departures,
  queue_full,
  queue_too_small,
  queue_column,
  outside_too_small,
  outside_too_small_by_weight,
  outside_column,
  amount_of,
  queue_parts,
  queue_gets_at_once,
  queue_gets_later,
  queue_delayed,
  queue_unmet,
  queue_rounding,
  queue_overuses_limit,
  queue_overuses_share,
  queue_conceded,
  queue_stuck,
  queue_lacks_fraction,
  queue_within_limits,
  keepers,
  no_keepers,
  keeper_not_reclaimable,
  keeper_stuck,
  keeper_protected,
  keeper_limited,
  keeper_and_more,
  queue_loses_over_limit,
  queue_loses_over_share,
  queue_gives_back,
  queue_limit_rule,
  queue_share_rule,
  chosen_alone,
  chosen_over,
  no_other_in_queue,
  by_need,
  by_budget,
  by_phase,
  by_runtime,
  by_freed_amount,
  by_excess,
  // Required nodes.
  pinned_fits,
  pinned_node_missing,
  pinned_node_too_small,
  pinned_node_refuses,
  pinned_reservation_ends,
  pinned_reserved_now,
  pinned_reserved_since,
  pinned_never_preempts,
  pinned_unfit_when_all_left,
  pinned_unfit_beside_kept,
  pinned_no_victims,
  pinned_pods_leave,
  pinned_rule,
  pinned_lower_rule,
  pinned_any_rule,
  equal_priority,
  higher_priority,
  no_other_pod,
  by_deviation,
  by_class,
  by_coverage,
  by_age,
  by_size_or_name,
  by_covering,
  by_pods,
  by_fit,
  by_fit_or_budget,
  ladder_victims,
  ladder_victims_second_pass,
  ladder_deviates,
  ladder_deviates_or_budgets,
  ladder_too_many,
  ladder_groups_unfit,
  ladder_groups_too_many,
  ladder_uncovered,
  ladder_blocked,
  ladder_budgets,
  ladder_unfit,
  ladder_breaks_promise,
  // Sessions.
  session_fits_on_node,
  session_fits_on_nodes,
  session_continues_on_node,
  session_continues_on_nodes,
  session_fits_after_sessions,
  session_fits_after_one,
  session_fits_after_several,
  session_no_open_node,
  session_nothing_to_preempt,
  session_unfit_without_one,
  session_unfit_without_all,
  session_memory_stays,
  session_first_only,
  session_before_only,
  of_lower_priority,
  of_lower_tiers,
  oldest_first,
  newest_first,
  least_lost_work_first,
  fewest_sessions,
  session_preempts,
  session_node_lost,
  session_suspended,
  lower_tier,
  session_rule,
  by_freed_room,
  no_other_session,
  no_choice,
  by_tier,
  by_lost_work,
  by_start,
  priority_above,
  exempt_until,
  stays_suspended,
  stays_not_lower_tier,
  stays_in_other_group,
  stays_not_running,
  stays_leaving,
  stays_by_spec,
  stays_by_partition,
  stays_preempted_often,
  stays_in_namespace,
  stays_too_young,
  session_ends,
  session_requeues,
  session_awaits_user,
  session_awaits_autoscaler,
  session_keeps_memory,
  // Replicas.
  replica_force_deleting,
  replica_grace_over,
  replica_grace_ignored,
  replica_time_is_up,
  replica_terminating,
  replica_terminating_not_lower,
  replica_surplus,
  replica_claim_stands,
  replica_rule,
  by_kept_claim,
  replica_no_other_node,
  by_only_one,
  by_no_victim,
  replica_place,
  replica_place_of_plane,
  replica_no_place,
  replica_more_nodes,
  replica_at_least_more_nodes,
  replica_no_nodes,
  replica_unfit_when_all_left,
  replica_room_is_free,
  replica_fits,
  replica_count_in_plane,
  replica_lost_to,
  replica_claims_node,
  replicas_wait,
  replica_own_surplus,
  replica_no_place_for_more,
  replica_last,
  replica_frozen_surplus,
  replica_promised_to,
  replica_promised,
  replica_force_delete_stuck,
  replica_terminating_stuck,
  replica_surplus_stuck,
  replica_in_whole_group,
  replica_frozen_raised,
  replica_spared,
  replica_holder,
  replica_more_pods,
  replica_room_promised,
  replica_on_its_way,
  replica_room_came,
  replica_short_of,
  replica_obstacle,
  replicas_go,
  replica_unmet,
  replica_and_unmet,
  replica_losses,
  by_number,
};

/// An object by its key. One without a namespace is a queue.
struct ObjectName {
  MentionKind kind = MentionKind::pod;
  std::string namespace_name;
  std::string name;
  std::string plane = {};  ///< Empty: home. NOLINT(readability-redundant-member-init)
};

/// How much of a resource. Rounded: as the table of queues shows it, cores with decimals.
struct Quantity {
  std::string resource;
  std::int64_t amount = 0;
  bool decimals = false;
};

struct Reason;
using Reasons = std::vector<Reason>;

/// One argument of a reason: a slot of the cluster, the key of an object, a number, an amount, a
/// time, other reasons, a sentence that is written already, or a name that belongs to no namespace
/// (a node, a queue, a label, a setting).
class Argument {
 public:
  using Value = std::variant<std::int64_t, std::string, Time, Duration, Quantity, PodIndex,
                             UnitIndex, NodeIndex, ObjectName, Reasons, Sentence>;

  Argument(std::integral auto number)  // NOLINT: arguments are written as they are.
      : Argument(Number{.value = static_cast<std::int64_t>(number)}) {}
  Argument(const char* name);       // NOLINT
  Argument(std::string_view name);  // NOLINT
  Argument(std::string name);       // NOLINT
  Argument(Time time);              // NOLINT
  Argument(Duration duration);      // NOLINT
  Argument(Quantity quantity);      // NOLINT
  Argument(PodIndex pod);           // NOLINT
  Argument(UnitIndex unit);         // NOLINT
  Argument(NodeIndex node);         // NOLINT
  Argument(ObjectName object);      // NOLINT
  Argument(Sentence sentence);      // NOLINT
  Argument(Reasons reasons);        // NOLINT
  Argument(Reason reason);          // NOLINT
  Argument(const Argument& other);
  Argument(Argument&& other) noexcept;
  Argument& operator=(const Argument& other);
  Argument& operator=(Argument&& other) noexcept;
  ~Argument();

  const Value& value() const { return value_; }

 private:
  struct Number {
    std::int64_t value;
  };
  explicit Argument(Number number);

  Value value_;
};

struct Reason {
  ReasonCode code = ReasonCode::as_written;
  std::vector<Argument> arguments = {};  // NOLINT(readability-redundant-member-init)
};

/// The names as a list: a template joins them.
Reasons named(const std::vector<std::string>& names);

}  // namespace makeway
