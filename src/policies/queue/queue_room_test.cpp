// SPEC section 3: an ask of a queue fits only while used + request <= allocated.
#include "policies/queue/queue_room.hpp"

#include <gtest/gtest.h>

#include "policies/shared/plan_writer.hpp"
#include "support/queue_scene.hpp"

namespace makeway {
namespace {

struct QueueRoomScene : QueueScene {
  explicit QueueRoomScene(std::string_view text, const Configuration& rules = {})
      : QueueScene(text, rules) {
    table.open_to_outside();
  }

  std::string victims(std::string_view pod, std::int32_t priority) {
    return names(room.find_victims(pods({pod}), priority));
  }
  void turn_to(std::string_view name) { room.turn_to(unit(name), {}); }

  QueueRoom room{world, table};
};

// Queue a may use 2: one is used.
constexpr std::string_view half_full = R"(
node n1 gpu=8
queue a weight=1 allocated=gpu:2
pod runs @n1 gpu=1 queue=a p=1
pod small gpu=1 queue=a p=5
pod large gpu=2 queue=a p=5
pod nothing cpu=1 queue=a p=5
pod pinned gpu=8 pin=n1
)";

TEST(QueueRoom, UsedAndRequestedWithinAllocated) {
  QueueRoomScene scene(half_full);
  scene.turn_to("small");
  EXPECT_TRUE(scene.room.has_room_now(scene.pods({"small"})));
  EXPECT_TRUE(scene.room.has_room_later(scene.pods({"small"})));
  EXPECT_FALSE(scene.room.has_room_now(scene.pods({"large"})));
  EXPECT_FALSE(scene.room.has_room_later(scene.pods({"large"})));
  EXPECT_FALSE(scene.room.has_room_now(scene.pods({"small", "large"}))) << "together";
  EXPECT_TRUE(scene.room.has_room_now({}));
}

TEST(QueueRoom, WhatIsNotDividedIsNotLimited) {
  QueueRoomScene scene(half_full);
  scene.turn_to("nothing");
  EXPECT_TRUE(scene.room.has_room_now(scene.pods({"nothing"}))) << "no node has CPUs";
  scene.turn_to("pinned");
  EXPECT_TRUE(scene.room.has_room_now(scene.pods({"pinned"}))) << "infrastructure";
}

TEST(QueueRoom, AFullQueueStillTakesWhatAsksForNothingOfIt) {
  QueueRoomScene scene(R"(
    node n1 gpu=8 cpu=8
    queue a weight=1 allocated=gpu:1,cpu:8
    pod runs @n1 gpu=3 queue=a
    pod cpus cpu=1 queue=a
  )");
  scene.turn_to("cpus");
  EXPECT_TRUE(scene.room.has_room_now(scene.pods({"cpus"})));
}

TEST(QueueRoom, PodsThatComeAndGoInTheCycleCount) {
  QueueRoomScene scene(half_full);
  scene.turn_to("small");
  scene.world.bind(scene.pod("small"), scene.node("n1"));
  EXPECT_FALSE(scene.room.has_room_now(scene.pods({"small"}))) << "2 are used now";
  scene.turn_to("large");
  scene.world.nominate(scene.pod("large"), scene.node("n1"), scene.pods({"runs"}));
  // Afterwards small and large use 3 of 2.
  EXPECT_FALSE(scene.room.has_room_later(scene.pods({"small"})));
}

TEST(QueueRoom, LeavingPodsHaveLeftTheirQueueSoonButNotNow) {
  QueueRoomScene scene(R"(
    node n1 gpu=8
    queue a weight=1 allocated=gpu:2
    pod leaves @n1 gpu=1 queue=a deleted=12:00:30
    pod takes-long @n1 gpu=1 queue=a deleted=13:00
    pod ask gpu=2 queue=a
    pod one gpu=1 queue=a
  )");
  scene.turn_to("ask");
  EXPECT_FALSE(scene.room.has_room_now(scene.pods({"ask"})));
  EXPECT_TRUE(scene.room.has_room_later(scene.pods({"ask"})));
  EXPECT_EQ(scene.names(scene.room.awaited(scene.pods({"ask"}))), "leaves takes-long");
  EXPECT_EQ(scene.names(scene.room.awaited(scene.pods({"one"}))), "leaves")
      << "what leaves late is waited for last";
}

TEST(QueueRoom, AStuckPodStillUsesItsQueue) {
  QueueRoomScene scene(R"(
    node n1 gpu=8
    queue a weight=1 allocated=gpu:1
    pod stuck @n1 gpu=1 queue=a deleted=11:58
    pod ask gpu=1 queue=a
  )");
  scene.turn_to("ask");
  EXPECT_FALSE(scene.room.has_room_later(scene.pods({"ask"})));
  EXPECT_EQ(scene.names(scene.room.awaited(scene.pods({"ask"}))), "");
}

// Law 7: a nomination from before holds room of its queue against equal and lower asks.
TEST(QueueRoom, NominationsHoldRoomOfTheQueue) {
  QueueRoomScene scene(R"(
    node n1 gpu=8
    queue a weight=1 allocated=gpu:2
    pod promised gpu=1 queue=a p=5 nominated=n1
    pod equal gpu=2 queue=a p=5
    pod higher gpu=2 queue=a p=6
  )");
  scene.turn_to("equal");
  EXPECT_FALSE(scene.room.has_room_later(scene.pods({"equal"})));
  scene.turn_to("higher");
  EXPECT_TRUE(scene.room.has_room_later(scene.pods({"higher"})));
  scene.world.decided(scene.pod("promised"));
  scene.turn_to("equal");
  EXPECT_TRUE(scene.room.has_room_later(scene.pods({"equal"}))) << "its turn is over";
}

TEST(QueueRoom, VictimsAreOfTheQueueAndOfLowerPriority) {
  QueueRoomScene scene(R"(
    node n1 gpu=8
    queue a weight=1 allocated=gpu:3
    queue b weight=1
    pod low @n1 gpu=1 queue=a p=1
    pod equal @n1 gpu=1 queue=a p=5
    pod other @n1 gpu=1 queue=b p=1
    pod one gpu=1 queue=a p=5
    pod two gpu=2 queue=a p=5
    pod three gpu=3 queue=a p=5
  )");
  scene.turn_to("one");
  EXPECT_EQ(scene.victims("one", 5), "") << "there is room";
  EXPECT_EQ(scene.victims("two", 5), "low");
  EXPECT_EQ(scene.victims("three", 5), "") << "not enough may leave";
  EXPECT_EQ(scene.victims("three", 6), "low equal");
  EXPECT_EQ(scene.victims("two", 1), "");
  EXPECT_TRUE(scene.room.contains(scene.pod("equal")));
  EXPECT_FALSE(scene.room.contains(scene.pod("other")));
}

TEST(QueueRoom, WithoutPreemptionWithinQueuesNoPodIsInScope) {
  Configuration rules;
  rules.queue.preempt_within_queue = false;
  QueueRoomScene scene(
      "node n1 gpu=2\nqueue a weight=1\npod x @n1 queue=a\npod out @n1\npod ask queue=a", rules);
  scene.turn_to("ask");
  EXPECT_FALSE(scene.room.contains(scene.pod("x")));
  scene.turn_to("out");
  EXPECT_TRUE(scene.room.contains(scene.pod("out"))) << "queues do not bind pods outside";
}

TEST(QueueRoom, PodsOutsideUseWhatNoQueueIsPromised) {
  QueueRoomScene scene(R"(
    node n1 gpu=4
    queue a weight=1 allocated=gpu:3
    pod out @n1 gpu=1
    pod ask gpu=1
    pod in gpu=1 queue=a
  )");
  scene.turn_to("ask");
  // Queue a is allocated all 3 that are divided.
  EXPECT_FALSE(scene.room.has_room_now(scene.pods({"ask"})));
  EXPECT_TRUE(scene.room.contains(scene.pod("out")));
  EXPECT_FALSE(scene.room.contains(scene.pod("in")));
}

TEST(QueueRoom, WhatItSaysWhenAQueueIsFullOrTooSmall) {
  QueueRoomScene scene(half_full);
  const auto words = [&](const Reason& reason) { return write_text(scene.cluster, reason); };
  scene.turn_to("large");
  EXPECT_EQ(words(scene.room.title()), "queue a");
  EXPECT_EQ(scene.room.full_reason(scene.pods({"large"})).code, ReasonCode::queue_full);
  EXPECT_EQ(words(scene.room.full_reason(scene.pods({"large"}))),
            "queue a is full: it may use nvidia.com/gpu 2, holds 1, and 2 more is requested");
  EXPECT_EQ(scene.room.full_reason(scene.pods({"large", "small"})).code,
            ReasonCode::queue_too_small)
      << "3 of 2";
}

}  // namespace
}  // namespace makeway
