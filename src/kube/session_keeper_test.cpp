#include "kube/session_keeper.hpp"

#include <gtest/gtest.h>

#include "codec/json_text.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway::kube {
namespace {

constexpr Time at_noon{1'767'268'800'000};
constexpr std::string_view small_template =
    R"({"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}})";

Session kept_session(const std::string& name, const std::vector<std::string>& kernels) {
  Session session{.namespace_name = "team", .name = name, .uid = "uid-" + name};
  session.resource_group = "gpu";
  for (const std::string& kernel : kernels) {
    session.kernels.push_back({.name = kernel, .pod_template = std::string(small_template)});
  }
  return session;
}

/// A keeper and what it is shown.
class SessionKeeperTest : public testing::Test {
 protected:
  SessionKeeperTest() { see({Node{.name = "n1"}, Node{.name = "n2"}}); }

  void see(const std::vector<Change>& changes, std::vector<ObjectState> objects_seen = {}) {
    keeper.saw(changes, objects_seen);
    cache.take(changes, std::move(objects_seen), 0);
  }
  void show(const Session& session) {
    ObjectState seen_object{.kind = ObjectKind::session,
                            .namespace_name = session.namespace_name,
                            .name = session.name,
                            .uid = session.uid,
                            .version = "7"};
    see({session}, {seen_object});
  }
  void show_pod(const std::string& name, const std::string& owner, const std::string& phase,
                bool leaving = false, const std::string& reason = {}) {
    ObjectState seen_object{.namespace_name = "team",
                            .name = name,
                            .uid = "uid-" + name,
                            .version = "8",
                            .leaving = leaving,
                            .node = "n1",
                            .phase = phase,
                            .reason = reason,
                            .owner_uid = owner,
                            .owner_kind = "Session"};
    const bool finished = phase == "Succeeded" || phase == "Failed";
    Change change =
        Pod{.namespace_name = "team", .name = name, .uid = seen_object.uid, .node = "n1"};
    if (finished) change = removal(name);
    see({change}, {seen_object});
  }
  static Removal removal(const std::string& name) {
    return {.kind = ObjectKind::pod, .namespace_name = "team", .name = name};
  }
  PlanJobs repairs(Time now = at_noon) { return keeper.repairs(cache, now); }
  PlanJobs jobs(const Plan& plan) {
    PlanJobs made;
    keeper.add_jobs(plan, cache, {}, made);
    return made;
  }
  static Session running(Session session, const std::string& node = "n1") {
    std::vector<KernelPlace> places;
    places.reserve(session.kernels.size());
    for (const Kernel& kernel : session.kernels) places.push_back({kernel.name, node});
    return start_session(std::move(session), places, at_noon);
  }
  static Session noticed(Session session, SessionFate fate, Duration grace = {}) {
    return notice_session(std::move(session), {.by = "Session team/high",
                                               .fate = fate,
                                               .now = at_noon,
                                               .ends_at = at_noon + grace,
                                               .resume_after = at_noon + Duration{30'000}});
  }
  static Plan start_plan(const Session& session, const std::string& node) {
    Plan plan{.id = "0123", .now = at_noon};
    PlanAsk ask{.kind = AskKind::session,
                .namespace_name = session.namespace_name,
                .name = session.name,
                .outcome = Outcome::fits};
    ask.session.emplace();
    for (const Kernel& kernel : session.kernels) {
      const std::string name = session.name + "/" + kernel.name;
      ask.placements.push_back(
          {.namespace_name = session.namespace_name, .name = name, .node = node});
      plan.actions.push_back({.type = ActionType::bind,
                              .namespace_name = session.namespace_name,
                              .name = name,
                              .uid = session.uid,
                              .node = node});
    }
    plan.asks.push_back(std::move(ask));
    return plan;
  }
  static Plan preempt_plan(const Session& high, const Session& low, Duration grace) {
    Plan plan{.id = "0124", .now = at_noon};
    PlanAsk ask{.kind = AskKind::session,
                .namespace_name = high.namespace_name,
                .name = high.name,
                .outcome = Outcome::preempts};
    ask.reason = "1 session leaves";
    ask.reason_mentions = Mentions::none_in(ask.reason);
    ask.placements.push_back({.namespace_name = "team", .name = high.name + "/a", .node = "n1"});
    ask.session.emplace();
    ask.session->victims.push_back({.namespace_name = "team",
                                    .name = low.name,
                                    .fate = SessionFate::requeues,
                                    .ends_at = at_noon + grace,
                                    .resume_after = at_noon + grace + Duration{30'000},
                                    .preemptions = 1});
    plan.asks.push_back(std::move(ask));
    plan.actions.push_back({.type = ActionType::requeue,
                            .namespace_name = "team",
                            .name = low.name,
                            .uid = low.uid,
                            .node = "n1",
                            .ask = parse_ref("Session team/" + high.name)});
    plan.actions.push_back({.type = ActionType::nominate,
                            .namespace_name = "team",
                            .name = high.name + "/a",
                            .uid = high.uid,
                            .node = "n1"});
    return plan;
  }
  /// "False Unschedulable: has no room": what its condition becomes; empty: it stays.
  static std::string word_of(const WriteJob& job) {
    const std::vector<ConditionUpdate>& conditions = job.steps.front().patch.conditions;
    if (conditions.empty()) return {};
    const ConditionUpdate& update = conditions.front();
    EXPECT_EQ(update.type, "makeway.dev/Scheduled");
    return (update.value ? "True " : "False ") + update.reason + ": " + update.message;
  }
  static std::string status_of(const WriteJob& job) {
    EXPECT_EQ(job.steps.size(), 1U);
    EXPECT_EQ(job.steps.front().kind, WriteKind::patch_own);
    return job.steps.front().status;
  }

  VersionCache cache;
  SessionKeeper keeper{{.scheduler = "makeway"}};
};

TEST_F(SessionKeeperTest, AStartIsTheStatusAndThenAPodAKernel) {
  const Session train = kept_session("train", {"a", "b"});
  show(train);
  EXPECT_TRUE(repairs().jobs.empty());
  const PlanJobs made = jobs(start_plan(train, "n1"));
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Session team/train");
  EXPECT_EQ(status_of(made.jobs[0]),
            R"({"phase":"running","started":"2026-01-01T12:00:00Z","endsAt":null,)"
            R"("preemptions":0,"preemptedBy":null,"preemptedAt":null,"fate":null,)"
            R"("resumeAfter":null,"kernels":[{"name":"a","node":"n1"},{"name":"b","node":"n1"}]})");
  EXPECT_EQ(word_of(made.jobs[0]), "True Scheduled: ");
  EXPECT_EQ(ref_text(made.jobs[1].object), "Pod team/train-a-0");
  EXPECT_EQ(made.jobs[1].needs, std::vector<std::size_t>{0});
  EXPECT_EQ(made.jobs[1].steps[0].kind, WriteKind::create_pod);
  EXPECT_EQ(
      made.jobs[1].steps[0].pod,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-a-0","namespace":"team",)"
      R"("labels":{"app":"x"},"annotations":{"makeway.dev/plan":"0123"},"ownerReferences":[)"
      R"({"apiVersion":"makeway.dev/v1","kind":"Session","name":"train","uid":"uid-train",)"
      R"("controller":true}]},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"n1",)"
      R"("schedulerName":"makeway","restartPolicy":"Never","tolerations":[)"
      R"({"key":"makeway.dev/resource-group","operator":"Exists"}]}})");
  // Nothing is repeated while it is on its way, nor when it has come.
  EXPECT_TRUE(repairs().jobs.empty());
  show(running(train));
  EXPECT_TRUE(repairs().jobs.empty());
  show_pod("train-a-0", "uid-train", "Running");
  show_pod("train-b-0", "uid-train", "Pending");
  EXPECT_TRUE(repairs(at_noon + Duration{100'000}).jobs.empty());
}

TEST_F(SessionKeeperTest, TheNextProcessCreatesWhatIsMissing) {
  show(running(kept_session("train", {"a", "b"})));
  show_pod("train-a-0", "uid-train", "Running");
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod team/train-b-0");
  EXPECT_TRUE(made.jobs[0].needs.empty());
  EXPECT_TRUE(repairs().jobs.empty());
}

TEST_F(SessionKeeperTest, APreemptionIsTheStatusAndThenTheDeletes) {
  const Session low = running(kept_session("low", {"a"}));
  const Session high = kept_session("high", {"a"});
  show(low);
  show(high);
  show_pod("low-a-0", "uid-low", "Running");
  EXPECT_TRUE(repairs().jobs.empty());
  const PlanJobs made = jobs(preempt_plan(high, low, Duration{20'000}));
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Session team/high");  // The nomination.
  EXPECT_NE(status_of(made.jobs[0]).find(R"("nominatedNode":"n1")"), std::string::npos);
  EXPECT_EQ(ref_text(made.jobs[1].object), "Session team/low");
  EXPECT_EQ(made.jobs[1].needs, std::vector<std::size_t>{0});
  EXPECT_TRUE(made.jobs[1].is_eviction);
  EXPECT_EQ(status_of(made.jobs[1]),
            R"({"phase":"running","started":"2026-01-01T12:00:00Z",)"
            R"("endsAt":"2026-01-01T12:00:20Z","preemptions":1,"preemptedBy":"Session team/high",)"
            R"("preemptedAt":"2026-01-01T12:00:00Z","fate":"requeues",)"
            R"("resumeAfter":"2026-01-01T12:00:50Z","kernels":[{"name":"a","node":"n1"}]})");
  EXPECT_EQ(word_of(made.jobs[0]), "False WaitsForRoom: 1 session leaves");
  EXPECT_EQ(
      word_of(made.jobs[1]),
      "False Preempted: it makes room for a session of higher priority or tier; it is in the queue "
      "again from 2026-01-01T12:00:50Z on");
  EXPECT_EQ(ref_text(made.jobs[2].object), "Pod team/low-a-0");
  EXPECT_EQ(made.jobs[2].needs, std::vector<std::size_t>{1});
  ASSERT_EQ(made.jobs[2].steps.size(), 2U);
  EXPECT_EQ(made.jobs[2].steps[0].patch.conditions[0].message,
            "makeway: preempting to accommodate a higher priority session, uid uid-high");
  EXPECT_EQ(made.jobs[2].steps[1].kind, WriteKind::erase);
  EXPECT_EQ(made.jobs[2].steps[1].grace_seconds, 20);
  // Until it is gone nothing more is said, and then it is off.
  Session leaving = notice_session(low, {.by = "Session team/high",
                                         .fate = SessionFate::requeues,
                                         .now = at_noon,
                                         .ends_at = at_noon + Duration{20'000},
                                         .resume_after = at_noon + Duration{50'000}});
  show(leaving);
  EXPECT_TRUE(repairs().jobs.empty());
  show_pod("low-a-0", "uid-low", "Running", true);
  EXPECT_TRUE(repairs().jobs.empty());
  see({removal("low-a-0")});
  const PlanJobs off = repairs();
  ASSERT_EQ(off.jobs.size(), 1U);
  EXPECT_EQ(status_of(off.jobs[0]),
            R"({"phase":"preempted","started":null,"endsAt":null,"preemptions":1,)"
            R"("preemptedBy":"Session team/high","preemptedAt":"2026-01-01T12:00:00Z",)"
            R"("fate":"requeues","resumeAfter":"2026-01-01T12:00:50Z","kernels":[]})");
  EXPECT_TRUE(repairs().jobs.empty());
}

TEST_F(SessionKeeperTest, NoBrakeIsAskedForASessionWithANotice) {
  const Session low = running(kept_session("low", {"a"}));
  const Session high = kept_session("high", {"a"});
  show(low);
  show(high);
  show_pod("low-a-0", "uid-low", "Running");
  std::size_t asked = 0;
  const EvictionBrake brake = [&](const PlanAsk&, const std::vector<const PlanAction*>& victims) {
    asked += victims.size();
    return BrakeAnswer{};
  };
  const auto send = [&] {
    PlanJobs made;
    keeper.add_jobs(preempt_plan(high, low, Duration{20'000}), cache, brake, made);
    return made;
  };
  EXPECT_EQ(send().jobs.size(), 3U);
  EXPECT_EQ(asked, 1U);
  // Plans repeat a victim until it has left.
  show(noticed(low, SessionFate::requeues, Duration{20'000}));
  const PlanJobs again = send();
  EXPECT_EQ(asked, 1U);
  EXPECT_TRUE(std::ranges::none_of(
      again.refused, [](const Receipt& receipt) { return receipt.reason.starts_with("brake"); }));
}

TEST_F(SessionKeeperTest, TheNextProcessGoesOnWithANotice) {
  show(noticed(running(kept_session("low", {"a", "b"})), SessionFate::requeues, Duration{20'000}));
  show_pod("low-a-0", "uid-low", "Running");
  show_pod("low-b-0", "uid-low", "Running", true);
  const PlanJobs made = repairs(at_noon + Duration{5'500});
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod team/low-a-0");
  EXPECT_EQ(made.jobs[0].steps[0].grace_seconds, 15);
  EXPECT_TRUE(repairs(at_noon + Duration{6'000}).jobs.empty());
}

TEST_F(SessionKeeperTest, AfterTheGraceTimeAPodHasItsOwn) {
  show(noticed(running(kept_session("low", {"a"})), SessionFate::ends));
  show_pod("low-a-0", "uid-low", "Running");
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].steps[0].grace_seconds, std::nullopt);
}

TEST_F(SessionKeeperTest, ASessionEndsWhenAllItsPodsHaveSucceeded) {
  show(running(kept_session("train", {"a", "b"})));
  show_pod("train-a-0", "uid-train", "Succeeded");
  show_pod("train-b-0", "uid-train", "Running");
  EXPECT_TRUE(repairs().jobs.empty());
  show_pod("train-b-0", "uid-train", "Succeeded");
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_TRUE(status_of(made.jobs[0]).starts_with(R"({"phase":"ended","started":null)"));
}

TEST_F(SessionKeeperTest, AFailedPodEndsTheSession) {
  const Session train = running(kept_session("train", {"a", "b"}));
  show(train);
  show_pod("train-a-0", "uid-train", "Failed");
  show_pod("train-b-0", "uid-train", "Running");
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_NE(status_of(made.jobs[0]).find(R"("fate":"ends","resumeAfter":null)"), std::string::npos);
  EXPECT_EQ(made.jobs[0].event->note, "pod train-a-0 has failed");
  Session ending = train;
  ending.status.ends_at = at_noon;
  ending.status.fate = SessionFate::ends;
  show(ending);
  const PlanJobs others = repairs();
  ASSERT_EQ(others.jobs.size(), 1U);
  EXPECT_EQ(ref_text(others.jobs[0].object), "Pod team/train-b-0");
  see({removal("train-b-0")});
  const PlanJobs over = repairs();
  ASSERT_EQ(over.jobs.size(), 1U);
  EXPECT_TRUE(status_of(over.jobs[0]).starts_with(R"({"phase":"ended")"));
}

TEST_F(SessionKeeperTest, ALostSessionIsPendingAgain) {
  struct Case {
    std::string phase;
    bool leaving;
    std::string reason;
    std::string note;
  };
  for (const Case& each : {Case{"Failed", false, "OutOfcpu", "pod train-a-0 was ended: OutOfcpu"},
                           Case{"Failed", false, "Evicted", "pod train-a-0 was ended: Evicted"},
                           Case{"Running", true, "", "pod train-a-0 is being deleted"}}) {
    SCOPED_TRACE(each.note);
    keeper = SessionKeeper({.scheduler = "makeway"});
    show(running(kept_session("train", {"a"})));
    show_pod("train-a-0", "uid-train", each.phase, each.leaving, each.reason);
    const PlanJobs made = repairs();
    ASSERT_EQ(made.jobs.size(), 1U);
    EXPECT_NE(
        status_of(made.jobs[0]).find(R"("fate":"requeues","resumeAfter":"2026-01-01T12:00:30Z")"),
        std::string::npos);
    EXPECT_NE(status_of(made.jobs[0]).find(R"("preemptions":0)"), std::string::npos);
    EXPECT_EQ(made.jobs[0].event->note, each.note);
    EXPECT_EQ(word_of(made.jobs[0]), "False KernelLost: " + each.note +
                                         "; it is in the queue again from 2026-01-01T12:00:30Z on");
  }
}

TEST_F(SessionKeeperTest, ANodeThatIsGoneTakesItsSessionsAlong) {
  show(running(kept_session("train", {"a"}), "n2"));
  show_pod("train-a-0", "uid-train", "Running");
  EXPECT_TRUE(repairs().jobs.empty());
  see({Removal{.kind = ObjectKind::node, .name = "n2"}});
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].event->note, "node n2 of kernel a is gone");
}

// Its name is needed again.
TEST_F(SessionKeeperTest, ALostPodThatHasFinishedIsRemovedBeforeTheSessionIsPending) {
  Session lost = running(kept_session("train", {"a"}));
  lost.status.ends_at = at_noon;
  lost.status.fate = SessionFate::requeues;
  lost.status.resume_after = at_noon;
  show(lost);
  show_pod("train-a-0", "uid-train", "Failed", false, "OutOfcpu");
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod team/train-a-0");
  see({removal("train-a-0")});
  const PlanJobs off = repairs();
  ASSERT_EQ(off.jobs.size(), 1U);
  EXPECT_TRUE(status_of(off.jobs[0]).starts_with(R"({"phase":"preempted")"));
}

TEST_F(SessionKeeperTest, APodThatIsRefusedThreeTimesIsLost) {
  show(running(kept_session("train", {"a"})));
  Time now = at_noon;
  for (int at = 0; at < 3; ++at) {
    ASSERT_EQ(repairs(now).jobs.size(), 1U);
    keeper.refused({.object = *parse_ref("Pod team/train-a-0"), .reason = "quota"});
    EXPECT_TRUE(repairs(now).jobs.empty());
    now = now + Duration{2'000};
  }
  const PlanJobs made = repairs(now);
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].event->note, "pod train-a-0 cannot be created: quota");
}

TEST_F(SessionKeeperTest, NothingIsDecidedWhileOurLastWriteIsUnseen) {
  const Session low = running(kept_session("low", {"a"}));
  const Session high = kept_session("high", {"a"});
  show(low);
  show(high);
  show_pod("low-a-0", "uid-low", "Running");
  jobs(preempt_plan(high, low, {}));
  // The pod is gone before the status of its session is shown: it is not created once more.
  see({removal("low-a-0")});
  EXPECT_TRUE(repairs().jobs.empty());
  const PlanJobs again = jobs(preempt_plan(high, low, {}));
  EXPECT_TRUE(again.jobs.empty());
  EXPECT_EQ(again.refused[0].reason, "its last status write is not visible in the watch yet");
  // A refusal frees it.
  keeper.refused({.plan = "0124", .object = *parse_ref("Session team/low"), .reason = "conflict"});
  EXPECT_EQ(repairs(at_noon + Duration{2'000}).jobs.size(), 1U);
}

TEST_F(SessionKeeperTest, APodOfAnEarlierStartLeaves) {
  Session low = kept_session("low", {"a"});
  low.status.phase = SessionPhase::preempted;
  low.status.preemptions = 1;
  low.status.fate = SessionFate::on_request;
  show(low);
  show_pod("low-a-0", "uid-low", "Running");
  show_pod("low-a-1", "uid-low", "Running");  // It may have been started just now.
  show_pod("mine", "uid-low", "Running");     // A user made it, with our owner reference.
  const PlanJobs made = repairs();
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod team/low-a-0");
}

TEST_F(SessionKeeperTest, NoSessionIsSuspended) {
  Plan plan{.id = "0125", .now = at_noon};
  plan.actions.push_back({.type = ActionType::suspend,
                          .namespace_name = "team",
                          .name = "low",
                          .node = "n1",
                          .ask = parse_ref("Session team/high")});
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.refused.size(), 1U);
  EXPECT_EQ(made.refused[0].reason, "Kubernetes cannot suspend a pod");
}

/// Before, nothing was written about a session that has no place: no phase, and no reason.
TEST_F(SessionKeeperTest, ASessionWithoutAPlaceReportsWhyItWaits) {
  const Session train = kept_session("train", {"a"});
  show(train);
  Plan plan{.id = "0123", .now = at_noon};
  PlanAsk ask{.kind = AskKind::session,
              .namespace_name = "team",
              .name = "train",
              .outcome = Outcome::infeasible};
  ask.reason = "has no room";
  ask.reason_mentions = Mentions::none_in(ask.reason);
  ask.session.emplace();
  plan.asks.push_back(ask);
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].urgency, Urgency::condition);
  EXPECT_EQ(made.jobs[0].steps[0].patch.phase, "pending");
  EXPECT_EQ(word_of(made.jobs[0]), "False Unschedulable: has no room");
  // It is shown: nothing is left to say. It delays no other session.
  ObjectState seen_object{.kind = ObjectKind::session,
                          .namespace_name = "team",
                          .name = "train",
                          .uid = "uid-train",
                          .version = "8",
                          .phase = "pending"};
  seen_object.conditions = {{"makeway.dev/Scheduled", "False", "Unschedulable", "has no room"}};
  see({train}, {seen_object});
  EXPECT_TRUE(jobs(plan).jobs.empty());
  const PlanJobs started = jobs(start_plan(train, "n1"));
  ASSERT_EQ(started.jobs.size(), 2U);
  EXPECT_EQ(word_of(started.jobs[0]), "True Scheduled: ");
}

// SPEC section 8: names may belong to another tenant.
TEST_F(SessionKeeperTest, ItsOwnerReadsNoNamesOfOtherNamespaces) {
  const Session low = running(kept_session("low", {"a"}));
  Session high = kept_session("high", {"a"});
  high.namespace_name = "other";
  Plan plan = preempt_plan(high, low, {});
  plan.actions[0].ask = parse_ref("Session other/high");
  PlanAsk waits{.kind = AskKind::session,
                .namespace_name = "team",
                .name = "train",
                .outcome = Outcome::waits};
  Sentence sentence{.text = "fits once "};
  sentence.add_mention(MentionKind::kernel, "other", "other/big/main");
  sentence.add(" has left");
  waits.reason = sentence.text;
  waits.reason_mentions = Mentions(sentence);
  waits.waits_for = {{.namespace_name = "other", .name = "big/main"}};
  waits.session.emplace();
  plan.asks.push_back(waits);
  for (const bool names_causes : {false, true}) {
    keeper = SessionKeeper({.scheduler = "makeway", .names_causes = names_causes});
    show(low);
    show(high);
    show(kept_session("train", {"a"}));
    const PlanJobs made = jobs(plan);
    ASSERT_EQ(made.jobs.size(), 3U);
    EXPECT_EQ(word_of(made.jobs[1]),
              names_causes
                  ? "False WaitsForRoom: fits once other/big/main has left"
                  : "False WaitsForRoom: fits once a kernel of another namespace has left");
    const std::string by = names_causes ? "Session other/high" : "Session uid-high";
    EXPECT_NE(status_of(made.jobs[2]).find("\"preemptedBy\":\"" + by + "\""), std::string::npos)
        << status_of(made.jobs[2]);
  }
}

TEST_F(SessionKeeperTest, WhatABrakeHoldsBackForLongSaysSo) {
  const Session low = running(kept_session("low", {"a"}));
  const Session high = kept_session("high", {"a"});
  for (const std::int64_t seconds : {5, 50}) {
    keeper = SessionKeeper({.scheduler = "makeway"});
    show(low);
    show(high);
    show_pod("low-a-0", "uid-low", "Running");
    PlanJobs made;
    keeper.add_jobs(
        preempt_plan(high, low, {}), cache,
        [&](const PlanAsk&, const std::vector<const PlanAction*>&) {
          return BrakeAnswer{.why = "brake: slowly",
                             .until = at_noon + Duration{seconds * 1'000},
                             .mentions = Mentions::none_in("brake: slowly")};
        },
        made);
    EXPECT_EQ(made.refused.size(), 2U);
    ASSERT_EQ(made.jobs.size(), seconds > 10 ? 1U : 0U) << "a short wait is not reported";
    if (seconds <= 10) continue;
    EXPECT_EQ(word_of(made.jobs[0]), "False WaitsForRoom: 1 session leaves (brake: slowly)");
  }
}

/// Before, the next session of that name was lost at once, for the reason of the first one.
TEST_F(SessionKeeperTest, WhatWasRefusedToOneSessionIsNotHeldAgainstTheNext) {
  show(running(kept_session("train", {"a"})));
  Time now = at_noon;
  for (int at = 0; at < 3; ++at) {
    ASSERT_EQ(repairs(now).jobs.size(), 1U);
    keeper.refused({.object = *parse_ref("Pod team/train-a-0"), .reason = "quota"});
    now = now + Duration{2'000};
  }
  see({Removal{.kind = ObjectKind::session, .namespace_name = "team", .name = "train"}});
  EXPECT_TRUE(repairs(now).jobs.empty());
  Session next = running(kept_session("train", {"a"}));
  next.uid = "uid-next";
  show(next);
  const PlanJobs made = repairs(now);
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod team/train-a-0");
}

}  // namespace
}  // namespace makeway::kube
