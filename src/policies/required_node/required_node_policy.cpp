#include "policies/required_node/required_node_policy.hpp"

#include <algorithm>
#include <iterator>

#include "base/checked_math.hpp"
#include "engine/refusals.hpp"
#include "model/required_node.hpp"
#include "policies/required_node/candidates.hpp"
#include "policies/required_node/required_node_explain.hpp"
#include "policies/required_node/victim_classes.hpp"
#include "policies/required_node/victim_ladder.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_actions.hpp"
#include "policies/shared/waiting.hpp"

namespace makeway {
namespace {

class PinnedAsk {
 public:
  PinnedAsk(const Draft& draft, PodIndex pod, NodeIndex node, PlanAsk& ask)
      : draft_(draft),
        world_(draft.world),
        settings_(world_.configuration().required_node),
        pod_(pod),
        node_(node),
        ask_(ask),
        fit_(world_.survey(), world_.after(), pod, world_.holds()),
        any_leaving_(world_.cluster().nodes().leaving[node] > 0) {
    fit_.take_turns_on(node);
  }

  /// False: somebody would have to leave.
  bool finds_room_beside_claims() {
    fit_.keep_free(world_.holds().claimed(world_.after(), node_));
    return finds_room();
  }
  /// It may wait for pods that leave late.
  void count_late() { for_late_ = true; }
  bool refused_for_ever();
  void reserve();
  /// `candidates` is only memory.
  void preempt(const VictimClasses& classes, CandidateList& candidates);

  std::span<const PodIndex> victims() const { return victims_; }

 private:
  bool finds_room();
  const Unit& unit() const { return world_.cluster().units()[world_.cluster().pods().unit[pod_]]; }
  Shortfall shortfall();
  void never_preempts(const VictimClasses& classes);
  void nothing_works(const VictimLadder& ladder, const VictimClasses& classes);
  void refuse(const Refused& refused);
  bool waits_out_delay();
  void explain_lost_reservation();
  void place() { ask_.placements = {placement_of(world_.cluster(), pod_, node_)}; }

  const Draft& draft_;
  World& world_;
  const RequiredNodeSettings& settings_;
  PodIndex pod_;
  NodeIndex node_;
  PlanAsk& ask_;
  PodFit fit_;
  bool any_leaving_ = false;
  bool for_late_ = false;
  std::vector<PodIndex> victims_;
};

void PinnedAsk::refuse(const Refused& refused) {
  RefusalTally tally;
  tally.add(refused, node_, 0);
  ask_.explanation.refusals = tally.refusals(world_.survey());
}

/// What can never be used is kept for nobody; who had it is told.
void PinnedAsk::explain_lost_reservation() {
  const PodColumns& pods = world_.cluster().pods();
  const bool had = world_.cluster().notes(pods.notes[pod_]).reserved_since.has_value() ||
                   pods.nominated[pod_] == node_;
  if (had) {
    add_reason(world_.cluster(), ask_, {.code = ReasonCode::pinned_reservation_ends});
  }
}

/// Whoever leaves.
bool PinnedAsk::refused_for_ever() {
  std::optional<Refused> refused = fit_.refused_by_node(node_);
  if (!refused) {
    const std::vector<std::int64_t> nothing(world_.cluster().order().columns());
    refused = fit_.check_resources(node_, nothing);
  }
  if (!refused) return false;
  refuse(*refused);
  const bool unsupported = refused->reason == RefusalReason::unsupported;
  ask_.outcome = unsupported ? Outcome::not_found : Outcome::infeasible;
  const PlanRefusal& told = ask_.explanation.refusals.front();
  const bool larger = refused->reason == RefusalReason::resource;
  set_reason(world_.cluster(), ask_,
             unsupported ? Reason{.code = ReasonCode::needs_unsupported,
                                  .arguments = {unmet_need_text(told.detail)}}
                         : Reason{.code = larger ? ReasonCode::pinned_node_too_small
                                                 : ReasonCode::pinned_node_refuses,
                                  .arguments = {node_, refusal_sentence(told)}});
  explain_lost_reservation();
  return true;
}

bool PinnedAsk::finds_room() {
  if (fit_.check(node_) || !world_.keeps_promises(pod_, node_, {}) ||
      world_.needs_uncertain_arrival(fit_, node_, {})) {
    return false;
  }
  place();
  std::optional<PodFit> now;
  if (world_.differs() || any_leaving_) {
    now.emplace(world_.survey(), world_.now(), pod_, world_.holds());
    now->keep_free(world_.holds().claimed(world_.now(), node_));
    if (for_late_) now->take_turns_on(node_);
  }
  const bool may_bind = world_.may_bind(pod_, node_);
  if (may_bind && (!now || !now->check_unreserved(node_))) {
    ask_.outcome = Outcome::fits;
    ask_.explanation.nodes_fitting = 1;
    set_reason(world_.cluster(), ask_, {.code = ReasonCode::pinned_fits, .arguments = {node_}});
    return true;
  }
  reserve();
  ask_.outcome = Outcome::waits;
  // Who waits long leaves room, too, to those who are nominated there (law 7).
  const auto fits = [&] { return for_late_ ? !now->check(node_) : !now->check_unreserved(node_); };
  const auto elsewhere =
      now->constraints().any() ? World::Elsewhere::matters : World::Elsewhere::ignored;
  wait_for(world_, world_.needed_leavers(std::span(&node_, 1), elsewhere, fits), ask_);
  set_reason(world_.cluster(), ask_, waits_reason(ask_));
  return true;
}

void PinnedAsk::reserve() {
  const std::optional<Time> noted =
      world_.cluster().notes(world_.cluster().pods().notes[pod_]).reserved_since;
  const Time now = world_.rules().now();
  ask_.reservation = PlanReservation{.node = node_name(world_.cluster(), node_),
                                     .since = std::min(noted.value_or(now), now)};
}

/// Also beside those who hold room by their nominations.
Shortfall PinnedAsk::shortfall() {
  Scratch& scratch = world_.after();
  const Scratch::Checkpoint before = scratch.checkpoint();
  for (const PodIndex pod : fit_.holders(node_)) scratch.place(pod, node_);
  const std::span<const std::int64_t> used_there = scratch.used(node_);
  std::vector<std::int64_t> used(used_there.begin(), used_there.end());
  for (std::size_t column = 0; column < fit_.kept_free().size(); ++column) {
    used[column] = saturated_add(used[column], fit_.kept_free()[column]);
  }
  Shortfall shortfall = shortfall_of(fit_.requests(), world_.survey().allocatable(node_), used);
  scratch.rollback(before);
  return shortfall;
}

/// Both delays count: that of the reservation, and the one that every ask has.
bool PinnedAsk::waits_out_delay() {
  Time from = ask_.reservation->since + settings_.preemption_start_delay;
  const Time created = world_.cluster().pods().created[pod_];
  from = std::max(from, world_.rules().delayed_until(created).value_or(from));
  if (from <= world_.rules().now()) return false;
  ask_.outcome = Outcome::waits;
  ask_.waits_until = from;
  ask_.reservation->preempts_from = from;
  const Duration age = world_.rules().now() - ask_.reservation->since;
  set_reason(
      world_.cluster(), ask_,
      {.code = age.ms == 0 ? ReasonCode::pinned_reserved_now : ReasonCode::pinned_reserved_since,
       .arguments = {ask_.reservation->node, from - world_.rules().now(), age}});
  return true;
}

void PinnedAsk::preempt(const VictimClasses& classes, CandidateList& candidates) {
  if (unit().never_preempts && settings_.honour_preemption_policy) return never_preempts(classes);
  const Shortfall missing = shortfall();
  const bool more_than_room = !fit_.portless() || fit_.constraints().any();
  CandidateSearch(world_, classes)
      .collect(node_, ask_.priority, missing, more_than_room, candidates);
  PlanReservation* const told = draft_.explain ? &*ask_.reservation : nullptr;
  VictimLadder ladder(world_,
                      {.fit = fit_, .node = node_, .shortfall = missing, .candidates = candidates},
                      classes.count(), told);
  const std::optional<LadderAnswer> answer = ladder.climb();
  const bool waits = answer && waits_out_delay();
  if (told != nullptr) {
    const bool leave = answer && !waits;
    explain_candidates(world_, ladder, candidates,
                       leave ? std::span(answer->units) : std::span<const std::uint32_t>{}, *told);
  }
  if (!answer) return nothing_works(ladder, classes);
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

void PinnedAsk::never_preempts(const VictimClasses& classes) {
  const std::optional<Refused> refused = fit_.check(node_);
  refuse(refused.value_or(Refused{.reason = RefusalReason::promised}));
  ask_.outcome = refused ? Outcome::infeasible : Outcome::not_found;
  set_reason(
      world_.cluster(), ask_,
      {.code = ReasonCode::pinned_never_preempts,
       .arguments = {ask_.reservation->node, refusal_sentence(ask_.explanation.refusals.front())}});
  explain_pinned_holders(world_, classes, node_, ask_);
}

/// Whether fewer victims might do: all of them together took away what the ask needs beside it.
bool depends_on_victims(const Refused& refused) {
  return refused.reason == RefusalReason::affinity || refused.reason == RefusalReason::spread ||
         refused.reason == RefusalReason::volume_limit;
}

void PinnedAsk::nothing_works(const VictimLadder& ladder, const VictimClasses& classes) {
  std::optional<Refused> lasting = ladder.lasting();
  if (lasting && depends_on_victims(*lasting)) lasting.reset();
  const std::optional<Refused> now = fit_.check(node_);
  refuse(lasting ? *lasting : now.value_or(Refused{.reason = RefusalReason::promised}));
  // Room that is kept for somebody who may never come proves nothing.
  const bool kept = !fit_.kept_free().empty() || fit_.has_holders(node_) ||
                    std::ranges::any_of(world_.tentative_nominations(), [&](PodIndex pod) {
                      return world_.after().node_of(pod) == node_;
                    });
  ask_.outcome = lasting && !kept ? Outcome::infeasible : Outcome::not_found;
  const PlanRefusal& told = ask_.explanation.refusals.front();
  const ReasonCode code = !lasting ? ReasonCode::pinned_no_victims
                          : kept   ? ReasonCode::pinned_unfit_beside_kept
                                   : ReasonCode::pinned_unfit_when_all_left;
  set_reason(world_.cluster(), ask_,
             {.code = code, .arguments = {ask_.reservation->node, refusal_sentence(told)}});
  if (lasting) explain_pinned_holders(world_, classes, node_, ask_);
}

/// While it lives, leaving pods count on the node by the rule of pinned asks.
class PinnedRule {
 public:
  PinnedRule(World& world, NodeIndex node)
      : rule_(world, pods_of(world, node),
              world.configuration().required_node.leaving_room == PinnedLeavingRoom::credited) {}

 private:
  static std::span<const PodIndex> pods_of(const World& world, NodeIndex node) {
    const Cluster& cluster = world.cluster();
    if (cluster.nodes().leaving[node] == 0) return {};
    return cluster.order().pods(node);
  }

  World::LeavingRoomRule rule_;
};

void no_such_node(const Cluster& cluster, std::string_view name, PlanAsk& ask) {
  ask.outcome = Outcome::infeasible;
  set_reason(cluster, ask, {.code = ReasonCode::pinned_node_missing, .arguments = {name}});
}

class RequiredNodePolicy : public Policy {
 public:
  explicit RequiredNodePolicy(const PolicyContext& context)
      : context_(context), draft_(context.draft), world_(context.draft.world) {}

  std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) override;
  void decide(const AskTurn& turn) override;
  void finish(PlanAsk& ask, Losses& losses) override;

 private:
  const VictimClasses& classes();
  bool crosses_to_others(PodIndex pod) const;
  void credit_own_late(PodIndex pod, NodeIndex node, const PlanAsk& ask);
  void wait_for_late(PodIndex pod, NodeIndex node, PlanAsk& ask);

  PolicyContext context_;
  Draft& draft_;
  World& world_;
  std::optional<VictimClasses> classes_;  ///< Made when first needed.
  CandidateList candidates_;              ///< Its memory is used again and again.
};

const VictimClasses& RequiredNodePolicy::classes() {
  if (!classes_) classes_.emplace(world_.cluster(), world_.configuration(), world_.rules());
  return *classes_;
}

/// Whether its node is of another regime.
bool RequiredNodePolicy::crosses_to_others(PodIndex pod) const {
  const Cluster& cluster = world_.cluster();
  if (!world_.survey().regimes().mixed()) return false;
  const auto node = cluster.find_node(required_node_of(cluster, pod));
  return node && cluster.nodes().flags[*node].exists &&
         world_.survey().regimes().of(*node) != Regime::pods;
}

/// Queues do not hold them: who can run nowhere else cannot wait for a share.
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
  context_.deciding.start(world_.cluster().pods().unit[pod]);
  const std::optional<NodeIndex> only = context_.asking.given_node(pod);
  const Cluster& cluster = world_.cluster();
  PlanAsk ask = start_pod_ask(cluster, pod);
  ask.placement_given = only.has_value();
  const std::string_view name = required_node_of(cluster, pod);
  const NodeIndex node = only.value_or(cluster.find_node(name, ask.plane).value_or(NodeIndex{}));
  if (!node.exists() || !cluster.nodes().flags[node].exists) {
    no_such_node(world_.cluster(), name, ask);
    world_.decided(pod);
    draft_.plan.asks.push_back(std::move(ask));
    return;
  }
  ask.explanation.nodes_considered = 1;
  std::vector<PodIndex> victims;
  const bool any_late = !world_.late().empty();
  if (any_late) credit_own_late(pod, node, ask);
  {
    const PinnedRule rule(world_, node);
    PinnedAsk pinned(draft_, pod, node, ask);
    if (!pinned.refused_for_ever() && !pinned.finds_room_beside_claims()) {
      pinned.reserve();
      pinned.preempt(classes(), candidates_);
      victims.assign(pinned.victims().begin(), pinned.victims().end());
    }
  }
  if (any_late) {
    wait_for_late(pod, node, ask);
    world_.return_late();
  }
  world_.decided(pod);
  if (ask.outcome == Outcome::fits) {
    world_.bind(pod, node);
  } else if (!ask.placements.empty()) {
    world_.nominate(pod, node, victims);
  }
  // A reservation alone holds nothing: its room is its own from when its victims are chosen.
  draft_.plan.asks.push_back(std::move(ask));
}

/// Law 6: pods that leave late and were made to leave for its nomination, if that holds.
void RequiredNodePolicy::credit_own_late(PodIndex pod, NodeIndex node, const PlanAsk& ask) {
  if (world_.cluster().pods().nominated[pod] != node) return;
  const std::vector<PodIndex> own = late_victims_of(world_, node, ask);
  if (own.empty() || world_.holds().is_void(pod)) return;
  world_.credit_late(own);
  bool valid = false;
  {
    const PinnedRule rule(world_, node);
    PodFit fit(world_.survey(), world_.after(), pod, world_.holds());
    fit.take_turns_on(node);
    fit.keep_free(world_.holds().claimed(world_.after(), node));
    valid = !fit.check(node) && world_.keeps_promises(pod, node, {}) &&
            !world_.needs_uncertain_arrival(fit, node, {});
  }
  if (!valid) world_.return_late();
}

/// Law 6: if nothing was found, maybe it fits once those have left, too, who take their time.
void RequiredNodePolicy::wait_for_late(PodIndex pod, NodeIndex node, PlanAsk& ask) {
  const bool nothing = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
  std::vector<PodIndex> there;
  std::ranges::copy_if(world_.late(), std::back_inserter(there), [&](PodIndex late) {
    return world_.cluster().pods().node[late] == node || could_use_late(world_, pod, late);
  });
  if (!nothing || there.empty() || !world_.survey().could_take(pod, node)) return;
  world_.credit_late(there);
  PlanAsk again = start_pod_ask(world_.cluster(), pod);
  again.placement_given = ask.placement_given;
  again.explanation.nodes_considered = 1;
  bool found = false;
  {
    const PinnedRule rule(world_, node);
    PinnedAsk waiting(draft_, pod, node, again);
    waiting.count_late();
    found = waiting.finds_room_beside_claims();
  }
  if (found && waits_for_late(world_, again)) {
    ask = std::move(again);
    return explain_late_wait(world_, ask);
  }
  world_.return_late();
  explain_late(world_, ask);
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
