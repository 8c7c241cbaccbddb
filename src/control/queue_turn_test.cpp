#include "control/queue_turn.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace makeway {
namespace {

class QueueTurnTest : public testing::Test {
 protected:
  QueueTurnTest() {
    apply(Node{.name = "n1", .allocatable = {{"cpu", 9'000}, {"pods", 9}}});
    apply(turn_queue(1));
    turn.learn({}, {}, {}, Time{0});
  }
  static Queue turn_queue(std::int64_t weight) {
    Queue queue{.name = "team", .uid = "q"};
    queue.weight = weight;
    return queue;
  }
  static Pod turn_pod(std::string node = {}) {
    return {.namespace_name = "a", .name = "p", .uid = "u", .node = std::move(node)};
  }
  void apply(const Change& change, QueueTurn::By by = QueueTurn::By::port) {
    const QueueTurn::Mark before = turn.mark_of(change, cluster);
    cluster.apply(change);
    turn.note(change, before, cluster, by);
  }
  std::optional<Time> due(std::int64_t now) const { return turn.next_due(Time{now}); }

  Cluster cluster;
  QueueTurn turn{true, Duration{1'000}};
};

TEST_F(QueueTurnTest, WhatQueuesDivideOrUseMakesItDueOnceASecond) {
  EXPECT_EQ(due(5'000), std::nullopt);
  apply(turn_pod());
  EXPECT_EQ(due(200), Time{1'000});  // The last cycle was at 0.
  turn.learn({}, {}, {}, Time{5'000});
  EXPECT_EQ(due(5'000), std::nullopt);
  apply(turn_pod("n1"));
  EXPECT_EQ(due(9'000), Time{9'000});
  turn.learn({}, {}, {}, Time{9'000});
  Pod ready = turn_pod("n1");
  ready.ready = true;
  apply(ready);  // No queue is the fuller for it.
  EXPECT_EQ(due(20'000), std::nullopt);
  apply(Removal{.kind = ObjectKind::pod, .namespace_name = "a", .name = "p"});
  EXPECT_EQ(due(20'000), Time{20'000});
}

TEST_F(QueueTurnTest, WithoutQueuesNothingIsDue) {
  apply(Removal{.kind = ObjectKind::queue, .name = "team"});
  apply(turn_pod());
  EXPECT_EQ(due(5'000), std::nullopt);
  apply(turn_queue(1));
  EXPECT_EQ(due(5'000), Time{5'000});
}

TEST_F(QueueTurnTest, ItsOwnStatusCausesATurnOnlyIfRoomMoves) {
  Queue used = turn_queue(1);
  used.used = {{"cpu", 1'000}};
  apply(used, QueueTurn::By::loop);
  EXPECT_EQ(due(5'000), std::nullopt);
  apply(used);  // The watch shows it, too.
  EXPECT_EQ(due(5'000), std::nullopt);
  used.allocated = {{"cpu", 1'000}};
  apply(used, QueueTurn::By::loop);
  EXPECT_EQ(due(5'000), Time{5'000});
  turn.learn({}, {}, {}, Time{5'000});
  used.used.clear();  // A stranger wrote that.
  apply(used);
  EXPECT_EQ(due(9'000), Time{9'000});
}

TEST_F(QueueTurnTest, ARefusalMakesItWaitAndAStrangersWriteEndsThat) {
  turn.back_off({.object = *parse_ref("Pod a/low"), .ask = parse_ref("Pod a/urgent")}, Time{0});
  EXPECT_EQ(due(0), std::nullopt);
  turn.back_off({.object = *parse_ref("Pod a/low"), .ask = parse_ref("Queue team")}, Time{0});
  apply(turn_pod());
  EXPECT_EQ(due(500), Time{1'000});
  turn.learn({}, {}, {}, Time{1'000});
  turn.back_off({.object = *parse_ref("Queue team")}, Time{1'000});
  EXPECT_EQ(due(1'000), Time{3'000});
  apply(turn_queue(2));
  EXPECT_EQ(due(1'000), Time{2'000});
  turn.learn({}, {}, Time{70'000}, Time{2'000});
  EXPECT_EQ(due(2'000), Time{70'000});
  // A brake says for how long.
  turn.back_off({.object = *parse_ref("Queue team"), .again_at = Time{2'500}}, Time{2'000});
  EXPECT_EQ(due(2'000), Time{3'000});
}

}  // namespace
}  // namespace makeway
