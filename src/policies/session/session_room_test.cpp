// What is free for sessions, and where one fits into it (SPEC section 6).
#include "policies/session/session_room.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/session_scene.hpp"

namespace makeway {
namespace {

TEST(RoomRows, HowManyFindRoom) {
  RoomRows rows(2, 3);
  const SessionPlace place{1};
  const ResourceIndex first{0};
  const ResourceIndex last{2};
  rows[place][0] = 7;
  rows[place][2] = 100;
  const std::vector<ResourceAmount> pair = {{.resource = first, .amount = 2},
                                            {.resource = last, .amount = 40}};
  EXPECT_TRUE(rows.fits(place, pair));
  EXPECT_EQ(rows.count(place, pair, 10), 2) << "3 by the first, 2 by the last";
  EXPECT_EQ(rows.count(place, pair, 1), 1);
  EXPECT_EQ(rows.count(place, {}, 5), 5);
  EXPECT_EQ(rows.count(SessionPlace{0}, pair, 10), 0);
  rows.take(place, pair);
  rows.take(place, pair);
  EXPECT_EQ(rows[place][0], 3);
  EXPECT_EQ(rows[place][2], 20);
  EXPECT_FALSE(rows.fits(place, pair));
  rows.give(place, pair);
  EXPECT_EQ(rows[place][2], 60);
}

struct SessionRoomScene : SessionScene {
  using SessionScene::SessionScene;

  std::int64_t now(std::string_view node) { return room.both()[place(node)][gpu]; }
  std::int64_t soon(std::string_view node) { return room.after()[place(node)][gpu]; }
  std::vector<ResourceAmount> gpus(std::int64_t amount) const {
    return {{.resource = resource("nvidia.com/gpu"), .amount = amount}};
  }

  SessionRoom room{world, table};
  std::size_t gpu = resource("nvidia.com/gpu").value;
};

constexpr std::string_view two_nodes = R"(
node n1 gpu=8
node n2 gpu=2
resourcegroup lab nodes=n1,n2
session runs @n1 gpu=2 group=lab p=1 phase=running
pod foreign @n1 gpu=1
pod leaves @n1 gpu=1 deleted=12:00:10
session eight gpu=8 group=lab
session five gpu=5 group=lab
)";

TEST(SessionRoom, NowAndSoon) {
  SessionRoomScene scene(two_nodes);
  EXPECT_EQ(scene.now("n1"), 4);
  EXPECT_EQ(scene.soon("n1"), 5) << "a leaving pod's room is credited (law 6)";
  EXPECT_EQ(scene.now("n2"), 2);
}

TEST(SessionRoom, WhatIsKeptForOthersIsNotTouched) {
  SessionRoomScene scene(two_nodes);
  scene.room.keep(scene.place("n1"), scene.gpus(2));
  EXPECT_EQ(scene.soon("n1"), 3);
  EXPECT_EQ(scene.now("n1"), 3) << "4 now, but of what is there soon only 3";
  scene.room.keep_for_good(scene.place("n1"), scene.gpus(1));
  EXPECT_EQ(scene.soon("n1"), 2);
  scene.world.leave(scene.pods({"foreign"}));
  scene.room.refresh();
  EXPECT_EQ(scene.soon("n1"), 5) << "8 less 2 and what is kept for good";
  EXPECT_EQ(scene.now("n1"), 4);
}

TEST(SessionRoom, GrowthIsCountedAndTooLargeStaysSo) {
  SessionRoomScene scene(two_nodes);
  EXPECT_FALSE(scene.room.too_large(scene.session("five")));
  EXPECT_TRUE(scene.room.too_large(scene.session("eight")));
  scene.room.refresh();
  EXPECT_EQ(scene.room.growth(), 0U) << "nothing changed";
  scene.world.leave(scene.pods({"foreign"}));
  scene.room.refresh();
  EXPECT_EQ(scene.room.growth(), 1U);
  EXPECT_TRUE(scene.room.too_large(scene.session("eight"))) << "6 is the most";
}

// SPEC section 1: pinned pods cross regimes, and neither side takes what the other holds.
TEST(SessionRoom, ReservationsOfPinnedPodsKeepTheirRoom) {
  SessionRoomScene scene(R"(
    node n1 gpu=8
    resourcegroup lab nodes=n1
    pod daemon gpu=3 pin=n1 nominated=n1
    pod other gpu=2 nominated=n1
    session ask gpu=1 group=lab p=100
  )");
  scene.room.refresh();
  EXPECT_EQ(scene.now("n1"), 5) << "the other pod may not come to a node of sessions";
  scene.world.decided(scene.pod("daemon"));
  scene.room.refresh();
  EXPECT_EQ(scene.now("n1"), 8);
}

// ---- Placing -----------------------------------------------------------------------------------

struct SessionPlacerScene : SessionRoomScene {
  explicit SessionPlacerScene(std::string_view text, std::int64_t steps = 1000)
      : SessionRoomScene(text), placer(table, StepMeter(world.steps(), steps, "steps")) {}

  std::string find(std::string_view name) {
    return nodes_of(placer.find(session(name), room.after()));
  }

  SessionPlacer placer;
};

std::string with_kernels(std::string_view kernels) {
  return "---\n{apiVersion: makeway.dev/v1, kind: Session, metadata: {name: ask}, spec: "
         "{resourceGroup: lab, kernels: [" +
         std::string(kernels) + "]}}\n---\n";
}

TEST(SessionPlacer, OneKernelGoesWhereTheLeastIsLeft) {
  SessionPlacerScene scene(R"(
    node n1 gpu=4
    node n3 gpu=2 cpu=1
    node n2 gpu=2 cpu=1
    node n4 gpu=1
    resourcegroup lab nodes=n1,n2,n3,n4
    session two gpu=2 group=lab
    session four gpu=4 group=lab
    session five gpu=5 group=lab
  )");
  EXPECT_EQ(scene.find("two"), "n2") << "the first by name of two that are equal";
  EXPECT_EQ(scene.find("four"), "n1");
  EXPECT_EQ(scene.find("five"), "");
  EXPECT_FALSE(scene.placer.stopped()) << "it is proven";
  EXPECT_TRUE(scene.placer.alike(scene.session("two")));
}

TEST(SessionPlacer, KernelsThatAreAlikeArePlacedExactly) {
  constexpr std::string_view kernel = "{name: k-%, resources: {nvidia.com/gpu: 2}}";
  const auto kernels = [&](int count) {
    std::string text;
    for (int at = 0; at < count; ++at) {
      std::string one(kernel);
      one.replace(one.find('%'), 1, std::to_string(at));
      text += (at == 0 ? "" : ", ") + one;
    }
    return with_kernels(text);
  };
  constexpr std::string_view nodes =
      "node n1 gpu=5\nnode n2 gpu=3\nresourcegroup lab nodes=n1,n2\n";
  EXPECT_EQ(SessionPlacerScene(std::string(nodes) + kernels(3)).find("ask"), "n2 n1 n1");
  EXPECT_EQ(SessionPlacerScene(std::string(nodes) + kernels(4)).find("ask"), "");
}

// Best fit puts the first kernel on n1, where the second one alone finds room.
constexpr std::string_view crossed = R"(
node n1 gpu=2 memory=4Gi
node n2 gpu=3 memory=1Gi
resourcegroup lab nodes=n1,n2
)";
constexpr std::string_view crossed_kernels =
    "{name: a, resources: {nvidia.com/gpu: 1, memory: 3Gi}}, "
    "{name: b, resources: {nvidia.com/gpu: 2, memory: 1Gi}}";

TEST(SessionPlacer, DifferentKernelsAreSearchedForWithinTheBound) {
  const std::string text = std::string(crossed) + with_kernels(crossed_kernels);
  SessionPlacerScene scene(text);
  EXPECT_FALSE(scene.placer.alike(scene.session("ask")));
  const std::vector<std::int64_t> before(scene.room.after()[scene.place("n1")].begin(),
                                         scene.room.after()[scene.place("n1")].end());
  EXPECT_EQ(scene.find("ask"), "n1 n2") << "in the order of its kernels";
  EXPECT_TRUE(std::ranges::equal(scene.room.after()[scene.place("n1")], before));
  // b to n1, b to n2, a to n1.
  EXPECT_EQ(SessionPlacerScene(text, 3).find("ask"), "n1 n2");
  SessionPlacerScene bounded(text, 1);
  EXPECT_EQ(bounded.find("ask"), "");
  EXPECT_TRUE(bounded.placer.stopped());
  EXPECT_EQ(bounded.placer.bound(), "steps");
}

TEST(SessionPlacer, EachAskHasABoundOfItsOwn) {
  const std::string text = std::string(crossed) + with_kernels(crossed_kernels);
  SessionPlacerScene scene(text, 3);
  EXPECT_EQ(scene.find("ask"), "n1 n2");
  EXPECT_EQ(scene.find("ask"), "") << "the same ask has used up its steps";
  scene.placer.start();
  EXPECT_EQ(scene.find("ask"), "n1 n2");
}

TEST(SessionPlacer, WhatCannotFitIsProvenWithoutASearch) {
  SessionPlacerScene scene(
      std::string(crossed) + with_kernels("{name: a, resources: {nvidia.com/gpu: 1, memory: 5Gi}}, "
                                          "{name: b, resources: {nvidia.com/gpu: 2, memory: 1Gi}}"),
      0);
  EXPECT_EQ(scene.find("ask"), "");
  EXPECT_FALSE(scene.placer.stopped());
}

}  // namespace
}  // namespace makeway
