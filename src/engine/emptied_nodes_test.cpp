// What nodes hold once all pods have left that may: from sums, and where sums do not suffice.
#include "engine/emptied_nodes.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using scene::group;
using scene::in_group;
using scene::node;
using scene::pod;

class EmptiedNodesTest : public testing::Test {
 protected:
  void make(const std::vector<Pod>& pods, const std::vector<PodGroup>& groups = {}) {
    cluster.apply(node("n1", 10));
    cluster.apply(node("n2", 10));
    for (const PodGroup& item : groups) cluster.apply(item);
    for (const Pod& item : pods) cluster.apply(item);
    survey.emplace(cluster, configuration);
    scratch.emplace(cluster);
    rules.emplace(*survey, configuration, scene::now);
    budgets.emplace(*survey);
    emptied.emplace(*survey, *scratch, *rules, *budgets,
                    EmptiedNodes::Scope{.nodes = survey->nodes(), .ask_priority = ask_priority});
    emptied->start(ask_priority - 1);
  }
  std::int64_t cpu(const std::string& name) const {
    return emptied->used(*cluster.find_node(name))[0];
  }
  PodIndex at(const std::string& name) const { return *cluster.find_pod("default", name); }
  NodeIndex on(const std::string& name) const { return *cluster.find_node(name); }

  static constexpr std::int32_t ask_priority = 5;
  Cluster cluster;
  Configuration configuration;
  std::optional<Survey> survey;
  std::optional<Scratch> scratch;
  std::optional<VictimRules> rules;
  std::optional<Budgets> budgets;
  std::optional<EmptiedNodes> emptied;
};

TEST_F(EmptiedNodesTest, SumsTellWhoStays) {
  make({pod("low", "n1", 1, 1), pod("mid", "n1", 4, 2), pod("high", "n1", 5, 4)});
  EXPECT_TRUE(emptied->all_leave());
  EXPECT_EQ(cpu("n1"), 4);
  EXPECT_EQ(emptied->used(on("n1"), 1)[0], 6);
  EXPECT_EQ(emptied->potential_victims(), 2);
  EXPECT_EQ(emptied->distinct_priorities(), (std::vector<std::int32_t>{1, 4}));
}

TEST_F(EmptiedNodesTest, WhoIsProtectedStays) {
  Pod shy = pod("shy", "n1", 1, 3);
  shy.opted_out = true;
  make({pod("low", "n1", 1, 1), shy});
  EXPECT_FALSE(emptied->all_leave());
  EXPECT_EQ(cpu("n1"), 3);
  EXPECT_TRUE(emptied->leaves(at("low")));
  EXPECT_FALSE(emptied->leaves(at("shy")));
}

TEST_F(EmptiedNodesTest, WhoIsKeptStays) {
  make({pod("a", "n1", 1, 1), pod("b", "n1", 2, 2)});
  const std::vector<PodIndex> kept = {at("b")};
  emptied->keep(kept);
  emptied->start(ask_priority - 1);
  EXPECT_EQ(cpu("n1"), 2);
  emptied->keep({});
  emptied->start(ask_priority - 1);
  EXPECT_EQ(cpu("n1"), 0);
}

TEST_F(EmptiedNodesTest, OnlyEmptiedNodesChangeTheWorld) {
  make({pod("a", "n1", 1, 1), pod("b", "n2", 1, 2)});
  emptied->empty(on("n1"));
  EXPECT_TRUE(emptied->is_empty(on("n1")));
  EXPECT_FALSE(emptied->is_empty(on("n2")));
  EXPECT_FALSE(scratch->node_of(at("a")).exists());
  EXPECT_TRUE(scratch->node_of(at("b")).exists());
  ASSERT_EQ(emptied->gone().pods.size(), 1U);
  EXPECT_EQ(emptied->gone().pods.front(), at("a"));
}

TEST_F(EmptiedNodesTest, AWholeGroupTakesItsPodsElsewhereAlong) {
  make({in_group(pod("a", "n1", 0, 1), "g"), in_group(pod("b", "n2", 0, 2), "g")},
       {group("g", DisruptionMode::all)});
  emptied->empty(on("n1"));
  EXPECT_FALSE(scratch->node_of(at("b")).exists());
  EXPECT_EQ(emptied->gone().units.size(), 1U);
}

TEST_F(EmptiedNodesTest, WhoIsExpectedCounts) {
  make({pod("a", "n1", 1, 1), pod("ask", "", ask_priority, 3)});
  emptied->expect(at("ask"), on("n1"));
  EXPECT_EQ(cpu("n1"), 3);
  emptied->empty(on("n1"));
  EXPECT_EQ(scratch->node_of(at("ask")), on("n1"));
}

TEST_F(EmptiedNodesTest, StrictBudgetsKeepWhomTheyMust) {
  configuration.budgets.mode = BudgetMode::strict;
  cluster.apply(DisruptionBudget{.namespace_name = "default",
                                 .name = "all",
                                 .selector = LabelSelector{{{.key = "app", .values = {"a", "b"}}}},
                                 .disruptions_allowed = 1});
  make({pod("a", "n1", 1, 1), pod("b", "n1", 2, 2)});
  EXPECT_TRUE(emptied->budgets_kept_some());
  EXPECT_EQ(cpu("n1"), 2);  // The less important one leaves.
}

TEST_F(EmptiedNodesTest, CountsRoomAndFindsTheLowestPriorityWithEnough) {
  make({pod("a", "n1", 1, 9), pod("b", "n2", 3, 9), pod("ask", "", ask_priority, 5)});
  const Holds holds(*survey, configuration);
  PodFit fit(*survey, *scratch, at("ask"), holds);
  EXPECT_EQ(emptied->count_room(fit, 1, 10), 2U);
  EXPECT_EQ(emptied->count_room(fit, 3, 10), 4U);
  EXPECT_EQ(emptied->lowest_with_room(fit, 2), 1);
  EXPECT_EQ(emptied->lowest_with_room(fit, 3), 3);
}

}  // namespace
}  // namespace makeway
