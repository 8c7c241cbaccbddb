#include "sim/sim_budgets.hpp"

#include <algorithm>

#include "model/selector.hpp"

namespace makeway {

void SimBudgets::write(const DisruptionBudget& budget) {
  budgets_[{budget.namespace_name, budget.name, budget.plane}] = {
      .object = budget, .allowed = budget.disruptions_allowed.value_or(0)};
}

void SimBudgets::remove(const Removal& gone) {
  budgets_.erase({gone.namespace_name, gone.name, gone.plane});
}

bool SimBudgets::count(const Pod& pod, std::int64_t more) {
  bool any = false;
  for (auto& [key, entry] : budgets_) {
    const bool here = entry.object.plane == pod.plane;
    if (!here || !governs(entry.object, pod.namespace_name, pod.labels)) continue;
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
