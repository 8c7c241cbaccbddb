// Budgets: which PodDisruptionBudgets govern a pod, and what evictions do to them.
//
// A pod violates a budget when its eviction takes the budget below zero. Pods are charged in a
// given order; each decrements every budget that governs it (same namespace, selector matches, not
// among the budget's disrupted pods already), and the walk over a pod's budgets stops at the first
// one that is exhausted, as in kube-scheduler. Budgets come by namespace and name.
//
// Many budgets may govern whole namespaces but for a few pods (NotIn, DoesNotExist). What these
// allow stands in trees, so that a pod is charged to all of them at once: O(log budgets) for a pod,
// and as much for each of them that leaves it out. All others are charged one by one.
//
// What the victims of earlier asks of the same cycle used up stays charged (`commit`).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/count_tree.hpp"
#include "engine/survey.hpp"
#include "model/budget_finder.hpp"

namespace makeway {

class Budgets {
 public:
  explicit Budgets(Survey& survey);

  bool any() const { return !budgets_.empty(); }

  bool governed(PodIndex pod) { return !budgets_.empty() && known(pod).found.size() > 0; }
  /// Whether a budget that governs the pod allows nothing more, by what is committed.
  bool exhausted(PodIndex pod);

  /// A trial: charges on top of what is committed. Starting one ends the one before.
  void start_trial();
  /// True when the pod's eviction violates a budget.
  bool charge(PodIndex pod);
  /// Charges all of the pods, or none when one of them violates a budget; true when charged.
  bool charge_all(std::span<const PodIndex> pods);

  /// What a choice among some pods has to know of the budgets that count evictions of them. Of
  /// those that count all of a namespace's pods here, only the least that one of them allows.
  struct Among {
    std::vector<std::int64_t> allowed;   ///< By number: how many more, beyond what is committed.
    std::vector<std::uint32_t> numbers;  ///< Of the first pod, then of the second, ...
    std::vector<std::uint32_t> begin;  ///< By place of the pod, in `numbers`; one more at the end.

    std::span<const std::uint32_t> of(std::size_t place) const {
      return std::span(numbers).subspan(begin[place], begin[place + 1] - begin[place]);
    }
  };
  void among(std::span<const PodIndex> pods, Among& among);

  /// "default/web, default/zone": of the budgets that govern the pod, which was charged last, those
  /// that its eviction violates; where there are none, the one that allows least in the trial.
  std::string violated(PodIndex pod);
  /// These pods will be evicted: they stay charged.
  void commit(std::span<const PodIndex> pods);

  struct Checkpoint {
    std::size_t commits = 0;
    std::size_t shared_commits = 0;
  };
  Checkpoint checkpoint() const {
    return {.commits = log_.size(), .shared_commits = shared_log_.size()};
  }
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
  static constexpr std::uint32_t no_shelf = 0xFFFFFFFFU;
  struct Governing {
    Space space;
    GoverningBudgets found;
    std::uint32_t shelf = no_shelf;  ///< Of those that only exclude.
  };
  /// What the budgets of a namespace allow that only exclude; places are those in `budgets`.
  struct Shelf {
    std::span<const std::uint32_t> budgets;
    CountTree committed;
    CountTree left;  ///< In the trial.
  };
  /// Of a shelf, for some pods.
  struct ShelfAmong {
    std::set<std::uint32_t> apart;    ///< Places of those that leave out one of the pods.
    std::uint32_t common = no_shelf;  ///< The number of the others; none: there are none.
  };
  /// One more or less for a range of a shelf.
  struct Charge {
    std::uint32_t shelf = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int32_t amount = 0;
  };

  const Governing& known(PodIndex pod);
  std::uint32_t shelf_of(std::span<const std::uint32_t> excluding);
  /// Places on the shelf of those that do not count the pod; sorted, each once.
  std::vector<std::uint32_t> spared_places(const Governing& governing, PodIndex pod) const;
  std::uint32_t place_of(const Shelf& shelf, std::uint32_t budget) const;
  /// The first place from `begin` on, but for those spared, where at most `limit` is left; the
  /// size of the shelf where there is none.
  static std::size_t first_at_most(const CountTree& tree, std::int64_t limit, std::size_t begin,
                                   std::span<const std::uint32_t> spared);
  static std::int64_t least(const CountTree& tree, std::span<const std::uint32_t> spared);
  /// One less for all places before `end`, but for those spared.
  void charge_shelf(std::uint32_t shelf, std::size_t end, std::span<const std::uint32_t> spared);
  void gather_shelves(std::span<const PodIndex> pods, Among& among);
  void add(const Charge& charge);
  void undo_charges(std::size_t from);
  /// False for a pod that the budget counts as disrupted already.
  bool counts(std::uint32_t budget, PodIndex pod) const;
  void set_committed(std::uint32_t budget, std::int64_t allowed);
  std::vector<std::uint32_t> overdrawn(PodIndex pod);
  std::string name_of(std::uint32_t budget) const;

  Survey& survey_;
  std::vector<const DisruptionBudget*> budgets_;
  BudgetFinder finder_;
  /// Budgets that count a pod of that name as disrupted already, in ascending order.
  std::map<std::string_view, std::vector<std::uint32_t>> disrupted_;
  // Of budgets that stand on no shelf:
  std::vector<std::int64_t> committed_;  ///< Allowed, less what is committed.
  std::vector<std::int64_t> left_;       ///< In the trial.
  std::vector<std::uint32_t> touched_;   ///< Where `left_` differs from `committed_`.
  std::int64_t exhausted_ = 0;           ///< How many have nothing committed left.
  struct Commit {
    std::uint32_t budget = 0;
    std::int64_t before = 0;
  };
  std::vector<Commit> log_;
  std::vector<Shelf> shelves_;
  std::map<std::uint32_t, std::uint32_t> shelf_by_first_;  ///< By the first of its budgets.
  std::map<std::uint32_t, ShelfAmong> shelves_among_;      ///< Reused by `among`.
  std::vector<std::uint32_t> number_;  ///< Reused by `among`: by budget, from 1 on; 0: none.
  std::vector<Charge> charges_;        ///< Of the trial.
  std::vector<Charge> shared_log_;     ///< Of what is committed.
  std::vector<std::vector<Governing>> governing_;  ///< By label set; few namespaces share one.
};

}  // namespace makeway
