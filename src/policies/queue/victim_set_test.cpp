// SPEC section 3, victims inside a queue: irreducible, least important, least released, names.
#include "policies/queue/victim_set.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

using Chosen = std::vector<std::uint32_t>;

/// One resource; candidates are named in their order.
VictimSetTask task_of(std::int64_t need, std::vector<std::uint32_t> classes,
                      std::vector<std::int64_t> amounts) {
  VictimSetTask task;
  task.need = {need};
  task.totals = {1000};
  task.class_of = std::move(classes);
  task.amounts = std::move(amounts);
  for (std::uint32_t at = 0; at < task.class_of.size(); ++at) task.rank_by_name.push_back(at);
  task.steps_max = 10'000;
  return task;
}

TEST(VictimSet, OneClassTakesTheFewestThenTheLeastThenTheFirst) {
  // The seed's preprocess stage: pods of 2, 2 and 1, and 2 are too many.
  EXPECT_EQ(choose_victim_set(task_of(2, {0, 0, 0}, {2, 2, 1})).chosen, Chosen{0});
  // Its preemption stage: 1 too many.
  EXPECT_EQ(choose_victim_set(task_of(1, {0, 0}, {2, 1})).chosen, Chosen{1});
  EXPECT_EQ(choose_victim_set(task_of(1, {0, 0, 0}, {2, 2, 1})).chosen, Chosen{2});
}

TEST(VictimSet, TheMostImportantMemberIsTheLeastImportantPossible) {
  // 3 are needed: 0 and 1 have 2 together, so 2 must go; then 0 alone does the rest.
  EXPECT_EQ(choose_victim_set(task_of(3, {0, 1, 2, 3}, {1, 1, 2, 9})).chosen, (Chosen{2, 0}));
  // The large one at the top is spared even if it could go alone.
  EXPECT_EQ(choose_victim_set(task_of(3, {0, 1, 2, 3}, {1, 1, 1, 3})).chosen, (Chosen{2, 1, 0}));
}

TEST(VictimSet, FewFromTheUpperClassBeforeFewFromTheLower) {
  // Two of the upper class would do without the lower one, but one of it is enough with the lower.
  EXPECT_EQ(choose_victim_set(task_of(4, {0, 1, 1}, {2, 2, 2})).chosen, (Chosen{1, 0}));
}

TEST(VictimSet, SeveralResourcesAreCoveredTogether) {
  VictimSetTask task = task_of(2, {0, 0, 0}, {});
  task.need = {2, 2};
  task.totals = {10, 10};
  task.amounts = {2, 0, 0, 2, 2, 2};
  EXPECT_EQ(choose_victim_set(task).chosen, Chosen{2});
}

TEST(VictimSet, WithoutStepsItIsGreedyAndSaysSo) {
  VictimSetTask task = task_of(6, {0, 0, 0}, {3, 3, 5});
  EXPECT_EQ(choose_victim_set(task).chosen, (Chosen{0, 1})) << "two, and nothing beyond the need";
  task.steps_max = 0;
  const VictimSet set = choose_victim_set(task);
  EXPECT_TRUE(set.out_of_steps);
  EXPECT_EQ(set.chosen, (Chosen{2, 0}));
}

TEST(VictimSet, ManyAlikeNeedNoSearch) {
  VictimSetTask task = task_of(500, {}, {});
  for (std::uint32_t at = 0; at < 2000; ++at) {
    task.class_of.push_back(0);
    task.amounts.push_back(1);
    task.rank_by_name.push_back(at);
  }
  const VictimSet set = choose_victim_set(task);
  EXPECT_FALSE(set.out_of_steps);
  ASSERT_EQ(set.chosen.size(), 500U);
  EXPECT_EQ(set.chosen.back(), 499U);
}

}  // namespace
}  // namespace makeway
