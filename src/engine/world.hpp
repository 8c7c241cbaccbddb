// World: where pods are now, soon and late, while a cycle is decided.
//
// Horizons
//   now   `now()`: everything that is bound, and what this cycle binds
//   soon  `after()`: also what this cycle nominates, without its victims and without pods that
//         leave soon (Departures)
//   late  `after()` while late pods are credited to an ask (`credit_late`)
// An ask that fits now and soon is bound at once; one that fits soon only waits; otherwise victims
// are looked for in `after`. What is kept for pods that were not decided yet is in `holds()`. What
// is free at a horizon, for nodes and for queues, is read through Room (room.hpp).
//
// Only its operations change it, `bind` to `return_late`. Between them a caller may try moves in
// the two scratch worlds, and undoes them. CHECKed:
//  - what was placed or nominated in this cycle is no victim (law 8)
//  - a victim leaves once, and is bound; a pod is decided once
//  - every trial is undone when an operation begins.
//
// It cannot be wound back: after a failed check the cycle starts afresh without the ask (law 14,
// decision 0011).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "engine/ask_limits.hpp"
#include "engine/budgets.hpp"
#include "engine/departures.hpp"
#include "engine/fit.hpp"
#include "engine/holds.hpp"
#include "engine/promise_watch.hpp"
#include "engine/scratch.hpp"
#include "engine/step_meter.hpp"
#include "engine/survey.hpp"
#include "engine/victims.hpp"
#include "model/configuration.hpp"
#include "model/profiles.hpp"

namespace makeway {

struct PodOnNode {
  PodIndex pod;
  NodeIndex node;
};

class World {
 public:
  /// Costs O(leaving and nominated pods).
  World(const Cluster& cluster, const Configuration& configuration, Time now);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // ---- Operations ---------------------------------------------------------------------------
  /// The pod's turn is over: its nomination, if it had one, holds no room any more.
  void decided(PodIndex pod);
  /// The pod's turn is still to come, and its nomination holds no room any more: its group took it.
  void lose_nomination(PodIndex pod);
  /// The pod is bound to the node now.
  void bind(PodIndex pod, NodeIndex node);
  /// The pod will go to the node once these pods are gone; they may be none.
  void nominate(PodIndex pod, NodeIndex node, std::span<const PodIndex> victims);
  /// The same for several pods that come together, and may need each other.
  void nominate(std::span<const PodOnNode> coming, std::span<const PodIndex> victims);
  /// These pods leave, whichever pods come.
  void leave(std::span<const PodIndex> victims);
  /// An ask waits until these are gone; they make room for it before they make any for later asks.
  void await(std::span<const PodIndex> leaving);
  /// Law 6: these of `late()` are gone from `after`, for the ask whose turn it is.
  void credit_late(std::span<const PodIndex> pods);
  /// The turn ends: late pods that no ask waits for are there again.
  void return_late();

  // ---- What is known --------------------------------------------------------------------------
  const Cluster& cluster() const { return cluster_; }
  /// The rules of the ask whose turn it is (model/profiles.hpp); between turns, those of the
  /// cluster.
  const Configuration& configuration() const { return *configuration_; }
  /// The turn of this unit of pods begins; none: of an ask without a profile, or of none.
  void turn_to(UnitIndex unit);
  /// The rules of this unit, also outside its turn.
  const Configuration& rules_of(UnitIndex unit) const;
  /// Of the ask whose turn it is; empty: it has no profile, or one that changes nothing.
  std::string_view profile() const;
  /// Equal for units that have the same rules.
  std::size_t profile_number(UnitIndex unit) const;
  Time time() const { return rules_.now(); }
  Survey& survey() { return survey_; }
  const Survey& survey() const { return survey_; }
  VictimRules& rules() { return rules_; }
  const VictimRules& rules() const { return rules_; }
  const Departures& departures() const { return rules_.departures(); }
  const Holds& holds() const { return holds_; }
  PlanSteps& steps() { return steps_; }
  Budgets& budgets() { return budgets_; }
  const Budgets& budgets() const { return budgets_; }
  /// For trials; a caller that moves a pod undoes it.
  Scratch& now() { return now_; }
  const Scratch& now() const { return now_; }
  Scratch& after() { return after_; }
  const Scratch& after() const { return after_; }
  /// In `after`, for a trial: pods that this cycle placed are not there, and its victims are.
  /// False: it placed none.
  bool revert_this_cycle();
  /// Whether `after` differs from `now`.
  bool differs() const { return differs_; }
  /// In `now`, but not in `after`: by node and importance, then as it happened.
  std::span<const PodIndex> gone() const { return gone_; }
  /// Leaving late, and there in `after`: an ask waits for their room only if nothing else is found.
  std::span<const PodIndex> late() const { return late_; }
  /// Nodes that something came to, left, or is no longer kept for, as it happened.
  std::span<const NodeIndex> changed_nodes() const { return changed_nodes_; }
  bool is_decided(PodIndex pod) const { return holds_.is_decided(pod); }
  /// Whether the pod, alone, is an ask of section 5: it can run on one node only.
  bool asks_pinned(PodIndex pod) const;
  /// Nominated where they do not fit yet: they wait for preempted pods (`nominationHeldBy`).
  std::span<const PodIndex> tentative_nominations() const { return tentative_nominations_; }
  bool is_tentative(PodIndex pod) const;
  /// Pods on whose arrival no place may depend: the tentative nominations, and where preempted pods
  /// hold a nomination every pod that is still to come. There a nominated pod may go elsewhere, and
  /// kube-scheduler, too, looks with nominated pods and without them.
  std::span<const PodIndex> uncertain_arrivals() const { return uncertain_arrivals_; }

  /// Which pods have to be gone from `now` before `fits` says yes: an irreducible set of those that
  /// are gone from `after`. Pods that earlier asks wait for, or made leave, belong to those: they
  /// are named only where the ask takes of what is left over. Pods of these nodes are named before
  /// others; with `elsewhere` others may matter (affinity, spread).
  enum class Elsewhere : std::uint8_t { ignored, matters };
  std::vector<PodIndex> needed_leavers(std::span<const NodeIndex> nodes, Elsewhere elsewhere,
                                       const std::function<bool()>& fits);
  /// Whether an ask of this cycle waits for the pod, or made it leave for its own place.
  bool is_taken(PodIndex leaving) const { return taken_[leaving] != 0; }

  /// Null: nothing but nodes limits asks.
  AskLimits* limits() const { return limits_.get(); }
  void limit_asks(std::unique_ptr<AskLimits> limits) { limits_ = std::move(limits); }

  // ---- Promises -------------------------------------------------------------------------------
  /// Whether a move on one node can matter to a pod that is promised another.
  bool has_promises() const { return promises_made_ > 0 || respects_earlier_nominations(); }
  /// Whether `keeps_promises` has to be asked about this one at all.
  bool must_check_promises(PodIndex ask) const;
  /// How many nominated asks of this cycle depend on other pods being there.
  std::size_t promises_made() const { return promises_made_; }
  /// Whether every pod that was promised a place still fits there in `after` when these victims
  /// leave and these pods come (law 3), and also before they come; both may have happened already.
  /// Nor may one need those after it, once these victims have left: see `may_bind`.
  /// The same for nominations from before that block the ask (law 7), and the pods that come must
  /// still fit when the nominated ones have come. What takes room is checked when it comes; this is
  /// about places that depend on other pods.
  bool keeps_promises(std::span<const PodOnNode> coming, std::span<const PodIndex> victims);
  bool keeps_promises(PodIndex ask, NodeIndex node, std::span<const PodIndex> victims);
  /// Whether these may be bound at once, before the pods come that were promised a place. In the
  /// next cycle each of those has its turn before those after it: it must fit without them (law 7).
  bool may_bind(std::span<const PodOnNode> coming);
  bool may_bind(PodIndex ask, NodeIndex node);
  /// Whether the ask, with these victims gone, fits on the node only with one of
  /// `uncertain_arrivals`.
  bool needs_uncertain_arrival(PodFit& fit, NodeIndex node, std::span<const PodIndex> victims);

  /// While it lives, promises from before this cycle are not looked at.
  class NominatedBeforeIgnored {
   public:
    explicit NominatedBeforeIgnored(World& world);
    ~NominatedBeforeIgnored();
    NominatedBeforeIgnored(const NominatedBeforeIgnored&) = delete;
    NominatedBeforeIgnored& operator=(const NominatedBeforeIgnored&) = delete;

   private:
    World& world_;
    bool before_;
  };

  /// While it lives, the nominations of these pods hold no room, as if they had been decided.
  class NominationsIgnored {
   public:
    explicit NominationsIgnored(World& world) : world_(world) {}
    ~NominationsIgnored();
    NominationsIgnored(const NominationsIgnored&) = delete;
    NominationsIgnored& operator=(const NominationsIgnored&) = delete;

    /// Changes nothing for a pod that is decided already.
    void ignore(PodIndex pod);
    std::span<const PodIndex> pods() const { return pods_; }

   private:
    World& world_;
    std::vector<PodIndex> pods_;
  };

  /// While it lives, leaving pods among these are in `after`, or not, as this rule says; late pods
  /// and victims of this cycle stay as they are. For an ask under another rule than the rest of the
  /// cycle (Departures).
  class LeavingRoomRule {
   public:
    LeavingRoomRule(World& world, std::span<const PodIndex> pods, bool credited);
    ~LeavingRoomRule() { world_.after_.rollback(before_); }
    LeavingRoomRule(const LeavingRoomRule&) = delete;
    LeavingRoomRule& operator=(const LeavingRoomRule&) = delete;

   private:
    World& world_;
    Scratch::Checkpoint before_;
  };

 private:
  class PromiseKeeper;
  /// Everything that PodFit reads of a pod, nominations apart.
  using FitKey = std::tuple<RequestId, ShapeId, LabelSetId, StringId, NotesId, Regime, bool>;
  /// Which pod comes where, at which turn: all of one ask come together, and may need each other.
  struct Coming {
    PodOnNode place;
    std::size_t turn = 0;
    bool depends = false;  ///< On other pods: the rest only counts for those that do.
    bool stands = false;   ///< As far as `turns_known_`: it fits in its turn.
  };

  void remove_leaving();
  bool needs_tentative_nomination(PodFit& fit, NodeIndex node, std::span<const PodIndex> victims);
  /// Whether a nominated pod may leave its place for another, as in kube-scheduler.
  bool may_move() const {
    return common_.workload.nomination_held_by == NominationHeldBy::preempted_pods;
  }
  bool respects_earlier_nominations() const {
    return respect_earlier_nominations_ && !holds_.constrained().empty();
  }
  /// CHECK: every trial is undone.
  void begin_operation() const;
  void end_operation();
  void settle(PodIndex pod);
  void note_nominated_node(PodIndex pod);
  void promise(const PodOnNode& place, bool may_be_tentative);
  void add_promise(const PodOnNode& place);
  /// For the pod or any other that is alike in what is looked at.
  PodFit& fit_of(PodIndex pod);
  PodFit& arrival_fit_of(PodIndex pod);
  FitKey fit_key(PodIndex pod) const;
  void take(PodIndex leaving);
  std::vector<PodIndex> leavers_of(std::span<const NodeIndex> nodes, Elsewhere elsewhere) const;
  std::vector<PodIndex> reduce_leavers(std::span<const PodIndex> leaving,
                                       const std::function<bool()>& fits);
  void place_earlier_asks(std::span<const NodeIndex> nodes);

  const Cluster& cluster_;
  const Configuration& common_;  ///< Its rules for asks count for every ask without a profile.
  const Configuration* configuration_;
  std::vector<ProfileRules> profiles_;
  Survey survey_;
  VictimRules rules_;
  Budgets budgets_;
  PlanSteps steps_;
  Holds holds_;
  Scratch now_;
  Scratch after_;
  Scratch after_without_arrivals_;  ///< `after` without any pod that is still to come.
  Scratch::Checkpoint now_end_;     ///< Of what the operations did.
  Scratch::Checkpoint after_end_;   ///< The same.
  bool differs_ = false;
  std::vector<PodIndex> gone_;
  std::size_t gone_before_ = 0;  ///< Of these, before this cycle chose victims.
  /// Position in `gone_`, from 1; 0: it is late, and an ask is spared waiting for it first.
  SparseColumn<PodIndex, std::uint32_t> gone_rank_;
  std::vector<PodIndex> late_;
  std::vector<PodIndex> late_credits_;  ///< Late, and credited to the ask whose turn it is.
  SparseColumn<PodIndex, std::uint8_t> taken_;
  std::vector<NodeIndex> changed_nodes_;
  std::vector<PodIndex> settled_log_;
  /// Nominated asks whose place depends on other pods being there: affinity or spread. Of those
  /// that are alike, and in the same domains, one: what breaks the promise to it breaks all.
  std::vector<PodOnNode> promises_;
  /// Every pod that is still to come, tentative nominations apart, by their turns.
  std::vector<Coming> coming_;
  std::size_t turns_ = 0;
  bool turns_known_ = false;  ///< Not after an operation.
  std::size_t promises_made_ = 0;
  std::set<std::vector<std::uint32_t>> promise_kinds_;
  PromiseWatch promise_watch_;  ///< Of `promises_`; empty after an operation.
  bool respect_earlier_nominations_ = true;
  /// For pods in the lists above, made when first asked for. They stay, since building one may cost
  /// a look at every pod; each follows every move, so pods that are alike share one.
  std::map<FitKey, std::unique_ptr<PodFit>> fits_;
  std::map<FitKey, std::unique_ptr<PodFit>> arrival_fits_;
  /// Of asks, over `after_without_arrivals_`, too.
  std::map<FitKey, std::unique_ptr<PodFit>> ask_fits_without_arrivals_;
  std::vector<PodIndex> tentative_nominations_;
  std::vector<PodIndex> uncertain_arrivals_;
  std::unique_ptr<AskLimits> limits_;  ///< Last: it follows the two worlds.
};

}  // namespace makeway
