// SPEC section 3, the preemption stage: what moves between queues, one resource (decision 0008).
#include "policies/queue/queue_stage.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/queue_scene.hpp"

namespace makeway {
namespace {

using Moves = std::vector<std::string>;

struct StageScene : QueueScene {
  using QueueScene::QueueScene;

  /// "a>b 2 later for b"; a queue without a name is room that no queue holds.
  Moves moves() {
    const QueueCandidates candidates(world, table, all_rows(), QueueCandidates::every_priority);
    Moves texts;
    for (const QueueMove& move : move_room(table, candidates, configuration.queue)) {
      EXPECT_EQ(move.column, column());
      std::string text = fmt::format("{}>{} {} {}", queue(move.from), queue(move.to), move.amount,
                                     move.at_once ? "now" : "later");
      if (move.served.exists()) text += fmt::format(" for {}", queue(move.served));
      texts.push_back(std::move(text));
    }
    return texts;
  }
  /// "allocated+preempting"
  std::string numbers(std::string_view queue) {
    return fmt::format("{}+{}", gpus(queue).allocated, gpus(queue).preempting);
  }
};

TEST(QueueStage, QueuesThatHaveWhatTheyDeserveMoveNothing) {
  StageScene scene(R"(
    node n1 gpu=9
    queue {a..b} weight=1
    pod a-1 @n1 gpu=4 queue=a
  )");
  EXPECT_EQ(scene.moves(), Moves{});
  EXPECT_EQ(scene.numbers("a"), "4+0");
}

// Both want 6 of 9: a deserves 5 (4.5 and the remainder), b 4. Three are free.
TEST(QueueStage, FreeRoomMovesAtOnceAndTheUsedPartLater) {
  StageScene scene(R"(
    node n1 gpu=9
    queue {a..b} weight=1
    pod a-{1..6} @n1 gpu=1 queue=a
    pod b-{1..6} gpu=1 queue=b
  )");
  EXPECT_EQ(scene.moves(), (Moves{">b 3 now", "a>b 1 later for b"}));
  EXPECT_EQ(scene.numbers("a"), "5+0") << "it falls at once";
  EXPECT_EQ(scene.numbers("b"), "3+1");
}

TEST(QueueStage, WhatIsUnusedIsGivenBackAndHandedOn) {
  StageScene scene(R"(
    node n1 gpu=9
    queue a weight=1 allocated=gpu:6
    queue b weight=1
    pod a-1 @n1 gpu=2 queue=a
    pod b-1 gpu=5 queue=b
  )");
  EXPECT_EQ(scene.moves(), (Moves{"a>b 4 now", ">b 1 now"}));
  EXPECT_EQ(scene.numbers("a"), "2+0");
  EXPECT_EQ(scene.numbers("b"), "5+0");

  StageScene unclaimed(R"(
    node n1 gpu=9
    queue a weight=1 allocated=gpu:6
    pod a-1 @n1 gpu=2 queue=a
  )");
  EXPECT_EQ(unclaimed.moves(), Moves{"a> 4 now"});
}

// 3 GPUs, 1.5 each: a deserves 2 by name, but only 1 for sure.
TEST(QueueStage, RoundingEvictsNoPod) {
  constexpr std::string_view text = R"(
    node n1 gpu=3
    queue a weight=1
    queue z weight=1
    pod z-{1..3} @n1 gpu=1 queue=z
    pod a-{1..3} gpu=1 queue=a
  )";
  StageScene scene(text);
  EXPECT_EQ(scene.moves(), Moves{"z>a 1 later for a"});
  Configuration rules;
  rules.queue.evict_up_to = EvictUpTo::deserved;
  StageScene seed(text, rules);
  EXPECT_EQ(seed.moves(), Moves{"z>a 2 later for a"});
}

TEST(QueueStage, AShareBelowOneUnitGetsNothingByEviction) {
  StageScene scene(R"(
    node n1 gpu=1
    queue a weight=1
    queue z weight=1
    pod z-1 @n1 gpu=1 queue=z
    pod a-1 gpu=1 queue=a
  )");
  EXPECT_EQ(scene.gpus("a").deserved, 1);
  EXPECT_EQ(scene.moves(), Moves{});
}

TEST(QueueStage, AQueueThatIsNotReclaimableGivesOnlyUnusedRoom) {
  StageScene scene(R"(
    node n1 gpu=9
    queue a weight=1 reclaimable=false allocated=gpu:8
    queue b weight=1
    pod a-{1..6} @n1 gpu=1 queue=a
    pod b-{1..6} gpu=1 queue=b
  )");
  EXPECT_EQ(scene.moves(), (Moves{"a>b 2 now", ">b 1 now"}));
  EXPECT_EQ(scene.numbers("a"), "6+0");
}

TEST(QueueStage, PodsThatMayNotLeaveAreNotPromisedToOthers) {
  StageScene scene(R"(
    node n1 gpu=6
    queue a weight=1 allocated=gpu:1
    queue b weight=1
    pod a-{1..4} @n1 gpu=1 queue=a makeway:allow-preemption=false
    pod a-5 @n1 gpu=1 queue=a
    pod b-{1..6} gpu=1 queue=b
  )");
  // a holds 5, of which 4 stay whatever is decided: these are allocated to it in fact. b deserves 3
  // and gets the free one, and the one that a-5 will free as a is over what it may use.
  EXPECT_EQ(scene.moves(), (Moves{">a 3 now", ">b 1 now", ">b 1 later"}));
  EXPECT_EQ(scene.numbers("a"), "4+0");
  EXPECT_EQ(scene.numbers("b"), "1+1");
}

// Three are freeable, and both others want two of them.
constexpr std::string_view two_receivers = R"(
node n1 gpu=6
queue z weight=1
pod z-{1..3} @n1 gpu=1 queue=z
pod z-{4..6} @n1 gpu=1 queue=z makeway:allow-preemption=false
pod x-{1..2} gpu=1 queue=x
pod y-{1..2} gpu=1 queue=y
)";

TEST(QueueStage, EqualReceiversAreServedByName) {
  StageScene scene(std::string(two_receivers) + "queue x weight=1\nqueue y weight=1");
  EXPECT_EQ(scene.moves(), (Moves{"z>x 2 later for x", "z>y 1 later for y"}));
}

TEST(QueueStage, PriorityPrecedesTheReceiversRatio) {
  StageScene scene(std::string(two_receivers) + "queue x weight=1\nqueue y weight=1 p=1");
  EXPECT_EQ(scene.moves(), (Moves{"z>y 2 later for y", "z>x 1 later for x"}));
}

TEST(QueueStage, WhatAQueueWasPromisedIsKeptEvenFromAHigherPriority) {
  StageScene scene(R"(
    node n1 gpu=4
    queue x weight=1 allocated=gpu:0 preempting=gpu:1
    queue y weight=1 p=9
    queue z weight=1
    pod z-{1..3} @n1 gpu=1 queue=z
    pod x-1 gpu=1 queue=x
    pod y-1 gpu=1 queue=y
  )");
  // z deserves 2 and gives 1; 1 is free. Both want 1.
  EXPECT_EQ(scene.moves().size(), 2U);
  EXPECT_EQ(scene.numbers("x"), "1+0");
  EXPECT_EQ(scene.numbers("y"), "0+1");
}

TEST(QueueStage, GiversByTheirRatioAndThoseThatDeserveNothingFirst) {
  StageScene scene(R"(
    node n1 gpu=6
    queue a weight=1
    queue b weight=1
    queue c weight=1 limit=gpu:0
    pod a-{1..2} @n1 gpu=1 queue=a
    pod b-{1..3} @n1 gpu=1 queue=b
    pod c-1 @n1 gpu=1 queue=c
    queue r weight=1
    pod r-{1..2} gpu=1 queue=r
  )");
  // a, b and r deserve 2 each, c nothing: c gives 1, then b gives 1.
  EXPECT_EQ(scene.moves(), (Moves{"c>r 1 later for r", "b>r 1 later for r"}));
}

TEST(QueueStage, NoPodLeavesForAskersThatAreTooYoung) {
  Configuration rules;
  rules.engine.preemption_delay = Duration{60'000};
  StageScene scene(R"(
    node n1 gpu=4
    queue {a..b} weight=1
    pod a-{1..3} @n1 gpu=1 queue=a
    pod b-{1..2} gpu=1 queue=b created=11:59:30
  )",
                   rules);
  EXPECT_EQ(scene.moves(), Moves{">b 1 now"});
}

TEST(QueueStage, BelowALimitOnlyQueuesBelowItGive) {
  StageScene scene(R"(
    node n1 gpu=8
    queue top weight=1 limit=gpu:2
    queue top-a weight=1 parent=top
    queue top-b weight=1 parent=top
    pod a-{1..2} @n1 gpu=1 queue=top-a
    pod b-{1..2} gpu=1 queue=top-b
  )");
  EXPECT_EQ(scene.moves(), Moves{"top-a>top-b 1 later for top-b"}) << "though 6 are free";
}

TEST(QueueStage, ExcessLeavesUnclaimedInTheSeed) {
  Configuration rules;
  rules.queue.division = Division::by_weight;
  rules.queue.excess_leaves = ExcessLeaves::always;
  constexpr std::string_view text = R"(
    node n1 gpu=6
    queue {a..b} weight=1
    pod a-{1..5} @n1 gpu=1 queue=a
  )";
  StageScene seed(text, rules);
  seed.moves();
  EXPECT_EQ(seed.numbers("a"), "3+0");
  StageScene ours(text);
  ours.moves();
  EXPECT_EQ(ours.numbers("a"), "5+0");
}

}  // namespace
}  // namespace makeway
