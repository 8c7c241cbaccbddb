// Asks that are alike share what was found out about nodes.
#include "policies/workload/pod/ask_classes.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

TEST(AskKey, WhatMakesTwoAsksAlike) {
  const ShortCluster scene(R"(
    node n1 gpu=8
    pod base gpu=1 p=5 app=a
    pod same gpu=1 p=5 app=a
    pod label gpu=1 p=5 app=b
    pod nominated gpu=1 p=5 app=a nominated=n1
    pod larger gpu=2 p=5 app=a
    pod higher gpu=1 p=6 app=a
    pod other/space gpu=1 p=5 app=a
    pod never gpu=1 p=5 app=a preempts=Never
    pod chosen gpu=1 p=5 app=a select=zone:a
    pod noted gpu=1 p=5 app=a makeway:preemption-cost=3
  )");
  const auto alike = [&](std::string_view name) {
    return ask_key(scene.cluster, scene.pod("base")) == ask_key(scene.cluster, scene.pod(name));
  };
  EXPECT_TRUE(alike("same"));
  EXPECT_TRUE(alike("label")) << "no pod selects any";
  EXPECT_TRUE(alike("nominated"));
  for (const std::string_view name :
       {"larger", "higher", "other/space", "never", "chosen", "noted"}) {
    EXPECT_FALSE(alike(name)) << name;
  }
}

TEST(AskKey, LabelsCountWhereAPodRepelsOthersAndQueuesWhereThereAreSome) {
  const ShortCluster scene(R"(
    node n1 gpu=8 hostname
    queue {x..y} weight=1
    pod a gpu=1 app=a queue=x
    pod b gpu=1 app=b queue=x
    pod repels @n1 apart=app:a:kubernetes.io/hostname
  )");
  const auto key = [&](std::string_view name) { return ask_key(scene.cluster, scene.pod(name)); };
  EXPECT_NE(key("a"), key("b"));
  const ShortCluster queues(R"(
    node n1 gpu=8
    queue {x..y} weight=1
    pod a gpu=1 queue=x
    pod b gpu=1 queue=y
  )");
  EXPECT_NE(ask_key(queues.cluster, queues.pod("a")), ask_key(queues.cluster, queues.pod("b")));
}

struct ClassScene : ShortWorld {
  explicit ClassScene(std::string_view text) : ShortWorld(text) {}

  AskClasses classes(std::initializer_list<std::string_view> names) {
    const std::vector<PodIndex> asking = pods(names);
    return {draft, asking};
  }

  Plan plan;
  Draft draft{.world = world, .plan = plan, .explain = false};
};

constexpr std::string_view three_alike = R"(
node n1 gpu=8
pod a-{1..3} gpu=1
pod lone gpu=2
pod nominated gpu=1 nominated=n1
)";

TEST(AskClasses, AreKeptForTwoOrMore) {
  ClassScene scene(three_alike);
  AskClasses classes = scene.classes({"a-1", "a-2", "lone", "nominated"});
  EXPECT_EQ(classes.of(scene.pod("lone")), nullptr);
  EXPECT_EQ(classes.of(scene.pod("nominated")), nullptr);
  AskClass* const kept = classes.of(scene.pod("a-1"));
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(classes.of(scene.pod("a-2")), kept);
  EXPECT_EQ(scene.name(kept->after.ask()), "a-2") << "it takes its turn";
  EXPECT_TRUE(kept->room.has_value());
  EXPECT_FALSE(kept->now.has_value()) << "the worlds do not differ";
}

TEST(AskClasses, TheLastOfAClassTakesItAlong) {
  ClassScene scene(three_alike);
  AskClasses classes = scene.classes({"a-1", "a-2"});
  classes.of(scene.pod("a-1"))->nothing = PlanAsk{};
  classes.done(scene.pod("a-1"));
  EXPECT_TRUE(classes.of(scene.pod("a-2"))->nothing.has_value());
  classes.done(scene.pod("a-2"));
  EXPECT_FALSE(classes.of(scene.pod("a-3"))->nothing.has_value()) << "made anew";
}

TEST(AskClasses, ChangedNodesAreLookedAtAgain) {
  ClassScene scene(R"(
    node n1 gpu=1
    node n2 gpu=1
    pod a-{1..3} gpu=1
  )");
  AskClasses classes = scene.classes({"a-1", "a-2", "a-3"});
  const auto node_for = [&](std::string_view name) {
    const NodeChoice choice = classes.of(scene.pod(name))->room->choose(nullptr);
    return choice.now ? scene.name(*choice.now) : "none";
  };
  EXPECT_EQ(node_for("a-1"), "n1");
  scene.world.bind(scene.pod("a-1"), scene.node("n1"));
  EXPECT_EQ(node_for("a-2"), "n2");
  scene.world.bind(scene.pod("a-2"), scene.node("n2"));
  EXPECT_EQ(node_for("a-3"), "none");
}

TEST(AskClasses, NoneWhereEveryNodeIsToBeExplained) {
  ClassScene scene(three_alike);
  scene.draft.explain = true;
  EXPECT_EQ(scene.classes({"a-1", "a-2"}).of(scene.pod("a-1")), nullptr);
}

}  // namespace
}  // namespace makeway
