// Plan: what was decided, for which ask, and why. Read by machines and shown to users.
//
// Plain values with names instead of slots, so that a plan outlives the cluster it was made for.
// Asks come in the order in which they were decided: priority, creation, wave, name. Lists of
// pods are sorted by namespace and name, except victims: they come most important first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rare.hpp"
#include "base/shared_list.hpp"
#include "base/time.hpp"
#include "model/configuration.hpp"
#include "model/object_ref.hpp"
#include "model/objects.hpp"
#include "model/plan_queue.hpp"
#include "model/plan_replica.hpp"
#include "model/plan_session.hpp"
#include "model/sentence.hpp"

namespace makeway {

enum class AskKind : std::uint8_t { pod, pod_group, queue, replica_schedule, session };
template <>
inline constexpr std::array<std::string_view, 5> choice_names<AskKind> = {
    "Pod", "PodGroup", "Queue", "ReplicaSchedule", "Session"};

enum class Outcome : std::uint8_t {
  fits,        ///< There is room now.
  preempts,    ///< There is room once the victims are gone.
  waits,       ///< There is room once pods that are leaving are gone, or a delay has passed.
  infeasible,  ///< Proven: no node can hold it, whatever is evicted.
  not_found,   ///< Nothing was found, and that proves nothing.
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<Outcome> = {
    "fits", "preempts", "waits", "infeasible", "not-found"};

struct PodPlacement {
  std::string namespace_name;
  std::string name;
  std::string node;
  std::string plane;  ///< Of both; empty: home.

  friend auto operator<=>(const PodPlacement&, const PodPlacement&) = default;
};

struct ScoreTerm {
  ScoreKey key = ScoreKey::victims;
  std::int64_t value = 0;

  friend bool operator==(const ScoreTerm&, const ScoreTerm&) = default;
};

/// In the order of `workload.scoreKeys`; smaller is better, the first difference decides.
using ScoreTerms = std::vector<ScoreTerm>;

/// Work that is lost because pods leave: since their start or last checkpoint, or as they state.
struct PlanCost {
  std::int64_t pod_seconds = 0;
  std::int64_t gpu_seconds = 0;  ///< Each pod's seconds times the GPUs that it asks for.

  friend bool operator==(const PlanCost&, const PlanCost&) = default;
};

struct PlanVictim {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string node;
  std::string plane;  ///< Empty: home.
  std::string unit;   ///< What leaves as one: "Pod default/low", "PodGroup default/training".
  std::int32_t priority = 0;  ///< The unit's preemption priority.
  bool violates_budget = false;
  std::string budget;  ///< The one that it violates: "default/web".
  std::string reason;  ///< "lower priority (10 < 1000)"
  // The cause (law 9): for which ask, under which rule, compared with what, and what decided.
  std::string cause_for;          ///< "Pod default/urgent"
  std::string cause_rule;         ///< "workload: pods of lower priority on one node"
  std::string cause_alternative;  ///< "node n2", or why there is none.
  std::string cause_key;          ///< "highest-priority: 10 against 20"
  PlanCost cost;

  friend bool operator==(const PlanVictim&, const PlanVictim&) = default;
};

template <>
inline constexpr std::array<std::string_view, 2> choice_names<DisruptionMode> = {"single", "all"};

/// What becomes of a group that loses pods.
enum class GroupFate : std::uint8_t {
  runs_on,   ///< With its minimum or more.
  degraded,  ///< With fewer than its minimum.
  leaves,    ///< None of its pods stays.
};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<GroupFate> = {"runs-on", "degraded",
                                                                            "leaves"};

/// A group that loses pods to an ask. Its pods are counted without those that are leaving anyway or
/// are victims of asks before.
struct PlanDisruptedGroup {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  DisruptionMode mode = DisruptionMode::single;
  std::int64_t lost = 0;
  std::int64_t running = 0;    ///< Before these are lost.
  std::int64_t remaining = 0;  ///< Afterwards.
  std::int64_t minimum = 0;    ///< Of a gang; 0: the group has none.
  GroupFate fate = GroupFate::runs_on;
  PlanCost cost;

  friend bool operator==(const PlanDisruptedGroup&, const PlanDisruptedGroup&) = default;
};

/// A loss unit that an ask's victims stop (SPEC section 7). Its other pods are counted without
/// those that are leaving anyway or are victims of asks before.
struct PlanStoppedUnit {
  std::string namespace_name;
  std::string plane;      ///< Empty: home.
  std::string unit;       ///< "JobSet shop/train"
  std::int64_t lost = 0;  ///< Victims.
  std::int64_t stopped = 0;
  PlanCost cost;  ///< Of those that stop; some may be in a gang that stops as well.

  friend bool operator==(const PlanStoppedUnit&, const PlanStoppedUnit&) = default;
};

/// An ask or pod that has room which another ask would use.
struct PlanTaker {
  std::string ask;  ///< "PodGroup default/first"
  std::int32_t priority = 0;
  std::int64_t pods = 0;  ///< Its pods on the nodes that the other would use.

  friend bool operator==(const PlanTaker&, const PlanTaker&) = default;
};

/// A group without a place for which there would be room if asks before it were not counted.
/// Counted are members that find room without an eviction.
struct PlanHeldBack {
  std::int64_t needed = 0;
  std::int64_t room_left = 0;     ///< Members that find room beside what others get.
  std::int64_t room_alone = 0;    ///< Members that would if no other ask got or kept a place.
  std::vector<PlanTaker> takers;  ///< In the order in which they are decided.

  friend bool operator==(const PlanHeldBack&, const PlanHeldBack&) = default;
};

/// Why a node cannot hold an ask.
enum class RefusalReason : std::uint8_t {
  unsupported,    ///< The pod needs something that is not checked. Detail: what.
  unschedulable,  ///< The node is cordoned.
  taint,          ///< Detail: the taint that is not tolerated, "key=value:NoSchedule".
  claim,          ///< A claim keeps the pod off every node. Detail: which, and why.
  node_affinity,  ///< Node selector or required node affinity.
  claim_node,     ///< What the pod claims is not available on the node. Detail: the claim.
  host_port,      ///< Detail: the port, "8080/TCP".
  resource,       ///< Detail: the resource. Amount: how much is missing.
  volume_in_use,  ///< One pod at a time may use the claim. Detail: the claim.
  volume_limit,   ///< Detail: the driver. Amount: how many volumes are too many.
  spread_label,   ///< The node lacks a topology label. Detail: the label.
  spread,         ///< Detail: the topology key. Amount: by how much the skew is too large.
  affinity,       ///< No matching pod in the node's domain. Detail: the topology key.
  anti_affinity,  ///< The ask repels a pod there. Detail: the topology key.
  repelled,       ///< A pod there repels the ask. Detail: the topology key.
  promised,       ///< There is room, but an ask before it would lose its place by it.
  regime,         ///< Large enough, but others schedule the node. Detail: its regime.
};
template <>
inline constexpr std::array<std::string_view, 17> choice_names<RefusalReason> = {
    "unsupported", "unschedulable", "taint",         "claim",        "node-affinity", "claim-node",
    "host-port",   "resource",      "volume-in-use", "volume-limit", "spread-label",  "spread",
    "affinity",    "anti-affinity", "repelled",      "promised",     "regime"};

/// Why a kernel stays; its name is "SESSION/KERNEL", and it has no priority.
inline constexpr std::string_view why_kernel_stays = "kernel of a session";

/// A pod that holds what the ask needs and cannot be evicted for it.
struct PlanHolder {
  std::string namespace_name;
  std::string name;
  std::string plane;          ///< Empty: home.
  std::int32_t priority = 0;  ///< The unit's preemption priority.
  std::string why;            ///< "not of lower priority", "opted out", "nominated", ...

  friend bool operator==(const PlanHolder&, const PlanHolder&) = default;
};

/// Nodes that refuse the ask for the same reason.
struct PlanRefusal {
  RefusalReason reason = RefusalReason::resource;
  std::string detail;
  std::int64_t amount_min = 0;  ///< The smallest amount among these nodes; 0: no amount.
  std::int64_t nodes = 0;
  std::string example;              ///< The first by name of the nodes with the smallest amount.
  std::vector<PlanHolder> holders;  ///< On the example, most important first, at most five.

  friend bool operator==(const PlanRefusal&, const PlanRefusal&) = default;
};

/// Another place where the ask could have gone.
struct PlanAlternative {
  std::string node;    ///< Of a group: its nodes.
  std::string domain;  ///< Of a group: "rack=a"; empty: the whole cluster.
  ScoreTerms score;
  std::int64_t victims = 0;
  std::int64_t victim_units = 0;
  std::string lost_on;  ///< The key on which it lost: "victims: 3 against 2", "name".

  friend bool operator==(const PlanAlternative&, const PlanAlternative&) = default;
};

/// A pod that could have been evicted and was put back, because the ask fits beside it.
struct PlanSpared {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  std::int32_t priority = 0;

  friend bool operator==(const PlanSpared&, const PlanSpared&) = default;
};

/// A victim that its controller recreates, and the pods that it would evict in turn.
struct PlanCascade {
  std::string pod;  ///< "Pod default/web"
  std::vector<std::string> victims;

  friend bool operator==(const PlanCascade&, const PlanCascade&) = default;
};

struct PlanExplanation {
  std::int64_t nodes_considered = 0;
  std::int64_t nodes_fitting = 0;          ///< As they are now.
  std::int64_t nodes_with_preemption = 0;  ///< Only after an eviction.
  /// Potential victims on the chosen node; the victims and the spared are among them.
  std::int64_t potential_victims = 0;
  std::vector<PlanAlternative> alternatives;  ///< Best first, at most `engine.alternativesMax`.
  std::vector<PlanSpared> spared;             ///< Most important first, at most ten.
  std::int64_t spared_count = 0;
  std::vector<PlanCascade> cascades;  ///< Of the chosen node; in the order in which they follow.
  /// Most frequent first. For an ask that fits nowhere: what stays unmet when every pod that may be
  /// evicted has left.
  SharedList<PlanRefusal> refusals;

  friend bool operator==(const PlanExplanation&, const PlanExplanation&) = default;
};

/// One try of a pinned pod to find victims.
struct PlanLadderStep {
  std::vector<std::string> classes;  ///< The classes of the candidates.
  VictimSelection strategy = VictimSelection::single;
  bool within_budgets = false;  ///< Only victims that no disruption budget forbids.
  std::string result;           ///< "2 victims", "no candidate covers the shortfall", ...

  friend bool operator==(const PlanLadderStep&, const PlanLadderStep&) = default;
};

/// A pod that a pinned pod may evict.
struct PlanPinnedCandidate {
  std::string namespace_name;
  std::string name;   ///< Of a group that leaves whole: its first pod.
  std::string plane;  ///< Empty: home.
  std::int32_t priority = 0;
  std::string victim_class;
  std::int64_t pods = 1;
  std::int64_t deviation_ppm = 0;  ///< Of its size from the ask's, in millionths.
  bool victim = false;

  friend bool operator==(const PlanPinnedCandidate&, const PlanPinnedCandidate&) = default;
};

/// A pinned pod that does not fit has its node reserved.
struct PlanReservation {
  std::string node;
  Time since;
  std::optional<Time> preempts_from;  ///< Set while the start delay has not passed.
  // With explanations:
  std::vector<PlanLadderStep> ladder;           ///< In the order in which they were tried.
  std::vector<PlanPinnedCandidate> candidates;  ///< By class and order in it, at most twenty.
  std::int64_t candidates_count = 0;

  friend bool operator==(const PlanReservation&, const PlanReservation&) = default;
};

struct PlanAsk {
  AskKind kind = AskKind::pod;
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  /// Of a pod that was made from a template, see PodNotes.
  std::string made_from;
  std::int32_t wave = 0;
  std::string wave_after;
  std::int32_t priority = 0;
  /// The schedulerName whose rules decided it. Empty: the rules that apply to all.
  std::string profile;
  Outcome outcome = Outcome::infeasible;
  /// Since the pod or group was created; of a group with running members, since its oldest pending
  /// one was. Nothing: that is not known.
  std::optional<std::int64_t> pending_seconds;
  std::vector<PodPlacement> placements;
  std::string domain;               ///< Of a group that preempts; empty: the whole cluster.
  bool placement_given = false;     ///< The caller said where; only victims were chosen.
  std::vector<PlanVictim> victims;  ///< Most important first.
  std::vector<PlanDisruptedGroup> disrupted_groups;  ///< By namespace and name.
  std::vector<PlanStoppedUnit> stopped_units;        ///< By namespace and name.
  /// Pods of these units. In the whole plan each is counted once, and none that an ask evicts.
  std::int64_t stopped_pods = 0;
  PlanCost cost;                        ///< Over all victims, and the pods that stop with them.
  std::vector<PodPlacement> waits_for;  ///< Leaving pods whose room is needed, and where they are.
  std::optional<Time> waits_until;      ///< The end of a delay.
  Rare<PlanReservation> reservation;    ///< Of a pinned pod that does not fit now.
  ScoreTerms score;                     ///< Empty without victims.
  std::vector<std::string> bounds_reached;  ///< Names of bounds that stopped a search.
  Rare<PlanHeldBack> held_back;
  Rare<PlanReplicas> replicas;    ///< Of a ReplicaSchedule.
  Rare<PlanSession> session;      ///< Of a Session.
  std::string reason;             ///< One sentence.
  Mentions reason_mentions = {};  // NOLINT(readability-redundant-member-init)
  PlanExplanation explanation;

  friend bool operator==(const PlanAsk&, const PlanAsk&) = default;
};

enum class ActionType : std::uint8_t {
  bind,
  nominate,
  evict,
  wait,
  reserve,
  scale_up,
  scale_down,
  force_delete,
  requeue,
  suspend,
  resume,
};
template <>
inline constexpr std::array<std::string_view, 11> choice_names<ActionType> = {
    "bind",       "nominate",     "evict",   "wait",    "reserve", "scale-up",
    "scale-down", "force-delete", "requeue", "suspend", "resume"};

/// What the world is asked to do.
struct PlanAction {
  ActionType type = ActionType::bind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string node;              ///< bind, nominate, reserve: where to. evict: where it runs.
  std::optional<ObjectRef> ask;  ///< evict: the ask it is for.
  std::optional<Time> since;     ///< reserve: when the reservation began.
  std::optional<PlanScale> scale = std::nullopt;  ///< scale-up, scale-down.
  std::string plane;                              ///< The plane of the API server; empty: home.
  /// evict, requeue, suspend of a session: notice now, and this is when its grace time is over.
  std::optional<Time> until = std::nullopt;
  /// reserve: its victims are chosen, or leaving pods make enough room; no other ask gets it.
  bool promised = false;

  friend bool operator==(const PlanAction&, const PlanAction&) = default;
};

/// A condition that an object should show.
struct PlanStatus {
  ObjectRef object;
  std::string condition;
  bool value = false;
  std::string reason;
  std::string message;
  Mentions message_mentions = {};  // NOLINT(readability-redundant-member-init)

  friend bool operator==(const PlanStatus&, const PlanStatus&) = default;
};

/// An ask that was not decided, because of a bug of ours (law 14).
struct PlanLeftOut {
  AskKind kind = AskKind::pod;  ///< A Queue without a name: the queue stage.
  std::string namespace_name;
  std::string name;
  int law = 0;         ///< The law that its plan broke; 0: a CHECK failed while it was decided.
  std::string reason;  ///< What the judge said, or which CHECK.

  friend bool operator==(const PlanLeftOut&, const PlanLeftOut&) = default;
};

/// An object whose plan is made without what is wrong with it (law 13).
struct PlanQuarantined {
  std::string object;
  std::string field;
  std::string value;
  std::string message;
  std::string remedy;

  friend bool operator==(const PlanQuarantined&, const PlanQuarantined&) = default;
};

struct PlanQuarantine {
  std::int64_t objects = 0;
  std::int64_t problems = 0;
  std::vector<PlanQuarantined> first;  ///< Those that are kept, see Problems.

  friend bool operator==(const PlanQuarantine&, const PlanQuarantine&) = default;
};

/// Marks of one sort that did not count (SPEC section 10, trust.hpp).
struct PlanNotHonoured {
  std::string mark;  ///< "protection", "pinned", ...
  std::int64_t marks = 0;
  std::string object;  ///< The first by name.
  std::string field;
  std::string value;
  std::string reason;

  friend bool operator==(const PlanNotHonoured&, const PlanNotHonoured&) = default;
};

struct Plan {
  std::string id;  ///< 16 hexadecimal digits over everything but explanations.
  std::string preset;
  std::string configuration_hash;
  Time now;
  std::vector<WaivedLaw> laws_waived;
  std::vector<PlanQueue> queues;              ///< By name; none: there are no queues.
  std::vector<PlanQueueMove> queue_moves;     ///< In the order in which they were decided.
  std::vector<PlanQueueStatus> queue_status;  ///< By name; those that change.
  std::vector<PlanResourceGroup> resource_groups;
  std::vector<PlanNetSchedule> net_schedule;      ///< By namespace and name; those that change.
  std::vector<PlanReplicaStatus> replica_status;  ///< By namespace and name; those that change.
  std::vector<PlanAsk> asks;
  std::vector<PlanAction> actions;
  std::vector<PlanStatus> status;
  std::int64_t others_pending = 0;            ///< Pending pods that did not ask.
  PlanCost cost;                              ///< Over all asks; each pod counts once.
  std::vector<PlanLeftOut> left_out;          ///< In the order in which they were left out.
  PlanQuarantine quarantine;                  ///< No part of the id.
  std::vector<PlanNotHonoured> not_honoured;  ///< No part of the id.
  std::string withheld;  ///< Why the plan is empty although it should not be (law 14).

  friend bool operator==(const Plan&, const Plan&) = default;
};

PlanCost sum(const PlanCost& a, const PlanCost& b);

/// "Pod default/urgent"
std::string ask_text(const PlanAsk& ask);

/// Law 14: nothing of the queue stage was decided; the statuses of the queues stay as they are.
bool leaves_out_queues(const std::vector<PlanLeftOut>& left_out);

/// As a Kubernetes quantity, never rounded: "1500m", "12", "2Gi".
std::string exact_amount(std::string_view resource, std::int64_t amount);

/// Of a pod that cannot be placed: the need that is not checked, or why it is in quarantine.
std::string unmet_need_text(std::string_view need);

/// "short of nvidia.com/gpu by at least 2"
std::string refusal_text(const PlanRefusal& refusal);

}  // namespace makeway
