#include "codec/budget_status.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "model/budget_finder.hpp"

namespace makeway {
namespace {

struct Governed {
  std::int64_t expected = 0;
  std::int64_t healthy = 0;

  Governed& operator+=(const Governed& other) {
    expected += other.expected;
    healthy += other.healthy;
    return *this;
  }
  Governed& operator-=(const Governed& other) {
    expected -= other.expected;
    healthy -= other.healthy;
    return *this;
  }
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

/// Plane, namespace and labels: pods of one controller share them.
using Alike = std::tuple<StringId, StringId, LabelSetId>;

std::map<Alike, Governed> count_alike(const Cluster& cluster) {
  std::map<Alike, Governed> counts;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    Governed& governed = counts[{pods.plane[pod], pods.namespace_name[pod], pods.labels[pod]}];
    ++governed.expected;
    const bool leaving = pods.deletion[pod] != no_time;
    if (pods.node[pod].exists() && !leaving) ++governed.healthy;
  }
  return counts;
}

}  // namespace

void fill_budget_status(Cluster& cluster) {
  std::vector<DisruptionBudget> open;
  for (const DisruptionBudget* budget : cluster.budgets()) {
    if (!budget->disruptions_allowed) open.push_back(*budget);
  }
  if (open.empty()) return;
  std::vector<const DisruptionBudget*> budgets;
  budgets.reserve(open.size());
  for (const DisruptionBudget& budget : open) budgets.push_back(&budget);
  const BudgetFinder finder(std::move(budgets));
  BudgetSums<Governed> sums(open.size());
  for (const auto& [alike, count] : count_alike(cluster)) {
    const auto& [plane, namespace_name, labels] = alike;
    sums.add(finder.find(cluster.text(plane), cluster.text(namespace_name),
                         cluster.label_objects(labels)),
             count);
  }
  const std::vector<Governed> governed = std::move(sums).finish();
  for (std::size_t position = 0; position < open.size(); ++position) {
    open[position].disruptions_allowed = allowed(open[position], governed[position]);
    cluster.apply(open[position]);
  }
}

}  // namespace makeway
