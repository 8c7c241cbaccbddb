#include "policies/required_node/required_node_policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/refusals.hpp"
#include "model/required_node.hpp"
#include "policies/required_node/required_node_explain.hpp"
#include "policies/required_node/victim_ladder.hpp"
#include "policies/workload/pod/pod_explain.hpp"
#include "policies/shared/waiting.hpp"

namespace makeway {
namespace {

class PinnedAsk {
 public:
  PinnedAsk(Cycle& cycle, PodIndex pod, NodeIndex node, PlanAsk& ask)
      : cycle_(cycle),
        settings_(cycle.configuration.required_node),
        pod_(pod),
        node_(node),
        ask_(ask),
        fit_(cycle.survey, cycle.after, pod, cycle.decided),
        somebody_leaves_(cycle.cluster.nodes().leaving[node] > 0) {
    fit_.ignore_reservations();
  }

  /// False: somebody would have to leave.
  bool finds_room();
  bool refused_for_ever();
  void reserve();
  /// `candidates` is only memory.
  void preempt(const VictimClasses& classes, CandidateList& candidates);

  std::span<const PodIndex> victims() const { return victims_; }

 private:
  const Unit& unit() const { return cycle_.cluster.units()[cycle_.cluster.pods().unit[pod_]]; }
  std::vector<PodPlacement> leavers(PodFit& now);
  Shortfall shortfall();
  void never_preempts(const VictimClasses& classes);
  void nothing_works(const VictimLadder& ladder, const VictimClasses& classes);
  void refuse(const Refused& refused);
  bool waits_out_delay();
  void place() { ask_.placements = {placement_of(cycle_.cluster, pod_, node_)}; }

  Cycle& cycle_;
  const RequiredNodeSettings& settings_;
  PodIndex pod_;
  NodeIndex node_;
  PlanAsk& ask_;
  PodFit fit_;
  bool somebody_leaves_ = false;
  std::vector<PodIndex> victims_;
};

void PinnedAsk::refuse(const Refused& refused) {
  RefusalTally tally;
  tally.add(refused, node_, 0);
  ask_.explanation.refusals = tally.refusals(cycle_.survey);
}

/// Whoever leaves.
bool PinnedAsk::refused_for_ever() {
  std::optional<Refused> refused = fit_.refused_by_node(node_);
  if (!refused) {
    const std::vector<std::int64_t> nothing(cycle_.cluster.order().columns());
    refused = fit_.check_resources(node_, nothing);
  }
  if (!refused) return false;
  refuse(*refused);
  const bool unsupported = refused->reason == RefusalReason::unsupported;
  ask_.outcome = unsupported ? Outcome::not_found : Outcome::infeasible;
  const PlanRefusal& told = ask_.explanation.refusals.front();
  const bool larger = refused->reason == RefusalReason::resource;
  ask_.reason =
      unsupported
          ? fmt::format("needs {}, which Makeway does not check, so it is not placed", told.detail)
          : fmt::format("can run on node {} only, {}: {}", node_name(cycle_.cluster, node_),
                        larger ? "and is larger than that" : "which will not take it",
                        refusal_text(told));
  return true;
}

bool PinnedAsk::finds_room() {
  if (fit_.check(node_) || !keeps_promises(cycle_, pod_, node_, {}) ||
      leans_on_hopeful(cycle_, fit_, node_, {})) {
    return false;
  }
  place();
  std::optional<PodFit> now;
  if (cycle_.worlds_differ || somebody_leaves_)
    now.emplace(cycle_.survey, cycle_.now, pod_, cycle_.decided);
  if (!now || !now->check_unreserved(node_)) {
    ask_.outcome = Outcome::fits;
    ask_.explanation.nodes_fitting = 1;
    ask_.reason = fmt::format("fits on node {}, the only one it can run on",
                              node_name(cycle_.cluster, node_));
    return true;
  }
  reserve();
  ask_.outcome = Outcome::waits;
  ask_.waits_for = leavers(*now);
  ask_.reason = waits_reason(ask_);
  return true;
}

/// Those who leave the node anyway and have to be gone before it fits; an irreducible set.
std::vector<PodPlacement> PinnedAsk::leavers(PodFit& now) {
  const auto fits = [&] { return !now.check_unreserved(node_); };
  if (now.constraints().any()) return needed_leavers(cycle_, std::span(&node_, 1), fits);
  Scratch& world = cycle_.now;
  std::vector<PodIndex> gone;
  world.for_each_pod(node_, [&](PodIndex pod) {
    if (cycle_.after.node_of(pod) != node_) gone.push_back(pod);
  });
  const Scratch::Checkpoint before = world.checkpoint();
  world.remove(gone);
  std::vector<PodPlacement> needed;
  const bool enough = fits();
  for (const PodIndex pod : gone) {
    if (!enough) break;
    world.place(pod, node_);
    if (fits()) continue;
    world.remove(pod);
    needed.push_back(placement_of(cycle_.cluster, pod, node_));
  }
  world.rollback(before);
  std::ranges::sort(needed);
  return needed;
}

void PinnedAsk::reserve() {
  const std::optional<Time> noted =
      cycle_.cluster.notes(cycle_.cluster.pods().notes[pod_]).reserved_since;
  const Time now = cycle_.rules.now();
  ask_.reservation = PlanReservation{.node = node_name(cycle_.cluster, node_),
                                     .since = std::min(noted.value_or(now), now)};
}

/// Also beside those who hold room by their nominations.
Shortfall PinnedAsk::shortfall() {
  Scratch& world = cycle_.after;
  const Scratch::Checkpoint before = world.checkpoint();
  for (const PodIndex pod : fit_.holders(node_)) world.place(pod, node_);
  Shortfall shortfall =
      shortfall_of(fit_.requests(), cycle_.survey.allocatable(node_), world.used(node_));
  world.rollback(before);
  return shortfall;
}

/// Both delays count: that of the reservation, and the one that every ask has.
bool PinnedAsk::waits_out_delay() {
  Time from = ask_.reservation->since + settings_.preemption_start_delay;
  const Duration delay = cycle_.configuration.engine.preemption_delay;
  const Time created = cycle_.cluster.pods().created[pod_];
  if (delay.ms > 0 && created != no_time) from = std::max(from, created + delay);
  if (from <= cycle_.rules.now()) return false;
  ask_.outcome = Outcome::waits;
  ask_.waits_until = from;
  ask_.reservation->preempts_from = from;
  const Duration age = cycle_.rules.now() - ask_.reservation->since;
  ask_.reason =
      fmt::format("node {} is reserved {}, starts preempting in {}", ask_.reservation->node,
                  age.ms == 0 ? std::string("from now on") : fmt::format("since {}", to_text(age)),
                  to_text(from - cycle_.rules.now()));
  return true;
}

void PinnedAsk::preempt(const VictimClasses& classes, CandidateList& candidates) {
  if (unit().never_preempts && settings_.honour_preemption_policy) return never_preempts(classes);
  const Shortfall missing = shortfall();
  const bool more_than_room = !fit_.portless() || fit_.constraints().any();
  CandidateSearch(cycle_, classes)
      .collect(node_, ask_.priority, missing, more_than_room, candidates);
  PlanReservation* const told = cycle_.explain ? &*ask_.reservation : nullptr;
  VictimLadder ladder(cycle_,
                      {.fit = fit_, .node = node_, .shortfall = missing, .candidates = candidates},
                      classes.count(), told);
  const std::optional<LadderAnswer> answer = ladder.climb();
  const bool waits = answer && waits_out_delay();
  if (told != nullptr) {
    const bool leave = answer && !waits;
    tell_candidates(cycle_, ladder, candidates,
                    leave ? std::span(answer->units) : std::span<const std::uint32_t>{}, *told);
  }
  if (!answer) return nothing_works(ladder, classes);
  if (waits) return;
  ask_.outcome = Outcome::preempts;
  place();
  victims_ = answer->victims.pods;
  ask_.explanation.nodes_with_preemption = 1;
  explain_ladder(cycle_, ladder, candidates, *answer, ask_);
}

void PinnedAsk::never_preempts(const VictimClasses& classes) {
  const std::optional<Refused> refused = fit_.check(node_);
  refuse(refused.value_or(Refused{.reason = RefusalReason::promised}));
  ask_.outcome = refused ? Outcome::infeasible : Outcome::not_found;
  ask_.reason =
      fmt::format("does not fit on node {}, and its preemptionPolicy is Never: {}",
                  ask_.reservation->node, refusal_text(ask_.explanation.refusals.front()));
  if (cycle_.explain) explain_pinned_holders(cycle_, classes, node_, ask_);
}

void PinnedAsk::nothing_works(const VictimLadder& ladder, const VictimClasses& classes) {
  const std::optional<Refused>& lasting = ladder.lasting();
  const std::optional<Refused> now = fit_.check(node_);
  refuse(lasting ? *lasting : now.value_or(Refused{.reason = RefusalReason::promised}));
  // Room that is kept for somebody who may never come proves nothing.
  const bool kept =
      fit_.expects_somebody(node_) || std::ranges::any_of(cycle_.hopeful, [&](PodIndex pod) {
        return cycle_.after.node_of(pod) == node_;
      });
  ask_.outcome = lasting && !kept ? Outcome::infeasible : Outcome::not_found;
  const PlanRefusal& told = ask_.explanation.refusals.front();
  ask_.reason =
      lasting ? fmt::format("does not fit on node {}, even if all left who may be made to: {}",
                            ask_.reservation->node, refusal_text(told))
              : fmt::format("no victims were found on node {} by required_node.victimSelection: {}",
                            ask_.reservation->node, refusal_text(told));
  if (cycle_.explain && lasting) explain_pinned_holders(cycle_, classes, node_, ask_);
}

/// Makes pods that are leaving be there, or not, as `required_node.leavingRoom` says.
void apply_leaving_room(Cycle& cycle, NodeIndex node) {
  const Cluster& cluster = cycle.cluster;
  if (cluster.nodes().leaving[node] == 0) return;
  const bool credits = cycle.configuration.required_node.leaving_room == LeavingRoom::credited;
  for (const PodIndex pod : cluster.order().pods(node)) {
    if (cluster.pods().deletion[pod] == no_time || cycle.rules.settled(pod)) continue;
    const bool gone = credits && !cycle.rules.overdue(pod);
    const bool there = cycle.after.node_of(pod).exists();
    if (gone && there) cycle.after.remove(pod);
    if (!gone && !there) cycle.after.place(pod, node);
  }
}

void no_such_node(std::string_view name, PlanAsk& ask) {
  ask.outcome = Outcome::infeasible;
  ask.reason = fmt::format("can run on node {} only, and there is no such node", name);
}

}  // namespace

bool RequiredNodePolicy::handles(PodIndex pod) const {
  return cycle_.configuration.required_node.enabled && is_pinned(cycle_.cluster, pod);
}

const VictimClasses& RequiredNodePolicy::classes() {
  if (!classes_) classes_.emplace(cycle_.cluster, cycle_.configuration, cycle_.rules);
  return *classes_;
}

void RequiredNodePolicy::decide(PodIndex pod, std::optional<NodeIndex> only) {
  const Cluster& cluster = cycle_.cluster;
  PlanAsk ask = start_pod_ask(cluster, pod);
  ask.placement_given = only.has_value();
  const std::string_view name = required_node_of(cluster, pod);
  const NodeIndex node = only.value_or(cluster.find_node(name).value_or(NodeIndex{}));
  if (!node.exists() || !cluster.nodes().flags[node].exists) {
    no_such_node(name, ask);
    settle_decided(cycle_, pod);
    cycle_.plan.asks.push_back(std::move(ask));
    return;
  }
  ask.explanation.nodes_considered = 1;
  std::vector<PodIndex> victims;
  {
    const Scratch::Checkpoint before = cycle_.after.checkpoint();
    apply_leaving_room(cycle_, node);
    PinnedAsk pinned(cycle_, pod, node, ask);
    if (!pinned.refused_for_ever() && !pinned.finds_room()) {
      pinned.reserve();
      pinned.preempt(classes(), candidates_);
      victims.assign(pinned.victims().begin(), pinned.victims().end());
    }
    cycle_.after.rollback(before);
  }
  settle_decided(cycle_, pod);
  if (ask.outcome == Outcome::fits) {
    settle_bound(cycle_, pod, node);
  } else if (!ask.placements.empty()) {
    settle_nominated(cycle_, pod, node, victims);
  } else if (ask.reservation) {
    settle_reserved(cycle_, pod, node);
  }
  cycle_.plan.asks.push_back(std::move(ask));
}

}  // namespace makeway
