// BudgetFinder: which PodDisruptionBudgets govern a pod, without asking all of them.
//
// A selector nearly always wants a label to have a certain value. So a budget is found by one such
// label, else by a key that must be there; only budgets that do nothing but exclude labels are
// asked for every pod of their namespace. Costs O(labels + candidates) a question, where asking all
// budgets for all pods would be quadratic.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

class BudgetFinder {
 public:
  /// The budgets must outlive it.
  explicit BudgetFinder(std::vector<const DisruptionBudget*> budgets);

  /// Positions of those that govern pods with these labels, in ascending order.
  std::vector<std::uint32_t> governing(std::string_view plane, std::string_view namespace_name,
                                       const Labels& labels) const;

 private:
  using Positions = std::vector<std::uint32_t>;
  struct InNamespace {
    std::map<std::pair<std::string_view, std::string_view>, Positions> by_label;
    std::map<std::string_view, Positions> by_key;
    Positions others;
  };

  std::vector<const DisruptionBudget*> budgets_;
  /// By plane and namespace.
  std::map<std::pair<std::string_view, std::string_view>, InNamespace> namespaces_;
};

}  // namespace makeway
