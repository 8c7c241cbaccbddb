// Configuration: everything that decisions depend on besides the cluster, as one plain value.
//
// Policies read these fields and nothing else; none of them knows the name of a preset or bundle.
// A field is one of two things:
//   a knob   a user sets it: path, text, limits and documentation are in model/knobs.hpp;
//   a rule   it exists to reproduce another scheduler. `compatibility` chooses all rules together,
//            as a bundle of model/compatibility.hpp.
// A preset is a complete set of knobs, `compatibility` among them. The defaults written here are
// the preset `makeway` (a test compares them). docs/decisions/0002-knobs.md says why the less
// obvious fields exist, 0042-bundles.md why rules are no knobs.
//
// Rules: lists are ordered, the first entry weighs most, and no entry comes twice. Where an order
// does not say otherwise it ends in `namespace/name`. Bounds count steps, never time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/problem.hpp"
#include "base/time.hpp"

namespace makeway {

/// The texts of a choice's enumerators, in their order; specialised beside each enumeration.
template <class Choice>
inline constexpr std::array<std::string_view, 0> choice_names{};

template <class Choice>
constexpr std::string_view choice_name(Choice choice) {
  const auto at = static_cast<std::size_t>(choice);
  CHECK(at < choice_names<Choice>.size(), "no such enumerator");
  return choice_names<Choice>[at];
}

// ---- All policies -------------------------------------------------------------------------------

/// Which bundle of rules the policies follow (model/compatibility.hpp).
enum class Compatibility : std::uint8_t {
  makeway,
  kube_1_37,
  kep_5710,
  yunikorn,
  yunikorn_design,
  kube_arbitrator,
  mcm_v1,
  backend_ai,
};
template <>
inline constexpr std::array<std::string_view, 8> choice_names<Compatibility> = {
    "makeway",         "kube-1.37",       "kep-5710", "yunikorn",
    "yunikorn-design", "kube-arbitrator", "mcm-v1",   "backend-ai"};

enum class BudgetMode : std::uint8_t { best_effort, strict };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<BudgetMode> = {"best-effort",
                                                                             "strict"};

/// Which evictions count against a budget when places are compared.
enum class BudgetCount : std::uint8_t {
  victims,            ///< Those of the victims that are left in the end.
  potential_victims,  ///< As kube-scheduler: walked over all potential victims, before any is
                      ///< spared.
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<BudgetCount> = {"victims",
                                                                              "potential-victims"};

/// The laws of SPEC section 1 that a plan may break; 11 to 13 are properties and have no waiver.
enum class WaivedLaw : std::uint8_t {
  law_1,
  law_2,
  law_3,
  law_4,
  law_5,
  law_6,
  law_7,
  law_8,
  law_9,
  law_10,
  law_4_gangs,   ///< Law 4 is waived only for asks that are pod groups.
  law_1_claims,  ///< Law 1 is waived only for what queues claim.
  law_4_claims,  ///< Law 4 is waived only for what queues claim.
};
template <>
inline constexpr std::array<std::string_view, 13> choice_names<WaivedLaw> = {
    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "4-gangs", "1-claims", "4-claims"};

/// What happens with victims that turn out not to be needed.
enum class PutBack : std::uint8_t { none, once, until_stable };
template <>
inline constexpr std::array<std::string_view, 3> choice_names<PutBack> = {"none", "once",
                                                                          "until-stable"};

/// What pods that are already leaving mean for pods and groups that ask.
enum class LeavingRoom : std::uint8_t {
  credited,  ///< Their room is as good as free (law 6).
  victims,   ///< They are ordinary candidates, as if nothing had happened to them yet.
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<LeavingRoom> = {"credited",
                                                                              "victims"};

// ---- Workload -----------------------------------------------------------------------------------

enum class EvictFor : std::uint8_t {
  each,     ///< Beyond the minimum every member is an ask of its own.
  minimum,  ///< Further members fill free room.
  all,      ///< As many members as possible.
};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<EvictFor> = {"each", "minimum",
                                                                           "all"};

enum class ImportanceKey : std::uint8_t { priority, kind, size, age };
template <>
inline constexpr std::array<std::string_view, 4> choice_names<ImportanceKey> = {"priority", "kind",
                                                                                "size", "age"};

enum class ScoreKey : std::uint8_t {
  members_not_placed,
  budget_violations,
  highest_priority,
  secondary_victims,
  stopped_pods,
  victims,
  priority_sum,
  raw_priority_sum,
  lost_work,
  groups_below_minimum,
  disrupted_groups,
  oldest_victim,
  grouped_victims,
  largest_victim,
  victims_age,
};
template <>
inline constexpr std::array<std::string_view, 15> choice_names<ScoreKey> = {
    "members-not-placed",   "budget-violations", "highest-priority",
    "secondary-victims",    "stopped-pods",      "victims",
    "priority-sum",         "raw-priority-sum",  "lost-work",
    "groups-below-minimum", "disrupted-groups",  "oldest-victim",
    "grouped-victims",      "largest-victim",    "victims-age"};

enum class ScorePriority : std::uint8_t { unit, pod };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<ScorePriority> = {"unit", "pod"};

enum class PrioritySearch : std::uint8_t { none, bisect, adaptive };
template <>
inline constexpr std::array<std::string_view, 3> choice_names<PrioritySearch> = {"none", "bisect",
                                                                                 "adaptive"};

enum class PutBackScope : std::uint8_t { every_node, ask_nodes };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<PutBackScope> = {"every-node",
                                                                               "ask-nodes"};

enum class PlacementGuide : std::uint8_t { victims, node_score };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<PlacementGuide> = {"victims",
                                                                                 "node-score"};

enum class VictimChoiceRule : std::uint8_t { put_back, best };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<VictimChoiceRule> = {"put-back",
                                                                                   "best"};

enum class NodeScore : std::uint8_t { pack, spread };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<NodeScore> = {"pack", "spread"};

enum class MemberOrder : std::uint8_t { largest, creation };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<MemberOrder> = {"largest",
                                                                              "creation"};

enum class GroupDomains : std::uint8_t { topology, cluster };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<GroupDomains> = {"topology",
                                                                               "cluster"};

enum class PodsNotMatchingPriority : std::uint8_t { report, refuse };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<PodsNotMatchingPriority> = {"report",
                                                                                          "refuse"};

enum class NominationHeldBy : std::uint8_t { placement, preempted_pods };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<NominationHeldBy> = {
    "placement", "preempted-pods"};

// ---- Queue --------------------------------------------------------------------------------------

enum class Division : std::uint8_t { max_min, by_weight };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<Division> = {"max-min", "by-weight"};

/// How much of its claim a queue gets by eviction; the rest comes from free room.
enum class EvictUpTo : std::uint8_t {
  exact_share,  ///< Its share before rounding, rounded down at every level.
  deserved,
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<EvictUpTo> = {"exact-share",
                                                                            "deserved"};

/// When what a queue uses beyond what it deserves leaves.
enum class ExcessLeaves : std::uint8_t { when_claimed, always };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<ExcessLeaves> = {"when-claimed",
                                                                               "always"};

// ---- Replica ------------------------------------------------------------------------------------

/// Classes of victims, least intrusive first.
enum class ReplicaClass : std::uint8_t { force_deleting, terminating, surplus, committed };
template <>
inline constexpr std::array<std::string_view, 4> choice_names<ReplicaClass> = {
    "force-deleting", "terminating", "surplus", "committed"};

enum class ForceDeleteAfter : std::uint8_t { grace_period, next_cycle };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<ForceDeleteAfter> = {"grace-period",
                                                                                   "next-cycle"};

// ---- Required node ------------------------------------------------------------------------------

enum class VictimSelection : std::uint8_t { single, multiple, prefix };
template <>
inline constexpr std::array<std::string_view, 3> choice_names<VictimSelection> = {
    "single", "multiple", "prefix"};

enum class ClassSteps : std::uint8_t { cumulative, together };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<ClassSteps> = {"cumulative",
                                                                             "together"};

/// What pods that are already leaving mean for a pinned pod.
enum class PinnedLeavingRoom : std::uint8_t {
  credited,  ///< Their room is as good as free (law 6).
  occupied,  ///< They hold their room until they are gone, and are no victims.
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<PinnedLeavingRoom> = {"credited",
                                                                                    "occupied"};

/// By what a pod counts as pinned.
enum class PinnedBy : std::uint8_t { affinity, annotation, owner };
template <>
inline constexpr std::array<std::string_view, 3> choice_names<PinnedBy> = {"affinity", "annotation",
                                                                           "owner"};

enum class MultipleOrder : std::uint8_t { priority_first, largest_first };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<MultipleOrder> = {"priority-first",
                                                                                "largest-first"};

enum class Coverage : std::uint8_t { shortfall, own_sum };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<Coverage> = {"shortfall", "own-sum"};

enum class CandidatesHold : std::uint8_t { scarce_amount, resource_name };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<CandidatesHold> = {"scarce-amount",
                                                                                 "resource-name"};

// ---- Session ------------------------------------------------------------------------------------

enum class PreemptionOrder : std::uint8_t { oldest, newest, least_lost_work, fewest };
template <>
inline constexpr std::array<std::string_view, 4> choice_names<PreemptionOrder> = {
    "oldest", "newest", "least-lost-work", "fewest"};

enum class Preemptors : std::uint8_t { first_helped, head_only };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<Preemptors> = {"first-helped",
                                                                             "head-only"};

enum class ResumeRule : std::uint8_t { never, when_declared, on_request };
template <>
inline constexpr std::array<std::string_view, 3> choice_names<ResumeRule> = {
    "never", "when-declared", "on-request"};

// ---- Trust --------------------------------------------------------------------------------------

/// Which column of the table in SPEC section 10 counts.
enum class TrustMode : std::uint8_t {
  files,    ///< Every mark counts: the user of the command answers for the input.
  cluster,  ///< Objects come from tenants: a mark counts where the table says so.
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<TrustMode> = {"files", "cluster"};

enum class TrustedOnly : std::uint8_t { everyone, trusted };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<TrustedOnly> = {"everyone",
                                                                              "trusted"};

// ---- Live ---------------------------------------------------------------------------------------

enum class GangRollback : std::uint8_t { none, erase };
template <>
inline constexpr std::array<std::string_view, 2> choice_names<GangRollback> = {"none", "delete"};

// ---- The value ----------------------------------------------------------------------------------

inline constexpr std::int64_t priority_min = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t priority_max = std::numeric_limits<std::int32_t>::max();

/// Larger than the distance between any two priorities: a cap that never bites.
inline constexpr std::int64_t priority_distance_max = 4'294'967'295;

struct ProtectionSettings {
  bool protect_system_critical = true;
  std::vector<std::string> namespaces;
  Duration minimum_runtime;
  bool preempt_other_schedulers = false;

  // Rules.
  bool protect_mirror_pods = true;
  bool protect_opted_out = true;
  bool pinned = true;

  friend bool operator==(const ProtectionSettings&, const ProtectionSettings&) = default;
};

struct BudgetSettings {
  BudgetMode mode = BudgetMode::best_effort;

  // Rules.
  BudgetCount counted_over = BudgetCount::victims;

  friend bool operator==(const BudgetSettings&, const BudgetSettings&) = default;
};

struct EngineSettings {
  Duration preemption_delay;
  Duration leave_timeout{60'000};
  Duration leave_wait_max{600'000};
  std::int64_t cascade_depth = 1;
  std::int64_t victim_steps_max = 1'000'000;
  std::int64_t placement_steps_max = 10'000'000;
  std::int64_t plan_steps_max = 1'000'000'000;
  std::int64_t alternatives_max = 3;

  // Rules.
  std::vector<WaivedLaw> laws_waived;

  friend bool operator==(const EngineSettings&, const EngineSettings&) = default;
};

struct WorkloadSettings {
  EvictFor evict_for = EvictFor::each;
  std::int64_t preemption_priority_above_max = priority_distance_max;
  std::int64_t preemption_priority_from = priority_min;
  std::int64_t preemption_priority_to = priority_max;
  NodeScore node_score = NodeScore::pack;
  std::vector<ScoreKey> score_keys = {
      ScoreKey::members_not_placed, ScoreKey::budget_violations, ScoreKey::highest_priority,
      ScoreKey::secondary_victims,  ScoreKey::stopped_pods,      ScoreKey::victims,
      ScoreKey::priority_sum,       ScoreKey::lost_work,         ScoreKey::groups_below_minimum,
      ScoreKey::disrupted_groups,   ScoreKey::oldest_victim,     ScoreKey::grouped_victims,
      ScoreKey::largest_victim,     ScoreKey::victims_age};

  // Rules.
  bool honour_below_minimum = true;
  bool protect_marked_members = true;
  PodsNotMatchingPriority pods_not_matching_priority = PodsNotMatchingPriority::report;
  bool honour_preemption_priority = true;
  GroupDomains group_domains = GroupDomains::topology;
  MemberOrder member_order = MemberOrder::largest;
  PlacementGuide placement_guide = PlacementGuide::victims;
  std::int64_t placements_max = 32;
  bool start_from_simple_plans = true;
  PrioritySearch priority_search = PrioritySearch::adaptive;
  std::vector<ImportanceKey> importance_keys = {ImportanceKey::priority, ImportanceKey::kind,
                                                ImportanceKey::size, ImportanceKey::age};
  VictimChoiceRule victim_choice = VictimChoiceRule::best;
  PutBack put_back = PutBack::until_stable;
  PutBackScope put_back_scope = PutBackScope::every_node;
  LeavingRoom leaving_room = LeavingRoom::credited;
  NominationHeldBy nomination_held_by = NominationHeldBy::placement;
  ScorePriority score_priority = ScorePriority::unit;

  friend bool operator==(const WorkloadSettings&, const WorkloadSettings&) = default;
};

struct QueueSettings {
  bool enabled = true;
  Division division = Division::max_min;
  bool preempt_within_queue = true;

  // Rules.
  EvictUpTo evict_up_to = EvictUpTo::exact_share;
  ExcessLeaves excess_leaves = ExcessLeaves::when_claimed;

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

struct ReplicaSettings {
  bool enabled = true;
  std::string resource = "nvidia.com/gpu";
  bool force_delete_any_priority = false;
  ForceDeleteAfter force_delete_after = ForceDeleteAfter::grace_period;
  Duration force_delete_extra_delay;
  Duration surplus_timeout{300'000};

  friend bool operator==(const ReplicaSettings&, const ReplicaSettings&) = default;
};

struct RequiredNodeSettings {
  bool enabled = true;
  Duration preemption_start_delay;
  Duration preemption_start_delay_live{5'000};
  bool allow_equal_priority = true;
  std::vector<std::string> victim_classes = {"regular", "owner", "opted-out"};
  std::vector<VictimSelection> victim_selection = {VictimSelection::single,
                                                   VictimSelection::multiple};
  std::int64_t deviation_percent = 10;
  std::int64_t max_victims = 5;

  // Rules.
  bool honour_preemption_policy = true;
  std::vector<PinnedBy> pinned_by = {PinnedBy::affinity, PinnedBy::annotation, PinnedBy::owner};
  bool allow_higher_priority = false;
  CandidatesHold candidates_hold = CandidatesHold::scarce_amount;
  ClassSteps class_steps = ClassSteps::cumulative;
  MultipleOrder multiple_order = MultipleOrder::priority_first;
  Coverage coverage = Coverage::shortfall;
  bool refuse_negative_room = false;
  PinnedLeavingRoom leaving_room = PinnedLeavingRoom::credited;
  PutBack put_back = PutBack::until_stable;

  friend bool operator==(const RequiredNodeSettings&, const RequiredNodeSettings&) = default;
};

struct SessionSettings {
  bool enabled = true;
  std::int64_t default_priority = 10;
  std::int64_t preemptible_priority = 5;
  PreemptionOrder preemption_order = PreemptionOrder::oldest;
  std::int64_t max_preemptions = 0;
  Duration backoff_first{30'000};
  Duration backoff_max{900'000};

  // Rules.
  Preemptors preemptors = Preemptors::first_helped;
  PutBack put_back = PutBack::until_stable;
  ResumeRule resume_batch = ResumeRule::when_declared;
  ResumeRule resume_inference = ResumeRule::when_declared;
  ResumeRule resume_interactive = ResumeRule::on_request;

  friend bool operator==(const SessionSettings&, const SessionSettings&) = default;
};

/// Which marks on objects count (SPEC section 10).
struct TrustSettings {
  TrustMode mode = TrustMode::files;
  std::vector<std::string> namespaces = {"kube-system"};
  TrustedOnly outside_queues = TrustedOnly::everyone;

  friend bool operator==(const TrustSettings&, const TrustSettings&) = default;
};

/// What only a live run obeys (SPEC section 8).
struct LiveSettings {
  bool cause_names = false;
  std::int64_t max_evictions_per_minute = 600;
  Duration evict_again_window{60'000};
  Duration capacity_grace{300'000};
  Duration gang_bind_timeout{60'000};
  GangRollback gang_rollback = GangRollback::none;
  Duration lease_duration{15'000};

  friend bool operator==(const LiveSettings&, const LiveSettings&) = default;
};

struct ProfileKnob {
  std::string path;
  std::string value;  ///< As knob_text() writes it.

  friend bool operator==(const ProfileKnob&, const ProfileKnob&) = default;
};

/// Pods whose schedulerName is this are decided by rules of their own (SPEC section 8): those of
/// the configuration, but for these knobs. See model/profiles.hpp.
struct Profile {
  std::string scheduler_name;
  std::vector<ProfileKnob> knobs;  ///< In the order of the table, each once.

  friend bool operator==(const Profile&, const Profile&) = default;
};

struct Configuration {
  Compatibility compatibility = Compatibility::makeway;  ///< Where the rules come from.
  ProtectionSettings protection;
  BudgetSettings budgets;
  EngineSettings engine;
  WorkloadSettings workload;
  QueueSettings queue;
  ReplicaSettings replica;
  RequiredNodeSettings required_node;
  SessionSettings session;
  TrustSettings trust;
  LiveSettings live;
  std::vector<Profile> profiles;  ///< By name, each once.

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

/// Whether plans under this configuration may break the law; `law_4` also covers `law_4_gangs`.
bool waives(const Configuration& configuration, WaivedLaw law);

/// Every knob within its limits, and the rules that tie knobs together. `field` is the knob's path;
/// of a profile, "profiles.NAME." and the path.
Problems validate(const Configuration& configuration);

/// Whether nothing may be applied to a real cluster by a configuration that waives it (SPEC 1).
bool is_needed_live(WaivedLaw law);

/// One line `path=value` for each knob, in the order of the table; then the same for each knob in
/// which a profile differs. A profile that differs in nothing leaves no trace. Rules are not
/// listed: they follow from `compatibility`.
std::string canonical_text(const Configuration& configuration);

/// 16 hexadecimal digits over the canonical text; the same on every machine.
std::string configuration_hash(const Configuration& configuration);
/// The same over a text that was canonical once.
std::string canonical_hash(std::string_view text);

}  // namespace makeway
