// SPEC section 4, live: what is committed, wanted and usable where.
#include "control/plane_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

namespace makeway {
namespace {

ReplicaSchedule web_schedule(std::int64_t unmet, std::vector<ReplicaPlane> planes) {
  return {.namespace_name = "a",
          .name = "web",
          .deployment = "web",
          .unmet = unmet,
          .planes = std::move(planes)};
}

PlaneState plane_state(std::string plane, std::optional<std::int64_t> replicas, bool sees = true) {
  PlaneState seen_object{.plane = std::move(plane), .sees = sees};
  if (replicas) {
    seen_object.updates.deployments.push_back(
        {.namespace_name = "a", .name = "web", .uid = "u", .replicas = replicas});
  }
  return seen_object;
}

/// The schedule among the reported changes; none: it is not there.
std::optional<ReplicaSchedule> reported_schedule(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) return *schedule;
  }
  return std::nullopt;
}

bool is_taken_away(const std::vector<Change>& changes) {
  return std::ranges::any_of(changes, [](const Change& change) {
    const auto* const gone = std::get_if<Removal>(&change);
    return gone != nullptr && gone->kind == ObjectKind::replica_schedule;
  });
}

struct TimedView {
  explicit TimedView(const std::vector<std::string>& planes) : view(planes) {}
  std::vector<Change> show(std::vector<Change> home, std::vector<PlaneState> planes) {
    return view.show(std::move(home), std::move(planes), now);
  }
  const std::string& note() const { return view.notes().at("a/web").text; }
  OwnFinding::Level level() const { return view.notes().at("a/web").level; }

  PlaneView view;
  Time now{0};
};

// Wanted: 1 unmet, 3 in east and 1 in west, so 5 in all. The Deployments have 2 and 1.
TEST(PlaneView, WhatIsCommittedIsWhatTheDeploymentsSay) {
  TimedView view({"east", "west"});
  const auto reported =
      reported_schedule(view.show({web_schedule(1, {{.name = "east", .committed = 3, .score = 7},
                                                    {.name = "west", .committed = 1}})},
                                  {plane_state("east", 2), plane_state("west", 1)}));
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->planes,
            (std::vector<ReplicaPlane>{{.name = "east", .committed = 2, .score = 7},
                                       {.name = "west", .committed = 1}}));
  EXPECT_EQ(reported->unmet, 2);
  // Scaled up: one less is unmet; nothing else has changed, so nothing else is reported.
  const auto after = view.show({}, {plane_state("east", 3), plane_state("west", std::nullopt)});
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(reported_schedule(after)->unmet, 1);
  EXPECT_TRUE(view.show({}, {plane_state("east", 3)}).empty());
  // More replicas than wanted: nothing is unmet.
  EXPECT_EQ(reported_schedule(view.show({}, {plane_state("east", 9)}))->unmet, 0);
}

TEST(PlaneView, APlaneThatIsNotGivenIsLeftAloneAndOneWithoutTheDeploymentNotUsed) {
  TimedView view({"east", "west"});
  const auto reported =
      reported_schedule(view.show({web_schedule(0, {{.name = "east", .committed = 2},
                                                    {.name = "north", .committed = 4},
                                                    {.name = "west", .committed = 1}})},
                                  {plane_state("east", 2), plane_state("west", {})}));
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->planes, (std::vector<ReplicaPlane>{{.name = "east", .committed = 2}}));
  EXPECT_EQ(reported->unmet, 1)
      << "west's one is wanted somewhere, north's four are where they are";
  EXPECT_EQ(view.level(), OwnFinding::Level::doubtful) << "it counts, in the other planes";
  EXPECT_EQ(view.note(),
            "plane north is ignored: this run has no --plane north=KUBECONFIG; plane west is not "
            "used: it has no Deployment a/web");
}

TEST(PlaneView, AScheduleIsNotShownBeforeItsPlanesWereSeen) {
  TimedView view({"east", "west"});
  const ReplicaSchedule schedule = web_schedule(1, {{.name = "east"}, {.name = "west"}});
  EXPECT_TRUE(
      view.show({schedule}, {plane_state("east", 0), plane_state("west", {}, false)}).empty());
  EXPECT_EQ(view.note(), "nothing is decided about it: plane west was not seen yet");
  EXPECT_EQ(view.level(), OwnFinding::Level::cannot_work) << "nothing of it is in quarantine";
  EXPECT_EQ(reported_schedule(view.show({}, {plane_state("west", 1)}))->unmet, 0);
  // Not watched again: its state is still known.
  EXPECT_TRUE(view.show({}, {plane_state("west", {}, false)}).empty());
  EXPECT_TRUE(view.view.notes().empty());
}

/// With `trust.deploymentLabels: selected`, as in a live run.
TEST(PlaneView, AScheduleWithoutASelectorIsNotShownWhereOneIsNeeded) {
  PlaneView view({"east"}, true);
  ReplicaSchedule schedule = web_schedule(1, {{.name = "east"}});
  EXPECT_TRUE(view.show({schedule}, {plane_state("east", 1)}, Time{0}).empty());
  EXPECT_TRUE(view.notes().at("a/web").text.contains("spec.selector is missing"));
  schedule.selector = {{"app", "web"}};
  EXPECT_TRUE(reported_schedule(view.show({schedule}, {}, Time{0})));
  EXPECT_TRUE(view.notes().empty());
}

TEST(PlaneView, AnAutoscalerTakesAScheduleAway) {
  TimedView view({"east"});
  EXPECT_TRUE(reported_schedule(
      view.show({web_schedule(1, {{.name = "east"}})}, {plane_state("east", 1)})));
  PlaneState scaled = plane_state("east", {});
  scaled.updates.autoscalers = {{.namespace_name = "a", .name = "up", .deployment = "web"}};
  EXPECT_TRUE(is_taken_away(view.show({}, {scaled})));
  EXPECT_TRUE(
      view.note().contains("HorizontalPodAutoscaler a/up scales Deployment "
                           "a/web in plane east"));
  scaled.updates.autoscalers = {{.namespace_name = "a", .name = "up"}};
  EXPECT_TRUE(reported_schedule(view.show({}, {scaled})));
}

TEST(PlaneView, NodesOfAPlaneThatIsNotWatchedAreClosed) {
  TimedView view({"east"});
  PlaneState seen = plane_state("east", {});
  seen.changes = {Node{.name = "n1", .plane = "east"}, Node{.name = "n2", .plane = "east"}};
  const auto is_closed = [](const Change& change) { return std::get<Node>(change).unschedulable; };
  std::vector<Change> reported = view.show({}, {seen});
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_TRUE(std::ranges::none_of(reported, is_closed));
  // The last update of its server removes the second node.
  PlaneState lost = plane_state("east", {}, false);
  lost.changes = {Removal{.kind = ObjectKind::node, .name = "n2", .plane = "east"}};
  reported = view.show({}, {lost});
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Removal>(reported[0]));
  EXPECT_TRUE(is_closed(reported[1]));
  EXPECT_TRUE(view.show({}, {plane_state("east", {}, false)}).empty());
  reported = view.show({}, {plane_state("east", {})});
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_FALSE(is_closed(reported[0]));
}

/// A process recorded a force-deletion and died before it was sent.
TEST(PlaneView, AForceDeletionThatWasNeverSentIsDecidedAgain) {
  TimedView view({"east"});
  ReplicaSchedule schedule = web_schedule(1, {{.name = "east"}});
  schedule.status.claims = {
      {.since = Time{0},
       .plane = "east",
       .node = "n1",
       .victims = {{.namespace_name = "a", .name = "old", .uid = "u", .force_deleted = Time{0}}}}};
  PlaneState seen_object = plane_state("east", 0);
  Pod pod{.namespace_name = "a", .name = "old", .uid = "u", .plane = "east", .node = "n1"};
  pod.deletion = Time{0};
  pod.deletion_grace_seconds = 30;
  seen_object.changes = {pod};
  const auto is_forced = [](const std::vector<Change>& changes) {
    return reported_schedule(changes)->status.claims[0].victims[0].force_deleted.has_value();
  };
  EXPECT_TRUE(is_forced(view.show({schedule}, {seen_object})));
  ASSERT_EQ(view.view.next_due(), Time{10'000});
  view.now = Time{10'000};
  EXPECT_FALSE(is_forced(view.show({}, {plane_state("east", {})})));
  // Sent, its grace is 0.
  pod.deletion_grace_seconds = 0;
  seen_object = plane_state("east", 0);
  seen_object.changes = {pod};
  EXPECT_TRUE(is_forced(view.show({schedule}, {seen_object})));
  EXPECT_FALSE(view.view.next_due());
}

TEST(PlaneView, AScheduleThatIsGoneIsGone) {
  TimedView view({"east"});
  view.show({web_schedule(1, {{.name = "east"}})}, {plane_state("east", 1)});
  const Removal gone{.kind = ObjectKind::replica_schedule, .namespace_name = "a", .name = "web"};
  EXPECT_TRUE(is_taken_away(view.show({gone}, {})));
  EXPECT_TRUE(view.show({gone}, {}).empty());
}

}  // namespace
}  // namespace makeway
