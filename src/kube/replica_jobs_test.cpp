// SPEC sections 4 and 8: what a plan for replicas over planes is written as.
#include "kube/replica_jobs.hpp"

#include <gtest/gtest.h>

namespace makeway::kube {
namespace {

ObjectState state_named(std::string name, ObjectKind kind = ObjectKind::pod) {
  ObjectState seen_object;
  seen_object.kind = kind;
  seen_object.namespace_name = "a";
  seen_object.name = std::move(name);
  seen_object.uid = "uid-" + seen_object.name;
  seen_object.version = "7";
  return seen_object;
}

class ReplicaJobsTest : public testing::Test {
 protected:
  ReplicaJobsTest() {
    plan.id = "p1";
    home.take({}, {state_named("reco", ObjectKind::replica_schedule)}, 0);
    PlaneCache& east = planes["east"];
    east.sees = true;
    east.deployments.take(
        {.deployments = {
             {.namespace_name = "a", .name = "web", .uid = "uid-web", .replicas = 3},
             {.namespace_name = "a", .name = "reco", .uid = "uid-reco", .replicas = 0}}});
    ObjectState pod = state_named("web-1");
    pod.node = "n1";
    pod.phase = "Running";
    east.objects.take({Node{.name = "n1", .plane = "east"}}, {pod}, 0);
  }

  static PlanAction scale_down() {
    return {.type = ActionType::scale_down,
            .namespace_name = "a",
            .name = "web",
            .ask = parse_ref("ReplicaSchedule a/reco"),
            .scale = PlanScale{.plane = "east", .committed_before = 3, .committed_after = 2},
            .plane = "east"};
  }
  static PlanAction force_delete() {
    return {.type = ActionType::force_delete,
            .namespace_name = "a",
            .name = "web-1",
            .uid = "uid-web-1",
            .node = "n1",
            .ask = parse_ref("ReplicaSchedule a/reco"),
            .plane = "east"};
  }
  static PlanAction scale_up() {
    return {.type = ActionType::scale_up,
            .namespace_name = "a",
            .name = "reco",
            .ask = parse_ref("ReplicaSchedule a/reco"),
            .scale = PlanScale{.plane = "east", .committed_before = 0, .committed_after = 1},
            .plane = "east"};
  }
  void claim() {
    plan.replica_status.push_back(
        {.namespace_name = "a",
         .name = "reco",
         .status = {.claims = {{.since = Time{0}, .plane = "east", .node = "n1"}}}});
  }
  static ReplicaClaim claim_of(std::string node, const std::vector<std::string>& victims) {
    ReplicaClaim made{.since = Time{0}, .plane = "east", .node = std::move(node)};
    for (const std::string& victim : victims) {
      made.victims.push_back({.namespace_name = "a", .name = victim});
    }
    return made;
  }
  /// reco claims the room of web-3 and web-2, and keeps its claims of the room of web-1, which is
  /// leaving, and of web-4, which is not. A brake holds back the scale-down for it.
  void hold_back() {
    PlanReplicas replicas{.deployment = "reco"};
    PlanReplicaClaim kept{.plane = "east", .node = "n1", .kept = true};
    kept.victims.push_back(
        {.namespace_name = "a", .name = "web-1", .action = ReplicaAction::force_delete});
    PlanReplicaClaim added{.plane = "east", .node = "n3"};
    added.victims.push_back({.namespace_name = "a", .name = "web-2"});
    added.victims.push_back(
        {.namespace_name = "a", .name = "web-3", .action = ReplicaAction::scale_down});
    PlanReplicaClaim again{.plane = "east", .node = "n4", .kept = true};
    again.victims.push_back(
        {.namespace_name = "a", .name = "web-4", .action = ReplicaAction::scale_down});
    replicas.claims = {kept, again, added};
    PlanAsk ask{.kind = AskKind::replica_schedule, .namespace_name = "a", .name = "reco"};
    ask.replicas = replicas;
    plan.asks.push_back(std::move(ask));
    brake = [](const PlanAsk&, const std::vector<const PlanAction*>&) {
      return BrakeAnswer{.why = "brake: too many", .until = Time{5'000}};
    };
  }
  PlanJobs jobs() const {
    PlanJobs made;
    add_replica_jobs(plan, home, planes, brake, made);
    return made;
  }

  Plan plan;
  VersionCache home;
  PlaneCaches planes;
  EvictionBrake brake;
};

TEST_F(ReplicaJobsTest, TheStatusGoesHomeBeforeTheScaleGoesToThePlane) {
  claim();
  plan.actions = {scale_down()};
  const PlanJobs made = jobs();
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "ReplicaSchedule a/reco");
  EXPECT_EQ(made.jobs[0].object.plane, "");
  EXPECT_EQ(made.jobs[0].steps[0].kind, WriteKind::patch_own);
  EXPECT_EQ(made.jobs[0].steps[0].status,
            R"({"claims":[{"plane":"east","node":"n1","since":"1970-01-01T00:00:00Z"}],)"
            R"("missed":null,"surplus":null})");
  const WriteJob& scale = made.jobs[1];
  EXPECT_EQ(scale.object.plane, "east");
  EXPECT_EQ(ref_text(scale.object), "Deployment a/web");
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
  planes["east"].objects.take({Removal{.kind = ObjectKind::node, .name = "n1", .plane = "east"}},
                              {}, 0);
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
    EXPECT_EQ(made.refused[0].ask, parse_ref("ReplicaSchedule a/reco"));
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
      {.autoscalers = {{.namespace_name = "a", .name = "up", .deployment = "web"}}});
  EXPECT_EQ(reason_of(scale_down()), "HorizontalPodAutoscaler a/up scales it");
  planes["east"].sees = false;
  EXPECT_EQ(reason_of(scale_down()), "plane east is not seen");
}

TEST_F(ReplicaJobsTest, WithoutItsScheduleNothingIsAskedForIt) {
  claim();
  plan.replica_status[0].name = "gone";
  plan.actions = {scale_down()};
  plan.actions[0].ask = parse_ref("ReplicaSchedule a/gone");
  const PlanJobs made = jobs();
  EXPECT_TRUE(made.jobs.empty());
  ASSERT_EQ(made.refused.size(), 2U);
  EXPECT_EQ(ref_text(made.refused[0].object), "ReplicaSchedule a/gone");
  EXPECT_EQ(made.refused[0].reason, "it is gone");
  EXPECT_EQ(ref_text(made.refused[1].object), "Deployment a/web");
  EXPECT_EQ(made.refused[1].reason, "of ReplicaSchedule a/gone: it is gone");
}

TEST_F(ReplicaJobsTest, ABrakeHoldsBackTheClaimWithTheScaleDown) {
  hold_back();
  plan.replica_status.push_back({.namespace_name = "a",
                                 .name = "reco",
                                 .status = {.claims = {claim_of("n3", {"web-2", "web-3"})}}});
  plan.actions = {scale_down()};
  const PlanJobs held = jobs();
  EXPECT_TRUE(held.jobs.empty());
  ASSERT_EQ(held.refused.size(), 2U);
  EXPECT_EQ(ref_text(held.refused[0].object), "ReplicaSchedule a/reco");
  EXPECT_EQ(held.refused[0].object.plane, "");
  EXPECT_EQ(ref_text(held.refused[1].object), "Deployment a/web");
  EXPECT_EQ(held.refused[1].object.plane, "east");
  EXPECT_EQ(held.refused[1].reason, "of ReplicaSchedule a/reco: brake: too many");
  EXPECT_EQ(held.refused[1].again_at, Time{5'000});
  brake = [](const PlanAsk&, const std::vector<const PlanAction*>&) { return BrakeAnswer{}; };
  EXPECT_EQ(jobs().jobs.size(), 2U);
}

/// A brake holds back evictions only; there is room for one replica, and a claim that stands.
TEST_F(ReplicaJobsTest, AnActionWithoutVictimsIsNotHeldBack) {
  hold_back();
  plan.actions = {scale_up(), scale_down(), force_delete()};
  PlanAction other = force_delete();
  other.name = "web-2";
  other.uid.clear();
  plan.actions.push_back(other);
  PlanJobs made = jobs();
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Deployment a/reco");
  EXPECT_EQ(ref_text(made.jobs[1].object), "Pod a/web-1");
  ASSERT_EQ(made.refused.size(), 2U);
  EXPECT_EQ(ref_text(made.refused[0].object), "Deployment a/web");
  EXPECT_EQ(ref_text(made.refused[1].object), "Pod a/web-2");
  EXPECT_EQ(made.refused[1].reason, "of ReplicaSchedule a/reco: brake: too many")
      << "its claim is not recorded";

  // Its status is written at home first, without the claim that has no victims.
  plan.replica_status.push_back(
      {.namespace_name = "a",
       .name = "reco",
       .status = {.claims = {claim_of("n1", {"web-1"}), claim_of("n3", {"web-2", "web-3"}),
                             claim_of("n4", {"web-4"}), claim_of("n4", {"web-4", "gone"})}}});
  made = jobs();
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(
      made.jobs[0].steps[0].status,
      status_patch({.claims = {claim_of("n1", {"web-1"}), claim_of("n4", {"web-4", "gone"})}}));
  EXPECT_EQ(made.jobs[1].needs, std::vector<std::size_t>{0});
  EXPECT_EQ(made.jobs[2].needs, std::vector<std::size_t>{0});

  // Where that is what the server shows, nothing is written.
  ReplicaSchedule shown{.namespace_name = "a", .name = "reco"};
  shown.status.claims = {claim_of("n1", {"web-1"}), claim_of("n4", {"web-4", "gone"})};
  home.take({shown}, {}, 0);
  made = jobs();
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_TRUE(made.jobs[0].needs.empty());
  EXPECT_EQ(ref_text(made.refused[0].object), "ReplicaSchedule a/reco");
  EXPECT_EQ(made.refused[0].again_at, Time{5'000});
}

TEST_F(ReplicaJobsTest, AClaimThatWasRecordedIsTakenBackWhileABrakeHolds) {
  hold_back();
  plan.actions = {scale_down()};
  ReplicaSchedule shown{.namespace_name = "a", .name = "reco"};
  shown.status.claims = {claim_of("n1", {"web-1"}), claim_of("n4", {"web-4"})};
  home.take({shown}, {}, 0);
  PlanJobs made = jobs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].steps[0].status, status_patch({.claims = {claim_of("n1", {"web-1"})}}));
  shown.status.claims.pop_back();
  home.take({shown}, {}, 0);
  made = jobs();
  EXPECT_TRUE(made.jobs.empty()) << "once";
}

/// The second one takes from 2 to 1, and there are 3 as long as the first one waits.
TEST_F(ReplicaJobsTest, AScheduleAfterOneThatIsHeldBackWaitsWithIt) {
  hold_back();
  PlanAsk second{.kind = AskKind::replica_schedule, .namespace_name = "a", .name = "job"};
  PlanAsk third = second;
  third.name = "other";
  plan.asks.push_back(second);
  plan.asks.push_back(third);
  home.take({},
            {state_named("job", ObjectKind::replica_schedule),
             state_named("other", ObjectKind::replica_schedule)},
            0);
  plan.actions = {scale_down(), scale_down(), scale_down()};
  plan.actions[1].ask = parse_ref("ReplicaSchedule a/job");
  plan.actions[2].ask = parse_ref("ReplicaSchedule a/other");
  plan.actions[2].name = "reco";
  std::vector<std::string> asked;
  brake = [&](const PlanAsk& ask, const std::vector<const PlanAction*>&) {
    asked.push_back(ask.name);
    return BrakeAnswer{.why = ask.name == "reco" ? "brake: too many" : "", .until = Time{5'000}};
  };
  const PlanJobs made = jobs();
  EXPECT_EQ(asked, (std::vector<std::string>{"reco", "other"}));
  ASSERT_EQ(made.refused.size(), 2U);
  EXPECT_EQ(made.refused[1].reason,
            "of ReplicaSchedule a/job: ReplicaSchedule a/reco comes first there: brake: too many");
  EXPECT_EQ(made.refused[1].again_at, Time{5'000});
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Deployment a/reco") << "of others they may take";
}

TEST(ReplicaStatusPatch, WhatIsOverIsTakenAway) {
  EXPECT_EQ(status_patch({}), R"({"claims":null,"missed":null,"surplus":null})");
}

}  // namespace
}  // namespace makeway::kube
