// What the queue stage says in the plan: queues, moves, claims with their victims, statuses.
#include "policies/queue/queue_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/queue_scene.hpp"

namespace makeway {
namespace {

struct PlanScene : QueueScene {
  using QueueScene::QueueScene;

  /// The stage; of each queue that is named so many GPUs leave.
  Plan write(const std::vector<std::pair<std::string_view, std::int64_t>>& losing = {}) {
    Plan plan;
    Draft draft{.world = world, .plan = plan};
    const QueueCandidates candidates(world, table, all_rows(), QueueCandidates::every_priority);
    const std::vector<QueueMove> moves = move_room(table, candidates, configuration.queue);
    QueuePlan writer(draft, table, candidates, moves);
    for (const auto& [queue, amount] : losing) {
      std::vector<std::int64_t> need(table.resources());
      need[column()] = amount;
      writer.lose(row(queue), choose_losers(world, table, candidates, row(queue), need));
    }
    writer.write();
    return plan;
  }
};

std::string turns_text(const Plan& plan) {
  std::string text;
  for (const PlanAsk& ask : plan.asks) {
    text += fmt::format("{} {}:", ask.name, choice_name(ask.outcome));
    for (const PlanVictim& victim : ask.victims) text += " " + victim.name;
    text += "; ";
  }
  return text;
}

TEST(QueuePlan, WithoutClaimsOnlyTheTable) {
  PlanScene scene("node n1 gpu=4\nqueue a weight=1\npod x @n1 gpu=1 queue=a");
  const Plan plan = scene.write();
  EXPECT_TRUE(plan.asks.empty());
  EXPECT_TRUE(plan.queue_moves.empty());
  ASSERT_EQ(plan.queues.size(), 1U);
  EXPECT_EQ(plan.queues.front().shares.front().used, 1);
  ASSERT_EQ(plan.queue_status.size(), 1U) << "the object has no status yet";
  EXPECT_EQ(plan.queue_status.front().deserved.front().amount, 1);
}

TEST(QueuePlan, VictimsAreListedUnderTheQueueThatTheyMakeRoomFor) {
  PlanScene scene(R"(
    node n1 gpu=4
    queue {a..b} weight=1
    pod a-{1..4} @n1 gpu=1 queue=a
    pod b-{1..2} gpu=1 queue=b
  )");
  const Plan plan = scene.write({{"a", 2}});
  EXPECT_EQ(turns_text(plan), "b preempts: a-2 a-1; ") << "most important first";
  EXPECT_FALSE(scene.world.after().node_of(scene.pod("a-1")).exists());
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("a-3")).exists());
  const PlanVictim& victim = plan.asks.front().victims.front();
  EXPECT_TRUE(victim.cause_for.contains('b')) << "law 9";
  EXPECT_FALSE(victim.cause_rule.empty());
  EXPECT_FALSE(victim.cause_key.empty());
}

// The preprocess stage: the queue itself is the cause.
TEST(QueuePlan, AQueueThatIsOverWhatItMayUseIsTheCauseItself) {
  PlanScene scene(R"(
    node n1 gpu=4
    queue a weight=1 allocated=gpu:1 limit=gpu:1
    pod a-{1..2} @n1 gpu=1 queue=a
  )");
  EXPECT_EQ(turns_text(scene.write({{"a", 1}})), "a preempts: a-1; ");
}

TEST(QueuePlan, AClaimThatNoQueueServesIsInfeasible) {
  PlanScene scene(R"(
    node n1 gpu=2
    queue {a..b} weight=1
    pod a-{1..2} @n1 gpu=1 queue=a makeway:allow-preemption=false
    pod b-1 gpu=1 queue=b
  )");
  EXPECT_EQ(turns_text(scene.write()), "b infeasible:; ");
}

TEST(QueuePlan, AParentShowsTheSumsOfItsLeaves) {
  PlanScene scene(R"(
    node n1 gpu=8
    queue top weight=1
    queue top-a weight=1 parent=top
    queue top-b weight=1 parent=top
    pod a-1 @n1 gpu=1 queue=top-a
    pod b-1 @n1 gpu=2 queue=top-b
    pod b-2 gpu=1 queue=top-b
  )");
  const Plan plan = scene.write();
  const PlanQueueShare& top = plan.queues.front().shares.front();
  EXPECT_EQ(top.used, 3);
  EXPECT_EQ(top.demand, 4);
  EXPECT_EQ(top.allocated, 4) << "b gets the free one at once";
  EXPECT_EQ(plan.queue_moves.size(), 1U);
}

TEST(QueuePlan, ANewDefaultQueueSaysHowManyPodsItAdopts) {
  PlanScene scene(R"(
    node n1 gpu=8
    queue default weight=1
    queue a weight=1
    pod adopted @n1 gpu=1
    pod named @n1 gpu=1 queue=default
  )");
  const Plan plan = scene.write();
  EXPECT_EQ(plan.queues[0].name, "a");
  EXPECT_EQ(plan.queues[0].adopts, 0);
  EXPECT_EQ(plan.queues[1].adopts, 1);
  EXPECT_EQ(plan.queues[1].adopted_leave, 0);
}

}  // namespace
}  // namespace makeway
