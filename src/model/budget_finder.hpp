// BudgetFinder: which PodDisruptionBudgets govern a pod, without asking all of them.
//
// A selector nearly always wants a label to have a certain value. So a budget is found by one such
// label, else by a key that must be there. Budgets that do nothing but exclude labels govern every
// pod of their namespace that has labels, but for those that a label excludes; they are neither
// asked one by one nor listed: `find` reports which pods they leave out. It costs O(labels +
// candidates) a question, where asking all budgets for all pods would be quadratic.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

/// The budgets that govern some pods, by position in ascending order: `named`, and `excluding` but
/// for `excluded`.
struct GoverningBudgets {
  std::vector<std::uint32_t> named;          ///< Their selectors want something of the pods.
  std::span<const std::uint32_t> excluding;  ///< Of the namespace, all that only exclude.
  std::vector<std::uint32_t> excluded;       ///< Of these, whose selectors exclude the pods.

  std::size_t size() const { return named.size() + excluding.size() - excluded.size(); }
  /// In ascending order. As long as there are budgets that exclude.
  std::vector<std::uint32_t> all() const;
};

class BudgetFinder {
 public:
  /// The budgets must outlive it.
  explicit BudgetFinder(std::vector<const DisruptionBudget*> budgets);

  /// Those that govern pods with these labels. Points into the finder.
  GoverningBudgets find(std::string_view plane, std::string_view namespace_name,
                        const Labels& labels) const;

 private:
  using Positions = std::vector<std::uint32_t>;
  struct InNamespace {
    std::map<std::pair<std::string_view, std::string_view>, Positions> by_label;
    std::map<std::string_view, Positions> by_key;
    Positions excluding;  ///< Those that do nothing but exclude, in ascending order.
    std::map<std::pair<std::string_view, std::string_view>, Positions> excluding_label;
    std::map<std::string_view, Positions> excluding_key;
  };

  void add_excluding(InNamespace& here, std::uint32_t position);
  static Positions find_excluded(const InNamespace& here, const Labels& labels);

  std::vector<const DisruptionBudget*> budgets_;
  /// By plane and namespace.
  std::map<std::pair<std::string_view, std::string_view>, InNamespace> namespaces_;
};

/// A sum for each budget over the pods that it governs. Those that only exclude get the sum of
/// their namespace, less what they exclude.
template <class Count>
class BudgetSums {
 public:
  explicit BudgetSums(std::size_t budgets) : sums_(budgets) {}

  void add(const GoverningBudgets& governing, const Count& count) {
    for (const std::uint32_t position : governing.named) sums_[position] += count;
    for (const std::uint32_t position : governing.excluded) sums_[position] -= count;
    if (governing.excluding.empty()) return;
    Shared& shared = shared_[governing.excluding.front()];
    shared.budgets = governing.excluding;
    shared.sum += count;
  }

  /// By the position of the budget.
  std::vector<Count> finish() && {
    for (const auto& [first, shared] : shared_) {
      for (const std::uint32_t position : shared.budgets) sums_[position] += shared.sum;
    }
    return std::move(sums_);
  }

 private:
  struct Shared {
    std::span<const std::uint32_t> budgets;
    Count sum{};
  };

  std::vector<Count> sums_;
  std::map<std::uint32_t, Shared> shared_;  ///< By the first budget of a namespace that excludes.
};

}  // namespace makeway
