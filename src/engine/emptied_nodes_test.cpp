// What nodes hold once everybody has left who may: from sums, and where sums do not tell.
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
    cluster_.apply(node("n1", 10));
    cluster_.apply(node("n2", 10));
    for (const PodGroup& item : groups) cluster_.apply(item);
    for (const Pod& item : pods) cluster_.apply(item);
    survey_.emplace(cluster_, configuration_);
    scratch_.emplace(cluster_);
    rules_.emplace(*survey_, configuration_, scene::now);
    budgets_.emplace(*survey_);
    emptied_.emplace(*survey_, *scratch_, *rules_, *budgets_,
                     EmptiedNodes::Scope{.nodes = survey_->nodes(), .ask_priority = ask_priority});
    emptied_->start(ask_priority - 1);
  }
  std::int64_t cpu(const std::string& name) const {
    return emptied_->used(*cluster_.find_node(name))[0];
  }
  PodIndex at(const std::string& name) const { return *cluster_.find_pod("default", name); }
  NodeIndex on(const std::string& name) const { return *cluster_.find_node(name); }

  static constexpr std::int32_t ask_priority = 5;
  Cluster cluster_;
  Configuration configuration_;
  std::optional<Survey> survey_;
  std::optional<Scratch> scratch_;
  std::optional<VictimRules> rules_;
  std::optional<Budgets> budgets_;
  std::optional<EmptiedNodes> emptied_;
};

TEST_F(EmptiedNodesTest, SumsTellWhoStays) {
  make({pod("low", "n1", 1, 1), pod("mid", "n1", 4, 2), pod("high", "n1", 5, 4)});
  EXPECT_TRUE(emptied_->everybody_leaves());
  EXPECT_EQ(cpu("n1"), 4);
  EXPECT_EQ(emptied_->used(on("n1"), 1)[0], 6);
  EXPECT_EQ(emptied_->potential_victims(), 2);
  EXPECT_EQ(emptied_->distinct_priorities(), (std::vector<std::int32_t>{1, 4}));
}

TEST_F(EmptiedNodesTest, WhoIsProtectedStays) {
  Pod shy = pod("shy", "n1", 1, 3);
  shy.opted_out = true;
  make({pod("low", "n1", 1, 1), shy});
  EXPECT_FALSE(emptied_->everybody_leaves());
  EXPECT_EQ(cpu("n1"), 3);
  EXPECT_TRUE(emptied_->leaves(at("low")));
  EXPECT_FALSE(emptied_->leaves(at("shy")));
}

TEST_F(EmptiedNodesTest, WhoIsKeptStays) {
  make({pod("a", "n1", 1, 1), pod("b", "n1", 2, 2)});
  const std::vector<PodIndex> kept = {at("b")};
  emptied_->keep(kept);
  emptied_->start(ask_priority - 1);
  EXPECT_EQ(cpu("n1"), 2);
  emptied_->keep({});
  emptied_->start(ask_priority - 1);
  EXPECT_EQ(cpu("n1"), 0);
}

TEST_F(EmptiedNodesTest, OnlyEmptiedNodesChangeTheWorld) {
  make({pod("a", "n1", 1, 1), pod("b", "n2", 1, 2)});
  emptied_->empty(on("n1"));
  EXPECT_TRUE(emptied_->is_empty(on("n1")));
  EXPECT_FALSE(emptied_->is_empty(on("n2")));
  EXPECT_FALSE(scratch_->node_of(at("a")).exists());
  EXPECT_TRUE(scratch_->node_of(at("b")).exists());
  ASSERT_EQ(emptied_->gone().pods.size(), 1U);
  EXPECT_EQ(emptied_->gone().pods.front(), at("a"));
}

TEST_F(EmptiedNodesTest, AWholeGroupTakesItsPodsElsewhereAlong) {
  make({in_group(pod("a", "n1", 0, 1), "g"), in_group(pod("b", "n2", 0, 2), "g")},
       {group("g", DisruptionMode::all)});
  emptied_->empty(on("n1"));
  EXPECT_FALSE(scratch_->node_of(at("b")).exists());
  EXPECT_EQ(emptied_->gone().units.size(), 1U);
}

TEST_F(EmptiedNodesTest, WhoIsExpectedCounts) {
  make({pod("a", "n1", 1, 1), pod("ask", "", ask_priority, 3)});
  emptied_->expect(at("ask"), on("n1"));
  EXPECT_EQ(cpu("n1"), 3);
  emptied_->empty(on("n1"));
  EXPECT_EQ(scratch_->node_of(at("ask")), on("n1"));
}

TEST_F(EmptiedNodesTest, StrictBudgetsKeepWhomTheyMust) {
  configuration_.budgets.mode = BudgetMode::strict;
  cluster_.apply(DisruptionBudget{.namespace_name = "default",
                                  .name = "all",
                                  .selector = LabelSelector{{{.key = "app", .values = {"a", "b"}}}},
                                  .disruptions_allowed = 1});
  make({pod("a", "n1", 1, 1), pod("b", "n1", 2, 2)});
  EXPECT_TRUE(emptied_->budgets_kept_some());
  EXPECT_EQ(cpu("n1"), 2);  // The less important one leaves.
}

TEST_F(EmptiedNodesTest, CountsRoomAndFindsTheLowestPriorityWithEnough) {
  make({pod("a", "n1", 1, 9), pod("b", "n2", 3, 9), pod("ask", "", ask_priority, 5)});
  const DecidedPods decided(cluster_.pods().slots());
  PodFit fit(*survey_, *scratch_, at("ask"), decided);
  EXPECT_EQ(emptied_->count_room(fit, 1, 10), 2U);
  EXPECT_EQ(emptied_->count_room(fit, 3, 10), 4U);
  EXPECT_EQ(emptied_->lowest_with_room(fit, 2), 1);
  EXPECT_EQ(emptied_->lowest_with_room(fit, 3), 3);
}

}  // namespace
}  // namespace makeway
