// Law 14: which ask is being decided, so that a failed check leaves out that ask alone.
#include "policies/shared/deciding.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

std::string asks_text(const std::vector<AskName>& asks) {
  std::string text;
  for (const AskName& ask : asks) text += ask_text(ask) + ";";
  return text;
}

constexpr std::string_view deciding_cluster = R"(
node n1 gpu=1 plane=eu
pod lone
gang g x1 min=1
schedule web gpu=1 plane=eu unmet=1
schedule api gpu=1 plane=eu unmet=1
)";

TEST(Deciding, TheCurrentAskIsTheLastThatStarted) {
  const ShortCluster scene(deciding_cluster);
  Deciding deciding(scene.cluster);
  EXPECT_TRUE(deciding.current_asks().empty());
  deciding.start(scene.unit("lone"));
  EXPECT_EQ(asks_text(deciding.current_asks()), "Pod default/lone;");
  deciding.start(scene.unit("g"));
  EXPECT_EQ(asks_text(deciding.current_asks()), "PodGroup default/g;");
  deciding.start({.kind = AskKind::session, .namespace_name = "team", .name = "train"});
  EXPECT_EQ(asks_text(deciding.current_asks()), "Session team/train;");
  deciding.start_queues();
  ASSERT_EQ(deciding.current_asks().size(), 1U);
  EXPECT_EQ(deciding.current_asks().front().kind, AskKind::queue);
  EXPECT_EQ(deciding.current_asks().front().name, "") << "the whole stage";
  deciding.end();
  EXPECT_TRUE(deciding.current_asks().empty());
}

TEST(Deciding, WhatSchedulesShareIsTheFaultOfAll) {
  const ShortCluster scene(deciding_cluster);
  Deciding deciding(scene.cluster);
  deciding.start_replicas();
  EXPECT_EQ(asks_text(deciding.current_asks()),
            "ReplicaSchedule default/api;ReplicaSchedule default/web;");
  deciding.start(scene.cluster.own<ReplicaSchedule>().begin()->second);
  EXPECT_EQ(asks_text(deciding.current_asks()), "ReplicaSchedule default/api;");
}

TEST(Deciding, TheWatcherHearsEveryAskButNotWhatSchedulesShare) {
  const ShortCluster scene(deciding_cluster);
  std::vector<AskName> heard;
  Deciding deciding(scene.cluster, [&](const AskName& ask) { heard.push_back(ask); });
  deciding.start(scene.unit("lone"));
  deciding.start_replicas();
  deciding.start(scene.cluster.own<ReplicaSchedule>().begin()->second);
  deciding.end();
  EXPECT_EQ(asks_text(heard), "Pod default/lone;ReplicaSchedule default/api;");
}

TEST(Deciding, AnAskIsLeftOutByKindNamespaceAndName) {
  PlanRequest request;
  const AskName ask{.kind = AskKind::pod, .namespace_name = "default", .name = "a"};
  EXPECT_FALSE(is_left_out(request, ask));
  PlanLeftOut left_out;
  left_out.kind = AskKind::pod_group;
  left_out.namespace_name = "default";
  left_out.name = "a";
  request.left_out = {left_out};
  EXPECT_FALSE(is_left_out(request, ask)) << "a group of that name";
  left_out.kind = AskKind::pod;
  left_out.namespace_name = "other";
  request.left_out.push_back(left_out);
  EXPECT_FALSE(is_left_out(request, ask));
  left_out.namespace_name = "default";
  request.left_out.push_back(left_out);
  EXPECT_TRUE(is_left_out(request, ask));
}

}  // namespace
}  // namespace makeway
