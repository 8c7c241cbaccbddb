#include "kube/write_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/request.hpp"

namespace makeway::kube {
namespace {

ObjectState job_object(const std::string& name, std::string node = {}) {
  return {.namespace_name = "a",
          .name = name,
          .uid = "uid-" + name,
          .version = "7",
          .generation = 1,
          .node = std::move(node)};
}

PlanAction job_action(ActionType type, const std::string& name, std::string node,
                      std::string_view ask = {}) {
  return {.type = type,
          .namespace_name = "a",
          .name = name,
          .uid = "uid-" + name,
          .node = std::move(node),
          .ask = parse_ref(ask)};
}

PlanAsk pod_ask(const std::string& name, Outcome outcome, const std::string& node) {
  PlanAsk ask{.kind = AskKind::pod, .namespace_name = "a", .name = name, .outcome = outcome};
  if (!node.empty()) ask.placements = {{.namespace_name = "a", .name = name, .node = node}};
  ask.reason = "because";
  ask.reason_mentions = Mentions::none_in(ask.reason);
  return ask;
}

/// One ask that evicts `low-1` and `low-2` from n1.
Plan two_victims_plan() {
  Plan plan{.id = "0123"};
  plan.asks = {pod_ask("urgent", Outcome::preempts, "n1")};
  plan.actions = {job_action(ActionType::evict, "low-1", "n1", "Pod a/urgent"),
                  job_action(ActionType::evict, "low-2", "n1", "Pod a/urgent"),
                  job_action(ActionType::nominate, "urgent", "n1")};
  plan.status = {{.object = pod_ref("a", "urgent"),
                  .condition = "PodScheduled",
                  .value = false,
                  .reason = "Unschedulable",
                  .message = "waits for room",
                  .message_mentions = Mentions::none_in("waits for room")}};
  return plan;
}

class WriteJobsTest : public testing::Test {
 protected:
  void see(ObjectState object) { cache.take({}, {std::move(object)}, 0); }
  PlanJobs jobs(const Plan& plan) const { return jobs_of(plan, cache, rules); }
  static const WriteJob* find(const PlanJobs& made, std::string_view object) {
    const auto found = std::ranges::find(made.jobs, parse_ref(object), &WriteJob::object);
    return found == made.jobs.end() ? nullptr : &*found;
  }

  VersionCache cache;
  JobRules rules;
};

TEST_F(WriteJobsTest, EvictionsNeedTheNomination) {
  see(job_object("urgent"));
  see(job_object("low-1", "n1"));
  see(job_object("low-2", "n1"));
  const PlanJobs made = jobs(two_victims_plan());
  EXPECT_TRUE(made.refused.empty());
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod a/urgent");
  ASSERT_EQ(made.jobs[0].steps.size(), 1U);
  // Nomination and the word for autoscalers are one patch, and no second one follows.
  EXPECT_EQ(made.jobs[0].steps[0].patch.conditions.size(), 2U);
  for (const std::size_t victim : {1U, 2U}) {
    EXPECT_EQ(made.jobs[victim].needs, std::vector<std::size_t>{0});
    ASSERT_EQ(made.jobs[victim].steps.size(), 2U);
    EXPECT_EQ(made.jobs[victim].steps[0].kind, WriteKind::patch_pod);
    EXPECT_EQ(made.jobs[victim].steps[1].kind, WriteKind::erase);
    EXPECT_EQ(made.jobs[victim].event->note, "Preempted by pod uid-urgent on node n1");
  }
}

// SPEC section 8: names may belong to another tenant. Events say what conditions do.
TEST_F(WriteJobsTest, AnAskSeesNoNamesOfOtherNamespaces) {
  see(job_object("urgent"));
  Plan plan{.id = "0123"};
  plan.asks = {pod_ask("urgent", Outcome::waits, "n1")};
  Sentence sentence{.text = "waits; p is no longer nominated to n2, where "};
  sentence.add_mention(MentionKind::pod, "b", "Pod b/web");
  sentence.add(" goes");
  plan.status = {{.object = pod_ref("a", "urgent"),
                  .condition = "PodScheduled",
                  .value = false,
                  .reason = "Unschedulable",
                  .message = sentence.text,
                  .message_mentions = Mentions(sentence)}};
  for (const bool is_nominated : {true, false}) {
    if (is_nominated) plan.actions = {job_action(ActionType::nominate, "urgent", "n1")};
    if (!is_nominated) plan.actions.clear();
    for (const bool names_causes : {true, false}) {
      rules.names_causes = names_causes;
      const PlanJobs made = jobs(plan);
      ASSERT_EQ(made.jobs.size(), 1U);
      ASSERT_TRUE(made.jobs[0].event.has_value());
      const std::string expected = names_causes
                                       ? plan.status[0].message
                                       : "waits; p is no longer nominated to n2, where a pod "
                                         "of another namespace goes";
      EXPECT_EQ(made.jobs[0].steps[0].patch.conditions[0].message, expected);
      EXPECT_EQ(made.jobs[0].event->note, expected);
    }
  }
}

TEST_F(WriteJobsTest, StrictBudgetsUseTheEvictionApi) {
  see(job_object("urgent"));
  see(job_object("low-1", "n1"));
  see(job_object("low-2", "n1"));
  rules.budgets = BudgetMode::strict;
  const PlanJobs made = jobs(two_victims_plan());
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(made.jobs[1].steps[1].kind, WriteKind::evict);
}

TEST_F(WriteJobsTest, WhatIsThereAlreadyIsNotWrittenAgain) {
  ObjectState urgent = job_object("urgent");
  urgent.nominated_node = "n1";
  urgent.conditions = {{"PodScheduled", "False", "Unschedulable", "waits for room", ""},
                       {"makeway.dev/Nominated", "True", "Nominated", "node n1, plan 0000", ""}};
  see(urgent);
  ObjectState leaving = job_object("low-1", "n1");
  leaving.leaving = true;
  see(leaving);
  see(job_object("low-2", "n1"));
  const PlanJobs made = jobs(two_victims_plan());
  ASSERT_EQ(made.jobs.size(), 3U);
  ASSERT_EQ(find(made, "Pod a/urgent")->steps.size(), 1U);
  EXPECT_TRUE(find(made, "Pod a/urgent")->steps[0].confirms);
  EXPECT_TRUE(find(made, "Pod a/low-1")->steps.empty());
  EXPECT_EQ(find(made, "Pod a/low-2")->steps.size(), 2U);
}

TEST_F(WriteJobsTest, AnotherWordAboutAnOldNominationIsNotUrgent) {
  ObjectState urgent = job_object("urgent");
  urgent.nominated_node = "n1";
  urgent.conditions = {{"PodScheduled", "False", "Unschedulable", "older word", ""},
                       {"makeway.dev/Nominated", "True", "Nominated", "node n1, plan 0000", ""}};
  see(urgent);
  Plan plan = two_victims_plan();
  plan.actions.erase(plan.actions.begin(), plan.actions.begin() + 2);
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_TRUE(made.jobs[0].steps[0].confirms);
  EXPECT_EQ(made.jobs[1].urgency, Urgency::condition);
}

TEST_F(WriteJobsTest, AVictimOfTheSameNameIsAnotherPod) {
  see(job_object("urgent"));
  ObjectState other = job_object("low-1", "n1");
  other.uid = "another";
  see(other);
  see(job_object("low-2", "n1"));
  const PlanJobs made = jobs(two_victims_plan());
  ASSERT_EQ(made.refused.size(), 1U);
  EXPECT_EQ(ref_text(made.refused[0].object), "Pod a/low-1");
  EXPECT_EQ(made.refused[0].ask, parse_ref("Pod a/urgent"));
  EXPECT_EQ(made.refused[0].reason, "it is gone");
}

// Only of a group whose mode is `all` do the members leave as one.
TEST_F(WriteJobsTest, MembersOfAGroupOfModeAllLeaveAsOne) {
  see(job_object("urgent"));
  see(job_object("low-1", "n1"));
  see(job_object("low-2", "n1"));
  PodGroup one{.namespace_name = "a", .name = "one"};
  PodGroup all{.namespace_name = "a", .name = "all"};
  all.policy.mode = DisruptionMode::all;
  cache.take({one, all}, {}, 0);
  Plan plan = two_victims_plan();
  plan.asks[0].victims = {{.namespace_name = "a", .name = "low-1", .unit = "PodGroup a/one"},
                          {.namespace_name = "a", .name = "low-2", .unit = "PodGroup a/all"}};
  const PlanJobs made = jobs(plan);
  EXPECT_EQ(find(made, "Pod a/low-1")->unit, parse_ref("Pod a/low-1"));
  EXPECT_EQ(find(made, "Pod a/low-2")->unit, parse_ref("PodGroup a/all"));
}

TEST_F(WriteJobsTest, WithoutANominationNoPodIsEvicted) {
  see(job_object("low-1", "n1"));
  see(job_object("low-2", "n1"));
  const PlanJobs made = jobs(two_victims_plan());
  EXPECT_TRUE(made.jobs.empty());
  EXPECT_EQ(made.refused.size(), 3U);
}

TEST_F(WriteJobsTest, ABrakeHoldsBackTheWholeAsk) {
  see(job_object("urgent"));
  see(job_object("low-1", "n1"));
  see(job_object("low-2", "n1"));
  std::size_t asked = 0;
  rules.brake = [&](const PlanAsk& ask, const std::vector<const PlanAction*>& victims) {
    ++asked;
    EXPECT_EQ(ask.name, "urgent");
    EXPECT_EQ(victims.size(), 2U);
    return BrakeAnswer{.why = "too many", .until = Time{77}};
  };
  const PlanJobs made = jobs(two_victims_plan());
  EXPECT_EQ(asked, 1U);
  EXPECT_EQ(made.refused.size(), 3U);
  for (const Receipt& receipt : made.refused) {
    EXPECT_EQ(receipt.reason, "too many");
    EXPECT_EQ(receipt.again_at, Time{77});
  }
  EXPECT_TRUE(made.jobs.empty());  // It is over in a moment.
  rules.brake = [](const PlanAsk&, const std::vector<const PlanAction*>&) {
    return BrakeAnswer{
        .why = "too many", .until = Time{10'001}, .mentions = Mentions::none_in("too many")};
  };
  const PlanJobs longer = jobs(two_victims_plan());
  ASSERT_EQ(longer.jobs.size(), 1U);
  EXPECT_EQ(longer.jobs[0].urgency, Urgency::condition);
  EXPECT_EQ(longer.jobs[0].steps[0].patch.conditions[0].message, "waits for room (too many)");
}

TEST_F(WriteJobsTest, APodWithoutAPlaceLosesOurNominationOnly) {
  for (const std::string name : {"ours", "theirs"}) {
    ObjectState pod = job_object(name);
    pod.nominated_node = "n1";
    if (name == "ours") {
      pod.conditions = {{"makeway.dev/Nominated", "True", "Nominated", "node n1, plan 0", ""}};
    }
    see(pod);
  }
  Plan plan{.id = "0123"};
  plan.asks = {pod_ask("ours", Outcome::infeasible, ""),
               pod_ask("theirs", Outcome::infeasible, "")};
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Pod a/ours");
  EXPECT_EQ(made.jobs[0].steps[0].patch.nominated_node, "");
}

TEST_F(WriteJobsTest, MembersWithoutAPlaceLoseTheirNomination) {
  ObjectState member = job_object("m");
  member.group = "g";
  member.nominated_node = "n1";
  member.conditions = {{"makeway.dev/Nominated", "True", "Nominated", "node n1, plan 0", ""}};
  see(member);
  Plan plan{.id = "0123"};
  plan.asks = {{.kind = AskKind::pod_group,
                .namespace_name = "a",
                .name = "g",
                .outcome = Outcome::not_found}};
  EXPECT_EQ(jobs(plan).jobs.size(), 1U);
  plan.asks[0].placements = {{.namespace_name = "a", .name = "m", .node = "n1"}};
  plan.actions = {job_action(ActionType::nominate, "m", "n1")};
  const PlanJobs kept = jobs(plan);
  ASSERT_EQ(kept.jobs.size(), 1U);
  EXPECT_TRUE(kept.jobs[0].steps[0].confirms);
}

TEST_F(WriteJobsTest, AGroupIsScheduledAfterAllItsBinds) {
  see(job_object("m-0"));
  see(job_object("m-1"));
  ObjectState group = job_object("g");
  group.kind = ObjectKind::pod_group;
  see(group);
  Plan plan{.id = "0123"};
  plan.asks = {{.kind = AskKind::pod_group,
                .namespace_name = "a",
                .name = "g",
                .outcome = Outcome::fits,
                .placements = {{"a", "m-0", "n1", {}}, {"a", "m-1", "n2", {}}}}};
  plan.actions = {job_action(ActionType::bind, "m-0", "n1"),
                  job_action(ActionType::bind, "m-1", "n2")};
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(made.jobs[0].event->note, "Successfully assigned a/m-0 to n1");
  EXPECT_EQ(ref_text(made.jobs[2].object), "PodGroup a/g");
  EXPECT_EQ(made.jobs[2].needs, (std::vector<std::size_t>{0, 1}));
  // It never becomes unscheduled again.
  group.conditions = {{"PodGroupInitiallyScheduled", "True", "Scheduled", "", ""}};
  see(group);
  EXPECT_EQ(jobs(plan).jobs.size(), 2U);
  Plan later{.id = "0124"};
  later.status = {{.object = *parse_ref("PodGroup a/g"),
                   .condition = "PodGroupInitiallyScheduled",
                   .value = false,
                   .reason = "Unschedulable",
                   .message = "no room"}};
  EXPECT_TRUE(jobs(later).jobs.empty());
}

TEST_F(WriteJobsTest, APinnedPodIsNominatedAndReservedInOnePatch) {
  see(job_object("pinned"));
  Plan plan{.id = "0123", .now = Time{5'000}};
  PlanAsk ask = pod_ask("pinned", Outcome::preempts, "n1");
  ask.reservation = PlanReservation{.node = "n1", .since = Time{1'000}};
  plan.asks = {ask};
  plan.actions = {job_action(ActionType::nominate, "pinned", "n1"),
                  job_action(ActionType::reserve, "pinned", "n1")};
  plan.actions[1].since = Time{1'000};
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 1U);
  ASSERT_EQ(made.jobs[0].steps.size(), 1U);
  const StatusPatch& patch = made.jobs[0].steps[0].patch;
  EXPECT_EQ(patch.nominated_node, "n1");
  ASSERT_EQ(patch.conditions.size(), 3U);
  EXPECT_EQ(patch.conditions.back().type, "makeway.dev/Reserved");
  EXPECT_EQ(patch.conditions.back().since, Time{1'000});
}

TEST_F(WriteJobsTest, AReservationThatEndsIsTakenBack) {
  ObjectState pinned = job_object("pinned");
  pinned.conditions = {{"makeway.dev/Reserved", "True", "Reserved", "node n1, plan 0001", ""}};
  see(pinned);
  Plan plan{.id = "0123"};
  EXPECT_TRUE(jobs(plan).jobs.empty());  // It says nothing of the pod.
  plan.asks = {pod_ask("pinned", Outcome::infeasible, "")};
  PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 1U);
  const StatusPatch& patch = made.jobs[0].steps.at(0).patch;
  EXPECT_FALSE(patch.nominated_node.has_value());  // It had none of ours.
  ASSERT_EQ(patch.conditions.size(), 1U);
  EXPECT_EQ(patch.conditions[0].type, "makeway.dev/Reserved");
  EXPECT_FALSE(patch.conditions[0].value);
  EXPECT_EQ(patch.conditions[0].reason, "Ended");
  // Together with a nomination that has come instead.
  plan.asks = {pod_ask("pinned", Outcome::preempts, "n1")};
  plan.actions = {job_action(ActionType::nominate, "pinned", "n1")};
  made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].steps.at(0).patch.nominated_node, "n1");
  EXPECT_EQ(made.jobs[0].steps.at(0).patch.conditions.back().reason, "Ended");
  // A reservation that stands stays, and a bind ends it by itself.
  plan.actions.clear();
  plan.asks[0].reservation = PlanReservation{.node = "n1", .since = Time{1'000}};
  EXPECT_TRUE(jobs(plan).jobs.empty());
  plan.asks = {pod_ask("pinned", Outcome::fits, "n1")};
  plan.actions = {job_action(ActionType::bind, "pinned", "n1")};
  ASSERT_EQ(jobs(plan).jobs.size(), 1U);
  EXPECT_EQ(jobs(plan).jobs[0].steps.at(0).kind, WriteKind::bind);
  // Taken back once.
  pinned.conditions[0] = {"makeway.dev/Reserved", "False", "Ended", "plan 0123", ""};
  see(pinned);
  plan.asks = {pod_ask("pinned", Outcome::infeasible, "")};
  plan.actions.clear();
  EXPECT_TRUE(jobs(plan).jobs.empty());
}

TEST_F(WriteJobsTest, ThePhaseIsTouchedOnlyWhereTheNodeIsGone) {
  see(job_object("stuck", "n1"));
  Plan plan{.id = "0123"};
  plan.actions = {job_action(ActionType::force_delete, "stuck", "n1")};
  ASSERT_EQ(jobs(plan).jobs.size(), 1U);
  EXPECT_EQ(jobs(plan).jobs[0].steps.size(), 2U);
  EXPECT_EQ(jobs(plan).jobs[0].steps[0].patch.phase, "Failed");
  cache.take({Node{.name = "n1"}}, {}, 0);
  ASSERT_EQ(jobs(plan).jobs[0].steps.size(), 1U);
  EXPECT_EQ(jobs(plan).jobs[0].steps[0].grace_seconds, 0);
  cache.take({Node{.name = "n1", .taints = {{.key = "node.kubernetes.io/out-of-service"}}}}, {}, 0);
  EXPECT_EQ(jobs(plan).jobs[0].steps.size(), 2U);
}

TEST_F(WriteJobsTest, WhatIsNotCarriedOutIsRefused) {
  see(job_object("p"));
  Plan plan{.id = "0123"};
  plan.actions = {job_action(ActionType::scale_up, "p", ""),
                  job_action(ActionType::bind, "p", "n1")};
  plan.actions[1].plane = "other";
  const PlanJobs made = jobs(plan);
  EXPECT_TRUE(made.jobs.empty());
  EXPECT_EQ(made.refused.size(), 2U);
}

// The session keeper carries these out (session_keeper.hpp).
TEST_F(WriteJobsTest, SessionsAreLeftToTheirKeeper) {
  see(job_object("p"));
  Plan plan{.id = "0123"};
  plan.actions = {job_action(ActionType::suspend, "p", ""),
                  job_action(ActionType::bind, "s/kernel", "n1"),
                  job_action(ActionType::requeue, "low", "n1", "Session a/high"),
                  job_action(ActionType::evict, "low", "n1", "Session a/high"),
                  job_action(ActionType::evict, "over", "")};
  const PlanJobs made = jobs(plan);
  EXPECT_TRUE(made.jobs.empty());
  EXPECT_TRUE(made.refused.empty());
}

// What comes with later versions is refused by name, and never dropped without a word.
TEST_F(WriteJobsTest, EveryActionOfOtherKindsHasAReceipt) {
  for (const ActionType type : {ActionType::scale_down, ActionType::scale_up}) {
    Plan plan{.id = "0123"};
    plan.actions = {job_action(type, "p", "n1")};
    const PlanJobs made = jobs(plan);
    EXPECT_TRUE(made.jobs.empty());
    ASSERT_EQ(made.refused.size(), 1U) << choice_name(type);
    EXPECT_TRUE(made.refused[0].reason.starts_with(choice_name(type))) << made.refused[0].reason;
  }
  see(job_object("low-1", "n1"));
  Plan plan{.id = "0123"};
  plan.asks = {{.kind = AskKind::replica_schedule, .namespace_name = "a", .name = "claim"}};
  plan.actions = {job_action(ActionType::evict, "low-1", "n1", ask_text(plan.asks[0]))};
  const PlanJobs made = jobs(plan);
  EXPECT_TRUE(made.jobs.empty());
  ASSERT_EQ(made.refused.size(), 1U);
  EXPECT_EQ(made.refused[0].reason, "victims of replicas are not evicted yet");
  EXPECT_EQ(made.refused[0].ask, ref_of(plan.asks[0]));
}

// SPEC section 8, provision a volume: never a bind before the volume is there.
class VolumeJobsTest : public WriteJobsTest {
 protected:
  VolumeJobsTest() {
    Pod pod{.namespace_name = "a", .name = "db"};
    pod.shape.claims = {{.kind = ClaimKind::volume, .namespace_name = "a", .name = "data"}};
    cache.take({pod}, {job_object("db")}, 0);
    plan.asks = {pod_ask("db", Outcome::fits, "n1")};
    plan.actions = {job_action(ActionType::bind, "db", "n1")};
  }
  void claim(bool bound, std::string node) {
    const PersistentVolumeClaim object{.namespace_name = "a",
                                       .name = "data",
                                       .volume = bound ? "pv-1" : "",
                                       .selected_node = std::move(node),
                                       .bound = bound};
    ObjectState seen_object = job_object("data");
    seen_object.kind = ObjectKind::persistent_volume_claim;
    cache.take({object}, {seen_object}, 0);
  }
  Plan plan{.id = "0123", .now = Time{1'000'000}};
};

TEST_F(VolumeJobsTest, TheClaimGetsItsNodeAfterTheNomination) {
  claim(false, "");
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(made.jobs[0].steps[0].patch.nominated_node, "n1");
  EXPECT_EQ(ref_text(made.jobs[1].object), "PersistentVolumeClaim a/data");
  EXPECT_EQ(made.jobs[1].steps[0].kind, WriteKind::select_node);
  EXPECT_EQ(made.jobs[1].steps[0].node, "n1");
  EXPECT_EQ(made.jobs[1].needs, std::vector<std::size_t>{0});
  EXPECT_EQ(made.jobs[2].steps[0].kind, WriteKind::await);
  EXPECT_EQ(made.jobs[2].needs, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(made.jobs[2].waits_because, "it waits until a volume for data is made on n1");
  EXPECT_TRUE(made.jobs[2].awaits_volume);
}

/// Before, the pod was bound by what the claim's watch had reported, while the loop decided without
/// the volume, and so without knowing where it can be used.
TEST_F(VolumeJobsTest, ABoundClaimWaitsUntilItsVolumeIsShown) {
  for (const char* const node : {"n1", ""}) {
    claim(true, node);
    const PlanJobs made = jobs(plan);
    ASSERT_EQ(made.jobs.size(), 2U) << "no claim is touched";
    EXPECT_EQ(made.jobs[0].steps[0].patch.nominated_node, "n1");
    EXPECT_EQ(made.jobs[1].steps[0].kind, WriteKind::await);
    EXPECT_EQ(made.jobs[1].waits_because, "it waits until a volume for data is made on n1");
  }
  cache.take({PersistentVolume{.name = "pv-1"}}, {}, 0);
  ASSERT_EQ(jobs(plan).jobs.size(), 1U);
  cache.take({Removal{.kind = ObjectKind::persistent_volume, .name = "pv-1"}}, {}, 0);
  EXPECT_EQ(jobs(plan).jobs.size(), 2U);
}

TEST_F(VolumeJobsTest, ABoundClaimIsNoHindrance) {
  claim(true, "n1");
  cache.take({PersistentVolume{.name = "pv-1"}}, {}, 0);
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(made.jobs[0].steps[0].kind, WriteKind::bind);
}

TEST_F(VolumeJobsTest, AnUnknownClaimOrOneMadeElsewhereForbidsTheBind) {
  EXPECT_TRUE(jobs(plan).jobs.empty());
  ASSERT_EQ(jobs(plan).refused.size(), 1U);
  EXPECT_EQ(jobs(plan).refused[0].reason, "claim data does not exist");
  claim(false, "n2");
  EXPECT_TRUE(jobs(plan).jobs.empty());
  ASSERT_EQ(jobs(plan).refused.size(), 1U);
  EXPECT_EQ(jobs(plan).refused[0].reason, "the volume of claim data is being made on n2");
}

TEST_F(VolumeJobsTest, TheRoomIsHeldForTenMinutes) {
  claim(false, "n1");
  ObjectState waits = job_object("db");
  waits.nominated_node = "n1";
  waits.conditions = {
      {"PodScheduled", "False", "Unschedulable", "it waits until a volume for data is made on n1",
       ""},
      {"makeway.dev/Nominated", "True", "Nominated", "node n1, plan 0", "1970-01-01T00:00:00Z"}};
  see(waits);
  plan.now = Time{599'999};
  PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_TRUE(made.jobs[0].steps[0].confirms);  // The nomination stands.
  plan.now = Time{600'000};
  made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 2U);
  ASSERT_EQ(made.jobs[0].steps.size(), 1U);
  EXPECT_EQ(made.jobs[0].steps[0].patch.nominated_node, "");
  EXPECT_EQ(made.jobs[1].waits_because, "no volume for data was made on n1 within 10m");
  EXPECT_FALSE(made.jobs[1].awaits_volume);
}

TEST_F(VolumeJobsTest, AGangWaitsForItsSlowestVolume) {
  claim(false, "n1");
  see(job_object("other"));
  plan.asks = {{.kind = AskKind::pod_group,
                .namespace_name = "a",
                .name = "g",
                .outcome = Outcome::fits,
                .placements = {{"a", "db", "n1", {}}, {"a", "other", "n1", {}}}}};
  plan.actions.push_back(job_action(ActionType::bind, "other", "n1"));
  const PlanJobs made = jobs(plan);
  EXPECT_TRUE(std::ranges::none_of(made.jobs, [](const WriteJob& job) {
    return !job.steps.empty() && job.steps[0].kind == WriteKind::bind;
  }));
  EXPECT_EQ(made.jobs.back().waits_because, "it waits for volumes of others of its gang");
  EXPECT_TRUE(made.jobs.back().awaits_volume);
}

TEST_F(WriteJobsTest, TheCacheForgetsRemovedObjects) {
  see(job_object("p"));
  EXPECT_EQ(cache.size(), 1U);
  cache.take({Removal{.kind = ObjectKind::pod, .namespace_name = "a", .name = "p"}}, {}, 0);
  EXPECT_EQ(cache.size(), 0U);
}

// ---- Queues -------------------------------------------------------------------------------------

ObjectState queue_object(const std::string& name) {
  ObjectState seen_object;
  seen_object.kind = ObjectKind::queue;
  seen_object.name = name;
  seen_object.uid = "uid-" + name;
  seen_object.version = "7";
  return seen_object;
}

/// Queue `gives` loses low-1 to `gets`.
Plan queue_plan() {
  Plan plan{.id = "0123"};
  plan.asks = {{.kind = AskKind::queue, .name = "gets", .outcome = Outcome::preempts}};
  plan.actions = {job_action(ActionType::evict, "low-1", "n1", "Queue gets")};
  for (const std::string name : {"gets", "gives"}) {
    plan.queue_status.push_back({.name = name,
                                 .uid = "uid-" + name,
                                 .deserved = {{"cpu", 1'000}},
                                 .allocated = {{"cpu", 1'500}},
                                 .used = {{"cpu", 2'000}},
                                 .preempting = {{"cpu", 0}}});
  }
  return plan;
}

class QueueJobsTest : public WriteJobsTest {
 protected:
  void see_queue(const std::string& name, Quotas allocated = {}) {
    Queue queue{.name = name, .uid = "uid-" + name};
    queue.allocated = std::move(allocated);
    cache.take({queue}, {queue_object(name)}, 0);
  }
};

TEST_F(QueueJobsTest, EvictionsForAQueueNeedAllStatuses) {
  see_queue("gets");
  see_queue("gives", {{"cpu", 1'000}, {"example.com/gpu", 1}});
  see(job_object("low-1", "n1"));
  const PlanJobs made = jobs(queue_plan());
  EXPECT_TRUE(made.refused.empty());
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Queue gets");
  EXPECT_FALSE(made.jobs[0].can_wait);
  EXPECT_EQ(made.jobs[0].steps[0].status, R"({"deserved":{"cpu":"1"},"allocated":{"cpu":"1500m"},)"
                                          R"("used":{"cpu":"2"},"preempting":{"cpu":"0"}})");
  // No node has a GPU any more.
  EXPECT_EQ(made.jobs[1].steps[0].status,
            R"({"deserved":{"cpu":"1"},"allocated":{"cpu":"1500m","example.com/gpu":null},)"
            R"("used":{"cpu":"2"},"preempting":{"cpu":"0"}})");
  EXPECT_EQ(made.jobs[2].needs, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(made.jobs[2].event->note, "Preempted by queue uid-gets on node n1");
  EXPECT_EQ(made.jobs[2].steps[0].patch.conditions[0].message,
            "makeway: preempting so that queues get what they deserve: queue, uid uid-gets");
}

TEST_F(QueueJobsTest, NoPodLeavesForAQueueWithoutItsStatus) {
  see_queue("gets");
  see(job_object("low-1", "n1"));
  const PlanJobs made = jobs(queue_plan());
  ASSERT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(ref_text(made.jobs[0].object), "Queue gets");
  ASSERT_EQ(made.refused.size(), 2U);
  EXPECT_EQ(ref_text(made.refused[0].object), "Queue gives");
  EXPECT_EQ(made.refused[0].reason, "it is gone");
  EXPECT_EQ(ref_text(made.refused[1].object), "Pod a/low-1");
  EXPECT_EQ(made.refused[1].ask, parse_ref("Queue gets"));
}

TEST_F(QueueJobsTest, AStatusThatNothingReliesOnCanWait) {
  see_queue("gets");
  see_queue("gives");
  see(job_object("new"));
  Plan plan = queue_plan();
  plan.asks = {pod_ask("new", Outcome::fits, "n1")};
  plan.actions = {job_action(ActionType::bind, "new", "n1")};
  const PlanJobs made = jobs(plan);
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_TRUE(made.jobs[0].can_wait);
  EXPECT_TRUE(made.jobs[2].needs.empty());  // A bind relies on no status.
  // Nor does an eviction that a brake holds back.
  see(job_object("low-1", "n1"));
  rules.brake = [](const PlanAsk&, const auto&) { return BrakeAnswer{.why = "brake: not now"}; };
  const PlanJobs held = jobs(queue_plan());
  ASSERT_EQ(held.jobs.size(), 2U);
  EXPECT_TRUE(held.jobs[0].can_wait);
  ASSERT_EQ(held.refused.size(), 1U);
  EXPECT_EQ(held.refused[0].reason, "brake: not now");
}

}  // namespace
}  // namespace makeway::kube
