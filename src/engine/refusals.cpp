#include "engine/refusals.hpp"

#include <algorithm>
#include <tuple>

namespace makeway {

void RefusalTally::add(const Refused& refused, NodeIndex node, std::uint32_t position) {
  const auto same = [&](const Group& group) {
    return group.reason == refused.reason && group.detail == refused.detail;
  };
  const auto found = std::ranges::find_if(groups_, same);
  if (found == groups_.end()) {
    groups_.push_back({.reason = refused.reason,
                       .detail = refused.detail,
                       .amount_min = refused.amount,
                       .nodes = 1,
                       .example = node,
                       .example_position = position});
    return;
  }
  ++found->nodes;
  if (std::tie(refused.amount, position) >= std::tie(found->amount_min, found->example_position))
    return;
  found->amount_min = refused.amount;
  found->example = node;
  found->example_position = position;
}

void RefusalTally::add_other_regimes(PodFit& fit) {
  std::uint32_t position = 0;
  for (const NodeIndex node : fit.survey().nodes_of_others()) {
    if (fit.only_regime_refuses(node)) add(*fit.refused_by_node(node), node, position);
    ++position;
  }
}

std::vector<PlanRefusal> RefusalTally::refusals(const Survey& survey) const {
  std::vector<PlanRefusal> result;
  const Cluster& cluster = survey.cluster();
  result.reserve(groups_.size());
  for (const Group& group : groups_) {
    result.push_back({.reason = group.reason,
                      .detail = std::string(survey.text(group.detail)),
                      .amount_min = group.amount_min,
                      .nodes = group.nodes,
                      .example = std::string(cluster.text(cluster.nodes().name[group.example]))});
  }
  std::ranges::sort(result, [](const PlanRefusal& a, const PlanRefusal& b) {
    return std::tie(b.nodes, a.reason, a.detail) < std::tie(a.nodes, b.reason, b.detail);
  });
  return result;
}

}  // namespace makeway
