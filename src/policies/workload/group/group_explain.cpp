#include "policies/workload/group/group_explain.hpp"

#include <algorithm>

#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/workload/pod/pod_explain.hpp"

namespace makeway {
namespace {

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
Reason decided_on(const GroupCandidate& plan, const GroupCandidate& against) {
  const bool by_level = plan.domain->level != against.domain->level;
  if (by_level && compare(plan.score, against.score) == 0) {
    return {.code = ReasonCode::by_topology};
  }
  return makeway::decided_on(plan.score, against.score);
}

}  // namespace

Reason group_fits_reason(const PlanAsk& ask, std::size_t members) {
  return {.code = ReasonCode::group_fits,
          .arguments = {ask.placements.size(), members, node_count(ask)}};
}

Reason group_waits_reason(const PlanAsk& ask) {
  if (ask.waits_for.empty()) return {.code = ReasonCode::group_fits_after_asks};
  return {.code = ReasonCode::group_fits_after_pods, .arguments = {ask.waits_for.size()}};
}

Reason group_preempts_reason(const PlanAsk& ask, std::size_t members) {
  return {.code = ReasonCode::group_preempts,
          .arguments = {ask.victims.size(), ask.placements.size(), members, node_count(ask)}};
}

Reason group_nothing_reason(const World& world, const PlanAsk& ask, std::optional<PodIndex> without,
                            Unplaced why) {
  if (ask.explanation.refusals.empty() && !ask.bounds_reached.empty()) {
    return {.code = ReasonCode::group_search_ended, .arguments = {ask.bounds_reached.front()}};
  }
  const bool spoils = !without && why == Unplaced::unproven && ask.explanation.refusals.empty() &&
                      !world.survey().nodes().empty();
  if (spoils) return {.code = ReasonCode::group_spoils_places};
  Reason nothing = nothing_reason(ask, why, {});
  if (!without) return nothing;
  return {.code = ReasonCode::group_too_few, .arguments = {*without, std::move(nothing)}};
}

Reason no_domain_reason(const std::vector<std::string>& keys, bool given_apart) {
  return {.code = given_apart ? ReasonCode::given_nodes_apart : ReasonCode::no_domain,
          .arguments = {named(keys)}};
}

void explain_group_victims(World& world, const GroupCandidate& chosen, const GroupCandidate* other,
                           PlanAsk& ask) {
  VictimCause cause{
      .rule = ReasonCode::group_rule,
      .alternative = {.code = ReasonCode::no_other_placement},
      .key = {.code = ReasonCode::only_candidate},
      .budgets_by_victims = world.configuration().budgets.counted_over == BudgetCount::victims};
  const std::string others_nodes = other == nullptr ? std::string() : nodes_text(world, *other);
  if (ask.placement_given) {
    cause.alternative = {.code = ReasonCode::nodes_were_given};
    cause.key = {.code = ReasonCode::by_given_place};
  } else if (other != nullptr) {
    const std::string& domain = other->domain->name;
    cause.alternative = {
        .code = domain.empty() ? ReasonCode::other_placement : ReasonCode::other_placement_in,
        .arguments = {others_nodes, domain}};
    cause.key = decided_on(chosen, *other);
  }
  ask.domain = chosen.domain->name;
  explain_victims(world, chosen.victims, cause, ask);
  ask.explanation.cascades = chosen.cascades;
  explain_spared(world, chosen.spared, chosen.victims.pods.size(), ask.explanation);
  if (other == nullptr || chosen.victims.pods.empty()) return;
  PlanAlternative alternative =
      alternative_of(world.cluster(), others_nodes, other->score, other->victims, chosen.score);
  alternative.domain = other->domain->name;
  alternative.lost_on = write_text(world.cluster(), decided_on(*other, chosen));
  ask.explanation.alternatives.push_back(std::move(alternative));
}

}  // namespace makeway
