#include "policies/required_node/required_node_explain.hpp"

#include <algorithm>

#include "model/required_node.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"

namespace makeway {
namespace {

constexpr std::size_t candidates_max = 20;

std::string_view class_name(const World& world, std::uint8_t victim_class) {
  return world.configuration().required_node.victim_classes[victim_class];
}

/// On which key the chosen came before the next one.
Reason decided_by(const World& world, const VictimLadder& ladder, const CandidateList& candidates,
                  const LadderAnswer& answer) {
  const std::uint32_t chosen = answer.units.front();
  const PinnedCandidate& a = candidates.units[chosen];
  const PinnedCandidate& b = candidates.units[*answer.next];
  if (answer.strategy == VictimSelection::single) {
    const std::int64_t mine = ladder.deviation_ppm(chosen);
    const std::int64_t other = ladder.deviation_ppm(*answer.next);
    if (mine != other) {
      return {.code = ReasonCode::by_deviation, .arguments = {mine, other}};
    }
  }
  if (answer.strategy != VictimSelection::multiple && a.victim_class != b.victim_class) {
    return {.code = ReasonCode::by_class,
            .arguments = {class_name(world, a.victim_class), class_name(world, b.victim_class)}};
  }
  if (a.priority != b.priority) {
    return {.code = ReasonCode::by_priority, .arguments = {a.priority, b.priority}};
  }
  if (answer.strategy == VictimSelection::multiple &&
      ladder.worth(chosen) != ladder.worth(*answer.next)) {
    return {.code = ReasonCode::by_coverage,
            .arguments = {ladder.worth(chosen), ladder.worth(*answer.next)}};
  }
  return {.code = ladder.started(a) != ladder.started(b) ? ReasonCode::by_age
                                                         : ReasonCode::by_size_or_name};
}

/// When no unit came next on the step that was used: the first of those that stay.
std::optional<std::uint32_t> first_spared(const VictimLadder& ladder,
                                          const CandidateList& candidates,
                                          const LadderAnswer& answer) {
  std::optional<std::uint32_t> first;
  for (std::uint32_t at = 0; at < candidates.units.size(); ++at) {
    if (std::ranges::find(answer.units, at) != answer.units.end()) continue;
    if (!first || ladder.before(at, *first)) first = at;
  }
  return first;
}

/// Why that one stays.
Reason spared_because(const World& world, const VictimLadder& ladder,
                      const CandidateList& candidates, const LadderAnswer& answer,
                      std::uint32_t spared) {
  const PinnedCandidate& a = candidates.units[answer.units.front()];
  const PinnedCandidate& b = candidates.units[spared];
  if (b.victim_class >= answer.classes) {
    return {.code = ReasonCode::by_class,
            .arguments = {class_name(world, a.victim_class), class_name(world, b.victim_class)}};
  }
  if (answer.strategy == VictimSelection::single) {
    if (!ladder.covers(spared)) return {.code = ReasonCode::by_covering};
    if (b.size > 1) return {.code = ReasonCode::by_pods, .arguments = {b.size}};
    const std::int64_t mine = ladder.deviation_ppm(answer.units.front());
    const std::int64_t other = ladder.deviation_ppm(spared);
    if (mine < other) {
      return {.code = ReasonCode::by_deviation, .arguments = {mine, other}};
    }
  }
  return {.code = world.budgets().any() ? ReasonCode::by_fit_or_budget : ReasonCode::by_fit};
}

Reason why_it_leaves(const VictimUnit& unit, const PlanAsk& ask) {
  const ReasonCode code = unit.priority < ask.priority    ? ReasonCode::lower_priority
                          : unit.priority == ask.priority ? ReasonCode::equal_priority
                                                          : ReasonCode::higher_priority;
  return {.code = code, .arguments = {unit.priority, ask.priority}};
}

/// Why a group that leaves whole is no candidate.
std::optional<ReasonCode> group_stays(const World& world, const VictimClasses& classes,
                                      PodIndex pod) {
  const Cluster& cluster = world.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group || unit.mode != DisruptionMode::all) return std::nullopt;
  std::int64_t pods = 0;
  for (const PodIndex member : cluster.groups()[unit.group].members) {
    if (!world.after().node_of(member).exists() || world.departures().leaving(member)) {
      continue;
    }
    ++pods;
    const bool stays = world.rules().settled(member) ||
                       !world.rules().protection_but_opt_out(member).empty() ||
                       classes.of(member) == VictimClasses::none;
    if (stays) return ReasonCode::stays_with_group;
  }
  const bool many = pods > world.configuration().required_node.max_victims;
  return many ? std::optional(ReasonCode::stays_with_large_group) : std::nullopt;
}

}  // namespace

void explain_ladder(World& world, const VictimLadder& ladder, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanAsk& ask) {
  Reason other{.code = ReasonCode::no_other_pod};
  Reason decided{.code = ReasonCode::only_candidate};
  if (answer.next) {
    other = {.code = ReasonCode::named, .arguments = {candidates.units[*answer.next].first}};
    decided = decided_by(world, ladder, candidates, answer);
  } else if (const auto spared = first_spared(ladder, candidates, answer)) {
    other = {.code = ReasonCode::named, .arguments = {candidates.units[*spared].first}};
    decided = spared_because(world, ladder, candidates, answer, *spared);
  }
  const std::string alternative = write_text(world.cluster(), other);
  const std::string key = write_text(world.cluster(), decided);
  const RequiredNodeSettings& settings = world.configuration().required_node;
  const ReasonCode rule_code = settings.allow_higher_priority  ? ReasonCode::pinned_any_rule
                               : settings.allow_equal_priority ? ReasonCode::pinned_rule
                                                               : ReasonCode::pinned_lower_rule;
  const std::string rule = write_text(world.cluster(), {.code = rule_code});
  const std::string asks = ask_text(ask);
  ask.victims.reserve(answer.victims.pods.size());
  world.budgets().start_trial();
  for (const VictimUnit& unit : answer.victims.units) {
    for (const PodIndex pod : answer.victims.pods_of(unit)) {
      PlanVictim victim = victim_entry(world.cluster(), unit, pod, why_it_leaves(unit, ask));
      victim.violates_budget = world.budgets().charge(pod);
      if (victim.violates_budget) victim.budget = world.budgets().violated(pod);
      victim.cause_for = asks;
      victim.cause_rule = rule;
      victim.cause_alternative = alternative;
      victim.cause_key = key;
      ask.victims.push_back(std::move(victim));
    }
  }
  const auto classes =
      std::span(world.configuration().required_node.victim_classes).first(answer.classes);
  set_reason(
      world.cluster(), ask,
      {.code = ReasonCode::pinned_pods_leave,
       .arguments = {ask.victims.size(), ask.reservation->node,
                     named({classes.begin(), classes.end()}), choice_name(answer.strategy)}});
}

void explain_spared(const Cluster& cluster, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanExplanation& explanation) {
  std::vector<std::uint8_t> evicted(candidates.units.size());
  for (const std::uint32_t at : answer.units) evicted[at] = 1;
  for (std::uint32_t at = 0; at < candidates.units.size(); ++at) {
    const PinnedCandidate& unit = candidates.units[at];
    explanation.potential_victims += unit.size;
    if (evicted[at] != 0) continue;
    explanation.spared_count += unit.size;
    add_spared(cluster, unit.first, unit.priority, explanation);
  }
}

void explain_candidates(const World& world, const VictimLadder& ladder,
                        const CandidateList& candidates, std::span<const std::uint32_t> chosen,
                        PlanReservation& report) {
  const Cluster& cluster = world.cluster();
  std::vector<std::uint32_t> order;
  order.reserve(candidates.units.size());
  for (std::uint32_t at = 0; at < candidates.units.size(); ++at) order.push_back(at);
  const std::size_t listed = std::min(order.size(), candidates_max);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(listed),
                            [&](std::uint32_t a, std::uint32_t b) { return ladder.before(a, b); });
  report.candidates_count = std::ssize(candidates.units);
  for (const std::uint32_t at : std::span(order).first(listed)) {
    const PinnedCandidate& unit = candidates.units[at];
    report.candidates.push_back(
        {.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[unit.first])),
         .name = std::string(cluster.pods().name[unit.first.value]),
         .plane = std::string(cluster.text(cluster.pods().plane[unit.first])),
         .priority = unit.priority,
         .victim_class = std::string(class_name(world, unit.victim_class)),
         .pods = unit.size,
         .deviation_ppm = ladder.deviation_ppm(at),
         .victim = std::ranges::find(chosen, at) != chosen.end()});
  }
}

void explain_pinned_holders(World& world, const VictimClasses& classes, NodeIndex node,
                            PlanAsk& ask) {
  const Cluster& cluster = world.cluster();
  const RequiredNodeSettings& settings = world.configuration().required_node;
  const auto why_stays = [&](PodIndex pod) -> StaysBecause {
    const std::int32_t priority = world.rules().priority_of(pod);
    if (world.is_tentative(pod)) return {.code = ReasonCode::stays_nominated};
    if (world.rules().settled(pod)) return {.code = ReasonCode::stays_placed};
    if (is_pinned_by(cluster, pod, settings.pinned_by))
      return {.code = ReasonCode::stays_pinned_too};
    if (priority > ask.priority && !settings.allow_higher_priority)
      return {.code = ReasonCode::stays_higher};
    if (priority == ask.priority && !settings.allow_equal_priority)
      return {.code = ReasonCode::stays_not_lower};
    if (world.departures().leaving(pod)) {
      return {.code = world.departures().late(pod)    ? ReasonCode::stays_leaving_late
                      : world.departures().stuck(pod) ? ReasonCode::stays_leaving_overdue
                                                      : ReasonCode::stays_leaving_uncounted};
    }
    const StaysBecause protection = world.rules().protection_but_opt_out(pod);
    if (!protection.empty()) return protection;
    if (classes.of(pod) == VictimClasses::none) {
      return {.code = ReasonCode::stays_without_class};
    }
    return {.code = group_stays(world, classes, pod)};
  };
  for (PlanRefusal& refusal : ask.explanation.refusals.edit()) {
    if (refusal.reason != RefusalReason::resource) continue;
    world.after().for_each_pod(
        node, [&](PodIndex pod) { add_holder(world, pod, stay_reason(why_stays(pod)), refusal); });
    sort_holders(refusal);
  }
}

}  // namespace makeway
