// SPEC section 8, Backlog: which asks are due, which are parked, and what wakes them.
#include "control/backlog.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace makeway {
namespace {

constexpr Time start{1'000'000};

Time at(std::int64_t seconds) { return start + Duration{seconds * 1'000}; }

class BacklogTest : public testing::Test {
 protected:
  BacklogTest() {
    change(Node{.name = "n1", .allocatable = {{"cpu", 4'000}, {"pods", 10}}}, 0);
    change(Node{.name = "n2", .allocatable = {{"cpu", 1'000}, {"pods", 10}}}, 0);
    due(0);
  }

  static Pod pod(std::string name, std::int64_t cpu, std::int32_t priority = 0) {
    return {.namespace_name = "default",
            .name = std::move(name),
            .priority = priority,
            .requests = {{"cpu", cpu}},
            .created = start};
  }
  static Pod bound(Pod pod, std::string node) {
    pod.node = std::move(node);
    return pod;
  }
  void change(const Change& object, std::int64_t seconds) {
    backlog.foresee(object, cluster);
    cluster.apply(object);
    backlog.note(object, cluster, at(seconds));
  }
  void gone(std::string name, std::int64_t seconds) {
    change(Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = std::move(name)},
           seconds);
  }
  std::vector<std::string> due(std::int64_t seconds) {
    taken = backlog.take_due(cluster, at(seconds));
    std::vector<std::string> names;
    names.reserve(taken.size());
    for (const AskName& ask : taken) names.push_back(ask.name);
    return names;
  }
  void learn(Outcome outcome, std::int64_t seconds) {
    Plan plan;
    for (const AskName& ask : taken) {
      plan.asks.push_back({.kind = ask.kind,
                           .namespace_name = ask.namespace_name,
                           .name = ask.name,
                           .outcome = outcome});
    }
    backlog.learn(taken, plan, std::nullopt, at(seconds));
  }

  using Names = std::vector<std::string>;
  Cluster cluster;
  Backlog backlog;
  std::vector<AskName> taken;
};

TEST_F(BacklogTest, EqualAsksAreTriedOneByOneAndParkedTogether) {
  for (const char* const name : {"a", "b", "c"}) change(pod(name, 3'000), 1);
  change(pod("high", 3'000, 100), 1);
  EXPECT_EQ(due(1), (Names{"high", "a", "b", "c"}));  // By priority.
  learn(Outcome::infeasible, 1);
  EXPECT_EQ(due(2), Names{});
  EXPECT_EQ(backlog.pending(), 4U);
}

// The soak of the scheduler: pods that came while their class was parked never had a reason in
// their status.
TEST_F(BacklogTest, EveryAskIsTriedOnceEvenIfItsClassIsParked) {
  change(pod("a", 9'000), 1);
  EXPECT_EQ(due(1), Names{"a"});
  learn(Outcome::infeasible, 1);
  change(pod("b", 9'000), 2);
  change(pod("c", 9'000), 2);
  EXPECT_EQ(backlog.next_due(at(2)), at(2));
  EXPECT_EQ(due(2), (Names{"b", "c"}));
  learn(Outcome::infeasible, 2);
  EXPECT_EQ(due(3), Names{});
  EXPECT_GT(backlog.next_due(at(3)), at(3));
}

TEST_F(BacklogTest, OnlyPodsThatAreNamedAsk) {
  backlog = Backlog({.pods = {{"default/b"}}});
  for (const char* const name : {"a", "b", "c"}) change(pod(name, 1'000), 1);
  EXPECT_EQ(due(1), Names{"b"});
  EXPECT_EQ(backlog.pending(), 1U);
}

TEST_F(BacklogTest, OnlyPodsOfOurProfilesAsk) {
  backlog = Backlog({.schedulers = {"makeway", "default-scheduler"}});
  Pod ours = pod("ours", 1'000);
  ours.scheduler = "makeway";
  Pod theirs = pod("theirs", 1'000);
  theirs.scheduler = "other";
  change(ours, 1);
  change(theirs, 1);
  change(pod("unnamed", 1'000), 1);  // The default scheduler's.
  EXPECT_EQ(due(1), (std::vector<std::string>{"ours", "unnamed"}));
}

TEST_F(BacklogTest, ADepartureWakesOnlyAsksThatItsNodeCouldHold) {
  change(bound(pod("small", 1'000), "n2"), 0);
  change(bound(pod("large", 4'000), "n1"), 0);
  change(pod("wants-three", 3'000), 1);
  due(1);
  learn(Outcome::infeasible, 1);
  gone("small", 2);
  EXPECT_EQ(due(2), Names{});  // n2 is too small.
  gone("large", 3);
  EXPECT_EQ(due(3), Names{"wants-three"});
}

/// Its room is credited from then on (law 6), whatever its priority.
TEST_F(BacklogTest, APodThatBeginsToLeaveWakesOthers) {
  Pod equal = bound(pod("equal", 4'000), "n1");
  change(equal, 0);
  change(pod("wants-three", 3'000), 1);
  due(1);
  learn(Outcome::infeasible, 1);
  equal.deletion = at(30);
  change(equal, 2);
  EXPECT_EQ(due(2), Names{"wants-three"});
  learn(Outcome::waits, 2);
  change(equal, 3);  // Nothing new.
  EXPECT_EQ(due(3), Names{});
}

/// The pods that its anti-affinity or its spread depends on may be on any node.
TEST_F(BacklogTest, APodThatDependsOnOtherPodsIsWokenByAnyDeparture) {
  change(bound(pod("small", 1'000), "n2"), 0);
  Pod apart = pod("apart", 3'000);
  apart.shape.anti_affinity = {
      {.selector = LabelSelector{}, .namespaces = {"default"}, .topology_key = "zone"}};
  change(apart, 1);
  due(1);
  learn(Outcome::infeasible, 1);
  gone("small", 2);
  EXPECT_EQ(due(2), Names{"apart"});
}

/// The others found no room because it was given to the pod that is refused now.
TEST_F(BacklogTest, ARefusalWakesOthers) {
  change(pod("a", 3'000), 1);
  change(pod("b", 2'000), 1);
  EXPECT_EQ(due(1), (Names{"a", "b"}));
  learn(Outcome::infeasible, 1);
  backlog.back_off({.plan = "p", .object = *parse_ref("Pod default/a"), .reason = "no room"},
                   at(2));
  EXPECT_EQ(due(2), Names{"b"});
}

TEST_F(BacklogTest, ABudgetThatAllowsMoreWakesAndOneThatAllowsLessDoesNot) {
  DisruptionBudget budget{.namespace_name = "default", .name = "web", .disruptions_allowed = 1};
  change(budget, 0);
  change(pod("a", 9'000), 1);
  due(1);
  learn(Outcome::infeasible, 1);
  budget.disruptions_allowed = 0;
  change(budget, 2);
  EXPECT_EQ(due(2), Names{});
  budget.disruptions_allowed = 1;
  change(budget, 3);
  EXPECT_EQ(due(3), Names{"a"});
}

TEST_F(BacklogTest, RoomThatIsPromisedToItselfWakesIt) {
  change(bound(pod("large", 4'000), "n1"), 0);
  Pod wants = pod("wants-three", 3'000);
  wants.nominated_node = "n1";
  change(wants, 1);
  due(1);
  learn(Outcome::infeasible, 1);
  gone("large", 2);
  EXPECT_EQ(due(2), Names{"wants-three"});
}

TEST_F(BacklogTest, AClassThatWasParkedComesBackOneByOne) {
  change(bound(pod("all", 4'000), "n1"), 0);
  for (const char* const name : {"a", "b", "c", "d", "e"}) change(pod(name, 2'000), 1);
  EXPECT_EQ(due(1).size(), 5U);
  learn(Outcome::infeasible, 1);
  gone("all", 2);
  EXPECT_EQ(due(2), Names{"a"});
  learn(Outcome::fits, 2);
  change(bound(pod("a", 2'000), "n1"), 2);
  EXPECT_EQ(due(3), (Names{"b", "c"}));
}

TEST_F(BacklogTest, AnAskWithVictimsIsTriedWhenAPodIsGone) {
  change(bound(pod("low", 4'000), "n1"), 0);
  change(pod("high", 4'000, 100), 1);
  EXPECT_EQ(due(1), Names{"high"});
  learn(Outcome::preempts, 1);
  EXPECT_EQ(due(2), Names{});
  gone("low", 30);
  EXPECT_EQ(due(30), Names{"high"});
}

// simulation_properties, seed 100271: a gang that leaves for another ask of the same cycle made
// more room than that ask needs.
TEST_F(BacklogTest, ADepartureWakesTheAsksThatWaitForItsNode) {
  for (const char* const name : {"x", "y", "z"}) change(bound(pod(name, 500), "n1"), 1);
  change(bound(pod("w", 500), "n2"), 1);
  change(pod("first", 1'000, 10), 1);
  change(pod("second", 1'000, 9), 1);
  EXPECT_EQ(due(1), (Names{"first", "second"}));
  Plan plan;
  for (const auto& [name, node] : {std::pair{"first", "n1"}, std::pair{"second", "n2"}}) {
    PlanAsk& ask = plan.asks.emplace_back(PlanAsk{.kind = AskKind::pod,
                                                  .namespace_name = "default",
                                                  .name = name,
                                                  .outcome = Outcome::preempts});
    ask.placements = {{.namespace_name = "default", .name = name, .node = node}};
  }
  backlog.learn(taken, plan, std::nullopt, at(1));
  EXPECT_EQ(due(2), Names{});
  gone("x", 3);  // From n1: its room is the first one's.
  EXPECT_EQ(due(3), Names{"first"});
  learn(Outcome::fits, 3);
  change(bound(pod("first", 1'000, 10), "n1"), 4);
  due(4);
  learn(Outcome::fits, 4);
  gone("y", 5);  // No ask waits for n1 any more, so any ask may use its room.
  EXPECT_EQ(due(5), Names{"second"});
}

TEST_F(BacklogTest, RoomThatTheSamePlanMakesIsNoMissedWakeUp) {
  change(bound(pod("low", 4'000), "n1"), 0);
  change(pod("a", 3'000), 1);
  due(1);
  learn(Outcome::infeasible, 1);
  EXPECT_EQ(due(301), Names{"a"});
  Plan plan;
  plan.asks.push_back({.namespace_name = "default",
                       .name = "a",
                       .outcome = Outcome::waits,
                       .waits_for = {{.namespace_name = "default", .name = "low", .node = "n1"}}});
  plan.actions.push_back(
      {.type = ActionType::evict, .namespace_name = "default", .name = "low", .node = "n1"});
  backlog.learn({{.namespace_name = "default", .name = "a"}}, plan, std::nullopt, at(301));
  EXPECT_EQ(backlog.missed_wakeups(), 0U);
}

TEST_F(BacklogTest, ARetryThatSucceedsIsAMissedWakeUp) {
  change(pod("a", 3'000), 1);
  due(1);
  learn(Outcome::infeasible, 1);
  EXPECT_EQ(backlog.next_due(at(1)), at(301));
  EXPECT_EQ(backlog.next_due(at(1), false), std::nullopt);
  EXPECT_EQ(due(300), Names{});
  EXPECT_EQ(due(301), Names{"a"});
  learn(Outcome::fits, 301);
  EXPECT_EQ(backlog.missed_wakeups(), 1U);
}

TEST_F(BacklogTest, AnAskThatWasLeftOutIsNotTriedAgainAtOnce) {
  change(pod("a", 3'000), 1);
  EXPECT_EQ(due(1), Names{"a"});
  backlog.learn(taken, {}, std::nullopt, at(1));
  EXPECT_EQ(due(2), Names{});
  change(Node{.name = "n3", .allocatable = {{"cpu", 8'000}, {"pods", 10}}}, 3);
  EXPECT_EQ(due(3), Names{"a"});
}

TEST_F(BacklogTest, AGangThatHasBegunIsNoClassWithOthers) {
  PodGroup group{.namespace_name = "default"};
  group.policy = {.minimum = 2, .gang = true};
  for (const char* const name : {"g1", "g2"}) {
    group.name = name;
    change(group, 1);
    for (const char* const part : {"x", "y"}) {
      Pod member = pod(std::string(name) + part, 1'000);
      member.group = name;
      change(member, 1);
    }
  }
  EXPECT_EQ(due(1), (Names{"g1", "g2"}));
  learn(Outcome::infeasible, 1);
  EXPECT_EQ(due(1), Names{});
  Pod runs = bound(pod("g2x", 1'000), "n1");
  runs.group = "g2";
  change(runs, 2);
  EXPECT_EQ(due(2), Names{"g2"});
}

TEST_F(BacklogTest, AnAskBeyondTheMaximumOfACycleIsTriedInTheNext) {
  backlog = Backlog({.asks_max = 2});
  for (const char* const name : {"a", "b", "c"}) {
    change(pod(name, 1'000 + name[0], 100), 1);
    due(1);
    learn(Outcome::preempts, 1);
  }
  gone("unknown", 5);
  EXPECT_EQ(due(5), (Names{"a", "b"}));
  EXPECT_EQ(backlog.next_due(at(5)), at(5));
  EXPECT_EQ(due(6), Names{"c"});
}

TEST_F(BacklogTest, AGroupIsOneAsk) {
  PodGroup group{.namespace_name = "default", .name = "gang"};
  group.policy = {.minimum = 2, .gang = true};
  change(group, 1);
  for (const char* const name : {"x", "y"}) {
    Pod member = pod(name, 1'000);
    member.group = "gang";
    change(member, 1);
  }
  EXPECT_EQ(due(1), Names{"gang"});
  EXPECT_EQ(backlog.pending(), 1U);
  gone("x", 2);
  EXPECT_EQ(backlog.pending(), 1U);
  gone("y", 2);
  EXPECT_EQ(backlog.pending(), 0U);
}

TEST_F(BacklogTest, AnAskThatGoesElsewhereFreesItsPromisedRoom) {
  Pod high = pod("high", 4'000, 100);
  high.nominated_node = "n1";
  change(high, 0);
  change(pod("a", 4'000), 0);
  due(0);
  learn(Outcome::infeasible, 0);
  EXPECT_EQ(due(1), Names{});
  change(bound(pod("high", 4'000, 100), "n2"), 2);
  EXPECT_EQ(due(2), Names{"a"});
}

TEST_F(BacklogTest, ANominationThatCanNeverComeTrueKeepsNoAskAsleep) {
  Pod high = pod("high", 4'000, 100);
  high.nominated_node = "n1";
  high.shape.unsupported = {"schedulingGate quota"};
  change(bound(pod("x", 4'000), "n1"), 0);
  change(high, 0);
  change(pod("a", 4'000), 0);
  due(0);
  learn(Outcome::infeasible, 0);
  EXPECT_EQ(due(1), Names{});
  gone("x", 2);
  EXPECT_EQ(due(2), (Names{"high", "a"}));
}

TEST_F(BacklogTest, ARefusedActionBacksOffOneSecondDoublingToSixty) {
  change(pod("a", 3'000), 0);
  std::int64_t now = 0;
  for (const std::int64_t delay : {1, 2, 4, 8, 16, 32, 60, 60}) {
    EXPECT_EQ(due(now), Names{"a"});
    learn(Outcome::fits, now);
    backlog.back_off({.plan = "p", .object = *parse_ref("Pod default/a"), .reason = "conflict"},
                     at(now));
    EXPECT_EQ(backlog.next_due(at(now), false), at(now + delay));
    EXPECT_EQ(due(now + delay - 1), Names{});
    now += delay;
  }
}

TEST_F(BacklogTest, ARefusalOfAnotherKindOfTheSameNameIsIgnored) {
  change(pod("a", 3'000), 0);
  EXPECT_EQ(due(0), Names{"a"});
  learn(Outcome::fits, 0);
  backlog.back_off({.plan = "p",
                    .object = *parse_ref("Deployment default/b"),
                    .reason = "gone",
                    .ask = parse_ref("ReplicaSchedule default/a")},
                   at(0));
  EXPECT_EQ(due(0), Names{"a"}) << "something was refused, so there may be room";
}

TEST_F(BacklogTest, AChangedSpecIsTriedAtOnce) {
  change(pod("a", 9'000), 1);
  EXPECT_EQ(due(1), Names{"a"});
  learn(Outcome::infeasible, 1);
  change(pod("a", 9'000), 2);  // Nothing of it has changed.
  EXPECT_EQ(due(2), Names{});
  change(pod("a", 3'000), 3);
  EXPECT_EQ(due(3), Names{"a"});
  backlog.back_off(Receipt{.plan = "p", .object = *parse_ref("Pod default/a"), .reason = ""},
                   at(3));
  change(pod("a", 2'000), 3);
  EXPECT_EQ(due(3), Names{"a"});
  EXPECT_EQ(backlog.pending(), 1U);
}

TEST_F(BacklogTest, AnAskWithVolumesIsTriedWhenOneIsBound) {
  Pod waits = pod("a", 1'000);
  waits.shape.claims = {{.kind = ClaimKind::volume, .namespace_name = "default", .name = "data"}};
  change(waits, 1);
  change(pod("b", 1'000), 1);
  EXPECT_EQ(due(1), (Names{"a", "b"}));
  for (const std::string name : {"Pod default/a", "Pod default/b"}) {
    backlog.back_off(Receipt{.plan = "p", .object = *parse_ref(name), .reason = ""}, at(1));
  }
  PersistentVolumeClaim claim{.namespace_name = "default", .name = "data"};
  change(claim, 1);
  EXPECT_EQ(due(1), Names{});
  claim.bound = true;
  change(claim, 1);
  EXPECT_EQ(due(1), Names{"a"});
}

// A brake states until when it holds; the back-off of an ask is neither longer nor shorter.
TEST_F(BacklogTest, AnAskWaitsNoLongerThanItsBrake) {
  change(pod("a", 1'000), 0);
  EXPECT_EQ(due(0), std::vector<std::string>{"a"});
  const auto refuse = [&](std::int64_t now, std::int64_t again_at) {
    backlog.back_off(Receipt{.plan = "p",
                             .object = *parse_ref("Pod default/a"),
                             .reason = "brake",
                             .again_at = at(again_at)},
                     at(now));
  };
  refuse(0, 60);
  EXPECT_EQ(backlog.next_due(at(0)), at(1));
  EXPECT_EQ(due(1), std::vector<std::string>{"a"});
  refuse(1, 60);
  EXPECT_EQ(backlog.next_due(at(1)), at(3));
  EXPECT_EQ(due(3), std::vector<std::string>{"a"});
  refuse(3, 5);  // Instead of four seconds later.
  EXPECT_EQ(backlog.next_due(at(3)), at(5));
  EXPECT_EQ(due(5), std::vector<std::string>{"a"});
  refuse(5, 5);
  EXPECT_EQ(backlog.next_due(at(5)), at(6));
}

TEST_F(BacklogTest, AFailedEvictionBacksOffItsAsk) {
  change(pod("a", 3'000), 0);
  EXPECT_EQ(due(0), Names{"a"});
  learn(Outcome::preempts, 0);
  backlog.back_off({.plan = "p",
                    .object = *parse_ref("Pod default/victim"),
                    .reason = "gone",
                    .ask = pod_ref("default", "a")},
                   at(0));
  gone("unknown", 0);
  EXPECT_EQ(due(0), Names{});
  EXPECT_EQ(due(1), Names{"a"});
}

TEST_F(BacklogTest, AnAskThatTheJudgeRefusesDoesNotKeepTheLoopBusy) {
  change(pod("a", 3'000), 0);
  EXPECT_EQ(due(0), Names{"a"});
  backlog.back_off({.kind = AskKind::pod, .namespace_name = "default", .name = "a"},
                   Backlog::RefusedBy::judge, at(0));
  EXPECT_EQ(backlog.next_due(at(0), false), std::nullopt);
  EXPECT_EQ(backlog.next_due(at(0)), at(1));
}

TEST_F(BacklogTest, AStarvedAskIsTriedWhateverItsPriority) {
  backlog = Backlog({.asks_max = 2, .starvation_age = Duration{60'000}});
  change(pod("low", 1'000), 0);
  for (const char* const name : {"h1", "h2"}) change(pod(name, 2'000, 100), 0);
  EXPECT_EQ(due(0), (Names{"h1", "h2"}));
  EXPECT_EQ(due(59), (Names{"h1", "h2"}));
  EXPECT_EQ(due(60), (Names{"h1", "low"}));
  EXPECT_EQ(backlog.starved(), 1U);
}

}  // namespace
}  // namespace makeway
