#include "sim/sim_budgets.hpp"

#include <algorithm>

#include "model/selector.hpp"

namespace makeway {

void SimBudgets::write(const DisruptionBudget& budget) {
  budgets_[{budget.namespace_name, budget.name}] = {
      .object = budget, .allowed = budget.disruptions_allowed.value_or(0)};
}

void SimBudgets::remove(const std::string& namespace_name, const std::string& name) {
  budgets_.erase({namespace_name, name});
}

bool SimBudgets::count(const Pod& pod, std::int64_t more) {
  bool any = false;
  for (auto& [key, entry] : budgets_) {
    if (!governs(entry.object, pod.namespace_name, pod.labels)) continue;
    entry.allowed += more;
    any = true;
  }
  return any;
}

std::vector<DisruptionBudget> SimBudgets::take_changed() {
  std::vector<DisruptionBudget> changed;
  for (auto& [key, entry] : budgets_) {
    const auto allowed = static_cast<std::int32_t>(std::max<std::int64_t>(entry.allowed, 0));
    if (entry.object.disruptions_allowed == allowed) continue;
    entry.object.disruptions_allowed = allowed;
    changed.push_back(entry.object);
  }
  return changed;
}

void SimBudgets::list(std::vector<Change>& objects) const {
  for (const auto& [key, entry] : budgets_) objects.emplace_back(entry.object);
}

}  // namespace makeway
