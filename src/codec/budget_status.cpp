#include "codec/budget_status.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "model/selector.hpp"

namespace makeway {
namespace {

struct Governed {
  std::int64_t expected = 0;
  std::int64_t healthy = 0;
};

std::int64_t count_of(const CountOrPercent& wanted, std::int64_t expected) {
  return wanted.percent ? (wanted.value * expected + 99) / 100 : wanted.value;
}

std::int32_t allowed(const DisruptionBudget& budget, const Governed& governed) {
  std::int64_t desired = governed.expected;
  if (budget.available_min) {
    desired = count_of(*budget.available_min, governed.expected);
  } else if (budget.unavailable_max) {
    desired = std::max(std::int64_t{0},
                       governed.expected - count_of(*budget.unavailable_max, governed.expected));
  }
  return static_cast<std::int32_t>(std::max(std::int64_t{0}, governed.healthy - desired));
}

Governed count_governed(const Cluster& cluster, const DisruptionBudget& budget,
                        const std::vector<PodIndex>& pods) {
  Governed governed;
  std::map<LabelSetId, bool> answers;  // Pods of one controller share their labels.
  for (const PodIndex pod : pods) {
    const LabelSetId labels = cluster.pods().labels[pod];
    const auto [at, is_new] = answers.try_emplace(labels, false);
    if (is_new) {
      at->second = governs(budget, budget.namespace_name, cluster.label_objects(labels));
    }
    if (!at->second) continue;
    ++governed.expected;
    const bool leaving = cluster.pods().deletion[pod] != no_time;
    if (cluster.pods().node[pod].exists() && !leaving) ++governed.healthy;
  }
  return governed;
}

}  // namespace

void fill_budget_status(Cluster& cluster) {
  std::vector<DisruptionBudget> open;
  for (const DisruptionBudget* budget : cluster.budgets()) {
    if (!budget->disruptions_allowed) open.push_back(*budget);
  }
  if (open.empty()) return;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<PodIndex>> pods;
  for (const PodIndex pod : cluster.each_pod()) {
    pods[{cluster.text(cluster.pods().plane[pod]),
          cluster.text(cluster.pods().namespace_name[pod])}]
        .push_back(pod);
  }
  for (DisruptionBudget& budget : open) {
    budget.disruptions_allowed = allowed(
        budget, count_governed(cluster, budget, pods[{budget.plane, budget.namespace_name}]));
    cluster.apply(budget);
  }
}

}  // namespace makeway
