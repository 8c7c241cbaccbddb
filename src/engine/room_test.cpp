// What is free on a node at each horizon, and beside which holds.
#include "engine/room.hpp"

#include <gtest/gtest.h>

#include "model/find_resource.hpp"
#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using scene::leaving;
using scene::node;
using scene::nominated;
using scene::pod;

struct RoomScene {
  Cluster cluster;
  Configuration configuration;
  std::optional<World> world;

  template <class... Objects>
  explicit RoomScene(const Objects&... objects) {
    (cluster.apply(objects), ...);
    world.emplace(cluster, configuration, scene::now);
  }
  PodIndex at(const std::string& name) const { return *cluster.find_pod("default", name); }
  NodeIndex on(const std::string& name) const { return *cluster.find_node(name); }
  HoldAsk asks(const std::string& name) const { return world->holds().ask_of(at(name)); }
  std::int64_t cpu(std::span<const std::int64_t> row) const {
    return row[find_resource(cluster.resources(), "cpu")->value];
  }
  std::int64_t free(Horizon horizon) {
    std::vector<std::int64_t> row(cluster.order().columns());
    Room(*world).free(on("n1"), horizon, row);
    return cpu(row);
  }
  std::int64_t free_for(const std::string& ask, Horizon horizon) {
    std::vector<std::int64_t> row(cluster.order().columns());
    Room(*world).free_for(on("n1"), horizon, asks(ask), row);
    return cpu(row);
  }
  std::int64_t free_at_start() {
    std::vector<std::int64_t> row(cluster.order().columns());
    Room(*world).free_at_start(on("n1"), row);
    return cpu(row);
  }
};

TEST(Room, IsWhatThePodsOfAHorizonLeave) {
  RoomScene scene(node("n1", 10), pod("stays", "n1", 1, 1), leaving(pod("soon", "n1", 1, 2)),
                  leaving(pod("stuck", "n1", 1, 3), Time{0}), pod("bound", "", 5, 1),
                  pod("ask", "", 5, 2));
  EXPECT_EQ(scene.free(Horizon::now), 4);
  EXPECT_EQ(scene.free(Horizon::soon), 6);
  scene.world->bind(scene.at("bound"), scene.on("n1"));
  scene.world->nominate(scene.at("ask"), scene.on("n1"), std::vector{scene.at("stays")});
  EXPECT_EQ(scene.free(Horizon::now), 3);
  EXPECT_EQ(scene.free(Horizon::soon), 4);
  EXPECT_EQ(scene.free_at_start(), 4);
  EXPECT_TRUE(Room(*scene.world).made_to_leave(scene.at("stays")));
  EXPECT_FALSE(Room(*scene.world).made_to_leave(scene.at("soon")));
}

/// Law 6: what is free late is free soon while the late pods are credited.
TEST(Room, OfALatePodIsFreeWhileItIsCredited) {
  RoomScene scene(node("n1", 4), leaving(pod("slow", "n1", 1, 4), Time{scene::now.ms + 3'600'000}));
  EXPECT_EQ(scene.free(Horizon::soon), 0);
  scene.world->credit_late(scene.world->late());
  EXPECT_EQ(scene.free(Horizon::soon), 4);
  EXPECT_EQ(scene.free(Horizon::now), 0);
}

/// Law 7.
TEST(Room, IsLessWhatHoldsKeepAgainstTheAsk) {
  RoomScene scene(node("n1", 4), nominated(pod("holder", "", 5, 3), "n1"), pod("higher", "", 9, 1),
                  pod("equal", "", 5, 1));
  EXPECT_EQ(scene.free_for("higher", Horizon::soon), 4);
  EXPECT_EQ(scene.free_for("equal", Horizon::soon), 1);
  EXPECT_EQ(scene.free_for("holder", Horizon::soon), 4);
  scene.world->decided(scene.at("holder"));
  EXPECT_EQ(scene.free_for("equal", Horizon::soon), 4);
}

/// A nomination of this cycle is counted once, as a pod that has come.
TEST(Room, CountsAHoldOnceItsPodHasAPlace) {
  RoomScene scene(node("n1", 4), nominated(pod("holder", "", 5, 3), "n1"), pod("equal", "", 5, 1));
  scene.world->nominate(scene.at("holder"), scene.on("n1"), {});
  EXPECT_EQ(scene.free(Horizon::soon), 1);
  EXPECT_EQ(scene.free_for("equal", Horizon::soon), 1);
  std::vector<std::int64_t> row(scene.cluster.order().columns());
  const Room room(*scene.world);
  room.free(scene.on("n1"), Horizon::now, row);
  room.take_arrivals(scene.on("n1"), row);
  EXPECT_EQ(scene.cpu(row), 1);
}

TEST(Room, FitsWhatIsWantedWhateverElseIsMissing) {
  RoomScene scene(node("n1", 4), pod("large", "n1", 1, 5));
  std::vector<std::int64_t> wanted(scene.cluster.order().columns());
  EXPECT_TRUE(Room(*scene.world).fits(scene.on("n1"), Horizon::now, wanted));
  wanted[find_resource(scene.cluster.resources(), "cpu")->value] = 1;
  EXPECT_FALSE(Room(*scene.world).fits(scene.on("n1"), Horizon::now, wanted));
}

/// A pod has left its queue when it is leaving, and counts there again when it is stuck.
TEST(Room, OfAQueueIsFreeAsSoonAsAPodLeaves) {
  RoomScene scene(node("n1", 9), pod("stays", "n1", 1, 1), leaving(pod("soon", "n1", 1, 1)),
                  leaving(pod("slow", "n1", 1, 1), Time{scene::now.ms + 3'600'000}),
                  leaving(pod("stuck", "n1", 1, 1), Time{0}));
  const auto counts = [&](const char* name, Horizon horizon) {
    return Room::counts_in_queue(scene.world->departures(), scene.at(name), horizon);
  };
  for (const char* name : {"stays", "soon", "slow", "stuck"}) {
    EXPECT_TRUE(counts(name, Horizon::now)) << name;
  }
  EXPECT_TRUE(counts("stays", Horizon::soon));
  EXPECT_FALSE(counts("soon", Horizon::soon));
  EXPECT_FALSE(counts("slow", Horizon::soon));
  EXPECT_TRUE(counts("stuck", Horizon::soon));
}

}  // namespace
}  // namespace makeway
