// SPEC section 2, cascades: victims that a controller makes again may preempt in turn.
#include "policies/workload/cascades.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

// `ask` takes the place of web-1; web-1 can take that of low-1, and low-1 that of tiny-1.
constexpr std::string_view cascade_nodes = R"(
node n1 gpu=1
node n2 gpu=1
node n3 gpu=1
pod ask gpu=1 p=9
pod web-1 @n1 gpu=1 p=5 owner=ReplicaSet:web
pod low-1 @n2 gpu=1 p=2 owner=ReplicaSet:low
pod tiny-1 @n3 gpu=1 p=1
)";

struct CascadeScene : ShortWorld {
  explicit CascadeScene(std::string_view text, std::int64_t depth = 1)
      : ShortWorld(text, with_depth(depth)) {}

  static Configuration with_depth(std::int64_t depth) {
    Configuration rules;
    rules.engine.cascade_depth = depth;
    return rules;
  }
  /// "1: Pod default/web-1 > Pod default/tiny-1; "
  std::string follow(std::initializer_list<std::string_view> victims,
                     std::int64_t enough = Cascades::no_end) {
    const std::vector<PodOnNode> coming = {{.pod = pod("ask"), .node = node("n1")}};
    std::vector<PlanCascade> chain;
    const std::int64_t count = cascades.follow(pods(victims), coming, chain, enough);
    std::string text = std::to_string(count) + ":";
    for (const PlanCascade& link : chain) {
      text += " " + link.pod + " >";
      for (const std::string& victim : link.victims) text += " " + victim;
      text += ";";
    }
    return text;
  }

  Cascades cascades{world, world.after()};
};

TEST(Cascades, CountOnlyWithADepthAndAKey) {
  Configuration rules;
  EXPECT_TRUE(cascades_count(rules));
  rules.engine.cascade_depth = 0;
  EXPECT_FALSE(cascades_count(rules));
  rules.engine.cascade_depth = 1;
  std::erase(rules.workload.score_keys, ScoreKey::secondary_victims);
  EXPECT_FALSE(cascades_count(rules));
}

TEST(Cascades, AControllerMakesItsPodsAgain) {
  const CascadeScene scene(cascade_nodes);
  EXPECT_TRUE(recreated_by_controller(scene.cluster, scene.pod("web-1")));
  EXPECT_FALSE(recreated_by_controller(scene.cluster, scene.pod("tiny-1")));
}

// The lowest priority goes: tiny-1 rather than low-1.
TEST(Cascades, ARecreatedVictimTakesTheBestPlace) {
  CascadeScene scene(cascade_nodes);
  EXPECT_EQ(scene.follow({"web-1"}), "1: Pod default/web-1 > Pod default/tiny-1;");
  EXPECT_EQ(scene.follow({}), "0:");
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("web-1")).exists()) << "as it was";
  EXPECT_FALSE(scene.world.after().node_of(scene.pod("ask")).exists());
}

TEST(Cascades, ItsDepthIsBounded) {
  const std::string text = std::string(cascade_nodes) + R"(
    node n4 gpu=1
    pod least @n4 gpu=1 p=0 owner=ReplicaSet:least
  )";
  // web-1 takes the place of `least`, which finds nothing below it.
  EXPECT_EQ(CascadeScene(text, 2).follow({"web-1"}), "1: Pod default/web-1 > Pod default/least;");
  const std::string chained = R"(
    node n1 gpu=1
    node n2 gpu=1
    node n3 gpu=1 zone=far
    pod ask gpu=1 p=9
    pod web-1 @n1 gpu=1 p=5 owner=ReplicaSet:web select=kubernetes.io/hostname:none
    pod mid-1 @n2 gpu=1 p=3 owner=ReplicaSet:mid
    pod low-1 @n3 gpu=1 p=4 owner=ReplicaSet:low
  )";
  EXPECT_EQ(CascadeScene(chained, 2).follow({"web-1"}), "0:") << "no node takes it";
}

TEST(Cascades, TheChainGoesOnAsDeepAsItIsSaid) {
  constexpr std::string_view text = R"(
    node n1 gpu=1
    node n2 gpu=2
    node n3 gpu=1
    pod ask gpu=1 p=9
    pod web-1 @n1 gpu=2 p=5 owner=ReplicaSet:web
    pod big @n2 gpu=2 p=3 owner=ReplicaSet:big
    pod tiny @n3 gpu=1 p=1
  )";
  // web-1 needs n2 whole. `big` needs two GPUs and finds none.
  EXPECT_EQ(CascadeScene(text, 3).follow({"web-1"}), "1: Pod default/web-1 > Pod default/big;");
  constexpr std::string_view smaller = R"(
    node n1 gpu=1
    node n2 gpu=2
    node n3 gpu=1
    pod ask gpu=1 p=9
    pod web-1 @n1 gpu=2 p=5 owner=ReplicaSet:web
    pod one-{1..2} @n2 gpu=1 p=3 owner=ReplicaSet:one
    pod tiny @n3 gpu=1 p=1
  )";
  EXPECT_EQ(CascadeScene(smaller, 1).follow({"web-1"}),
            "2: Pod default/web-1 > Pod default/one-1 Pod default/one-2;");
  EXPECT_EQ(CascadeScene(smaller, 2).follow({"web-1"}),
            "3: Pod default/web-1 > Pod default/one-1 Pod default/one-2; Pod default/one-1 > Pod "
            "default/tiny;")
      << "the second one finds nothing any more";
}

TEST(Cascades, WhatFitsElsewhereOrNeverPreemptsHasNoVictims) {
  EXPECT_EQ(CascadeScene(std::string(cascade_nodes) + "node n4 gpu=1").follow({"web-1"}), "0:");
  constexpr std::string_view never = R"(
    node n1 gpu=1
    node n2 gpu=1
    pod ask gpu=1 p=9
    pod web-1 @n1 gpu=1 p=5 owner=ReplicaSet:web preempts=Never
    pod low-1 @n2 gpu=1 p=2
  )";
  EXPECT_EQ(CascadeScene(never).follow({"web-1"}), "0:");
  EXPECT_EQ(CascadeScene(cascade_nodes).follow({"tiny-1"}), "0:") << "no controller makes it again";
}

TEST(Cascades, CountingEndsWhenItIsEnough) {
  constexpr std::string_view text = R"(
    node n1 gpu=3
    node n2 gpu=3
    pod ask gpu=3 p=9
    pod web-{1..3} @n1 gpu=1 p=5 owner=ReplicaSet:web
    pod low-{1..3} @n2 gpu=1 p=1
  )";
  EXPECT_TRUE(CascadeScene(text).follow({"web-1", "web-2", "web-3"}).starts_with("3:"));
  EXPECT_TRUE(CascadeScene(text).follow({"web-1", "web-2", "web-3"}, 0).starts_with("1:"));
  EXPECT_FALSE(CascadeScene(text).cascades.bound_reached());
}

}  // namespace
}  // namespace makeway
