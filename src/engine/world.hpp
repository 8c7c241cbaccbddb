// World: what is there, what will be, and who is promised which room, while a cycle is decided.
//
// Two worlds. `now` is what is there: everything bound, and what this cycle binds. `after` is what
// will be there: also what this cycle nominates, without pods that are leaving and whose room is
// credited, and without the victims of this cycle. An ask that fits in both is bound at once; one
// that fits in `after` only waits; otherwise it may make others leave, and that is tried in
// `after`. Nominations of pods that were not decided yet hold their room in `after`.
//
// Only the operations change it: `bind`, `nominate`, `leave`, `decided`, and those about who waits
// and who is late. Between them anybody may try things in the two scratch worlds and has to undo
// them. It holds (CHECK) that
//  - what was placed or nominated in this cycle is nobody's victim (law 8)
//  - a victim leaves once, and is somewhere; a pod is decided once
//  - nobody's what-if is left over when an operation comes.
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
#include "engine/fit.hpp"
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
  /// The same for several who come together, and may need each other.
  void nominate(std::span<const PodOnNode> coming, std::span<const PodIndex> victims);
  /// These pods leave, whoever comes.
  void leave(std::span<const PodIndex> victims);
  /// An ask waits until these are gone; they make room for it before they make any for later asks.
  void await(std::span<const PodIndex> leaving);
  /// Law 6: these of `late()` are gone from `after`, for the ask whose turn it is.
  void credit_late(std::span<const PodIndex> pods);
  /// The turn ends: those for whom nobody waits are there again.
  void return_late();

  // ---- What is known --------------------------------------------------------------------------
  const Cluster& cluster() const { return cluster_; }
  /// The rules of whose turn it is (model/profiles.hpp); between turns, those of the cluster.
  const Configuration& configuration() const { return *configuration_; }
  /// The turn of the unit of pods begins; none: of somebody without a profile, or nobody.
  void turn_to(UnitIndex unit);
  /// The rules of this unit, whoever's turn it is.
  const Configuration& rules_of(UnitIndex unit) const;
  /// Of whose turn it is; empty: it has no profile, or one that changes nothing.
  std::string_view profile() const;
  /// Equal for units that have the same rules.
  std::size_t profile_number(UnitIndex unit) const;
  Time time() const { return rules_.now(); }
  Survey& survey() { return survey_; }
  const Survey& survey() const { return survey_; }
  VictimRules& rules() { return rules_; }
  const VictimRules& rules() const { return rules_; }
  PlanSteps& steps() { return steps_; }
  Budgets& budgets() { return budgets_; }
  const Budgets& budgets() const { return budgets_; }
  /// For trying; whoever moves somebody undoes it.
  Scratch& now() { return now_; }
  const Scratch& now() const { return now_; }
  Scratch& after() { return after_; }
  const Scratch& after() const { return after_; }
  /// In `after`, for trying: whom this cycle placed is not there, and its victims are. False: it
  /// placed nobody.
  bool revert_this_cycle();
  /// Whether `after` is another world than `now`.
  bool differs() const { return differs_; }
  /// In `now`, but not in `after`: by node and importance, then as it happened.
  std::span<const PodIndex> gone() const { return gone_; }
  /// Leaving, and there in `after`: their room comes later than an ask waits for while there is
  /// another way (`engine.leaveWaitMax`).
  std::span<const PodIndex> late() const { return late_; }
  /// Nodes that something came to, left, or is no longer kept for, as it happened.
  std::span<const NodeIndex> changed_nodes() const { return changed_nodes_; }
  const DecidedPods& decided_pods() const { return decided_; }
  bool is_decided(PodIndex pod) const { return decided_[pod] == turn_is_over; }
  /// Pending, and its nomination, if it has one, may still be used.
  bool may_hold_room(PodIndex pod) const { return decided_[pod] == 0; }
  /// Whether the pod, alone, is an ask of section 5: it can run on one node only.
  bool asks_pinned(PodIndex pod) const;
  /// Nominated where they do not fit yet: they wait for preempted pods (`nominationHeldBy`).
  std::span<const PodIndex> tentative_nominations() const { return tentative_nominations_; }
  bool is_tentative(PodIndex pod) const;
  /// On whom nobody may lean: the hopeful, and where preempted pods hold a nomination everybody who
  /// is still to come. There who has a place may leave it, and kube-scheduler, too, looks with
  /// nominated pods and without them.
  std::span<const PodIndex> uncertain_arrivals() const { return uncertain_arrivals_; }

  /// Who has to be gone from `now` before `fits` says yes: an irreducible set of those who are gone
  /// from `after`. What asks before it wait for, or made leave, is theirs: it is named only where
  /// the ask takes of what it leaves over. Pods of these nodes are named before others; with
  /// `elsewhere` others may matter (affinity, spread).
  enum class Elsewhere : std::uint8_t { ignored, matters };
  std::vector<PodIndex> needed_leavers(std::span<const NodeIndex> nodes, Elsewhere elsewhere,
                                       const std::function<bool()>& fits);
  /// Whether an ask of this cycle waits for the pod, or made it leave for its own place.
  bool is_taken(PodIndex leaving) const { return taken_[leaving] != 0; }

  /// Null: nothing but nodes limits asks.
  AskLimits* limits() const { return limits_.get(); }
  void limit_asks(std::unique_ptr<AskLimits> limits) { limits_ = std::move(limits); }

  // ---- Promises -------------------------------------------------------------------------------
  /// Whether what happens on one node can matter to who is promised another.
  bool has_promises() const { return promises_made_ > 0 || respects_earlier_nominations(); }
  /// Whether `keeps_promises` has to be asked about this one at all.
  bool must_check_promises(PodIndex ask) const;
  /// How many nominated asks of this cycle depend on others being there.
  std::size_t promises_made() const { return promises_made_; }
  /// Whether everybody who was promised a place still fits there in `after` when these victims
  /// leave and these pods come (law 3), and also before they come; both may have happened already.
  /// Nor may anybody need those after it, once these victims have left: see `may_bind`.
  /// The same for nominations from before that are not of lower priority and not decided yet
  /// (law 7), and those who come must still fit when these have come. What takes room is checked
  /// when it comes; this is about those whose place depends on others.
  bool keeps_promises(std::span<const PodOnNode> coming, std::span<const PodIndex> victims);
  bool keeps_promises(PodIndex ask, NodeIndex node, std::span<const PodIndex> victims);
  /// Whether these may be bound at once, before those come who were promised a place. In the next
  /// cycle each of those has its turn before those after it: it must fit without them (law 7).
  bool may_bind(std::span<const PodOnNode> coming);
  bool may_bind(PodIndex ask, NodeIndex node);
  /// Whether the ask, with these victims gone, fits on the node only thanks to one of
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

 private:
  class PromiseKeeper;
  /// Everything that PodFit reads of a pod, nominations apart.
  using FitKey = std::tuple<RequestId, ShapeId, LabelSetId, StringId, NotesId, Regime, bool>;
  /// In `decided_`; 0: neither.
  static constexpr std::uint8_t turn_is_over = 1;
  static constexpr std::uint8_t nomination_is_lost = 2;
  /// Who comes where, at which turn: all of one ask come together, and may need each other.
  struct Coming {
    PodOnNode place;
    std::size_t turn = 0;
    bool depends = false;  ///< On others: the rest only counts for those who do.
    bool stands = false;   ///< As far as `turns_known_`: it fits in its turn.
  };

  bool can_use(PodIndex pod, NodeIndex node);
  void find_leaving();
  void sort_late();
  void find_nominated();
  bool void_when_infeasible(PodIndex pod) const;
  bool needs_tentative_nomination(PodFit& fit, NodeIndex node, std::span<const PodIndex> victims);
  /// Whether who has a place may leave it for another, as in kube-scheduler.
  bool may_move() const {
    return common_.workload.nomination_held_by == NominationHeldBy::preempted_pods;
  }
  bool respects_earlier_nominations() const {
    return respect_earlier_nominations_ && !nominated_before_.empty();
  }
  /// CHECK: nobody's what-if is left over.
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
  const Configuration& common_;  ///< Also what it says of asks counts for whoever has no profile.
  const Configuration* configuration_;
  std::vector<ProfileRules> profiles_;
  Survey survey_;
  VictimRules rules_;
  Budgets budgets_;
  PlanSteps steps_;
  Scratch now_;
  Scratch after_;
  Scratch after_without_arrivals_;  ///< `after` without anybody who is still to come, in whatever
                                    ///< order they will.
  Scratch::Checkpoint now_end_;     ///< Of what the operations did.
  Scratch::Checkpoint after_end_;   ///< The same.
  bool differs_ = false;
  std::vector<PodIndex> gone_;
  std::size_t gone_before_ = 0;  ///< Of these, before this cycle made anybody leave.
  /// Position in `gone_`, from 1; 0: it is late, and first to be spared the waiting for.
  SparseColumn<PodIndex, std::uint32_t> gone_rank_;
  std::vector<PodIndex> late_;
  std::vector<PodIndex> late_credits_;  ///< Late, and credited to the ask whose turn it is.
  SparseColumn<PodIndex, std::uint8_t> taken_;
  std::vector<NodeIndex> changed_nodes_;
  DecidedPods decided_;
  std::vector<PodIndex> settled_log_;
  /// Nominated asks whose place depends on others being there: affinity or spread. Of those that
  /// are alike, and in the same domains, one: what breaks the promise to it breaks all of them.
  std::vector<PodOnNode> promises_;
  /// Everybody who is still to come and does not only hope to, by their turns.
  std::vector<Coming> coming_;
  std::size_t turns_ = 0;
  bool turns_known_ = false;  ///< Not after an operation.
  std::size_t promises_made_ = 0;
  std::set<std::vector<std::uint32_t>> promise_kinds_;
  PromiseWatch promise_watch_;  ///< Of `promises_`; empty after an operation.
  /// Pending with a nomination from before, and with constraints that look at others.
  std::vector<PodOnNode> nominated_before_;
  /// The same without such constraints.
  std::vector<PodOnNode> nominated_anyhow_;
  bool respect_earlier_nominations_ = true;
  /// For pods in the lists above, made when first asked for. They stay, since building one may cost
  /// a look at every pod; each follows every move, so those who are alike share one.
  std::map<FitKey, std::unique_ptr<PodFit>> fits_;
  std::map<FitKey, std::unique_ptr<PodFit>> arrival_fits_;
  std::map<FitKey, std::unique_ptr<PodFit>>
      ask_fits_without_arrivals_;  ///< Over `after_without_arrivals_`, too: of asks.
  std::vector<PodIndex> tentative_nominations_;
  std::vector<PodIndex> uncertain_arrivals_;
  std::unique_ptr<AskLimits> limits_;  ///< Last: it follows the two worlds.
};

}  // namespace makeway
