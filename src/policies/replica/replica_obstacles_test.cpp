// Why an ask for replicas finds nothing, node by node (law 10: "infeasible" is said only if
// proven).
#include "policies/replica/replica_obstacles.hpp"

#include <gtest/gtest.h>

#include "policies/shared/plan_writer.hpp"
#include "support/fleet_scene.hpp"

namespace makeway {
namespace {

struct ObstacleScene : FleetScene {
  explicit ObstacleScene(std::string_view text) : FleetScene(text) {
    run.losses = IndexedVector<DeploymentIndex, ReplicaLoss>(fleet.deployments().size());
    ReplicaAsk ask;
    ask.deployment = deployment("ask");
    ask.need = need("ask");
    run.asks.push_back(std::move(ask));
  }
  ReplicaAsk& ask() { return run.asks.front(); }
  ReplicaObstacle on(std::string_view node) {
    return ReplicaObstacles(world, run).at(ask(), place(node));
  }
  std::string words(std::string_view node) {
    const ReplicaObstacles obstacles(world, run);
    return write_text(cluster, obstacles.reason(obstacles.at(ask(), place(node))));
  }

  PreviousClaims previous{fleet};
  ReplicaRun run{
      .fleet = fleet, .previous = previous, .asks = {}, .on_their_way = {}, .losses = {}};
};

TEST(ReplicaObstacles, ANodeThatIsTooSmall) {
  ObstacleScene scene("schedule ask gpu=3 p=9 plane=eu\nnode n1 gpu=1 plane=eu");
  const ReplicaObstacle obstacle = scene.on("n1");
  EXPECT_EQ(obstacle.column, Fleet::counted);
  EXPECT_EQ(obstacle.missing, 2);
  EXPECT_TRUE(obstacle.holders.empty());
  EXPECT_EQ(scene.words("n1"), "node n1: short of nvidia.com/gpu by 2");
}

TEST(ReplicaObstacles, WhatKeepsEachHolder) {
  ObstacleScene scene(R"(
    schedule ask gpu=2 p=5 plane=eu
    schedule equal gpu=1 p=5 plane=eu:2
    schedule single gpu=1 p=1 plane=eu:1
    schedule web gpu=1 p=1 plane=eu:3
    node n1 gpu=2 plane=eu
    pod equal-1 @n1 gpu=1 deployment=equal
    pod single-1 @n1 gpu=1 deployment=single
    node n2 gpu=2 plane=eu
    pod web-1 @n2 gpu=1 deployment=web makeway:allow-preemption=false
    pod web-2 @n2 gpu=1 deployment=web
    node n3 gpu=2 plane=eu
    pod stuck @n3 gpu=2 deployment=equal deleted=11:58 grace=30
  )");
  EXPECT_EQ(scene.words("n1"),
            "node n1: default/single-1 is the last replica of default/single in plane eu, "
            "default/equal-1 is not of lower priority");
  EXPECT_EQ(scene.on("n1").missing, 2);
  EXPECT_EQ(scene.words("n2"), "node n2: default/web-1 is opted out");
  EXPECT_EQ(scene.on("n2").missing, 1) << "web-2 could go";
  EXPECT_EQ(scene.words("n3"),
            "node n3: default/stuck is stuck terminating, and may not be force-deleted for it");
}

TEST(ReplicaObstacles, WhatTheCycleHasPromisedToOthers) {
  ObstacleScene scene(R"(
    schedule ask gpu=2 p=5 plane=eu
    schedule other gpu=1 p=9 plane=eu
    schedule web gpu=1 p=1 plane=eu:3
    node n1 gpu=2 plane=eu
    pod web-1 @n1 gpu=1 deployment=web
    node n2 gpu=2 plane=eu
    pod web-2 @n2 gpu=1 deployment=web
    node n3 gpu=2 plane=eu
  )");
  ReplicaAsk other;
  other.deployment = scene.deployment("other");
  ReplicaClaimChoice claim;
  claim.place = scene.place("n1");
  claim.victims.push_back({.replica = scene.replica("web-1"), .committed_after = 2});
  other.claims.push_back(claim);
  other.scale_ups.push_back({.share = scene.share("other"), .place = scene.place("n3")});
  scene.fleet.take(scene.replica("web-1"));
  scene.run.asks.push_back(other);
  EXPECT_EQ(scene.words("n1"),
            "node n1: default/web-1 is promised to ReplicaSchedule default/other");
  scene.run.on_their_way.push_back({.share = scene.share("web"), .place = scene.place("n3")});
  EXPECT_EQ(scene.on("n3").promises.size(), 2U);
  EXPECT_EQ(scene.words("n3"),
            "node n3: room is promised to ReplicaSchedule default/web, whose replica is on its "
            "way, ReplicaSchedule default/other");
}

TEST(ReplicaObstacles, AMissedDeploymentIsSpared) {
  ObstacleScene scene(R"(
    schedule ask gpu=2 p=5 plane=eu
    schedule web gpu=1 p=1 plane=eu:3
    node n1 gpu=2 plane=eu
    pod web-{1..3} @n1 gpu=1 deployment=web
  )");
  scene.ask().missed = {{.place = scene.place("n1"), .share = scene.share("web")}};
  EXPECT_EQ(scene.on("n1").holders.size(), 3U);
  EXPECT_NE(scene.words("n1").find("spared"), std::string::npos);
}

TEST(ReplicaObstacles, OpenPlacesOfItsPlanesAtMostAHundred) {
  ObstacleScene scene(R"(
    schedule ask gpu=2 p=5 plane=eu plane=us
    schedule other gpu=2 p=5 plane=asia
    node n1 gpu=1 plane=us
    node n2 gpu=1 plane=eu
    node n3 gpu=1 plane=eu cordoned
    node n4 gpu=1 plane=asia
  )");
  const ReplicaObstacles obstacles(scene.world, scene.run);
  std::string nodes;
  for (const ReplicaObstacle& each : obstacles.of(scene.ask())) {
    nodes += scene.name(scene.fleet.places()[each.place].node) + " ";
  }
  EXPECT_EQ(nodes, "n2 n1 ") << "by plane, then by name";

  ObstacleScene many("schedule ask gpu=2 p=5 plane=eu\nnode n{1..101} gpu=1 plane=eu");
  EXPECT_EQ(ReplicaObstacles(many.world, many.run).of(many.ask()).size(),
            ReplicaObstacles::places_max);
}

}  // namespace
}  // namespace makeway
