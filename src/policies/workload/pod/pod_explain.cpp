#include "policies/workload/pod/pod_explain.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"

namespace makeway {
void explain_victims(World& world, const VictimList& victims, const VictimCause& cause,
                     PlanAsk& ask) {
  const std::string rule = write_text(world.cluster(), {.code = cause.rule});
  const std::string alternative = write_text(world.cluster(), cause.alternative);
  const std::string key = write_text(world.cluster(), cause.key);
  world.budgets().start_trial();
  for (const VictimUnit& unit : victims.units) {
    const Reason lower{.code = ReasonCode::lower_priority,
                       .arguments = {unit.priority, ask.priority}};
    for (const PodIndex pod : victims.pods_of(unit)) {
      PlanVictim victim = victim_entry(world.cluster(), unit, pod, lower);
      const bool violates = world.budgets().charge(pod);
      victim.violates_budget = cause.budgets_by_victims
                                   ? violates
                                   : unit.violations > 0 && world.budgets().governed(pod);
      if (victim.violates_budget) victim.budget = world.budgets().violated(pod);
      victim.cause_for = ask_text(ask);
      victim.cause_rule = rule;
      victim.cause_alternative = alternative;
      victim.cause_key = key;
      ask.victims.push_back(std::move(victim));
    }
  }
}

Reason decided_on(const ScoreTerms& loser, const ScoreTerms& winner) {
  CHECK(loser.size() == winner.size(), "scores of different keys");
  for (std::size_t at = 0; at < loser.size(); ++at) {
    if (loser[at].value == winner[at].value) continue;
    return {.code = ReasonCode::by_number,
            .arguments = {choice_name(loser[at].key), loser[at].value, winner[at].value}};
  }
  return {.code = ReasonCode::by_name};
}

PlanAlternative alternative_of(const Cluster& cluster, std::string where, const ScoreTerms& score,
                               const VictimList& victims, const ScoreTerms& chosen) {
  return {.node = std::move(where),
          .domain = {},
          .score = score,
          .victims = static_cast<std::int64_t>(victims.pods.size()),
          .victim_units = static_cast<std::int64_t>(victims.units.size()),
          .lost_on = write_text(cluster, decided_on(score, chosen))};
}

void explain_spared(World& world, std::span<const VictimUnit> spared, std::size_t victims,
                    PlanExplanation& explanation) {
  std::int64_t count = 0;
  for (const VictimUnit& unit : spared) {
    count += unit.size;
    add_spared(world.cluster(), unit.first, unit.priority, explanation);
  }
  explanation.spared_count = count;
  explanation.potential_victims = count + static_cast<std::int64_t>(victims);
}

Reason fits_reason(const PlanAsk& ask) {
  return {.code = ReasonCode::pod_fits,
          .arguments = {ask.explanation.nodes_fitting, ask.explanation.nodes_considered}};
}

namespace {

/// The first few refusals, and how many there are besides.
Reasons few_refusals(const std::vector<PlanRefusal>& refusals) {
  constexpr std::size_t listed_max = 3;
  Reasons few;
  for (std::size_t at = 0; at < std::min(refusals.size(), listed_max); ++at) {
    few.push_back({.code = ReasonCode::nodes_refuse,
                   .arguments = {refusals[at].nodes, refusal_sentence(refusals[at])}});
  }
  if (refusals.size() > listed_max) {
    few.push_back({.code = ReasonCode::more_refusals, .arguments = {refusals.size() - listed_max}});
  }
  return few;
}

}  // namespace

Reason nothing_reason(const PlanAsk& ask, Unplaced why, std::string_view domain) {
  const std::vector<PlanRefusal>& refusals = ask.explanation.refusals.items();
  if (refusals.empty() && !ask.bounds_reached.empty()) {
    return {.code = ReasonCode::no_node_tried, .arguments = {ask.bounds_reached.front()}};
  }
  if (refusals.empty()) return {.code = ReasonCode::no_nodes};
  // A claim that keeps it off every node: there is nothing else to say.
  if (refusals.front().reason == RefusalReason::claim) {
    return {.code = ReasonCode::claim_forbids, .arguments = {refusal_sentence(refusals.front())}};
  }
  const Reason any_node =
      domain.empty() ? Reason{.code = ReasonCode::any_node}
                     : Reason{.code = ReasonCode::any_node_of_domain, .arguments = {domain}};
  switch (why) {
    case Unplaced::never:
      return {.code = ReasonCode::unfit_and_never_preempts,
              .arguments = {any_node, few_refusals(refusals)}};
    case Unplaced::proven:
      return {.code = ReasonCode::unfit_when_all_left,
              .arguments = {any_node, few_refusals(refusals)}};
    case Unplaced::unproven:
      return {.code = ReasonCode::no_victims_found, .arguments = {few_refusals(refusals)}};
    case Unplaced::unsupported:
      return {.code = ReasonCode::needs_unsupported,
              .arguments = {unmet_need_text(refusals.front().detail)}};
  }
  CHECK(false, "unknown cause");
}

namespace {

/// The pod, then the pods that leave with it, by name: the rest of a group that leaves whole.
std::vector<PodIndex> leaving_together(const World& world, PodIndex pod) {
  const Cluster& cluster = world.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  std::vector<PodIndex> together = {pod};
  if (unit.kind != UnitKind::group || unit.mode != DisruptionMode::all) return together;
  for (const PodIndex member : cluster.groups()[unit.group].members) {
    const bool stays = world.after().node_of(member).exists() && !world.rules().leaving(member);
    if (stays && member != pod) together.push_back(member);
  }
  std::ranges::sort(std::span(together).subspan(1), {},
                    [&](PodIndex member) { return cluster.pod_key(member); });
  return together;
}

/// Under strict budgets: why they keep the pod; empty: none of them does.
std::optional<Reason> kept_by_budget(World& world, PodIndex pod) {
  if (world.configuration().budgets.mode != BudgetMode::strict || !world.budgets().any()) {
    return std::nullopt;
  }
  world.budgets().start_trial();
  for (const PodIndex member : leaving_together(world, pod)) {
    if (!world.budgets().charge(member)) continue;
    return Reason{
        .code = member == pod ? ReasonCode::budget_allows_none : ReasonCode::budget_keeps_group,
        .arguments = {world.budgets().violated(member)}};
  }
  return std::nullopt;
}

/// Each of them alone might leave, and all of them are more than a strict budget allows.
void add_those_too_many(World& world, NodeIndex node, PlanRefusal& refusal) {
  if (world.configuration().budgets.mode != BudgetMode::strict || !world.budgets().any()) return;
  std::vector<PodIndex> pods;
  world.after().for_each_pod(node, [&](PodIndex pod) { pods.push_back(pod); });
  std::ranges::sort(pods, {}, [&](PodIndex pod) { return world.cluster().pod_key(pod); });
  std::set<PodIndex> counted_already;
  world.budgets().start_trial();
  for (const PodIndex pod : pods) {
    for (const PodIndex member : leaving_together(world, pod)) {
      if (!counted_already.insert(member).second || !world.budgets().charge(member)) continue;
      add_holder(world, pod,
                 Reason{.code = ReasonCode::budget_allows_no_more,
                        .arguments = {world.budgets().violated(member)}},
                 refusal);
      break;
    }
  }
}

void add_holders(World& world, PodIndex own, const PlanAsk& ask, NodeIndex node,
                 PlanRefusal& refusal) {
  const Cluster& cluster = world.cluster();
  world.after().for_each_pod(node, [&](PodIndex pod) {
    std::optional<Reason> why =
        world.is_tentative(pod)
            ? Reason{.code = ReasonCode::stays_nominated}
            : stay_reason(world.rules().stays_because(world.after(), pod, ask.priority));
    if (!why) why = kept_by_budget(world, pod);
    add_holder(world, pod, why, refusal);
  });
  if (refusal.holders.empty()) add_those_too_many(world, node, refusal);
  const HoldAsk hold_ask = world.holds().ask_of(own);
  for (const PodIndex pod : cluster.nodes().nominated[node]) {
    if (!world.holds().blocks(pod, hold_ask, world.after())) continue;
    const bool reserved = world.holds().is_reserved(pod);
    add_holder(world, pod,
               Reason{.code = reserved ? ReasonCode::stays_reserved : ReasonCode::stays_nominated},
               refusal);
  }
  sort_holders(refusal);
}

/// Nodes where a pod may hold the room; every ask without a place looks for one.
constexpr std::size_t looked_at_max = 100;

/// Whether the node, were it empty, would have enough of what it refuses the pod for.
bool is_large_enough(World& world, PodIndex pod, NodeIndex node, std::string_view resource) {
  const Cluster& cluster = world.cluster();
  const auto wanted = request_of(cluster, pod);
  const auto item = std::ranges::find_if(wanted, [&](const ResourceAmount& each) {
    return cluster.resources().name(each.resource) == resource;
  });
  return item == wanted.end() ||
         item->amount <= world.survey().allocatable(node)[item->resource.value];
}

}  // namespace

void explain_holders(World& world, PodIndex pod, PlanAsk& ask) {
  const Cluster& cluster = world.cluster();
  for (PlanRefusal& refusal : ask.explanation.refusals.edit()) {
    if (refusal.reason != RefusalReason::resource) continue;
    const NodeIndex nearest = *cluster.find_node(refusal.example);
    const bool large_enough = is_large_enough(world, pod, nearest, refusal.detail);
    if (large_enough) add_holders(world, pod, ask, nearest, refusal);
    // Of the nodes for a gang the nearest may be one that another member takes.
    const bool others_help = !large_enough || ask.kind == AskKind::pod_group;
    if (!refusal.holders.empty() || !others_help) continue;
    // Too small for it, whichever pods leave. Of the nodes that are not, the first says more.
    std::size_t looked_at = 0;
    for (const NodeIndex node : world.survey().nodes()) {
      if (!is_large_enough(world, pod, node, refusal.detail)) continue;
      if (++looked_at > looked_at_max) break;
      add_holders(world, pod, ask, node, refusal);
      if (refusal.holders.empty()) continue;
      refusal.example = node_name(cluster, node);
      break;
    }
  }
}

void explain_claim_users(World& world, PlanAsk& ask) {
  const Cluster& cluster = world.cluster();
  for (PlanRefusal& refusal : ask.explanation.refusals.edit()) {
    if (refusal.reason != RefusalReason::volume_in_use) continue;
    const auto uses_it = [&](PodIndex pod) {
      const ShapeId shape = cluster.pods().shape[pod];
      if (cluster.shape(shape).claims.empty() || !world.after().node_of(pod).exists()) return false;
      return std::ranges::any_of(
          world.survey().claims_of(shape).volume_claims,
          [&](StringId claim) { return world.survey().text(claim) == refusal.detail; });
    };
    PodIndex user;  // One pod at a time may; of several the first by name is listed.
    for (const PodIndex pod : cluster.each_pod()) {
      if (!uses_it(pod)) continue;
      if (!user.exists() || cluster.pod_key(pod) < cluster.pod_key(user)) user = pod;
    }
    if (!user.exists()) continue;
    PodPlacement place = placement_of(cluster, user, world.after().node_of(user));
    refusal.holders = {{.namespace_name = std::move(place.namespace_name),
                        .name = std::move(place.name),
                        .plane = std::move(place.plane),
                        .priority = world.rules().priority_of(user),
                        .why = write_text(cluster, {.code = ReasonCode::stays_with_claim})}};
  }
}

void explain_instead(const World& world, PodIndex other, const ScoreTerms& chosen,
                     const ScoreTerms& score, PlanAsk& ask) {
  const Cluster& cluster = world.cluster();
  for (PlanVictim& victim : ask.victims) {
    victim.cause_alternative =
        write_text(cluster, {.code = ReasonCode::other_on_same_node, .arguments = {other}});
    victim.cause_key = write_text(cluster, decided_on(chosen, score));
  }
}

void explain_candidates(World& world, std::span<const Candidate> best, PlanAsk& ask) {
  const Candidate& chosen = best.front();
  VictimCause cause{
      .rule = ReasonCode::pod_rule,
      .alternative = {.code = ReasonCode::no_other_node},
      .key = {.code = ReasonCode::only_candidate},
      .budgets_by_victims = world.configuration().budgets.counted_over == BudgetCount::victims ||
                            world.configuration().workload.victim_choice == VictimChoiceRule::best};
  if (ask.placement_given) {
    cause.alternative = {.code = ReasonCode::node_was_given};
    cause.key = {.code = ReasonCode::by_given_place};
  } else if (best.size() > 1) {
    cause.alternative = {.code = ReasonCode::other_node, .arguments = {best[1].node}};
    cause.key = decided_on(chosen.score, best[1].score);
  }
  explain_victims(world, chosen.victims, cause, ask);
  explain_spared(world, chosen.spared, chosen.victims.pods.size(), ask.explanation);
  ask.explanation.cascades = chosen.cascades;
  for (const Candidate& other : best.subspan(1)) {
    ask.explanation.alternatives.push_back(
        alternative_of(world.cluster(), node_name(world.cluster(), other.node), other.score,
                       other.victims, chosen.score));
  }
  const std::string& node = ask.placements.front().node;
  // A group that leaves whole may be on other nodes, too.
  const bool only_there =
      std::ranges::all_of(ask.victims, [&](const PlanVictim& each) { return each.node == node; });
  set_reason(world.cluster(), ask,
             {.code = only_there ? ReasonCode::pods_leave : ReasonCode::pods_leave_elsewhere,
              .arguments = {ask.victims.size(), node}});
}

}  // namespace makeway
