// A pod that can run on one node only asks (SPEC section 5).
//
// The steps are those of every ask (policies/shared/ask_driver.hpp); here they mean:
//   refused    its node is not there, or will never take it (cordon, taint, larger than the node)
//   preempt    pods leave (victim_ladder.hpp), but not while its reservation, which begins now
//              unless the pod says since when, is younger than `preemptionStartDelay`: others may
//              use the room until victims are chosen. Not for preemptionPolicy Never. Nothing found
//              is infeasible when that is proven; the node stays reserved.
//
// A reservation is the plan's action `reserve`: carrying it out writes since when it is
// (`makeway.dev/reserved-since`), and whether its room is promised: its victims are chosen, or what
// is leaving makes enough room. Then the plan nominates the pod, too, and no other ask gets the
// room. Between pinned pods of one node the order of asks decides, so their room is not their own
// against each other. Nothing is remembered of earlier preemptions: if a pod takes the room, it
// starts again.
#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/refusals.hpp"
#include "engine/room.hpp"
#include "model/required_node.hpp"
#include "policies/policy.hpp"
#include "policies/required_node/candidates.hpp"
#include "policies/required_node/required_node_explain.hpp"
#include "policies/required_node/victim_ladder.hpp"
#include "policies/shared/ask_driver.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"
#include "policies/shared/waiting.hpp"

namespace makeway {
namespace {

/// While it lives, the room of pods that leave the node soon is credited, or not.
class PinnedRule {
 public:
  PinnedRule(World& world, NodeIndex node, bool credited)
      : rule_(world, pods_of(world, node), credited) {}

 private:
  static std::span<const PodIndex> pods_of(const World& world, NodeIndex node) {
    const Cluster& cluster = world.cluster();
    if (cluster.nodes().leaving[node] == 0) return {};
    return cluster.order().pods(node);
  }

  World::LeavingRoomRule rule_;
};

class PinnedAsk : public AskStrategy {
 public:
  /// `classes` are made when they are first needed; `candidates` is only memory.
  struct Shared {
    std::optional<VictimClasses> classes;
    CandidateList candidates;
  };

  PinnedAsk(const Draft& draft, PodIndex pod, NodeIndex node, bool placement_given, Shared& shared)
      : draft_(draft),
        world_(draft.world),
        settings_(world_.configuration().required_node),
        pod_(pod),
        node_(node),
        shared_(shared),
        ask_(start_pod_ask(world_.cluster(), pod)),
        fit_(std::in_place, world_.survey(), world_.after(), pod, world_.holds()) {
    fit_->take_turns_on(node);
    ask_.placement_given = placement_given;
    ask_.explanation.nodes_considered = 1;
  }

  PlanAsk& answer() override { return ask_; }
  bool is_refused() override;
  bool fits_now() override;
  bool fits_soon() override;
  void preempt() override;
  std::vector<NodeIndex> nominated_nodes() const override;
  bool nomination_holds() override;
  std::vector<PodIndex> useful_late_pods() override;
  bool fits_late() override;

  /// Into the world and into the plan.
  void settle(Plan& plan);

 private:
  const Unit& unit() const { return world_.cluster().units()[world_.cluster().pods().unit[pod_]]; }
  const VictimClasses& classes();
  /// YuniKorn credits leaving pods to no ask, except that a promise is kept until they are gone.
  bool credits_leaving() const {
    return settings_.leaving_room == PinnedLeavingRoom::credited || keeps_promise_;
  }
  bool has_room();
  void look_at_now();
  void wait_in_turn(const std::function<bool()>& fits);
  void reserve();
  Shortfall shortfall();
  void never_preempts();
  void nothing_works(const VictimLadder& ladder);
  void refuse(const Refused& refused);
  bool waits_out_delay();
  void explain_lost_reservation();
  void place() { ask_.placements = {placement_of(world_.cluster(), pod_, node_)}; }

  const Draft& draft_;
  World& world_;
  const RequiredNodeSettings& settings_;
  PodIndex pod_;
  NodeIndex node_;
  Shared& shared_;
  PlanAsk ask_;
  std::optional<PodFit> fit_;   ///< In `after`.
  std::optional<PodFit> now_;   ///< Made where `now` differs.
  bool keeps_promise_ = false;  ///< Its nomination comes true once leaving pods are gone.
  bool has_room_ = false;       ///< In `after`.
  std::vector<PodIndex> victims_;
};

const VictimClasses& PinnedAsk::classes() {
  if (!shared_.classes) {
    shared_.classes.emplace(world_.cluster(), world_.configuration(), world_.rules());
  }
  return *shared_.classes;
}

void PinnedAsk::refuse(const Refused& refused) {
  RefusalTally tally;
  tally.add(refused, node_, 0);
  ask_.explanation.refusals = tally.refusals(world_.survey());
}

/// What can never be used is kept for no ask; the entry says so if this one had it.
void PinnedAsk::explain_lost_reservation() {
  const PodColumns& pods = world_.cluster().pods();
  const bool had = world_.cluster().notes(pods.notes[pod_]).reserved_since.has_value() ||
                   pods.nominated[pod_] == node_;
  if (had) {
    add_reason(world_.cluster(), ask_, {.code = ReasonCode::pinned_reservation_ends});
  }
}

/// Whichever pods leave.
bool PinnedAsk::is_refused() {
  const PinnedRule rule(world_, node_, credits_leaving());
  fit_->keep_free({});
  std::optional<Refused> refused = fit_->refused_by_node(node_);
  if (!refused) {
    const std::vector<std::int64_t> nothing(world_.cluster().order().columns());
    refused = fit_->check_resources(node_, nothing);
  }
  if (!refused) return false;
  refuse(*refused);
  const bool unsupported = refused->reason == RefusalReason::unsupported;
  ask_.outcome = unsupported ? Outcome::not_found : Outcome::infeasible;
  const PlanRefusal& refusal = ask_.explanation.refusals.front();
  const bool larger = refused->reason == RefusalReason::resource;
  set_reason(world_.cluster(), ask_,
             unsupported ? Reason{.code = ReasonCode::needs_unsupported,
                                  .arguments = {unmet_need_text(refusal.detail)}}
                         : Reason{.code = larger ? ReasonCode::pinned_node_too_small
                                                 : ReasonCode::pinned_node_refuses,
                                  .arguments = {node_, refusal_sentence(refusal)}});
  explain_lost_reservation();
  return true;
}

/// In `after`, beside the claims of replicas.
bool PinnedAsk::has_room() {
  fit_->keep_free(Room(world_).claimed(node_, Horizon::soon));
  return !fit_->check(node_) && world_.keeps_promises(pod_, node_, {}) &&
         !world_.needs_uncertain_arrival(*fit_, node_, {});
}

void PinnedAsk::look_at_now() {
  now_.emplace(world_.survey(), world_.now(), pod_, world_.holds());
  now_->keep_free(Room(world_).claimed(node_, Horizon::now));
}

bool PinnedAsk::fits_now() {
  keeps_promise_ = !nominated_nodes().empty() && nomination_holds();
  const PinnedRule rule(world_, node_, credits_leaving());
  has_room_ = has_room();
  if (!has_room_) return false;
  const bool may_bind = world_.may_bind(pod_, node_);
  const bool any_leaving = world_.cluster().nodes().leaving[node_] > 0;
  if (world_.differs() || any_leaving || !may_bind) look_at_now();
  if (!may_bind || (now_ && now_->check_unreserved(node_))) return false;
  place();
  ask_.outcome = Outcome::fits;
  ask_.explanation.nodes_fitting = 1;
  set_reason(world_.cluster(), ask_, {.code = ReasonCode::pinned_fits, .arguments = {node_}});
  return true;
}

bool PinnedAsk::fits_soon() {
  if (!has_room_) return false;
  const PinnedRule rule(world_, node_, credits_leaving());
  wait_in_turn([this] { return !now_->check_unreserved(node_); });
  return true;
}

/// Waits for the pods that have to be gone from `now` before `fits` holds.
void PinnedAsk::wait_in_turn(const std::function<bool()>& fits) {
  place();
  reserve();
  ask_.outcome = Outcome::waits;
  const auto elsewhere =
      now_->constraints().any() ? World::Elsewhere::matters : World::Elsewhere::ignored;
  wait_for(world_, world_.needed_leavers(std::span(&node_, 1), elsewhere, fits), ask_);
  set_reason(world_.cluster(), ask_, waits_reason(ask_));
}

std::vector<NodeIndex> PinnedAsk::nominated_nodes() const {
  const bool here = world_.cluster().pods().nominated[pod_] == node_;
  if (!here || world_.holds().is_void(pod_)) return {};
  return {node_};
}

bool PinnedAsk::nomination_holds() {
  const PinnedRule rule(world_, node_, true);
  return has_room();
}

std::vector<PodIndex> PinnedAsk::useful_late_pods() {
  std::vector<PodIndex> useful;
  if (!world_.survey().could_take(pod_, node_)) return useful;
  std::ranges::copy_if(world_.late(), std::back_inserter(useful), [&](PodIndex late) {
    return world_.cluster().pods().node[late] == node_ || could_use_late(world_, pod_, late);
  });
  return useful;
}

bool PinnedAsk::fits_late() {
  const PinnedRule rule(world_, node_, credits_leaving());
  if (!has_room()) return false;
  look_at_now();
  now_->take_turns_on(node_);
  if (world_.may_bind(pod_, node_) && !now_->check_unreserved(node_)) return false;
  // An ask that waits long leaves room, too, to the pods that are nominated there (law 7).
  wait_in_turn([this] { return !now_->check(node_); });
  return waits_for_late(world_, ask_);
}

void PinnedAsk::settle(Plan& plan) {
  fit_.reset();  // They would follow every move.
  now_.reset();
  world_.decided(pod_);
  if (ask_.outcome == Outcome::fits) {
    world_.bind(pod_, node_);
  } else if (!ask_.placements.empty()) {
    world_.nominate(pod_, node_, victims_);
  }
  // A reservation alone holds nothing: its room is its own from when its victims are chosen.
  plan.asks.push_back(std::move(ask_));
}

void PinnedAsk::reserve() {
  const std::optional<Time> noted =
      world_.cluster().notes(world_.cluster().pods().notes[pod_]).reserved_since;
  const Time now = world_.rules().now();
  ask_.reservation = PlanReservation{.node = node_name(world_.cluster(), node_),
                                     .since = std::min(noted.value_or(now), now)};
}

/// Beside what is held and claimed.
Shortfall PinnedAsk::shortfall() {
  std::vector<std::int64_t> free(world_.cluster().order().columns());
  Room(world_).free_for(node_, Horizon::soon, fit_->hold_ask(), free);
  const std::span<const std::int64_t> claimed = fit_->kept_free();
  subtract_row(free, claimed);
  return shortfall_of(fit_->requests(), free);
}

/// Both delays count: that of the reservation, which its age must exceed, and the one that every
/// ask has.
bool PinnedAsk::waits_out_delay() {
  const Time now = world_.rules().now();
  Time from = ask_.reservation->since;
  if (settings_.preemption_start_delay.ms > 0) {
    from = from + settings_.preemption_start_delay;
    if (from == now) from = now + Duration{1};
  }
  const Time created = world_.cluster().pods().created[pod_];
  from = std::max(from, world_.rules().delayed_until(created).value_or(from));
  if (from <= now) return false;
  ask_.outcome = Outcome::waits;
  ask_.waits_until = from;
  ask_.reservation->preempts_from = from;
  const Duration age = now - ask_.reservation->since;
  set_reason(
      world_.cluster(), ask_,
      {.code = age.ms == 0 ? ReasonCode::pinned_reserved_now : ReasonCode::pinned_reserved_since,
       .arguments = {ask_.reservation->node, from - now, age}});
  return true;
}

void PinnedAsk::preempt() {
  const PinnedRule rule(world_, node_, credits_leaving());
  reserve();
  const bool may_preempt = !unit().never_preempts || !settings_.honour_preemption_policy;
  if (!may_preempt) return never_preempts();
  CandidateList& candidates = shared_.candidates;
  const Shortfall missing = shortfall();
  const bool more_than_room = !fit_->portless() || fit_->constraints().any();
  CandidateSearch(world_, classes())
      .collect(node_, ask_.priority, missing, more_than_room, candidates);
  PlanReservation* const report = draft_.explain ? &*ask_.reservation : nullptr;
  VictimLadder ladder(world_,
                      {.fit = *fit_, .node = node_, .shortfall = missing, .candidates = candidates},
                      classes().count(), report);
  const std::optional<LadderAnswer> answer = ladder.climb();
  const bool waits = answer && waits_out_delay();
  if (report != nullptr) {
    const bool leave = answer && !waits;
    explain_candidates(world_, ladder, candidates,
                       leave ? std::span(answer->units) : std::span<const std::uint32_t>{},
                       *report);
  }
  if (!answer) return nothing_works(ladder);
  if (waits) return;
  ask_.outcome = Outcome::preempts;
  place();
  victims_ = answer->victims.pods;
  ask_.explanation.nodes_with_preemption = 1;
  explain_ladder(world_, ladder, candidates, *answer, ask_);
  if (draft_.explain) {
    explain_spared(world_.cluster(), candidates, *answer, ask_.explanation);
  }
}

void PinnedAsk::never_preempts() {
  const std::optional<Refused> refused = fit_->check(node_);
  refuse(refused.value_or(Refused{.reason = RefusalReason::promised}));
  ask_.outcome = refused ? Outcome::infeasible : Outcome::not_found;
  set_reason(
      world_.cluster(), ask_,
      {.code = ReasonCode::pinned_never_preempts,
       .arguments = {ask_.reservation->node, refusal_sentence(ask_.explanation.refusals.front())}});
  explain_pinned_holders(world_, classes(), node_, ask_);
}

/// Whether fewer victims might do: all of them together took away what the ask needs beside it.
bool depends_on_victims(const Refused& refused) {
  return refused.reason == RefusalReason::affinity || refused.reason == RefusalReason::spread ||
         refused.reason == RefusalReason::volume_limit;
}

/// Than that it lacks room: a limit or a budget.
bool says_more(const Reason& failure) {
  return failure.code != ReasonCode::ladder_uncovered && failure.code != ReasonCode::ladder_unfit;
}

void PinnedAsk::nothing_works(const VictimLadder& ladder) {
  std::optional<Refused> lasting = ladder.lasting();
  if (lasting && depends_on_victims(*lasting)) lasting.reset();
  const std::optional<Refused> now = fit_->check(node_);
  refuse(lasting ? *lasting : now.value_or(Refused{.reason = RefusalReason::promised}));
  // Room that is kept for a pod that may never come proves nothing.
  const bool kept = !fit_->kept_free().empty() || fit_->has_holders(node_) ||
                    std::ranges::any_of(world_.tentative_nominations(), [&](PodIndex pod) {
                      return world_.after().node_of(pod) == node_;
                    });
  ask_.outcome = lasting && !kept ? Outcome::infeasible : Outcome::not_found;
  const PlanRefusal& refusal = ask_.explanation.refusals.front();
  const ReasonCode code = !lasting ? ReasonCode::pinned_no_victims
                          : kept   ? ReasonCode::pinned_unfit_beside_kept
                                   : ReasonCode::pinned_unfit_when_all_left;
  Reasons lacking = {{.code = ReasonCode::as_written, .arguments = {refusal_sentence(refusal)}}};
  if (!lasting && says_more(ladder.failure())) lacking.push_back(ladder.failure());
  set_reason(world_.cluster(), ask_,
             {.code = code, .arguments = {ask_.reservation->node, std::move(lacking)}});
  if (lasting) explain_pinned_holders(world_, classes(), node_, ask_);
}

class RequiredNodePolicy : public Policy {
 public:
  explicit RequiredNodePolicy(const PolicyContext& context)
      : context_(context), draft_(context.draft), world_(context.draft.world) {}

  std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) override;
  void decide(const AskTurn& turn) override;
  void finish(PlanAsk& ask, Losses& losses) override;

 private:
  bool crosses_to_others(PodIndex pod) const;
  void refuse_missing_node(PodIndex pod, std::string_view name, bool placement_given);

  PolicyContext context_;
  Draft& draft_;
  World& world_;
  PinnedAsk::Shared shared_;
};

/// Whether its node is of another regime.
bool RequiredNodePolicy::crosses_to_others(PodIndex pod) const {
  const Cluster& cluster = world_.cluster();
  if (!world_.survey().regimes().mixed()) return false;
  const auto node = cluster.find_node(required_node_of(cluster, pod));
  return node && cluster.nodes().flags[*node].exists &&
         world_.survey().regimes().of(*node) != Regime::pods;
}

/// Queues do not limit them: a pod that can run nowhere else cannot wait for a share.
std::optional<Problem> RequiredNodePolicy::collect_turns(std::vector<AskTurn>& turns) {
  for (const PendingUnit& unit : context_.asking.units) {
    const bool alone = world_.cluster().units()[unit.unit].kind == UnitKind::pod;
    if (!alone || !world_.asks_pinned(unit.pod)) continue;
    turns.push_back({.policy = this,
                     .priority = unit.priority,
                     .created = unit.created,
                     .crosses = crosses_to_others(unit.pod),
                     .pod = unit.pod,
                     .limited = {}});
  }
  return std::nullopt;
}

void RequiredNodePolicy::decide(const AskTurn& turn) {
  const PodIndex pod = turn.pod;
  const Cluster& cluster = world_.cluster();
  context_.deciding.start(cluster.pods().unit[pod]);
  const std::optional<NodeIndex> given = context_.asking.given_node(pod);
  const std::string_view name = required_node_of(cluster, pod);
  const std::string_view plane = cluster.text(cluster.pods().plane[pod]);
  const NodeIndex node = given.value_or(cluster.find_node(name, plane).value_or(NodeIndex{}));
  if (!node.exists() || !cluster.nodes().flags[node].exists) {
    return refuse_missing_node(pod, name, given.has_value());
  }
  PinnedAsk ask(draft_, pod, node, given.has_value(), shared_);
  drive_ask(world_, ask);
  ask.settle(draft_.plan);
}

void RequiredNodePolicy::refuse_missing_node(PodIndex pod, std::string_view name,
                                             bool placement_given) {
  PlanAsk ask = start_pod_ask(world_.cluster(), pod);
  ask.placement_given = placement_given;
  ask.outcome = Outcome::infeasible;
  set_reason(world_.cluster(), ask, {.code = ReasonCode::pinned_node_missing, .arguments = {name}});
  world_.decided(pod);
  draft_.plan.asks.push_back(std::move(ask));
}

void RequiredNodePolicy::finish(PlanAsk& ask, Losses& losses) {
  const Cluster& cluster = world_.cluster();
  Plan& plan = draft_.plan;
  const PodIndex pod = *cluster.find_pod(ask.namespace_name, ask.name, ask.plane);
  losses.add(ask, cluster.pods().created[pod]);
  add_evictions(world_.cluster(), ask, plan);
  add_placements(cluster, ask, plan);
  if (ask.reservation) {
    plan.actions.push_back({.type = ActionType::reserve,
                            .namespace_name = ask.namespace_name,
                            .name = ask.name,
                            .uid = std::string(cluster.pods().uid[pod.value]),
                            .node = ask.reservation->node,
                            .ask = {},
                            .since = ask.reservation->since,
                            .plane = ask.plane,
                            .promised = !ask.placements.empty()});
  } else {
    add_wait(ask, plan);
  }
  add_unscheduled(ask, "PodScheduled", plan);
}

}  // namespace

std::unique_ptr<Policy> make_required_node_policy(const PolicyContext& context) {
  if (context.asking.units.empty()) return nullptr;
  return std::make_unique<RequiredNodePolicy>(context);
}

}  // namespace makeway
