// A what-if world: what moves change, and what a rollback gives back.
#include "engine/scratch.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using scene::node;
using scene::pod;

class ScratchTest : public testing::Test {
 protected:
  ScratchTest() : scene(node("n1", 8), node("n2", 8), pod("a", "n1", 1, 3), pod("b", "n1", 2, 2)) {
    scene.cluster.apply(pod("new", "", 3, 4));
  }
  const Cluster& cluster() const { return scene.cluster; }
  PodIndex at(const std::string& name) const { return *cluster().find_pod("default", name); }
  NodeIndex on(const std::string& name) const { return *cluster().find_node(name); }
  std::int64_t cpu(const Scratch& scratch, const std::string& name) const {
    return scratch.used(on(name))[0];
  }
  std::vector<std::string> names(const Scratch& scratch, const std::string& name) const {
    std::vector<std::string> result;
    scratch.for_each_pod(
        on(name), [&](PodIndex pod) { result.emplace_back(cluster().pods().name[pod.value]); });
    return result;
  }

  scene::Scene scene;
};

TEST_F(ScratchTest, WhatWasNotMovedIsAsInTheCluster) {
  const Scratch scratch(cluster());
  EXPECT_EQ(cpu(scratch, "n1"), 5);
  EXPECT_FALSE(scratch.touched(on("n1")));
  EXPECT_EQ(scratch.node_of(at("a")), on("n1"));
  EXPECT_FALSE(scratch.node_of(at("new")).exists());
  EXPECT_EQ(names(scratch, "n1"), (std::vector<std::string>{"b", "a"}));  // Most important first.
}

TEST_F(ScratchTest, MovesCount) {
  Scratch scratch(cluster());
  scratch.remove(at("a"));
  scratch.place(at("new"), on("n1"));
  EXPECT_EQ(cpu(scratch, "n1"), 6);
  EXPECT_TRUE(scratch.touched(on("n1")));
  EXPECT_EQ(names(scratch, "n1"), (std::vector<std::string>{"b", "new"}));
  ASSERT_EQ(scratch.placed(on("n1")).size(), 1U);
  EXPECT_EQ(scratch.placed(on("n1")).front(), at("new"));
  scratch.place(at("a"), on("n2"));
  EXPECT_EQ(cpu(scratch, "n2"), 3);
  EXPECT_EQ(scratch.node_of(at("a")), on("n2"));
}

TEST_F(ScratchTest, PuttingBackLeavesTheNodeUntouched) {
  Scratch scratch(cluster());
  const std::vector<PodIndex> both = {at("a"), at("b")};
  scratch.remove(both);
  EXPECT_EQ(cpu(scratch, "n1"), 0);
  scratch.put_back(both);
  EXPECT_EQ(cpu(scratch, "n1"), 5);
  EXPECT_FALSE(scratch.touched(on("n1")));
}

TEST_F(ScratchTest, RollbackUndoesInReverse) {
  Scratch scratch(cluster());
  scratch.remove(at("a"));
  const Scratch::Checkpoint before = scratch.checkpoint();
  scratch.place(at("a"), on("n2"));
  scratch.remove(at("a"));
  scratch.place(at("a"), on("n1"));
  scratch.place(at("new"), on("n1"));
  scratch.rollback(before);
  EXPECT_FALSE(scratch.node_of(at("a")).exists());
  EXPECT_FALSE(scratch.node_of(at("new")).exists());
  EXPECT_EQ(cpu(scratch, "n1"), 2);
  EXPECT_EQ(scratch.checkpoint(), before);
}

/// Adds up what it hears.
class Listener : public ScratchWatcher {
 public:
  void moved(PodIndex /*pod*/, NodeIndex /*node*/, int delta) override {
    sum += delta;
    ++calls;
  }
  int sum = 0;
  int calls = 0;
};

TEST_F(ScratchTest, WatchersHearOfMovesAndOfUndoneOnes) {
  Scratch scratch(cluster());
  Listener listener;
  scratch.attach(listener);
  const Scratch::Checkpoint before = scratch.checkpoint();
  scratch.remove(at("a"));
  scratch.place(at("new"), on("n2"));
  EXPECT_EQ(listener.calls, 2);
  scratch.rollback(before);
  EXPECT_EQ(listener.calls, 4);
  EXPECT_EQ(listener.sum, 0);
  scratch.detach(listener);
  scratch.remove(at("a"));
  EXPECT_EQ(listener.calls, 4);
}

TEST_F(ScratchTest, SumsThatHitTheCeilingAreCountedAgain) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  scene.cluster.apply(pod("huge", "n2", 1, most));
  scene.cluster.apply(pod("some", "n2", 1, 7));
  Scratch scratch(cluster());
  EXPECT_EQ(cpu(scratch, "n2"), most);
  scratch.remove(at("huge"));
  EXPECT_EQ(cpu(scratch, "n2"), 7);
}

}  // namespace
}  // namespace makeway
