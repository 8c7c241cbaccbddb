// The objects of a cluster as plain values: what scheduling reads of them, and nothing else.
//
// These are what a Change carries and what a dump prints. They are canonical: lists whose order
// means nothing are sorted, defaults are filled in, so equal meaning is equal value. `normalize`
// in normalize.hpp brings hand-made ones into that form; the codec and the store rely on it.
//
// Amounts are integers in the resource's unit: thousandths for cpu, whole units for the rest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "model/amounts.hpp"
#include "model/kinds.hpp"
#include "model/queue.hpp"
#include "model/replica_schedule.hpp"
#include "model/selection.hpp"
#include "model/session_objects.hpp"
#include "model/volumes.hpp"

namespace makeway {

// ---- What a pod demands besides resources ---------------------------------------------------

enum class TaintEffect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::no_schedule;

  friend auto operator<=>(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key;  ///< Empty with `exists`: every taint.
  bool exists = false;
  std::string value;
  std::optional<TaintEffect> effect;  ///< None: every effect.

  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> selector;  ///< None selects no pod.
  std::vector<std::string> namespaces;    ///< Sorted; the pod's own when the manifest names none.
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;

  friend auto operator<=>(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

/// A topology spread constraint; a preferred one has `whenUnsatisfiable: ScheduleAnyway`.
struct SpreadConstraint {
  std::string topology_key;
  std::int32_t skew_max = 1;
  std::int32_t domains_min = 1;
  bool honor_node_affinity = true;
  bool honor_node_taints = false;
  std::optional<LabelSelector> selector;

  friend auto operator<=>(const SpreadConstraint&, const SpreadConstraint&) = default;
};

enum class Protocol : std::uint8_t { tcp, udp, sctp };

struct HostPort {
  std::int32_t port = 0;
  Protocol protocol = Protocol::tcp;
  std::string ip;  ///< Empty: every address of the node.

  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

enum class ClaimKind : std::uint8_t {
  volume,        ///< A PersistentVolumeClaim by its name.
  own_volume,    ///< The one that is made for the pod's volume `local` (generic ephemeral volume).
  resource,      ///< A ResourceClaim by its name.
  own_resource,  ///< The one that is made for the pod's `local` from a template.
};

/// A claim that a pod uses. What it says is in the object of that name (volumes.hpp). Besides kind,
/// name and local, `normalize` fills in what distinguishes pods, so that equal uses mean one claim.
struct ClaimUse {
  ClaimKind kind = ClaimKind::volume;
  std::string namespace_name;  ///< The pod's.
  std::string name;            ///< Empty: there is none yet (own_resource).
  std::string local;           ///< What the pod calls it; only of its own.
  std::string pod;             ///< The pod that must own it; only of its own.
  std::string pod_uid;

  friend auto operator<=>(const ClaimUse&, const ClaimUse&) = default;
};

/// Everything a pod asks of its place besides resources. Shared by many pods, so interned.
struct NodePreference {
  std::int32_t weight = 1;
  NodeSelectorTerm term;

  friend auto operator<=>(const NodePreference&, const NodePreference&) = default;
};

struct PodPreference {
  std::int32_t weight = 1;  ///< Below 0: it would rather not be near them.
  PodAffinityTerm term;

  friend auto operator<=>(const PodPreference&, const PodPreference&) = default;
};

/// What decides only among nodes where it fits.
struct PodPreferences {
  std::vector<NodePreference> nodes;
  std::vector<PodPreference> pods;
  std::vector<SpreadConstraint> spread;

  friend auto operator<=>(const PodPreferences&, const PodPreferences&) = default;
};

struct PodShape {
  Labels node_selector;
  std::vector<NodeSelectorTerm> node_terms;  ///< Any of them; empty: no node affinity.
  std::vector<Toleration> tolerations;
  std::vector<HostPort> ports;
  std::vector<PodAffinityTerm> affinity;
  std::vector<PodAffinityTerm> anti_affinity;
  std::vector<SpreadConstraint> spread;
  std::vector<ClaimUse> claims;  ///< Of a bound pod those of volumes only.
  /// What a pending pod needs that Makeway does not check: "schedulingGate quota", ...
  std::vector<std::string> unsupported;
  PodPreferences preferences = {};

  friend auto operator<=>(const PodShape&, const PodShape&) = default;
};

// ---- Objects --------------------------------------------------------------------------------

enum class PreemptionPolicy : std::uint8_t { unset, preempt_lower_priority, never };

/// Why a bound pod is never a victim in a live run, whatever its own marks say. The live view
/// (control/live_view.hpp) decides it; objects never say it of themselves.
enum class KeptBy : std::uint8_t {
  none,
  other_scheduler,  ///< `protection.preemptOtherSchedulers` is off.
  two_budgets,      ///< The API server refuses every eviction of a pod under two budgets.
};
inline constexpr std::array<std::string_view, 3> kept_by_names = {"", "other-scheduler",
                                                                  "two-budgets"};

struct OwnerReference {
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  friend auto operator<=>(const OwnerReference&, const OwnerReference&) = default;
};

/// A pod's share in a loss unit (SPEC section 7): pods that stop together, though nothing places
/// them together. The unit stops when one of its parts loses more pods than are allowed.
struct LossShare {
  std::string unit;          ///< "JobSet shop/train"; of one namespace and plane.
  std::string part;          ///< Losses of a part count together; empty: stops nothing.
  std::int64_t allowed = 0;  ///< So many pods of the part may be lost.

  friend auto operator<=>(const LossShare&, const LossShare&) = default;
};

/// The rare and the written-by-us parts of a pod, kept apart so that ordinary pods stay small.
struct PodNotes {
  std::string preemption_priority_class;
  std::string queue;  ///< From an annotation; a queue label stays among the labels.
  std::string required_node;
  std::optional<Time> reserved_since;  ///< When its reservation of that node began.
  bool promised = false;               ///< The reserved room is its own: see `only_reserved`.
  std::string evicted_for;
  std::string plan;
  std::optional<Time> last_checkpoint;
  std::optional<std::int64_t> preemption_cost_seconds;
  /// "StatefulSet shop/db": the pod is not there yet and was made from that object's template.
  std::string made_from;
  std::int32_t wave = 0;   ///< Its controller makes it after those of lower waves; 0: at once.
  std::string wave_after;  ///< What it waits for: "db-0 is ready".
  /// From its controllers in the input, or from a dump of such an input.
  std::vector<LossShare> loss_units;
  /// Annotations under makeway.dev/ that mean nothing by themselves; a class of victims may be made
  /// of them (`required_node.victimClasses`).
  Labels marks;

  /// Its node is reserved, and neither were victims chosen for it nor are pods leaving whose room
  /// is enough: its nomination to the node promises nothing yet.
  bool only_reserved() const { return reserved_since && !promised; }

  friend auto operator<=>(const PodNotes&, const PodNotes&) = default;
};

struct Pod {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  Labels labels;
  std::string node;            ///< Empty: pending.
  std::string nominated_node;  ///< Only while pending and not being deleted.
  std::string group;           ///< PodGroup in the same namespace, see group_name.hpp.
  std::string scheduler;       ///< Empty: "default-scheduler".
  std::string priority_class;
  std::optional<std::int32_t> priority;  ///< Wins over the class, as after admission.
  PreemptionPolicy preemption_policy = PreemptionPolicy::unset;
  Amounts requests;
  PodShape shape;
  PodNotes notes;
  std::vector<OwnerReference> owners;
  std::optional<Time> created;
  std::optional<Time> started;
  std::optional<Time> deletion;  ///< deletionTimestamp: it is leaving.
  std::int32_t deletion_grace_seconds = 0;
  std::optional<Time> observed;  ///< The newest time in its conditions.
  bool ready = false;
  bool mirror = false;                   ///< Mirror of a static pod: the kubelet owns it.
  bool opted_out = false;                ///< allow-preemption: "false"
  bool is_protected = false;             ///< Never a victim while its group runs.
  bool is_owner = false;                 ///< Marked as owner of other pods.
  bool disrupted_by_preemption = false;  ///< Condition DisruptionTarget, PreemptionByScheduler.
  KeptBy kept = KeptBy::none;

  friend bool operator==(const Pod&, const Pod&) = default;
};

struct Node {
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  Labels labels;
  std::vector<Taint> taints;  ///< Sorted.
  bool unschedulable = false;
  Amounts allocatable;
  std::optional<Time> created;
  std::optional<Time> observed;  ///< The newest heartbeat or change in its conditions.

  friend bool operator==(const Node&, const Node&) = default;
};

struct PriorityClass {
  std::string name;
  std::string plane;  ///< Empty: home.
  std::int32_t value = 0;
  bool global_default = false;
  PreemptionPolicy preemption_policy = PreemptionPolicy::unset;

  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

/// A count or a percentage, as in minAvailable.
struct CountOrPercent {
  std::int32_t value = 0;
  bool percent = false;

  friend bool operator==(const CountOrPercent&, const CountOrPercent&) = default;
};

struct DisruptionBudget {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;                      ///< Empty: home.
  std::optional<LabelSelector> selector;  ///< None or empty: governs nothing (as kube-scheduler).
  std::optional<CountOrPercent> available_min;
  std::optional<CountOrPercent> unavailable_max;
  /// status.disruptionsAllowed; none in files without status, then it follows from the spec.
  std::optional<std::int32_t> disruptions_allowed;
  std::vector<std::string> disrupted_pods;  ///< Sorted.

  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

enum class DisruptionMode : std::uint8_t { single, all };

/// How a group is scheduled and disrupted; a Workload's template and a PodGroup share it.
struct GroupPolicy {
  std::int32_t minimum = 1;  ///< A gang's minCount; 1 for `basic`.
  bool gang = false;
  DisruptionMode mode = DisruptionMode::single;
  std::vector<std::string> topology_keys;  ///< One domain has one value of each of them.

  friend bool operator==(const GroupPolicy&, const GroupPolicy&) = default;
};

/// What PodGroup, its template and Workload may say about priority.
struct PriorityClaim {
  std::string priority_class;
  std::optional<std::int32_t> priority;
  std::string preemption_priority_class;
  /// An object says that class in the seed's field instead of an annotation; templates always do.
  bool preemption_class_in_field = false;
  PreemptionPolicy preemption_policy = PreemptionPolicy::unset;

  friend bool operator==(const PriorityClaim&, const PriorityClaim&) = default;
};

struct PodGroup {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  std::optional<Time> created;
  GroupPolicy policy;
  PriorityClaim priority;
  std::string workload;  ///< workloadRef
  std::string template_name;
  std::string parent;  ///< parentCompositePodGroupName
  std::string queue;
  std::vector<std::string> preferred_topology;  ///< Node labels, narrowest level first.
  bool opted_out = false;
  bool evict_below_minimum = false;  ///< below-minimum: "evict"
  std::optional<Time> last_checkpoint;
  std::optional<std::int64_t> preemption_cost_seconds;
  std::optional<Time> observed;  ///< The newest time in its conditions.

  friend bool operator==(const PodGroup&, const PodGroup&) = default;
};

struct GroupTemplate {
  std::string name;
  GroupPolicy policy;
  PriorityClaim priority;

  friend bool operator==(const GroupTemplate&, const GroupTemplate&) = default;
};

struct Workload {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  std::optional<Time> created;
  PriorityClaim priority;
  std::vector<GroupTemplate> templates;  ///< Sorted by name.
  std::optional<Time> last_checkpoint;   ///< For pods and groups of it that state none.
  std::optional<std::int64_t> preemption_cost_seconds;

  friend bool operator==(const Workload&, const Workload&) = default;
};

struct Namespace {
  std::string name;
  std::string plane;  ///< Empty: home.
  Labels labels;

  friend bool operator==(const Namespace&, const Namespace&) = default;
};

// ---- Changes --------------------------------------------------------------------------------

struct Removal {
  ObjectKind kind = ObjectKind::pod;
  std::string namespace_name;
  std::string name;
  std::string plane;

  friend bool operator==(const Removal&, const Removal&) = default;
};

template <class... Objects>
std::variant<Objects..., Removal> change_of(KindList<Objects...>);

/// An object stands for itself: insert it, or replace the one of that key.
///
/// Copies, moves and the destructor of so many alternatives are thousands of functions, so they are
/// compiled once, in objects.cpp, and not wherever a list of changes is kept.
struct Change : decltype(change_of(ObjectKinds{})) {
  using Variant = decltype(change_of(ObjectKinds{}));

  Change();
  template <class Object>
    requires ClusterObject<Object> || std::is_same_v<Object, Removal>
  Change(Object object);                // NOLINT(google-explicit-constructor): as a variant
  Change(const Change& other);  // clang-format off: it takes "&&" for a part of the condition
  Change(Change&& other) noexcept;
  Change& operator=(const Change& other);  // clang-format on
  Change& operator=(Change&& other) noexcept;
  ~Change();

  friend bool operator==(const Change& a, const Change& b);
};

}  // namespace makeway
