#include "model/budget_finder.hpp"

#include <algorithm>
#include <iterator>

#include "model/selector.hpp"

namespace makeway {
namespace {

/// The requirement by which fewest pods come into question; null: every pod does.
const Requirement* narrowest(const LabelSelector& selector) {
  const Requirement* best = nullptr;
  for (const Requirement& requirement : selector.requirements) {
    const bool excludes = requirement.operation == Operator::not_in ||
                          requirement.operation == Operator::does_not_exist;
    if (excludes) continue;
    const bool first_in = requirement.operation == Operator::in &&
                          (best == nullptr || best->operation != Operator::in);
    const bool smaller = best != nullptr && best->operation == Operator::in &&
                         requirement.operation == Operator::in &&
                         requirement.values.size() < best->values.size();
    if (best == nullptr || first_in || smaller) best = &requirement;
  }
  return best;
}

}  // namespace

BudgetFinder::BudgetFinder(std::vector<const DisruptionBudget*> budgets)
    : budgets_(std::move(budgets)) {
  for (std::uint32_t position = 0; position < budgets_.size(); ++position) {
    const DisruptionBudget& budget = *budgets_[position];
    if (!budget.selector || budget.selector->requirements.empty()) continue;  // Governs nothing.
    InNamespace& here = namespaces_[{budget.plane, budget.namespace_name}];
    const Requirement* const requirement = narrowest(*budget.selector);
    if (requirement == nullptr) {
      add_excluding(here, position);
    } else if (requirement->operation != Operator::in) {
      here.by_key[requirement->key].push_back(position);
    } else {
      for (const std::string& value : requirement->values) {
        here.by_label[{requirement->key, value}].push_back(position);
      }
    }
  }
}

std::vector<std::uint32_t> GoverningBudgets::all() const {
  std::vector<std::uint32_t> staying;
  staying.reserve(size());
  std::ranges::set_difference(excluding, excluded, std::back_inserter(staying));
  if (named.empty()) return staying;
  std::vector<std::uint32_t> merged;
  merged.reserve(size());
  std::ranges::merge(named, staying, std::back_inserter(merged));
  return merged;
}

GoverningBudgets BudgetFinder::find(std::string_view plane, std::string_view namespace_name,
                                    const Labels& labels) const {
  GoverningBudgets found;
  const auto here = namespaces_.find({plane, namespace_name});
  if (here == namespaces_.end()) return found;
  const auto ask = [&](const Positions& candidates) {
    for (const std::uint32_t position : candidates) {
      if (governs(*budgets_[position], namespace_name, labels)) found.named.push_back(position);
    }
  };
  for (const auto& [key, value] : labels) {
    const auto by_label = here->second.by_label.find({key, value});
    if (by_label != here->second.by_label.end()) ask(by_label->second);
    const auto by_key = here->second.by_key.find(key);
    if (by_key != here->second.by_key.end()) ask(by_key->second);
  }
  std::ranges::sort(found.named);
  if (labels.empty()) return found;  // No budget governs a pod without labels.
  found.excluding = here->second.excluding;
  found.excluded = find_excluded(here->second, labels);
  return found;
}

void BudgetFinder::add_excluding(InNamespace& here, std::uint32_t position) {
  here.excluding.push_back(position);
  for (const Requirement& requirement : budgets_[position]->selector->requirements) {
    if (requirement.operation == Operator::does_not_exist) {
      here.excluding_key[requirement.key].push_back(position);
      continue;
    }
    for (const std::string& value : requirement.values) {
      here.excluding_label[{requirement.key, value}].push_back(position);
    }
  }
}

BudgetFinder::Positions BudgetFinder::find_excluded(const InNamespace& here, const Labels& labels) {
  Positions excluded;
  const auto exclude = [&](const auto& positions, const auto& by) {
    const auto at = positions.find(by);
    if (at != positions.end()) {
      excluded.insert(excluded.end(), at->second.begin(), at->second.end());
    }
  };
  for (const auto& [key, value] : labels) {
    exclude(here.excluding_label, std::pair<std::string_view, std::string_view>(key, value));
    exclude(here.excluding_key, std::string_view(key));
  }
  std::ranges::sort(excluded);
  const auto repeated = std::ranges::unique(excluded);
  excluded.erase(repeated.begin(), repeated.end());
  return excluded;
}

}  // namespace makeway
