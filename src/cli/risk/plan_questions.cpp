#include "cli/risk/plan_questions.hpp"

#include <algorithm>

namespace makeway::cli {

std::optional<Plan> PlanQuestions::make(const PlanCase& item) {
  ++asked_;
  PlanAttempt attempt = make_plan(item, tools_, timing_, bug_files_);
  shows_bug_ = shows_bug_ || attempt.shows_bug;
  bug_ += attempt.bug;
  problems_.append(std::move(attempt.problems));
  return std::move(attempt.plan);
}

std::optional<Plan> PlanQuestions::today(const Cluster& cluster,
                                         const ConfigurationDocument& configuration, bool explain) {
  return make({.cluster = cluster,
               .configuration = configuration,
               .asks = {},
               .workloads = workloads_,
               .now = now_,
               .placements = {},
               .explain = explain});
}

std::optional<Plan> PlanQuestions::for_pod(const Cluster& cluster,
                                           const ConfigurationDocument& configuration,
                                           const PodPlacement& place) {
  std::vector<PodPlacement> placements;
  if (!place.node.empty()) placements.push_back(place);
  return make({.cluster = cluster,
               .configuration = configuration,
               .asks = {{.kind = AskKind::pod,
                         .namespace_name = place.namespace_name,
                         .name = place.name,
                         .workload = {}}},
               .workloads = workloads_,
               .now = now_,
               .placements = std::move(placements),
               .explain = false});
}

std::optional<PlanAsk> PlanQuestions::for_pod_on(const Cluster& cluster,
                                                 const ConfigurationDocument& configuration,
                                                 const PodPlacement& place) {
  std::optional<Plan> plan = for_pod(cluster, configuration, place);
  if (!plan) return std::nullopt;
  const auto found = std::ranges::find_if(plan->asks, [&](const PlanAsk& ask) {
    return ask.kind == AskKind::pod && ask.name == place.name &&
           ask.namespace_name == place.namespace_name;
  });
  if (found == plan->asks.end()) return std::nullopt;
  return std::move(*found);
}

}  // namespace makeway::cli
