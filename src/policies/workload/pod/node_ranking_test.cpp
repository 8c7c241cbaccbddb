// The best nodes with victims, best first (SPEC section 2, step 8), and the bounds by which most
// nodes are left out.
#include "policies/workload/pod/node_ranking.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

struct NodeScene : ShortWorld {
  explicit NodeScene(std::string_view text, const Configuration& rules = {})
      : ShortWorld(text, rules) {}

  /// "n1:low-1,low-2 n2:mid"
  std::string text(const std::vector<Candidate>& candidates) const {
    std::string all;
    for (const Candidate& each : candidates) {
      all += (all.empty() ? "" : " ") + name(each.node) + ":" + names(each.victims.pods);
    }
    return all;
  }
  std::string best(std::size_t count, bool many = false) {
    VictimSearch search(world, fit, VictimChoiceRule::best, nullptr);
    NodeRanking ranking(world, fit, many);
    return text(ranking.best(search, count));
  }
  std::int64_t floor_value(ScoreKey key, std::int64_t highest) {
    NodeFloor floor(world, fit);
    EXPECT_TRUE(floor.useful());
    floor.start(node("n1"), highest);
    const std::vector<ScoreKey>& keys = configuration.workload.score_keys;
    for (std::size_t at = 0; at < keys.size(); ++at) {
      const std::int64_t value = floor.value(at);
      if (keys[at] == key) return value;
    }
    return -1;
  }

  PodFit fit{world.survey(), world.after(), pod("ask"), world.holds()};
};

constexpr std::string_view four_nodes = R"(
node n1 gpu=2
node n2 gpu=2
node n3 gpu=2
node n4 gpu=1
pod ask gpu=2 p=9
pod high @n1 gpu=2 p=5
pod pair-{1..2} @n2 gpu=1 p=1
pod one @n3 gpu=2 p=1
pod four @n4 gpu=1 p=0
)";

TEST(NodeRanking, TheBestComeFirst) {
  EXPECT_EQ(NodeScene(four_nodes).best(1), "n3:one") << "one pod rather than two";
  EXPECT_EQ(NodeScene(four_nodes).best(3), "n3:one n2:pair-1 pair-2 n1:high");
  EXPECT_EQ(NodeScene(four_nodes).best(9, true), "n3:one n2:pair-1 pair-2 n1:high");
  EXPECT_EQ(NodeScene("node n1 gpu=1\npod ask gpu=2 p=9").best(2), "");
}

TEST(NodeRanking, EqualNodesByName) {
  constexpr std::string_view text = R"(
    node n3 gpu=1
    node n1 gpu=1
    node n2 gpu=1
    pod ask gpu=1 p=9
    pod x @n3 gpu=1 p=1
    pod y @n2 gpu=1 p=1
    pod z @n1 gpu=1 p=1
  )";
  EXPECT_EQ(NodeScene(text).best(2), "n1:z n2:y");
  EXPECT_EQ(NodeScene(text).best(2, true), "n1:z n2:y");
}

TEST(NodeRanking, WhyEachNodeIsOut) {
  NodeScene scene(R"(
    node n1 gpu=1
    node n2 gpu=2 cordoned
    node n3 gpu=1
    pod ask gpu=2 p=9
    pod equal @n3 gpu=1 p=9
  )");
  VictimSearch search(scene.world, scene.fit, VictimChoiceRule::best, nullptr);
  NodeRanking ranking(scene.world, scene.fit, false);
  ASSERT_TRUE(ranking.best(search, 1).empty());
  std::int64_t nodes = 0;
  for (const PlanRefusal& each : ranking.refusals(search).refusals(scene.world.survey())) {
    nodes += each.nodes;
  }
  EXPECT_EQ(nodes, 3);
}

TEST(NodeRanking, AChangedNodeIsSearchedAgain) {
  NodeScene scene(four_nodes);
  VictimSearch search(scene.world, scene.fit, VictimChoiceRule::best, nullptr);
  NodeRanking ranking(scene.world, scene.fit, true);
  EXPECT_EQ(scene.text(ranking.best(search, 1)), "n3:one");
  scene.world.leave(scene.pods({"pair-1"}));
  ranking.changed(scene.node("n2"));
  EXPECT_EQ(scene.text(ranking.best(search, 1)), "n2:pair-2")
      << "the same score, and first by name";
}

TEST(EqualNodes, AreRecognisedByWhatVictimsAreChosenBy) {
  NodeScene scene(R"(
    node n{1..5} gpu=2
    pod ask gpu=2 p=9
    pod a @n1 gpu=1 p=1 started=10:00
    pod b @n2 gpu=1 p=1 started=10:00
    pod c @n3 gpu=1 p=2 started=10:00
    pod d @n4 gpu=1 p=1 started=11:00
    pod e @n5 gpu=1 p=1 started=10:00 owner=ReplicaSet:e
  )");
  EqualNodes equal(scene.world, 9);
  const auto kind = [&](std::string_view name) {
    return equal.kind_of(scene.fit, scene.node(name));
  };
  ASSERT_TRUE(kind("n1").has_value());
  EXPECT_EQ(kind("n1"), kind("n2"));
  EXPECT_NE(kind("n1"), kind("n3"));
  EXPECT_NE(kind("n1"), kind("n4"));
  EXPECT_EQ(kind("n5"), std::nullopt) << "its controller ties it to other nodes";
  scene.world.leave(scene.pods({"b"}));
  EXPECT_EQ(kind("n2"), std::nullopt) << "it was touched";
}

// ---- NodeFloor: the least that a node can cost -------------------------------------------------

constexpr std::string_view floors = R"(
node n1 gpu=8
pod ask gpu=4 p=9
pod a @n1 gpu=1 p=1 started=11:00
pod b @n1 gpu=2 p=2 started=10:00
pod c @n1 gpu=3 p=4 started=09:00
pod d @n1 gpu=2 p=4 started=08:00
)";

TEST(NodeFloor, WhatTheFewestVictimsUpToAPriorityCost) {
  // All eight GPUs are used: at most 3 + 2 of the largest free four, so two pods leave.
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::highest_priority, 4), 4);
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::victims, 4), 2);
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::priority_sum, 4), 4 + 1);
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::lost_work, 4), 3600 + 7200);
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::oldest_victim, 4), 3 * 3'600'000)
      << "c is the younger of priority 4";
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::victims_age, 4), 3 * 3'600'000);
}

TEST(NodeFloor, ViolationsThatCannotBeAvoided) {
  constexpr std::string_view budget = R"(
    node n1 gpu=4
    budget keep app=web min=2 allowed=0
    pod ask gpu=3 p=9
    pod web-{1..2} @n1 gpu=1 p=1 app=web
    pod plain @n1 gpu=2 p=1
  )";
  EXPECT_EQ(NodeScene(budget).floor_value(ScoreKey::budget_violations, 1), 1)
      << "plain frees 2, a third GPU is under the budget";
  EXPECT_EQ(NodeScene(floors).floor_value(ScoreKey::budget_violations, 4), 0);
}

TEST(NodeFloor, ComparesWithAScore) {
  NodeScene scene(four_nodes);
  NodeFloor floor(scene.world, scene.fit);
  VictimSearch search(scene.world, scene.fit, VictimChoiceRule::best, nullptr);
  const auto one = search.on_node(scene.node("n3"));
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(floor.compare(scene.node("n3"), 1, one->score), std::strong_ordering::equal);
  EXPECT_EQ(floor.compare(scene.node("n2"), 1, one->score), std::strong_ordering::greater);
  EXPECT_EQ(floor.compare(scene.node("n1"), 5, one->score), std::strong_ordering::greater);
}

}  // namespace
}  // namespace makeway
