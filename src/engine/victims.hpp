// Potential victims: which pods may be evicted for an ask, and in which order they are spared.
//
// A potential victim is a unit: a pod, or a whole group whose disruption mode is `all`, with all of
// its pods wherever they run. It must be strictly less important than the ask by priority and not
// protected (SPEC section 1): mirror and static pods, opted out, protected namespaces, younger than
// the minimum runtime, system-critical, pinned, marked members (of groups that leave one by one);
// live also pods of other schedulers, and under strict budgets pods under two of them (KeptBy).
// One protected pod protects a whole `all` group. Replicas of a ReplicaSchedule stay, too:
// Kubernetes would recreate them, so they leave by scale-down only (SPEC section 4).
//
// Importance, the configured keys in order (`workload.importanceKeys`): priority, group over pod,
// size, age, lost work; then namespace/name. Members of a group that leave one by one rank as
// groups of size 1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/budgets.hpp"
#include "engine/departures.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"
#include "model/configuration.hpp"

namespace makeway {

enum class ReasonCode : std::uint16_t;  // model/reason.hpp

/// Why a pod stays, for plan_writer; empty: it may leave.
struct StaysBecause {
  std::optional<ReasonCode> code;
  const ReplicaSchedule* schedule = nullptr;  ///< The argument of `stays_scaled_only`.

  bool empty() const { return !code; }
};

struct VictimUnit {
  UnitIndex unit;
  PodIndex first;  ///< Its only pod, or the first by name.
  std::int32_t priority = 0;
  bool group = false;
  bool whole = false;  ///< A group that leaves whole.
  Time started;        ///< The earliest start; unknown counts as now.
  std::int64_t lost_work_seconds = 0;
  std::uint32_t begin = 0;  ///< Its pods in the list's `pods`.
  std::uint32_t size = 0;
  std::int32_t violations = 0;  ///< Of its pods against budgets; set by the caller.
};

/// Units and their pods; reused from node to node, so that no memory is asked for in between.
struct VictimList {
  std::vector<VictimUnit> units;
  std::vector<PodIndex> pods;

  std::span<const PodIndex> pods_of(const VictimUnit& unit) const {
    return std::span(pods).subspan(unit.begin, unit.size);
  }
  void clear() {
    units.clear();
    pods.clear();
  }
};

/// Keeps victims to a part of the cluster: with queues on, to the ask's own queue.
class VictimScope {
 public:
  VictimScope() = default;
  virtual ~VictimScope() = default;
  virtual bool contains(PodIndex pod) const = 0;
};

/// What the rules need to know besides the cluster.
class VictimRules {
 public:
  VictimRules(Survey& survey, const Configuration& configuration, Time now);
  /// The same under another configuration; a pod settled for one is settled for both.
  VictimRules(const VictimRules& other, const Configuration& configuration);

  Time now() const { return now_; }
  const Configuration& configuration() const { return *configuration_; }

  /// Whether nothing but priority keeps a pod that is not guarded (model/node_order.hpp).
  bool by_priority_alone() const {
    return protected_namespaces_.empty() && configuration_->protection.minimum_runtime.ms == 0 &&
           *scope_ == nullptr && !labels_protect();
  }
  /// The same for replicas, when their deployment is scaled down.
  bool replicas_by_priority_alone() const {
    return protected_namespaces_.empty() && configuration_->protection.minimum_runtime.ms == 0 &&
           *scope_ == nullptr;
  }
  /// Whether labels can protect pods: some belong to ReplicaSchedules.
  bool labels_protect() const { return survey_.regimes().any_schedules(); }
  /// From now on, also for rules that were made like these; null: the whole cluster.
  void limit_to(const VictimScope* scope) { *scope_ = scope; }
  /// The priority that protects the pod's unit.
  std::int32_t priority_of(PodIndex pod) const;
  /// Already on its way out, and not to be evicted again.
  bool leaving(PodIndex pod) const;
  /// The same, and its room comes late.
  bool late(PodIndex pod) const { return leaving(pod) && departures_->late(pod); }
  const Departures& departures() const { return *departures_; }
  /// `engine.preemptionDelay`: from when on an ask that was created then may make others leave;
  /// none: it may already.
  std::optional<Time> delayed_until(Time created) const;
  /// Why the pod is protected; empty when it is not.
  StaysBecause protection(PodIndex pod) const;
  /// The same for pods that leave by scale-down (SPEC section 4).
  StaysBecause protection_from_scale_down(PodIndex pod) const;
  /// The same for policies with other rules about pods that opted out.
  StaysBecause protection_but_opt_out(PodIndex pod) const;
  /// Its own word, or its group's.
  bool opted_out(PodIndex pod) const;
  /// Everything but priority and the rest of its group. A pod that was moved in this world is
  /// only supposed to be there.
  bool may_leave(const Scratch& scratch, PodIndex pod) const;
  /// Pods that this cycle has placed or chosen as victims are no potential victims.
  bool settled(PodIndex pod) const { return (*settled_)[pod] != 0; }

  /// Why the pod cannot be made to leave for an ask of this priority; empty when it can.
  StaysBecause stays_because(const Scratch& scratch, PodIndex pod, std::int32_t ask_priority) const;

  /// Adds the units that have a pod on the node in this world and may leave for an ask of this
  /// priority; none of a node of another regime than `pods`.
  void collect(const Scratch& scratch, NodeIndex node, std::int32_t ask_priority,
               VictimList& list) {
    collect(scratch, std::span(&node, 1), ask_priority, list);
  }
  /// The same for several nodes; each unit is added once.
  void collect(const Scratch& scratch, std::span<const NodeIndex> nodes, std::int32_t ask_priority,
               VictimList& list);
  /// Only units that have one of the pods for which `wanted` holds.
  template <class Wanted>
  void collect_some(const Scratch& scratch, std::span<const NodeIndex> nodes,
                    std::int32_t ask_priority, const Wanted& wanted, VictimList& list) {
    seen_groups_.clear();
    for (const NodeIndex node : nodes) {
      if (survey_.regimes().of(node) != Regime::pods) continue;
      scratch.for_each_pod(node, [&](PodIndex pod) {
        if (wanted(pod)) collect_pod(scratch, pod, ask_priority, list);
      });
    }
  }

  /// Adds, pod by pod, the rest of each group with below-minimum `evict` that leaves one by one and
  /// falls under its minimum with these victims, which have left the world. Where one of the rest
  /// may not leave, or is under a strict budget, the group runs on degraded.
  void add_fallen(const Scratch& scratch, Budgets& budgets, VictimList& victims) const;
  /// Whether some of the victims are of a group with below-minimum `evict`.
  bool any_may_fall(const VictimList& victims) const;
  /// A group with below-minimum `evict` that leaves one by one and had its minimum before these
  /// victims left the world: some stay, too few for it, and all of them may leave.
  bool falls_whole(const Scratch& scratch, Budgets& budgets, UnitIndex index,
                   const VictimList& victims) const;

  bool more_important(const VictimUnit& a, const VictimUnit& b) const;
  std::int64_t lost_work_seconds(PodIndex pod) const;
  Time started(PodIndex pod) const;
  /// How long it has run; never negative.
  std::int64_t age_ms(PodIndex pod) const;

 private:
  friend class World;  // It alone says what is settled, and which ask is decided.

  void settle(PodIndex pod) { settled_->writable(pod) = 1; }
  /// Other rules, which agree in every knob of the cluster.
  void obey(const Configuration& configuration) { configuration_ = &configuration; }
  void read_names();
  StaysBecause own_protection(PodIndex pod) const;
  StaysBecause scaled_only(PodIndex pod) const;
  void collect_pod(const Scratch& scratch, PodIndex pod, std::int32_t ask_priority,
                   VictimList& list);
  void add_pod(PodIndex pod, VictimList& list) const;
  void add_group(const Scratch& scratch, UnitIndex index, VictimList& list);

  Survey& survey_;
  const Configuration* configuration_;  ///< Of the ask whose turn it is.
  Time now_;
  std::unique_ptr<const Departures> own_departures_;
  const Departures* departures_;  ///< Own, or those of the rules that these are like.
  using Settled = SparseColumn<PodIndex, std::uint8_t>;
  std::unique_ptr<const VictimScope*> own_scope_;
  const VictimScope** scope_;  ///< Own, or that of the rules that these are like.
  std::unique_ptr<Settled> own_settled_;
  Settled* settled_;  ///< Own, or that of the rules that these are like.
  std::vector<StringId> protected_namespaces_;
  std::vector<StringId> critical_classes_;
  std::vector<UnitIndex> seen_groups_;  ///< Sorted, while units are collected.
};

}  // namespace makeway
