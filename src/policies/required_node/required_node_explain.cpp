#include "policies/required_node/required_node_explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/required_node.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/pod_entries.hpp"

namespace makeway {
namespace {

constexpr std::string_view rule = "required node: pods of equal or lower priority leave the node";
constexpr std::string_view lower_rule = "required node: pods of lower priority leave the node";
constexpr std::size_t candidates_max = 20;

std::string_view class_name(const World& world, std::uint8_t victim_class) {
  return world.configuration().required_node.victim_classes[victim_class];
}

/// On which key the chosen came before the next one.
std::string decided_by(const World& world, const VictimLadder& ladder,
                       const CandidateList& candidates, const LadderAnswer& answer) {
  const std::uint32_t chosen = answer.units.front();
  const PinnedCandidate& a = candidates.units[chosen];
  const PinnedCandidate& b = candidates.units[*answer.next];
  if (answer.strategy == VictimSelection::single) {
    const std::int64_t mine = ladder.deviation_ppm(chosen);
    const std::int64_t other = ladder.deviation_ppm(*answer.next);
    if (mine != other) {
      return fmt::format("deviation: {} against {}", percent_text(mine), percent_text(other));
    }
  }
  if (answer.strategy != VictimSelection::multiple && a.victim_class != b.victim_class) {
    return fmt::format("class: {} against {}", class_name(world, a.victim_class),
                       class_name(world, b.victim_class));
  }
  if (a.priority != b.priority) {
    return fmt::format("priority: {} against {}", a.priority, b.priority);
  }
  if (answer.strategy == VictimSelection::multiple &&
      ladder.worth(chosen) != ladder.worth(*answer.next)) {
    return fmt::format("covers more of what is missing: {} against {} permille",
                       ladder.worth(chosen), ladder.worth(*answer.next));
  }
  return ladder.started(a) != ladder.started(b) ? "age: the younger one leaves" : "size or name";
}

/// When nobody came next on the step that was used: who comes first of those that stay.
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
std::string spared_because(const World& world, const VictimLadder& ladder,
                           const CandidateList& candidates, const LadderAnswer& answer,
                           std::uint32_t spared) {
  const PinnedCandidate& a = candidates.units[answer.units.front()];
  const PinnedCandidate& b = candidates.units[spared];
  if (b.victim_class >= answer.classes) {
    return fmt::format("class: {} against {}", class_name(world, a.victim_class),
                       class_name(world, b.victim_class));
  }
  if (answer.strategy == VictimSelection::single) {
    if (!ladder.covers(spared)) return "covers what is missing; the other does not";
    if (b.size > 1) return fmt::format("pods: 1 against {}", b.size);
    const std::int64_t mine = ladder.deviation_ppm(answer.units.front());
    const std::int64_t other = ladder.deviation_ppm(spared);
    if (mine < other) {
      return fmt::format("deviation: {} against {}", percent_text(mine), percent_text(other));
    }
  }
  return world.budgets().any() ? "the ask fits without evicting the other, or a budget protects it"
                               : "the ask fits without evicting the other";
}

std::string why_it_leaves(const VictimUnit& unit, const PlanAsk& ask) {
  if (unit.priority < ask.priority) {
    return fmt::format("lower priority ({} < {})", unit.priority, ask.priority);
  }
  if (unit.priority == ask.priority) {
    return fmt::format("equal priority ({}), and the ask can run on this node only", unit.priority);
  }
  return fmt::format("higher priority ({} > {}), which does not protect it here", unit.priority,
                     ask.priority);
}

/// Why a group that leaves whole is no candidate.
std::string_view group_stays(const World& world, const VictimClasses& classes, PodIndex pod) {
  const Cluster& cluster = world.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group || unit.mode != DisruptionMode::all) return {};
  std::int64_t pods = 0;
  for (const PodIndex member : cluster.groups()[unit.group].members) {
    if (!world.after().node_of(member).exists() || world.departures().leaving(member)) {
      continue;
    }
    ++pods;
    const bool stays = world.rules().settled(member) ||
                       !world.rules().protection_but_opt_out(member).empty() ||
                       classes.of(member) == VictimClasses::none;
    if (stays) return "its group cannot leave as a whole";
  }
  const bool many = pods > world.configuration().required_node.max_victims;
  return many ? "its group has more pods than maxVictims" : std::string_view{};
}

}  // namespace

std::string percent_text(std::int64_t ppm) {
  const std::int64_t tenths = ppm / 1'000 + (ppm % 1'000 == 0 ? 0 : 1);
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

void explain_ladder(World& world, const VictimLadder& ladder, const CandidateList& candidates,
                    const LadderAnswer& answer, PlanAsk& ask) {
  std::string alternative = "none: no other pod could leave";
  std::string key = "only candidate";
  if (answer.next) {
    alternative =
        fmt::format("Pod {}", world.cluster().pod_key(candidates.units[*answer.next].first));
    key = decided_by(world, ladder, candidates, answer);
  } else if (const auto spared = first_spared(ladder, candidates, answer)) {
    alternative = fmt::format("Pod {}", world.cluster().pod_key(candidates.units[*spared].first));
    key = spared_because(world, ladder, candidates, answer, *spared);
  }
  const bool equal = world.configuration().required_node.allow_equal_priority;
  const std::string asks = ask_text(ask);
  ask.victims.reserve(answer.victims.pods.size());
  world.budgets().start_trial();
  for (const VictimUnit& unit : answer.victims.units) {
    for (const PodIndex pod : answer.victims.pods_of(unit)) {
      PlanVictim victim = victim_entry(world.cluster(), unit, pod, why_it_leaves(unit, ask));
      victim.violates_budget = world.budgets().charge(pod);
      if (victim.violates_budget) victim.budget = world.budgets().violated(pod);
      victim.cause_for = asks;
      victim.cause_rule = std::string(equal ? rule : lower_rule);
      victim.cause_alternative = alternative;
      victim.cause_key = key;
      ask.victims.push_back(std::move(victim));
    }
  }
  const auto classes =
      std::span(world.configuration().required_node.victim_classes).first(answer.classes);
  ask.reason = fmt::format("{} must leave {}, the only node it can run on ({}, {})",
                           counted(std::ssize(ask.victims), "pod"), ask.reservation->node,
                           fmt::join(classes, " + "), choice_name(answer.strategy));
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
                        PlanReservation& told) {
  const Cluster& cluster = world.cluster();
  std::vector<std::uint32_t> order;
  order.reserve(candidates.units.size());
  for (std::uint32_t at = 0; at < candidates.units.size(); ++at) order.push_back(at);
  const std::size_t listed = std::min(order.size(), candidates_max);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(listed),
                            [&](std::uint32_t a, std::uint32_t b) { return ladder.before(a, b); });
  told.candidates_count = std::ssize(candidates.units);
  for (const std::uint32_t at : std::span(order).first(listed)) {
    const PinnedCandidate& unit = candidates.units[at];
    told.candidates.push_back(
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
  const auto why_stays = [&](PodIndex pod) -> std::string_view {
    const std::int32_t priority = world.rules().priority_of(pod);
    if (world.is_tentative(pod)) return "nominated";
    if (world.rules().settled(pod)) return "placed by this plan";
    if (is_pinned_by(cluster, pod, settings.pinned_by)) return "also can run on one node only";
    if (priority > ask.priority && !settings.allow_higher_priority) return "of higher priority";
    if (priority == ask.priority && !settings.allow_equal_priority) return "not of lower priority";
    if (world.departures().leaving(pod)) {
      if (world.departures().late(pod)) return "leaving, but not soon";
      return world.departures().stuck(pod) ? "leaving, but overdue"
                                           : "leaving, which does not count yet";
    }
    const std::string_view protection = world.rules().protection_but_opt_out(pod);
    if (!protection.empty()) return protection;
    if (classes.of(pod) == VictimClasses::none) return "of no class of victims";
    return group_stays(world, classes, pod);
  };
  for (PlanRefusal& refusal : ask.explanation.refusals.edit()) {
    if (refusal.reason != RefusalReason::resource) continue;
    world.after().for_each_pod(
        node, [&](PodIndex pod) { add_holder(world, pod, why_stays(pod), refusal); });
    sort_holders(refusal);
  }
}

}  // namespace makeway
