#include "model/budget_finder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr std::uint64_t names = 3;

std::string numbered(const char* stem, Prng& random) {
  return stem + std::to_string(random.below(names));
}

LabelSelector random_selector(Prng& random) {
  LabelSelector selector;
  for (std::uint64_t count = random.below(4); count > 0; --count) {
    Requirement requirement{.key = numbered("key", random),
                            .operation = static_cast<Operator>(random.below(6))};
    if (requirement.operation == Operator::in || requirement.operation == Operator::not_in) {
      for (std::uint64_t values = 1 + random.below(2); values > 0; --values) {
        requirement.values.push_back(numbered("", random));
      }
      std::ranges::sort(requirement.values);
      const auto repeated = std::ranges::unique(requirement.values);
      requirement.values.erase(repeated.begin(), repeated.end());
    } else if (requirement.operation == Operator::greater_than ||
               requirement.operation == Operator::less_than) {
      requirement.values = {numbered("", random)};
    }
    selector.requirements.push_back(std::move(requirement));
  }
  return selector;
}

Labels random_labels(Prng& random) {
  Labels labels;
  for (std::uint64_t key = 0; key < names; ++key) {
    if (random.chance(50)) labels.push_back({"key" + std::to_string(key), numbered("", random)});
  }
  return labels;
}

/// It finds exactly those that answer for themselves that they govern.
TEST(BudgetFinder, AgreesWithAskingEveryBudget) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    std::vector<DisruptionBudget> budgets(random.below(12));
    std::vector<const DisruptionBudget*> pointers;
    for (DisruptionBudget& budget : budgets) {
      budget.plane = random.chance(80) ? "" : "east";
      budget.namespace_name = numbered("space", random);
      if (random.chance(90)) budget.selector = random_selector(random);
      pointers.push_back(&budget);
    }
    const BudgetFinder finder(pointers);
    for (int question = 0; question < 5; ++question) {
      const std::string plane = random.chance(80) ? "" : "east";
      const std::string space = numbered("space", random);
      const Labels labels = random_labels(random);
      std::vector<std::uint32_t> expected;
      for (std::uint32_t position = 0; position < budgets.size(); ++position) {
        const DisruptionBudget& budget = budgets[position];
        if (budget.plane == plane && governs(budget, space, labels)) expected.push_back(position);
      }
      const GoverningBudgets governing = finder.find(plane, space, labels);
      EXPECT_EQ(governing.all(), expected);
      EXPECT_EQ(governing.size(), expected.size());
      found += expected.size();
    }
  }
  EXPECT_GT(found, 1'000U);
}

}  // namespace
}  // namespace makeway
