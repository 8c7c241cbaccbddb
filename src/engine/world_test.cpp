// What the operations do to the two worlds, what they refuse, and what a transaction undoes.
#include "engine/world.hpp"

#include <gtest/gtest.h>

#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using scene::leaving;
using scene::node;
using scene::nominated;
using scene::pod;
using Names = std::vector<std::string>;

struct WorldScene {
  Cluster cluster;
  Configuration configuration;

  template <class... Objects>
  explicit WorldScene(const Objects&... objects) {
    (cluster.apply(objects), ...);
  }
  PodIndex at(const std::string& name) const { return *cluster.find_pod("default", name); }
  NodeIndex on(const std::string& name) const { return *cluster.find_node(name); }
  std::string node_of(const Scratch& scratch, const std::string& name) const {
    const NodeIndex found = scratch.node_of(at(name));
    return found.exists() ? std::string(cluster.text(cluster.nodes().name[found])) : "";
  }
  Names names(std::span<const PodIndex> pods) const {
    Names result;
    for (const PodIndex pod : pods) result.emplace_back(cluster.pods().name[pod.value]);
    return result;
  }
};

WorldScene two_full_nodes() {
  return WorldScene(node("n1", 4), node("n2", 4), pod("low", "n1", 1, 3), pod("high", "n2", 9, 3),
                    pod("ask", "", 5, 2), pod("next", "", 5, 2));
}

TEST(World, StartsWithoutWhoIsLeaving) {
  const WorldScene scene(node("n1", 4), node("n0", 4), leaving(pod("b", "n1", 1, 1)),
                         leaving(pod("a", "n1", 2, 1)), leaving(pod("c", "n0", 1, 1)),
                         leaving(pod("stuck", "n1", 1, 1), Time{0}),
                         leaving(pod("lost", "nowhere", 1, 1)), pod("stays", "n1", 1, 1));
  World world(scene.cluster, scene.configuration, scene::now);
  EXPECT_TRUE(world.differs());
  // By node, then importance; a stuck pod counts as there (law 6). A pod that leaves a node that is
  // not there holds no room, but it may hold a claim.
  EXPECT_EQ(scene.names(world.gone()), (Names{"c", "a", "b", "lost"}));
  EXPECT_EQ(scene.node_of(world.now(), "a"), "n1");
  EXPECT_EQ(scene.node_of(world.after(), "a"), "");
  EXPECT_EQ(scene.node_of(world.after(), "stuck"), "n1");
}

TEST(World, OperationsChangeBothWorlds) {
  const WorldScene scene = two_full_nodes();
  World world(scene.cluster, scene.configuration, scene::now);
  EXPECT_FALSE(world.differs());
  world.nominate(scene.at("ask"), scene.on("n1"), std::vector{scene.at("low")});
  EXPECT_TRUE(world.differs());
  EXPECT_EQ(scene.node_of(world.now(), "ask"), "");
  EXPECT_EQ(scene.node_of(world.after(), "ask"), "n1");
  EXPECT_EQ(scene.node_of(world.now(), "low"), "n1");
  EXPECT_EQ(scene.node_of(world.after(), "low"), "");
  EXPECT_EQ(scene.names(world.gone()), Names{"low"});
  EXPECT_TRUE(world.rules().settled(scene.at("ask")));
  EXPECT_TRUE(world.rules().settled(scene.at("low")));
  world.bind(scene.at("next"), scene.on("n1"));
  EXPECT_EQ(scene.node_of(world.now(), "next"), "n1");
  EXPECT_EQ(scene.node_of(world.after(), "next"), "n1");
}

/// Law 6: a late pod is there, but for the ask that finds nothing else, and for which it stays
/// gone if it waits for it.
TEST(World, WhoLeavesLateIsLent) {
  Pod slow = pod("slow", "n1", 1, 4);
  slow.deletion = scene::now + Duration{3'600'000};
  const WorldScene scene(node("n1", 4), slow, pod("ask", "", 5, 4));
  World world(scene.cluster, scene.configuration, scene::now);
  EXPECT_EQ(scene.node_of(world.after(), "slow"), "n1");
  EXPECT_EQ(scene.names(world.late()), Names{"slow"});
  world.credit_late(world.late());
  EXPECT_EQ(scene.node_of(world.after(), "slow"), "");
  world.return_late();
  EXPECT_EQ(scene.node_of(world.after(), "slow"), "n1");
  EXPECT_TRUE(world.gone().empty());
  world.credit_late(world.late());
  world.await(std::vector{scene.at("slow")});
  world.return_late();
  EXPECT_EQ(scene.node_of(world.after(), "slow"), "");
  EXPECT_EQ(scene.names(world.gone()), Names{"slow"});
  EXPECT_TRUE(world.late().empty());
}

/// a needs b beside it: if it comes before b its nomination is tentative, if it comes with b it is
/// promised it.
TEST(World, WhoComeTogetherMayNeedEachOther) {
  Node home = node("n1", 4);
  home.labels = {{"host", "n1"}};
  Pod a = pod("a", "", 5, 1);
  a.shape.affinity = {
      {.selector = LabelSelector{{{.key = "app", .operation = Operator::in, .values = {"b"}}}},
       .namespaces = {"default"},
       .namespace_selector = {},
       .topology_key = "host"}};
  const WorldScene scene(home, a, pod("b", "", 5, 1));
  const PodOnNode first{.pod = scene.at("a"), .node = scene.on("n1")};
  const PodOnNode second{.pod = scene.at("b"), .node = scene.on("n1")};
  World apart(scene.cluster, scene.configuration, scene::now);
  apart.nominate(first.pod, first.node, {});
  apart.nominate(second.pod, second.node, {});
  EXPECT_TRUE(apart.is_tentative(first.pod));
  World together(scene.cluster, scene.configuration, scene::now);
  together.nominate(std::vector{first, second}, {});
  EXPECT_FALSE(together.is_tentative(first.pod));
  EXPECT_EQ(together.promises_made(), 1U);
}

/// One web pod on each of three hosts, and another that is promised a place on the first.
TEST(World, APromiseBySpreadEndsWhereTheLeastFallsOrItsHostFills) {
  WorldScene scene;
  for (const std::string name : {"n1", "n2", "n3"}) {
    Node host = node(name, 9);
    host.labels = {{"host", name}};
    scene.cluster.apply(host);
    Pod web = pod("web-" + name, name, 1, 1);
    web.labels = {{"app", "web"}};
    scene.cluster.apply(web);
    scene.cluster.apply(pod("other-" + name, name, 1, 1));
  }
  Pod more = pod("more", "", 5, 1);
  more.labels = {{"app", "web"}};
  scene.cluster.apply(more);
  Pod promised = pod("promised", "", 5, 1);
  promised.labels = {{"app", "web"}};
  promised.shape.spread = {
      {.topology_key = "host",
       .selector = LabelSelector{{{.key = "app", .operation = Operator::in, .values = {"web"}}}}}};
  scene.cluster.apply(promised);
  scene.cluster.apply(pod("ask", "", 5, 1));
  World world(scene.cluster, scene.configuration, scene::now);
  world.nominate(scene.at("promised"), scene.on("n1"), {});
  ASSERT_EQ(world.promises_made(), 1U);
  const auto kept = [&](const char* ask, const char* on, std::vector<PodIndex> victims) {
    return world.keeps_promises(scene.at(ask), scene.on(on), victims);
  };
  EXPECT_TRUE(kept("ask", "n3", {scene.at("other-n3")}));
  EXPECT_FALSE(kept("ask", "n3", {scene.at("web-n3")}));
  EXPECT_TRUE(kept("more", "n3", {scene.at("other-n3")}));
  EXPECT_FALSE(kept("more", "n1", {}));
  EXPECT_TRUE(kept("ask", "n1", {scene.at("web-n1")}));
}

TEST(World, ADecidedPodHoldsNothing) {
  WorldScene scene = two_full_nodes();
  scene.cluster.apply(nominated(pod("ask", "", 5, 2), "n1"));
  World world(scene.cluster, scene.configuration, scene::now);
  PodFit next(world.survey(), world.after(), scene.at("next"), world.holds());
  EXPECT_TRUE(next.has_holders(scene.on("n1")));
  {
    World::NominationsIgnored ignored(world);
    ignored.ignore(scene.at("ask"));
    EXPECT_FALSE(next.has_holders(scene.on("n1")));
  }
  EXPECT_TRUE(next.has_holders(scene.on("n1")));
  world.decided(scene.at("ask"));
  EXPECT_FALSE(next.has_holders(scene.on("n1")));
  ASSERT_EQ(world.changed_nodes().size(), 1U);
  EXPECT_EQ(world.changed_nodes().front(), scene.on("n1"));
}

// ---- Invariants ---------------------------------------------------------------------------------

struct Misuse {
  const char* name;
  void (*run)(const WorldScene&, World&);
  const char* message;
};

class WorldMisuse : public testing::TestWithParam<Misuse> {};

TEST_P(WorldMisuse, IsRefused) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const WorldScene scene = two_full_nodes();
  World world(scene.cluster, scene.configuration, scene::now);
  EXPECT_DEATH(GetParam().run(scene, world), GetParam().message);
}

const std::vector<Misuse> misuses = {
    {"AVictimLeavesOnce",
     [](const WorldScene& scene, World& world) {
       world.leave(std::vector{scene.at("low"), scene.at("low")});
     },
     "in this cycle already"},
    {"APlacedPodIsNoVictim",
     [](const WorldScene& scene, World& world) {
       world.bind(scene.at("ask"), scene.on("n1"));
       world.leave(std::vector{scene.at("ask")});
     },
     "where the cluster has it"},
    {"WhoIsNowhereCannotLeave",
     [](const WorldScene& scene, World& world) { world.leave(std::vector{scene.at("ask")}); },
     "where the cluster has it"},
    {"APodIsPlacedOnce",
     [](const WorldScene& scene, World& world) {
       world.bind(scene.at("ask"), scene.on("n1"));
       world.nominate(scene.at("ask"), scene.on("n2"), {});
     },
     "somewhere already"},
    {"APodIsDecidedOnce",
     [](const WorldScene& scene, World& world) {
       world.decided(scene.at("ask"));
       world.decided(scene.at("ask"));
     },
     "decided once"},
    {"AWhatIfIsUndoneFirst",
     [](const WorldScene& scene, World& world) {
       world.after().remove(scene.at("low"));
       world.bind(scene.at("ask"), scene.on("n1"));
     },
     "what-if was not undone"},
};

INSTANTIATE_TEST_SUITE_P(Cases, WorldMisuse, testing::ValuesIn(misuses),
                         [](const auto& test) { return std::string(test.param.name); });

// ---- Waiting (law 6) ----------------------------------------------------------------------------

/// n1 has 4; each leaver frees 1.
WorldScene four_leave() {
  return WorldScene(node("n1", 4), leaving(pod("v0", "n1", 0, 1)), leaving(pod("v1", "n1", 0, 1)),
                    leaving(pod("v2", "n1", 0, 1)), leaving(pod("v3", "n1", 0, 1)),
                    pod("a", "", 3, 1), pod("b", "", 2, 2), pod("c", "", 1, 1),
                    pod("half", "", 3, 0));
}

struct Waiting {
  const WorldScene& scene;
  World& world;

  Names wait(const std::string& ask) {
    const NodeIndex node = scene.on("n1");
    PodFit now(world.survey(), world.now(), scene.at(ask), world.holds());
    const std::vector<PodIndex> needed =
        world.needed_leavers(std::span(&node, 1), World::Elsewhere::ignored,
                             [&] { return !now.check_unreserved(node); });
    world.await(needed);
    world.nominate(scene.at(ask), node, {});
    return scene.names(needed);
  }
};

TEST(WorldLedger, EachNamesWhatItNeedsBeyondEarlierAsks) {
  const WorldScene scene = four_leave();
  World world(scene.cluster, scene.configuration, scene::now);
  Waiting waiting{scene, world};
  EXPECT_EQ(waiting.wait("a"), Names{"v3"});
  EXPECT_EQ(waiting.wait("b"), (Names{"v1", "v2"}));
  EXPECT_EQ(waiting.wait("c"), Names{"v0"});
}

TEST(WorldLedger, WhatAnEarlierAskLeavesOverIsNamedToo) {
  const WorldScene scene(node("n1", 4), leaving(pod("large", "n1", 0, 4)), pod("a", "", 3, 2),
                         pod("b", "", 2, 2));
  World world(scene.cluster, scene.configuration, scene::now);
  Waiting waiting{scene, world};
  EXPECT_EQ(waiting.wait("a"), Names{"large"});
  EXPECT_EQ(waiting.wait("b"), Names{"large"});
}

TEST(WorldLedger, VictimsBelongToTheAskTheyLeaveFor) {
  const WorldScene scene(node("n1", 4), pod("v0", "n1", 0, 2), pod("v1", "n1", 0, 2),
                         pod("a", "", 3, 2), pod("b", "", 2, 2));
  World world(scene.cluster, scene.configuration, scene::now);
  world.nominate(scene.at("a"), scene.on("n1"), std::vector{scene.at("v1")});
  world.leave(std::vector{scene.at("v0")});  // For an ask that takes no room on the node.
  EXPECT_TRUE(world.is_taken(scene.at("v1")));
  EXPECT_FALSE(world.is_taken(scene.at("v0")));
  Waiting waiting{scene, world};
  EXPECT_EQ(waiting.wait("b"), Names{"v0"});
}

TEST(World, SupposesThatNothingHappened) {
  const WorldScene scene(node("n1", 4), leaving(pod("goes", "n1", 1, 1)), pod("low", "n1", 1, 2),
                         pod("ask", "", 5, 3));
  World world(scene.cluster, scene.configuration, scene::now);
  const Scratch::Checkpoint untouched = world.after().checkpoint();
  EXPECT_FALSE(world.revert_this_cycle());
  world.after().rollback(untouched);
  world.nominate(scene.at("ask"), scene.on("n1"), std::vector{scene.at("low")});
  const Scratch::Checkpoint before = world.after().checkpoint();
  EXPECT_TRUE(world.revert_this_cycle());
  EXPECT_EQ(scene.node_of(world.after(), "ask"), "");
  EXPECT_EQ(scene.node_of(world.after(), "low"), "n1");
  EXPECT_EQ(scene.node_of(world.after(), "goes"), "");
  world.after().rollback(before);
}

}  // namespace
}  // namespace makeway
