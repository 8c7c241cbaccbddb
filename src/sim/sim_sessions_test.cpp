// SPEC sections 6 and 9: sessions in the simulated world, by hand.
#include "sim/sim_sessions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "model/request.hpp"
#include "sim/sim_world.hpp"

namespace makeway {
namespace {

SimTask session_task(std::string name, std::int64_t run_s) {
  return {.kind = TaskKind::session,
          .name = std::move(name),
          .run = {run_s * 1'000},
          .recreate = {300'000},
          .pods = 2,
          .requests = {{"cpu", 1'000}, {"memory", 4}},
          .resource_group = "people"};
}

SimLoad session_load(SimTask task) {
  SimLoad load;
  load.objects.emplace_back(
      Node{.name = "n1", .allocatable = {{"cpu", 2'000}, {"memory", 10}, {"pods", 10}}});
  load.objects.emplace_back(ResourceGroup{.name = "people", .nodes = {"n1"}});
  load.tasks.push_back(std::move(task));
  return load;
}

/// Both kernels start on n1.
Plan start_plan(const std::string& name) {
  Plan plan;
  PlanAsk ask{.kind = AskKind::session, .namespace_name = "default", .name = name};
  ask.outcome = Outcome::fits;
  ask.session.emplace();
  for (const std::string kernel : {"kernel-000", "kernel-001"}) {
    const std::string place = fmt::format("{}/{}", name, kernel);
    ask.placements.push_back({.namespace_name = "default", .name = place, .node = "n1"});
    plan.actions.push_back({.type = ActionType::bind,
                            .namespace_name = "default",
                            .name = place,
                            .uid = "uid-" + name,
                            .node = "n1"});
  }
  plan.asks.push_back(std::move(ask));
  return plan;
}

/// It leaves at once for another session.
Plan notice_plan(const std::string& name, ActionType type, SessionFate fate, Time now,
                 std::optional<Time> resume_after) {
  Plan plan;
  PlanAsk ask{.kind = AskKind::session, .namespace_name = "default", .name = "urgent"};
  ask.session.emplace();
  ask.session->victims.push_back({.namespace_name = "default",
                                  .name = name,
                                  .fate = fate,
                                  .ends_at = now,
                                  .resume_after = resume_after});
  plan.actions.push_back({.type = type,
                          .namespace_name = "default",
                          .name = name,
                          .uid = "uid-" + name,
                          .ask = ref_of(ask)});
  plan.asks.push_back(std::move(ask));
  return plan;
}

std::optional<Session> last_session(const Batch& batch) {
  std::optional<Session> last;
  for (const Change& change : batch.changes) {
    if (const Session* const session = std::get_if<Session>(&change)) last = *session;
  }
  return last;
}

TEST(SimSessions, AllKernelsStartTogetherAndTheRunEnds) {
  const SimLoad load = session_load(session_task("train", 60));
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(start_plan("train"));
  const std::optional<Session> started = last_session(world.poll({}));
  ASSERT_TRUE(started.has_value());
  EXPECT_EQ(started->status.phase, SessionPhase::running);
  EXPECT_EQ(started->kernels.at(1).node, "n1");
  const Batch ended = world.poll(Time{600'000});
  EXPECT_EQ(ended.now, Time{60'000});
  EXPECT_TRUE(std::holds_alternative<Removal>(ended.changes.at(0)));
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.runs.at(0).end, Time{60'000});
  EXPECT_EQ(metrics.resources.at("cpu").useful, Wide{60'000} * 2'000);
}

TEST(SimSessions, WhatDoesNotFitIsRefusedWhole) {
  SimTask large = session_task("train", 60);
  large.requests = {{"cpu", 1'000}, {"memory", 6}};
  const SimLoad load = session_load(std::move(large));
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(start_plan("train"));
  const Batch batch = world.poll({});
  ASSERT_FALSE(batch.receipts.empty());
  EXPECT_EQ(ref_text(batch.receipts.at(0).object), "Session default/train");
  EXPECT_FALSE(last_session(batch).has_value());
  EXPECT_GE(world.finish().refused, 1);
}

TEST(SimSessions, APersonComesBackToASessionThatWaitsForOne) {
  const SimLoad load = session_load(session_task("notebook", 60));
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(start_plan("notebook"));
  world.poll({});
  world.poll(Time{20'000});
  world.submit(notice_plan("notebook", ActionType::evict, SessionFate::on_request, Time{20'000},
                           std::nullopt));
  EXPECT_EQ(last_session(world.poll({}))->status.phase, SessionPhase::preempted);
  const Batch back = world.poll(Time{900'000});
  EXPECT_EQ(back.now, Time{320'000});
  EXPECT_EQ(last_session(back)->status.phase, SessionPhase::pending);
  world.submit(start_plan("notebook"));
  world.poll({});
  EXPECT_EQ(world.poll(Time{900'000}).now, Time{380'000});  // Nothing of it was saved.
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.victims, 1);
  EXPECT_EQ(metrics.runs.at(0).interruptions, 1);
}

TEST(SimSessions, AnEndedSessionIsStartedAgainUnderANewName) {
  const SimLoad load = session_load(session_task("batch", 60));
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(start_plan("batch"));
  world.poll({});
  world.poll(Time{20'000});
  world.submit(
      notice_plan("batch", ActionType::evict, SessionFate::ends, Time{20'000}, std::nullopt));
  world.poll({});
  const Batch back = world.poll(Time{900'000});
  EXPECT_EQ(back.now, Time{320'000});
  EXPECT_EQ(last_session(back)->name, "batch-r1");
}

TEST(SimSessions, ASuspendedSessionKeepsItsMemoryAndLosesNothing) {
  const SimLoad load = session_load(session_task("train", 60));
  SimWorld world(load, {.sample = {}});
  world.poll({});
  world.submit(start_plan("train"));
  world.poll({});
  world.poll(Time{20'000});
  world.submit(
      notice_plan("train", ActionType::suspend, SessionFate::suspends, Time{20'000}, std::nullopt));
  const std::optional<Session> suspended = last_session(world.poll({}));
  EXPECT_EQ(suspended->status.phase, SessionPhase::suspended);
  EXPECT_EQ(suspended->kernels.at(0).node, "n1");
  world.poll(Time{100'000});
  Plan resume;
  resume.actions.push_back({.type = ActionType::resume,
                            .namespace_name = "default",
                            .name = "train",
                            .uid = "uid-train"});
  world.submit(resume);
  world.poll({});
  EXPECT_EQ(world.poll(Time{900'000}).now, Time{140'000});
  EXPECT_EQ(world.finish().resources.at("cpu").lost, 0);
}

TEST(SimSessions, ASessionOfASnapshotLeavesWhenItsGraceIsOver) {
  SimLoad load = session_load(session_task("later", 60));
  load.tasks.clear();
  Session session{.namespace_name = "default", .name = "there", .uid = "uid-there"};
  session.resource_group = "people";
  session.kernels.push_back({.name = "main", .requests = {{"cpu", 2'000}}, .node = "n1"});
  session.status.phase = SessionPhase::running;
  session.status.ends_at = Time{20'000};
  session.status.fate = SessionFate::requeues;
  session.status.resume_after = Time{50'000};
  load.objects.emplace_back(session);
  SimWorld world(load, {.sample = {}});
  EXPECT_EQ(world.poll({}).changes.size(), 3U);
  const Batch gone = world.poll(Time{60'000});
  EXPECT_EQ(gone.now, Time{20'000});
  EXPECT_EQ(last_session(gone)->status.phase, SessionPhase::preempted);
}

}  // namespace
}  // namespace makeway
