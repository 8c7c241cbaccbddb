// Which pods and groups ask, and in which order (SPEC section 1: scheduling priority, creation,
// name).
#include "policies/asking.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

struct AskingScene : ShortCluster {
  explicit AskingScene(std::string_view text) : ShortCluster(text) { request.now = noon; }

  AskingScene& ask(AskKind kind, std::string_view name) {
    request.asks.push_back({.kind = kind, .namespace_name = "default", .name = std::string(name)});
    return *this;
  }
  AskingScene& give(std::string_view pod, std::string_view node) {
    request.placements.push_back(
        {.namespace_name = "default", .name = std::string(pod), .node = std::string(node)});
    return *this;
  }
  /// The first pod of each unit in the order of their turns; or the problem.
  std::string turns() {
    asking = {};
    if (const auto problem = find_asking(cluster, configuration, request, asking)) {
      return problem->object + ": " + problem->message;
    }
    std::vector<PodIndex> firsts;
    firsts.reserve(asking.units.size());
    for (const PendingUnit& unit : asking.units) firsts.push_back(unit.pod);
    return names(firsts);
  }

  PlanRequest request;
  Asking asking;
};

TEST(Asking, NothingIsPending) {
  AskingScene scene("node n1 gpu=1\npod runs @n1\npod gone deleted=12:00:10");
  EXPECT_EQ(scene.turns(), "");
  EXPECT_EQ(scene.asking.others, 0);
}

TEST(Asking, ByPriorityThenCreationThenName) {
  AskingScene scene(R"(
    node n1 gpu=1
    pod low p=-7 created=01:00
    pod never-created p=5
    pod young p=5 created=11:00
    pod old-b p=5 created=10:00
    pod old-a p=5 created=10:00
    pod aaa/old p=5 created=10:00
    pod high p=2147483647 created=11:59
  )");
  EXPECT_EQ(scene.turns(), "high aaa/old old-a old-b young never-created low");
}

TEST(Asking, AGroupAsksOnceWithItsOwnPriorityAndCreation) {
  AskingScene scene(R"(
    node n1 gpu=1
    gang g x3 min=2 p=5 created=11:00
    pod before p=5 created=10:30
    pod after p=5 created=11:30
    pod g-runs @n1 group=g
  )");
  EXPECT_EQ(scene.turns(), "before g-0 after");
}

TEST(Asking, LaterWavesComeAfterEarlierOnesOfTheSameTime) {
  AskingScene scene(R"(
node n1 gpu=9
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, creationTimestamp: "2026-01-01T10:00:00Z"}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c}]}
---
)");
  EXPECT_EQ(scene.turns(), "db-0 db-1");
  EXPECT_EQ(wave_of(scene.cluster, scene.pod("db-0")), 0);
  EXPECT_EQ(wave_of(scene.cluster, scene.pod("db-1")), 1);
}

// SPEC section 1: pending pods of a ReplicaSchedule are no asks.
TEST(Asking, ReplicasDoNotAsk) {
  AskingScene scene(R"(
    node n1 gpu=1 plane=eu
    schedule web gpu=1 plane=eu
    pod web-1 deployment=web
    pod lone
  )");
  EXPECT_EQ(scene.turns(), "lone");
  scene.ask(AskKind::pod, "web-1");
  EXPECT_NE(scene.turns().find("Pod default/web-1: "), std::string::npos);
}

TEST(Asking, NamedAsksAloneAskAndTheOthersAreCounted) {
  AskingScene scene(R"(
    node n1 gpu=1
    gang g x2 min=2 p=9
    pod a p=1
    pod b p=5
    pod c p=5
  )");
  scene.ask(AskKind::pod, "a").ask(AskKind::pod, "b").ask(AskKind::pod, "a");
  EXPECT_EQ(scene.turns(), "b a") << "their order means nothing, nor that one is named twice";
  EXPECT_EQ(scene.asking.others, 3) << "g-0, g-1 and c";
}

TEST(Asking, AGroupThatIsNamedStandsForItsMembers) {
  AskingScene scene("node n1 gpu=1\ngang g x3 min=2 p=9");
  scene.ask(AskKind::pod, "g-1");
  EXPECT_EQ(scene.turns(), "g-1");
  EXPECT_TRUE(scene.asking.units.front().member);
  EXPECT_EQ(scene.asking.others, 2);
  scene.ask(AskKind::pod_group, "g");
  EXPECT_EQ(scene.turns(), "g-0");
  EXPECT_FALSE(scene.asking.units.front().member);
  EXPECT_EQ(scene.asking.others, 0);
}

TEST(Asking, WhatCannotAskIsAProblemThatSaysWhy) {
  constexpr std::string_view text = R"(
    node n1 gpu=1
    pod runs @n1
    pod gone deleted=12:00:10
    gang g min=1
    pod g-0 @n1 group=g
  )";
  EXPECT_EQ(AskingScene(text).ask(AskKind::pod, "missing").turns(),
            "Pod default/missing: there is no such pod in the input");
  EXPECT_EQ(AskingScene(text).ask(AskKind::pod, "gone").turns(),
            "Pod default/gone: it is being deleted");
  EXPECT_EQ(AskingScene(text).ask(AskKind::pod_group, "g").turns(),
            "PodGroup default/g: none of its pods is pending");
  EXPECT_EQ(AskingScene(text).ask(AskKind::pod_group, "h").turns(),
            "PodGroup default/h: there is no such group");
  EXPECT_TRUE(AskingScene(text).ask(AskKind::pod, "runs").turns().starts_with("Pod default/runs:"));
}

TEST(Asking, PlacesAreGivenForItsOwnPodsOnceAndOnNodesThatExist) {
  constexpr std::string_view text = "node n1 gpu=1\nnode n2 gpu=1\npod a\npod b";
  AskingScene scene(text);
  scene.ask(AskKind::pod, "a").give("a", "n2");
  EXPECT_EQ(scene.turns(), "a");
  EXPECT_EQ(scene.asking.given_node(scene.pod("a")), scene.node("n2"));
  EXPECT_EQ(scene.asking.given_node(scene.pod("b")), std::nullopt);
  EXPECT_EQ(scene.asking.given_to(scene.cluster, scene.unit("a")).size(), 1U);
  EXPECT_TRUE(scene.asking.given_to(scene.cluster, scene.unit("b")).empty());

  const auto is_refused = [](AskingScene& refused) {
    return refused.turns().starts_with("Pod default/a: ");
  };
  EXPECT_TRUE(is_refused(AskingScene(text).ask(AskKind::pod, "a").give("b", "n1")));
  EXPECT_TRUE(is_refused(AskingScene(text).ask(AskKind::pod, "a").give("a", "n9")));
  EXPECT_TRUE(is_refused(scene.give("a", "n1"))) << "given twice";
}

TEST(Asking, OnlyOurSchedulersPodsAsk) {
  AskingScene scene("node n1 gpu=1\npod ours scheduler=makeway\npod theirs\npod also scheduler=x");
  const std::vector<std::string> schedulers = {"makeway", "x"};
  scene.request.schedulers = schedulers;
  EXPECT_EQ(scene.turns(), "also ours");
  EXPECT_EQ(scene.asking.others, 1);
}

TEST(Asking, WhatIsLeftOutDoesNotAsk) {
  AskingScene scene("node n1 gpu=1\npod a\npod b");
  PlanLeftOut left_out;
  left_out.namespace_name = "default";
  left_out.name = "a";
  scene.request.left_out = {left_out};
  EXPECT_EQ(scene.turns(), "b");
}

}  // namespace
}  // namespace makeway
