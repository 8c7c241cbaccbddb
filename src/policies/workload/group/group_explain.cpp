#include "policies/workload/group/group_explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/workload/pod/pod_explain.hpp"

namespace makeway {
namespace {

constexpr std::string_view rule = "workload: units of lower priority leave for a group";

std::string placed_text(const PlanAsk& ask, std::size_t members) {
  return fmt::format("{} of its {}", ask.placements.size(),
                     counted(static_cast<std::int64_t>(members), "pending pod"));
}

std::string_view fit_text(const PlanAsk& ask) {
  return ask.placements.size() == 1 ? "fits" : "fit";
}

std::size_t node_count(const PlanAsk& ask) {
  std::vector<std::string_view> nodes;
  nodes.reserve(ask.placements.size());
  for (const PodPlacement& placement : ask.placements) nodes.push_back(placement.node);
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  return nodes.size() - repeated.size();
}

/// "n1, n2"
std::string nodes_text(const World& world, const GroupCandidate& other) {
  std::vector<std::string> nodes;
  nodes.reserve(other.places.size());
  for (const PodOnNode& place : other.places)
    nodes.push_back(node_name(world.cluster(), place.node));
  return few_names(std::move(nodes));
}

/// What decided between two plans; of equal scores a preferred topology before names.
std::string decided_on(const GroupCandidate& plan, const GroupCandidate& against) {
  const bool by_level = plan.domain->level != against.domain->level;
  if (by_level && compare(plan.score, against.score) == 0) return "preferred topology";
  return makeway::decided_on(plan.score, against.score);
}

std::string nodes_text(const PlanAsk& ask) {
  return counted(static_cast<std::int64_t>(node_count(ask)), "node");
}

}  // namespace

std::string group_fits_reason(const PlanAsk& ask, std::size_t members) {
  return fmt::format("{} {} now, on {}", placed_text(ask, members), fit_text(ask), nodes_text(ask));
}

std::string group_waits_reason(const PlanAsk& ask) {
  if (ask.waits_for.empty()) return "fits once the asks before it are placed";
  return fmt::format("fits once {} {} gone",
                     counted(static_cast<std::int64_t>(ask.waits_for.size()), "leaving pod"),
                     ask.waits_for.size() == 1 ? "is" : "are");
}

std::string group_preempts_reason(const PlanAsk& ask, std::size_t members) {
  return fmt::format("{} of lower priority must leave so that {} {}, on {}",
                     counted(static_cast<std::int64_t>(ask.victims.size()), "pod"),
                     placed_text(ask, members), fit_text(ask), nodes_text(ask));
}

std::string group_nothing_reason(const World& world, const PlanAsk& ask,
                                 std::optional<PodIndex> without, Unplaced why) {
  if (ask.explanation.refusals.empty() && !ask.bounds_reached.empty()) {
    return fmt::format("no placement found for enough of its pods before {} ended the search",
                       ask.bounds_reached.front());
  }
  const bool spoils = !without && why == Unplaced::unproven && ask.explanation.refusals.empty() &&
                      !world.survey().nodes().empty();
  if (spoils) {
    return "no placement found that leaves every other pod the place it was promised or nominated "
           "to";
  }
  std::string words = nothing_reason(ask, why, {});
  if (!without) return words;
  return fmt::format("too few of its pods can be placed; for {}: {}",
                     world.cluster().pods().name[without->value], words);
}

std::string no_domain_reason(const std::vector<std::string>& keys, bool given_apart) {
  if (given_apart) {
    return fmt::format("the given nodes are not in one domain of {} that the group allows",
                       fmt::join(keys, ", "));
  }
  return fmt::format(
      "no domain of {} can hold the whole group: no node has the label, or its running members are "
      "in several domains or in none",
      fmt::join(keys, ", "));
}

void explain_group_victims(World& world, const GroupCandidate& chosen, const GroupCandidate* other,
                           PlanAsk& ask) {
  VictimCause cause{
      .rule = rule,
      .alternative = "none: no other placement found",
      .key = "only candidate",
      .budgets_by_victims = world.configuration().budgets.counted_over == BudgetCount::victims};
  const std::string others_nodes = other == nullptr ? std::string() : nodes_text(world, *other);
  if (ask.placement_given) {
    cause.alternative = "none: the nodes were given";
    cause.key = "given";
  } else if (other != nullptr) {
    cause.alternative = "the placement on " + others_nodes;
    if (!other->domain->name.empty()) cause.alternative += " in " + other->domain->name;
    cause.key = decided_on(chosen, *other);
  }
  ask.domain = chosen.domain->name;
  explain_victims(world, chosen.victims, cause, ask);
  ask.explanation.cascades = chosen.cascades;
  explain_spared(world, chosen.spared, chosen.victims.pods.size(), ask.explanation);
  if (other == nullptr || chosen.victims.pods.empty()) return;
  PlanAlternative alternative =
      alternative_of(others_nodes, other->score, other->victims, chosen.score);
  alternative.domain = other->domain->name;
  alternative.lost_on = decided_on(*other, chosen);
  ask.explanation.alternatives.push_back(std::move(alternative));
}

}  // namespace makeway
