// Budgets: which PodDisruptionBudgets govern a pod, and what evictions do to them.
//
// A pod violates a budget when its eviction takes the budget below zero. Pods are charged in a
// given order; each decrements every budget that governs it (same namespace, selector matches, not
// among the budget's disrupted pods already), and the walk over a pod's budgets stops at the first
// one that is exhausted, as in kube-scheduler. Budgets come by namespace and name.
//
// What the victims of earlier asks of the same cycle used up stays charged (`commit`).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/survey.hpp"
#include "model/budget_finder.hpp"

namespace makeway {

class Budgets {
 public:
  explicit Budgets(Survey& survey);

  bool any() const { return !budgets_.empty(); }

  /// Positions of the budgets that govern the pod. Cached by namespace and label set.
  std::span<const std::uint32_t> governing(PodIndex pod);

  /// A trial: charges on top of what is committed. Starting one ends the one before.
  void start_trial();
  /// True when the pod's eviction violates a budget.
  bool charge(PodIndex pod);
  /// Charges all of the pods, or none when one of them violates a budget; true when charged.
  bool charge_all(std::span<const PodIndex> pods);
  /// How many more evictions the budget allows, beyond what is committed.
  std::int64_t allowed(std::uint32_t budget) const { return committed_[budget]; }
  /// "default/web, default/zone": of the budgets that govern the pod, which was charged last, those
  /// that its eviction violates; where there are none, the one that allows least in the trial.
  std::string violated(PodIndex pod);
  /// False for a pod that the budget counts as disrupted already.
  bool counts(std::uint32_t budget, PodIndex pod) const;

  /// These pods will be evicted: they stay charged.
  void commit(std::span<const PodIndex> pods);

  struct Checkpoint {
    std::size_t commits = 0;
  };
  Checkpoint checkpoint() const { return {log_.size()}; }
  /// What was committed since is forgotten; a trial ends.
  void rollback(Checkpoint checkpoint);

  /// What is committed while this lives is forgotten afterwards.
  class Supposition {
   public:
    explicit Supposition(Budgets& budgets) : budgets_(budgets), before_(budgets.checkpoint()) {}
    ~Supposition() { budgets_.rollback(before_); }
    Supposition(const Supposition&) = delete;
    Supposition& operator=(const Supposition&) = delete;

   private:
    Budgets& budgets_;
    Checkpoint before_;
  };

 private:
  Survey& survey_;
  std::vector<const DisruptionBudget*> budgets_;
  BudgetFinder finder_;
  std::vector<std::int64_t> committed_;  ///< Allowed, less what is committed.
  std::vector<std::int64_t> left_;       ///< In the trial.
  std::vector<std::uint32_t> touched_;   ///< Where `left_` differs from `committed_`.
  struct Commit {
    std::uint32_t budget = 0;
    std::int64_t before = 0;
  };
  std::vector<Commit> log_;
  struct Governing {
    Space space;
    std::vector<std::uint32_t> budgets;
  };
  std::vector<std::vector<Governing>> governing_;  ///< By label set; few namespaces share one.
};

}  // namespace makeway
