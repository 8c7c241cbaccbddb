// SPEC section 3, victims inside a queue: which pods may leave, and the least important first.
#include "policies/queue/queue_candidates.hpp"

#include <gtest/gtest.h>

#include "support/queue_scene.hpp"

namespace makeway {
namespace {

struct CandidateScene : QueueScene {
  using QueueScene::QueueScene;

  QueueCandidates candidates(std::int64_t priority_below = QueueCandidates::every_priority) {
    return {world, table, all_rows(), priority_below};
  }
  std::string names_of(const QueueCandidates& all, std::string_view queue) const {
    std::vector<PodIndex> firsts;
    for (const QueueCandidate& each : all.of(row(queue))) firsts.push_back(each.first);
    return names(firsts);
  }
  std::string order(std::string_view queue = "a") { return names_of(candidates(), queue); }
};

TEST(QueueCandidates, AQueueWithoutPodsHasNone) {
  CandidateScene scene("node n1 gpu=1\nqueue a weight=1\npod pending queue=a");
  EXPECT_EQ(scene.order(), "");
  EXPECT_EQ(scene.candidates().freeable(scene.row("a"), scene.column()), 0);
}

// Lower priority, then not started, then the shorter running time, then namespace and name.
TEST(QueueCandidates, TheLeastImportantFirst) {
  CandidateScene scene(R"(
    node n1 gpu=9
    queue a weight=1
    pod high @n1 queue=a p=9
    pod old @n1 queue=a started=09:00
    pod young @n1 queue=a started=11:00
    pod new @n1 queue=a
    pod twin-b @n1 queue=a started=10:00
    pod twin-a @n1 queue=a started=10:00
    pod aaa/twin @n1 queue=a started=10:00
    pod low @n1 queue=a p=-1 started=01:00
  )");
  EXPECT_EQ(scene.order(), "low new young aaa/twin twin-a twin-b old high");
}

TEST(QueueCandidates, WhatMayNotLeaveIsNone) {
  CandidateScene scene(R"(
    node n1 gpu=9
    node n2 gpu=9
    resourcegroup lab nodes=n2
    queue a weight=1
    queue b weight=1
    pod opted-out @n1 queue=a makeway:allow-preemption=false
    pod leaving @n1 queue=a deleted=12:00:10
    pod late @n1 queue=a deleted=13:00
    pod pinned @n1 queue=a pin=n1
    pod nowhere @n2 queue=a
    pod pending queue=a
    pod other @n1 queue=b
    pod outside @n1
    pod yes @n1 queue=a
  )");
  EXPECT_EQ(scene.order("a"), "yes");
  EXPECT_EQ(scene.order("b"), "other");
  EXPECT_EQ(scene.order(""), "outside");
}

TEST(QueueCandidates, OnlyMarkedRowsAndLowerPriorities) {
  CandidateScene scene(R"(
    node n1 gpu=9
    queue a weight=1
    queue b weight=1
    pod a-4 @n1 queue=a p=4
    pod a-5 @n1 queue=a p=5
    pod b-1 @n1 queue=b p=1
  )");
  EXPECT_EQ(scene.names_of(scene.candidates(5), "a"), "a-4") << "equal priority stays (law 2)";
  std::vector<std::uint8_t> marked(scene.table.rows());
  marked[scene.row("b").value] = 1;
  const QueueCandidates of_b(scene.world, scene.table, marked, QueueCandidates::every_priority);
  EXPECT_EQ(scene.names_of(of_b, "a"), "");
  EXPECT_EQ(scene.names_of(of_b, "b"), "b-1");
}

// Law 5: a group of mode `all` is one candidate with all pods that are not gone, as old as its
// oldest; one protected member keeps all. Members of other groups are candidates one by one.
TEST(QueueCandidates, AGroupThatLeavesWholeIsOne) {
  CandidateScene scene(R"(
    node n1 gpu=9
    queue a weight=1
    gang whole min=2 mode=all queue=a p=1
    pod whole-1 @n1 gpu=1 group=whole started=11:00
    pod whole-0 @n1 gpu=2 group=whole started=08:00
    pod whole-2 @n1 gpu=4 group=whole deleted=12:00:10
    pod whole-3 group=whole
    gang kept min=2 mode=all queue=a p=1
    pod kept-0 @n1 group=kept
    pod kept-1 @n1 group=kept makeway:allow-preemption=false
    gang single x2 min=2 queue=a p=1 @n1 started=10:00
  )");
  const QueueCandidates all = scene.candidates();
  EXPECT_EQ(scene.names_of(all, "a"), "single-0 single-1 whole-0");
  const QueueCandidate& whole = all.of(scene.row("a")).back();
  EXPECT_EQ(scene.names(all.pods_of(whole)), "whole-0 whole-1");
  std::vector<std::int64_t> sums(scene.table.resources());
  all.add_amounts(whole, sums);
  EXPECT_EQ(sums[scene.column()], 3);
  EXPECT_EQ(all.freeable(scene.row("a"), scene.column()), 3);
}

TEST(QueueCandidates, PodsThatThisCycleHasDecidedStay) {
  CandidateScene scene("node n1 gpu=9\nqueue a weight=1\npod x @n1 queue=a\npod y @n1 queue=a");
  scene.world.leave(scene.pods({"x"}));
  EXPECT_EQ(scene.order(), "y");
}

constexpr std::string_view one_budget = R"(
node n1 gpu=9
queue a weight=1
budget keep app=web min=1 allowed=1
pod web-1 @n1 gpu=1 queue=a app=web started=11:00
pod web-2 @n1 gpu=1 queue=a app=web started=10:00
pod plain @n1 gpu=1 queue=a p=9
)";

TEST(QueueCandidates, WhatABudgetDoesNotAllowComesLastOrIsNone) {
  CandidateScene scene(one_budget);
  const QueueCandidates all = scene.candidates();
  EXPECT_EQ(scene.names_of(all, "a"), "web-1 plain web-2") << "one goes to the least important";
  EXPECT_TRUE(all.of(scene.row("a")).back().violates_budget);
  EXPECT_EQ(all.freeable(scene.row("a"), scene.column()), 3);

  Configuration rules;
  rules.budgets.mode = BudgetMode::strict;
  CandidateScene strict(one_budget, rules);
  const QueueCandidates kept = strict.candidates();
  EXPECT_EQ(strict.names_of(kept, "a"), "web-1 plain");
  EXPECT_EQ(kept.freeable(strict.row("a"), strict.column()), 2);
}

TEST(QueueCandidates, BudgetsAreCountedAgainWhenOthersHaveSpentThem) {
  Configuration rules;
  rules.budgets.mode = BudgetMode::strict;
  CandidateScene scene(std::string(one_budget) + "pod web-3 @n1 gpu=1 app=web", rules);
  QueueCandidates all = scene.candidates();
  const QueueRow row = scene.row("a");
  EXPECT_EQ(all.freeable(row, scene.column()), 2);
  {
    const Budgets::Supposition supposed(scene.world.budgets());
    scene.world.budgets().commit(scene.pods({"web-3"}));
    all.charge_budgets(row);
    EXPECT_EQ(scene.names_of(all, "a"), "plain");
    EXPECT_EQ(all.freeable(row, scene.column()), 1);
    all.limit_freeable(row, scene.column());
  }
  all.charge_budgets(row);
  EXPECT_EQ(scene.names_of(all, "a"), "web-1 plain");
  EXPECT_EQ(all.freeable(row, scene.column()), 1) << "the limit stands";
}

// ---- choose_losers -----------------------------------------------------------------------------

struct LoserScene : CandidateScene {
  using CandidateScene::CandidateScene;

  std::string losers(std::int64_t need) {
    const QueueCandidates all = candidates();
    std::vector<std::int64_t> needed(table.resources());
    needed[column()] = need;
    const QueueLosers chosen = choose_losers(world, table, all, row("a"), needed);
    EXPECT_EQ(chosen.bound, "");
    std::vector<PodIndex> pods;
    for (const std::uint32_t at : chosen.chosen) {
      for (const PodIndex pod : all.pods_of(all.of(row("a"))[at])) pods.push_back(pod);
    }
    return names(pods);
  }
};

TEST(QueueLosers, NothingIsNeededNothingLeaves) {
  LoserScene scene("node n1 gpu=9\nqueue a weight=1\npod x @n1 gpu=1 queue=a");
  EXPECT_EQ(scene.losers(0), "");
  EXPECT_EQ(scene.losers(-5), "");
}

// The set whose most important member is least important, irreducible; of equals the one that
// releases least, then by name.
TEST(QueueLosers, ByImportanceThenByWhatIsReleased) {
  LoserScene scene(R"(
    node n1 gpu=20
    queue a weight=1
    pod low-{1..2} @n1 gpu=1 queue=a p=1
    pod mid-big @n1 gpu=4 queue=a p=5
    pod mid-small @n1 gpu=3 queue=a p=5
    pod high @n1 gpu=9 queue=a p=9
  )");
  EXPECT_EQ(scene.losers(1), "low-1");
  EXPECT_EQ(scene.losers(2), "low-1 low-2");
  // 3: one of the middle class must go. With mid-small alone nothing is released beyond the need.
  EXPECT_EQ(scene.losers(3), "mid-small");
  EXPECT_EQ(scene.losers(5), "low-1 mid-big") << "one of mid, and of low no more than needed";
  EXPECT_EQ(scene.losers(9), "low-1 low-2 mid-big mid-small");
  EXPECT_EQ(scene.losers(10), "low-1 high");
}

TEST(QueueLosers, AGroupThatLeavesWholeFreesAllOfIt) {
  LoserScene scene(R"(
    node n1 gpu=20
    queue a weight=1
    gang whole x3 min=3 mode=all gpu=1 queue=a p=1 @n1 started=10:00
    pod lone @n1 gpu=1 queue=a p=1 started=09:00
  )");
  EXPECT_EQ(scene.losers(2), "whole-0 whole-1 whole-2");
  EXPECT_EQ(scene.losers(4), "whole-0 whole-1 whole-2 lone");
}

}  // namespace
}  // namespace makeway
