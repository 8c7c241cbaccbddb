// SPEC sections 4 and 8: what a plan for replicas over planes is written as.
#include "kube/replica_jobs.hpp"

#include <gtest/gtest.h>

namespace makeway::kube {
namespace {

ObjectSight sight_named(std::string name, ObjectKind kind = ObjectKind::pod) {
  ObjectSight sight;
  sight.kind = kind;
  sight.namespace_name = "a";
  sight.name = std::move(name);
  sight.uid = "uid-" + sight.name;
  sight.version = "7";
  return sight;
}

class ReplicaJobsTest : public testing::Test {
 protected:
  ReplicaJobsTest() {
    plan.id = "p1";
    home.take({}, {sight_named("reco", ObjectKind::replica_schedule)}, 0);
    PlaneBook& east = planes["east"];
    east.sees = true;
    east.deployments.take(
        {.deployments = {{.namespace_name = "a", .name = "web", .uid = "uid-web", .replicas = 3}},
         .autoscalers = {}});
    ObjectSight pod = sight_named("web-1");
    pod.node = "n1";
    pod.phase = "Running";
    east.objects.take({Node{.name = "n1", .plane = "east"}}, {pod}, 0);
  }

  static PlanAction scale_down() {
    return {.type = ActionType::scale_down,
            .namespace_name = "a",
            .name = "web",
            .ask = "ReplicaSchedule a/reco",
            .scale = PlanScale{.plane = "east", .committed_before = 3, .committed_after = 2},
            .plane = "east"};
  }
  static PlanAction force_delete() {
    return {.type = ActionType::force_delete,
            .namespace_name = "a",
            .name = "web-1",
            .uid = "uid-web-1",
            .node = "n1",
            .ask = "ReplicaSchedule a/reco",
            .plane = "east"};
  }
  void claim() {
    plan.replica_status.push_back(
        {.namespace_name = "a",
         .name = "reco",
         .status = {.claims = {{.since = Time{0}, .plane = "east", .node = "n1", .victims = {}}}}});
  }
  PlanJobs jobs() const {
    PlanJobs made;
    add_replica_jobs(plan, home, planes, brake, made);
    return made;
  }

  Plan plan;
  SightBook home;
  PlaneBooks planes;
  EvictionBrake brake;
};

TEST_F(ReplicaJobsTest, TheStatusGoesHomeBeforeTheScaleGoesToThePlane) {
  claim();
  plan.actions = {scale_down()};
  const PlanJobs made = jobs();
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_EQ(made.jobs[0].object, "ReplicaSchedule a/reco");
  EXPECT_EQ(made.jobs[0].plane, "");
  EXPECT_EQ(made.jobs[0].steps[0].kind, WriteKind::patch_own);
  EXPECT_EQ(made.jobs[0].steps[0].status,
            R"({"claims":[{"plane":"east","node":"n1","since":"1970-01-01T00:00:00Z"}],)"
            R"("missed":null,"surplus":null})");
  const WriteJob& scale = made.jobs[1];
  EXPECT_EQ(scale.plane, "east");
  EXPECT_EQ(scale.told, "Deployment a/web");
  EXPECT_EQ(scale.seen.object.uid, "uid-web");
  EXPECT_EQ(scale.needs, std::vector<std::size_t>{0});
  EXPECT_TRUE(scale.is_eviction);
  ASSERT_EQ(scale.steps.size(), 2U);
  EXPECT_EQ(scale.steps[0].kind, WriteKind::read_scale);
  EXPECT_EQ(scale.steps[1].kind, WriteKind::scale);
  EXPECT_EQ(scale.steps[1].replicas_from, 3);
  EXPECT_EQ(scale.steps[1].replicas_to, 2);
}

TEST_F(ReplicaJobsTest, OnADeadNodeThePodFailsFirst) {
  plan.actions = {force_delete()};
  PlanJobs made = jobs();
  ASSERT_EQ(made.jobs.size(), 1U);
  ASSERT_EQ(made.jobs[0].steps.size(), 1U) << "on a live node its phase is never touched";
  EXPECT_EQ(made.jobs[0].steps[0].kind, WriteKind::erase);
  EXPECT_EQ(made.jobs[0].steps[0].grace_seconds, 0);
  planes["east"].objects.take(
      {Removal{.kind = ObjectKind::node, .namespace_name = {}, .name = "n1", .plane = "east"}}, {},
      0);
  made = jobs();
  ASSERT_EQ(made.jobs[0].steps.size(), 2U);
  EXPECT_EQ(made.jobs[0].steps[0].patch.phase, "Failed");
}

TEST_F(ReplicaJobsTest, WhatCannotBeAskedIsRefusedWithTheReason) {
  const auto reason_of = [this](PlanAction action) {
    plan.actions = {std::move(action)};
    const PlanJobs made = jobs();
    EXPECT_TRUE(made.jobs.empty());
    if (made.refused.size() != 1) return std::string("not refused");
    EXPECT_EQ(made.refused[0].ask, "ReplicaSchedule a/reco");
    return made.refused[0].reason;
  };
  PlanAction action = scale_down();
  action.scale->plane = "west";
  EXPECT_EQ(reason_of(action), "this run has no --plane west=KUBECONFIG");
  action = scale_down();
  action.name = "gone";
  EXPECT_EQ(reason_of(action), "it is gone");
  action = force_delete();
  action.uid = "another";
  EXPECT_EQ(reason_of(action), "it is gone");
  planes["east"].deployments.take(
      {.deployments = {},
       .autoscalers = {{.namespace_name = "a", .name = "up", .deployment = "web"}}});
  EXPECT_EQ(reason_of(scale_down()), "HorizontalPodAutoscaler a/up scales it");
  planes["east"].sees = false;
  EXPECT_EQ(reason_of(scale_down()), "plane east is not seen");
}

TEST_F(ReplicaJobsTest, WithoutItsScheduleNothingIsAskedForIt) {
  claim();
  plan.replica_status[0].name = "gone";
  plan.actions = {scale_down()};
  plan.actions[0].ask = "ReplicaSchedule a/gone";
  const PlanJobs made = jobs();
  EXPECT_TRUE(made.jobs.empty());
  ASSERT_EQ(made.refused.size(), 2U);
  EXPECT_EQ(made.refused[0].object, "ReplicaSchedule a/gone");
  EXPECT_EQ(made.refused[0].reason, "it is gone");
  EXPECT_EQ(made.refused[1].object, "Deployment a/web");
  EXPECT_EQ(made.refused[1].reason, "of ReplicaSchedule a/gone: it is gone");
}

TEST_F(ReplicaJobsTest, ABrakeHoldsBackAScheduleWithItsStatus) {
  claim();
  plan.asks.push_back({.kind = AskKind::replica_schedule, .namespace_name = "a", .name = "reco"});
  plan.actions = {scale_down()};
  std::size_t asked_for = 0;
  brake = [&](const PlanAsk&, const std::vector<const PlanAction*>& victims) {
    asked_for = victims.size();
    return BrakeAnswer{.why = "brake: too many", .until = Time{5'000}};
  };
  const PlanJobs held = jobs();
  EXPECT_EQ(asked_for, 1U);
  EXPECT_TRUE(held.jobs.empty());
  ASSERT_EQ(held.refused.size(), 2U);
  EXPECT_EQ(held.refused[0].object, "ReplicaSchedule a/reco");
  EXPECT_EQ(held.refused[1].object, "Deployment a/web");
  EXPECT_EQ(held.refused[1].reason, "of ReplicaSchedule a/reco: brake: too many");
  EXPECT_EQ(held.refused[1].again_at, Time{5'000});
  brake = [](const PlanAsk&, const std::vector<const PlanAction*>&) { return BrakeAnswer{}; };
  EXPECT_EQ(jobs().jobs.size(), 2U);
}

TEST(ReplicaStatusPatch, WhatIsOverIsTakenAway) {
  EXPECT_EQ(status_patch({}), R"({"claims":null,"missed":null,"surplus":null})");
}

}  // namespace
}  // namespace makeway::kube
