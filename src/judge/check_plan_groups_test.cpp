// Plans for group asks: for each law a good one that passes and a broken one that is caught.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "judge/check_plan.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

using Spots = std::vector<std::pair<std::string, std::string>>;

/// A scene whose plan has group asks, written as an honest planner would.
struct GroupScene : Scene {
  using Scene::Scene;

  PlanAsk& group_ask(const std::string& name, Outcome outcome, const Spots& spots = {},
                     const std::vector<std::string>& victims = {}) {
    PlanAsk entry{.kind = AskKind::pod_group, .namespace_name = "default", .name = name};
    const Group& found = cluster.groups()[*cluster.find_group("default", name)];
    entry.priority = cluster.units()[found.unit].scheduling_priority;
    entry.outcome = outcome;
    for (const auto& [member, on] : spots) {
      entry.placements.push_back({.namespace_name = "default", .name = member, .node = on});
      plan.actions.push_back(
          {.type = outcome == Outcome::fits ? ActionType::bind : ActionType::nominate,
           .namespace_name = "default",
           .name = member,
           .node = on});
    }
    for (const std::string& each : victims) {
      // NOLINTNEXTLINE(readability-suspicious-call-argument): the victim's name, then the ask's.
      entry.victims.push_back(victim(each, name));
      entry.victims.back().cause_for = ask_text(entry);
      plan.actions.push_back({.type = ActionType::evict,
                              .namespace_name = "default",
                              .name = each,
                              .uid = entry.victims.back().uid,
                              .node = entry.victims.back().node,
                              .ask = ref_of(entry)});
    }
    plan.asks.push_back(std::move(entry));
    return plan.asks.back();
  }

  PlanAsk& group_waits(const std::string& name, const Spots& spots, const std::string& leaver) {
    PlanAsk& entry = group_ask(name, Outcome::waits, spots);
    const PodIndex pod = *cluster.find_pod("default", leaver);
    entry.waits_for = {
        {.namespace_name = "default", .name = leaver, .node = cluster.pod(pod).node}};
    return entry;
  }

  /// Instead of the plan so far.
  Laws laws_of(const std::string& name, Outcome outcome, const Spots& spots = {},
               const std::vector<std::string>& victims = {}) {
    plan = {.now = now};
    group_ask(name, outcome, spots, victims);
    return laws();
  }
};

PodGroup gang(std::string name, std::int32_t minimum, std::int32_t priority = 100) {
  PodGroup object = group(std::move(name), DisruptionMode::single);
  object.policy.gang = true;
  object.policy.minimum = minimum;
  object.priority.priority = priority;
  return object;
}

Pod member(std::string name, std::int64_t cpu, std::string node = "") {
  Pod object = in_group(pod(std::move(name), std::move(node), 100, cpu), "gang");
  object.labels = {{"app", "gang"}};
  return object;
}

Node in_zone(Node object, std::string zone) {
  object.labels = {{"zone", std::move(zone)}};
  return object;
}

LabelSelector is_app(std::string app) {
  return {{{.key = "app", .operation = Operator::in, .values = {std::move(app)}}}};
}

PodAffinityTerm term(std::string app, std::string key = "kubernetes.io/hostname") {
  return {.selector = is_app(std::move(app)),
          .namespaces = {"default"},
          .topology_key = std::move(key)};
}

Pod repelling(Pod object, const PodAffinityTerm& term) {
  object.shape.anti_affinity = {term};
  return object;
}

Node host(std::string name, std::int64_t cpu) {
  Node object = node(name, cpu);
  object.labels = {{"kubernetes.io/hostname", std::move(name)}};
  return object;
}

/// Two nodes full of pods that may leave, and a gang of two that wants one half of each.
GroupScene two_full_nodes() {
  // NOLINTNEXTLINE(modernize-return-braced-init-list): the constructor is explicit.
  return GroupScene(node("n1", 1000), node("n2", 1000), pod("low-1", "n1", 10, 1000),
                    pod("low-2", "n2", 10, 1000), gang("gang", 2), member("m1", 600),
                    member("m2", 600));
}

// ---- Law 3 --------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law3AGangGetsItsMinimum) {
  GroupScene scene(node("n1", 1000), gang("gang", 2), member("m1", 300), member("m2", 300),
                   member("m3", 300));
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m2", "n1"}, {"m3", "n1"}}),
            Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m3", "n1"}}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}}), Laws{3});
  EXPECT_EQ(scene.breaches().front().text,
            "1 of its members have a place, 0 stay, and its minimum is 2");
  PodGroup basic = group("gang", DisruptionMode::single);
  basic.priority.priority = 100;
  scene.cluster.apply(basic);
  EXPECT_EQ(scene.laws(), Laws{});  // Of a basic group one is enough.
}

TEST(CheckPlanGroups, Law3MembersThatStayCountForTheMinimum) {
  const auto laws_with = [](const Pod& bound) {
    GroupScene scene(node("n1", 1000), gang("gang", 2), bound, member("m1", 300));
    return scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}});
  };
  EXPECT_EQ(laws_with(member("m0", 300, "n1")), Laws{});
  EXPECT_EQ(laws_with(leaving(member("m0", 300, "n1"))), Laws{3});
}

TEST(CheckPlanGroups, Law3VictimsOfEarlierAsksDoNotCountForTheMinimum) {
  GroupScene scene(node("n1", 600), node("n2", 1000), gang("gang", 2), member("m0", 600, "n1"),
                   member("m1", 300), pod("urgent", "", 200, 600));
  scene.cluster.apply(pod("full", "n2", 300, 700));
  scene.ask("urgent", Outcome::preempts, "n1", {"m0"});
  scene.group_ask("gang", Outcome::fits, {{"m1", "n2"}});
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanGroups, Law3MembersFitBesideEachOther) {
  GroupScene scene(node("n1", 1000), node("n2", 1000), gang("gang", 2), member("m1", 600),
                   member("m2", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m2", "n2"}}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m2", "n1"}}), Laws{3});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m1", "n2"}}), (Laws{3}));
}

TEST(CheckPlanGroups, Law3MembersFitWhenTheVictimsAreGone) {
  GroupScene scene = two_full_nodes();
  EXPECT_EQ(
      scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}, {"m2", "n2"}}, {"low-1", "low-2"}),
      Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}, {"m2", "n2"}}, {"low-1"}),
            Laws{3});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}}, {"low-1"}), Laws{3});
}

TEST(CheckPlanGroups, Law3PreemptingNeedsAVictim) {
  GroupScene scene(node("n1", 1000), gang("gang", 1), member("m1", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}}), (Laws{1, 3}));
  scene.plan.asks[0].placement_given = true;
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanGroups, Law3AGroupWaitsForItsLeavingRoom) {
  GroupScene scene(node("n1", 1000), leaving(pod("goes", "n1", 500, 600)), gang("gang", 2),
                   member("m1", 500), member("m2", 500));
  scene.group_waits("gang", {{"m1", "n1"}, {"m2", "n1"}}, "goes");
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(member("m2", 501));
  EXPECT_EQ(scene.laws(), Laws{3});
  scene.cluster.apply(member("m2", 500));
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m2", "n1"}}), Laws{3});
}

TEST(CheckPlanGroups, Law3MembersStayInOneDomain) {
  PodGroup object = gang("gang", 2);
  object.policy.topology_keys = {"zone"};
  GroupScene scene(in_zone(node("a1", 600), "a"), in_zone(node("a2", 600), "a"),
                   in_zone(node("b1", 600), "b"), node("c1", 600), object, member("m1", 600),
                   member("m2", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "a1"}, {"m2", "a2"}}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "a1"}, {"m2", "c1"}}), Laws{3});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "a1"}, {"m2", "b1"}}), Laws{3});
  scene.configuration.workload.group_domains = GroupDomains::cluster;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanGroups, Law3MembersThatStayFixTheDomain) {
  PodGroup object = gang("gang", 2);
  object.policy.topology_keys = {"zone"};
  GroupScene scene(in_zone(node("a1", 600), "a"), in_zone(node("a2", 600), "a"),
                   in_zone(node("b1", 600), "b"), object, member("m0", 600, "a1"),
                   member("m1", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "a2"}}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "b1"}}), Laws{3});
}

TEST(CheckPlanGroups, Law3LaterAsksKeepWhatMembersWerePromised) {
  const auto laws_with = [](std::int64_t cpu) {
    GroupScene scene(node("n1", 1000), pod("low", "n1", 10, 600), gang("gang", 2),
                     member("m1", 400), member("m2", 400), pod("second", "", 50, cpu));
    scene.group_ask("gang", Outcome::preempts, {{"m1", "n1"}, {"m2", "n1"}}, {"low"});
    scene.ask("second", Outcome::fits, "n1");
    return scene.laws();
  };
  EXPECT_EQ(laws_with(200), Laws{});
  EXPECT_EQ(laws_with(201), Laws{3});
}

TEST(CheckPlanGroups, Law3NoPodCrowdsAMemberThatIsStillToCome) {
  Pod spread = member("m1", 400);
  spread.shape.spread = {{.topology_key = "zone", .skew_max = 1, .selector = is_app("gang")}};
  Pod second = pod("second", "", 50, 100);
  GroupScene scene(in_zone(node("a1", 1000), "a"), in_zone(node("b1", 100), "b"),
                   pod("low", "a1", 10, 900), gang("gang", 1), spread, second);
  scene.group_ask("gang", Outcome::preempts, {{"m1", "a1"}}, {"low"});
  scene.ask("second", Outcome::fits, "a1");
  EXPECT_EQ(scene.laws(), Laws{});
  second.labels = {{"app", "gang"}};
  scene.cluster.apply(second);
  ASSERT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text,
            "when all asks are served default/m1 does not fit on node a1 any more: spread zone");
}

TEST(CheckPlanGroups, MembersMayNeedEachOther) {
  Pod first = member("m1", 300);
  first.shape.affinity = {term("second")};
  Pod second = member("m2", 300);
  second.labels = {{"app", "second"}};
  GroupScene scene(host("n1", 1000), pod("low", "n1", 10, 1000), gang("gang", 2), first, second);
  EXPECT_EQ(scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m2", "n1"}}), Laws{3});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}, {"m2", "n1"}}, {"low"}),
            Laws{});
  second.labels = {{"app", "other"}};
  scene.cluster.apply(second);
  EXPECT_EQ(scene.laws(), Laws{3});
}

// ---- Law 4 --------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law4NotOneVictimTooMany) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(pod("low-1", "n1", 10, 500));
  scene.cluster.apply(pod("extra", "n1", 10, 400));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2", "extra"}), Laws{4});
  EXPECT_EQ(scene.breaches().size(), 1U);  // Beside low-1 there is no room.
  EXPECT_EQ(scene.breaches().front().text,
            "victim default/extra need not leave: every member fits where it goes");
  for (const WaivedLaw law : {WaivedLaw::law_4_gangs, WaivedLaw::law_4}) {
    scene.configuration.engine.laws_waived = {law};
    EXPECT_EQ(scene.laws(), Laws{});
  }
}

TEST(CheckPlanGroups, Law4AVictimElsewhereIsNotNeeded) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 100));
  scene.cluster.apply(pod("far", "n3", 10, 100));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2", "far"}), Laws{4});
  scene.cluster.apply(in_zone(node("n1", 1000), "a"));
  scene.cluster.apply(in_zone(node("n3", 100), "a"));
  scene.cluster.apply(repelling(pod("far", "n3", 10, 100), term("gang", "zone")));
  EXPECT_EQ(scene.laws(), Laws{});  // From there it repels the member on n1.
}

TEST(CheckPlanGroups, Law4AWholeGroupIsPutBackWhole) {
  GroupScene scene(node("n1", 1000), node("n2", 1000), gang("gang", 1), member("m1", 600),
                   group("g", DisruptionMode::all), in_group(pod("g1", "n1", 10, 1000), "g"),
                   in_group(pod("g2", "n2", 10, 1000), "g"));
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}}, {"g1", "g2"}), Laws{});
  scene.cluster.apply(group("g", DisruptionMode::single));
  EXPECT_EQ(scene.laws(), Laws{4});
}

TEST(CheckPlanGroups, Law4FurtherMembersAreAReasonToo) {
  // With evictFor: all, victims leave for members beyond the minimum.
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(gang("gang", 1));
  EXPECT_EQ(
      scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}, {"m2", "n2"}}, {"low-1", "low-2"}),
      Laws{});
}

TEST(CheckPlanGroups, Law4AnEarlierPromiseIsAReasonToo) {
  // The first may stand in zone a beside one of the gang's kind, but not beside two.
  Pod first = pod("first", "", 200, 600);
  first.shape.spread = {{.topology_key = "zone", .skew_max = 2, .selector = is_app("gang")}};
  first.labels = {{"app", "gang"}};
  Pod kept = pod("kept", "a2", 10, 100);
  kept.labels = {{"app", "gang"}};
  GroupScene scene(in_zone(node("a1", 1000), "a"), in_zone(node("a2", 700), "a"),
                   in_zone(node("b1", 100), "b"), pod("low-1", "a1", 10, 1000),
                   pod("low-2", "a2", 10, 600), pod("full", "b1", 300, 100), kept, first,
                   gang("gang", 1), member("m1", 600));
  scene.ask("first", Outcome::preempts, "a1", {"low-1"});
  scene.group_ask("gang", Outcome::preempts, {{"m1", "a2"}}, {"low-2", "kept"});
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Laws 1 and 6 -------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law1NothingIsEvictedForAGangThatFits) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 600));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{});
  scene.cluster.apply(node("n4", 600));
  EXPECT_EQ(scene.laws(), Laws{1});
  EXPECT_EQ(scene.breaches().front().text,
            "it has victims, and 2 of its members fit without them, default/m1 on node n3");
  scene.plan.asks[0].placement_given = true;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanGroups, Law1OneFreePlaceIsEnoughForABasicGroup) {
  GroupScene scene = two_full_nodes();
  PodGroup basic = group("gang", DisruptionMode::single);
  basic.priority.priority = 100;
  scene.cluster.apply(basic);
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}}, {"low-1"}), Laws{});
  scene.cluster.apply(node("n3", 600));
  EXPECT_EQ(scene.laws(), Laws{1});
}

TEST(CheckPlanGroups, Law1HeterogeneousMembersAreNotClaimed) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 1200));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{1});
  scene.cluster.apply(member("m2", 599));
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(repelling(member("m1", 600), term("gang")));
  scene.cluster.apply(repelling(member("m2", 600), term("gang")));
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanGroups, Law1FreeRoomInOtherDomainsDoesNotAddUp) {
  PodGroup object = gang("gang", 2);
  object.policy.topology_keys = {"zone"};
  GroupScene scene(in_zone(node("a1", 1200), "a"), in_zone(node("b1", 600), "b"),
                   in_zone(node("c1", 600), "c"), pod("low", "a1", 10, 1200), object,
                   member("m1", 600), member("m2", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "a1"}, {"m2", "a1"}}, {"low"}),
            Laws{});
  scene.cluster.apply(in_zone(node("c1", 600), "b"));
  EXPECT_EQ(scene.laws(), Laws{1});
}

TEST(CheckPlanGroups, Law1RoomNominatedToOthersIsNotFree) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 1200));
  scene.cluster.apply(nominated(pod("holder", "", 100, 600), "n3"));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{});
  scene.cluster.apply(nominated(pod("holder", "", 99, 600), "n3"));
  EXPECT_EQ(scene.laws(), Laws{1});
}

TEST(CheckPlanGroups, Law6LeavingRoomIsCreditedFirst) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 1200));
  scene.cluster.apply(leaving(pod("goes", "n3", 500, 1000)));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{6});
  scene.cluster.apply(leaving(pod("goes", "n3", 500, 1000), Time{0}));
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanGroups, Law6VictimsOfEarlierAsksAreCreditedToo) {
  GroupScene scene(node("n1", 1000), node("n2", 400), pod("low", "n1", 10, 1000),
                   pod("other", "n2", 10, 400), pod("first", "", 200, 600), gang("gang", 2),
                   member("m1", 200), member("m2", 200));
  scene.ask("first", Outcome::preempts, "n1", {"low"});
  scene.group_ask("gang", Outcome::preempts, {{"m1", "n2"}, {"m2", "n2"}}, {"other"});
  EXPECT_EQ(scene.laws(), Laws{6});
  scene.plan.asks.pop_back();
  scene.plan.actions.resize(2);
  scene.group_waits("gang", {{"m1", "n1"}, {"m2", "n1"}}, "low");
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 2 --------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law2PriorityPolicyAndDelayAreTheGroups) {
  GroupScene scene = two_full_nodes();
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{});
  PodGroup object = gang("gang", 2, 10);  // The pods say 100; the group's counts.
  scene.cluster.apply(object);
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{2});
  object = gang("gang", 2);
  object.created = Time{now.ms - 1000};
  scene.cluster.apply(object);
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{});
  scene.configuration.engine.preemption_delay = Duration{1001};
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.engine.preemption_delay = {};
  object.priority.preemption_policy = PreemptionPolicy::never;
  scene.cluster.apply(object);
  EXPECT_EQ(scene.laws(), Laws{2});
}

// ---- Law 5 --------------------------------------------------------------------------------------

/// A gang of two on two nodes, and one on n1 that may stay behind; a pod asks for n1.
/// It leaves whole when it falls below its minimum.
PodGroup fragile(PodGroup group) {
  group.evict_below_minimum = true;
  return group;
}

GroupScene running_gang(std::int32_t minimum) {
  PodGroup running = gang("running", minimum, 10);
  // NOLINTNEXTLINE(modernize-return-braced-init-list): the constructor is explicit.
  return GroupScene(
      node("n1", 1000), node("n2", 1000), running, in_group(pod("r1", "n1", 10, 600), "running"),
      in_group(pod("r2", "n2", 10, 600), "running"), gang("gang", 1), member("m1", 1000));
}

TEST(CheckPlanGroups, Law5AGangBelowItsMinimumGoesWhole) {
  GroupScene scene = running_gang(2);
  const Spots spots = {{"m1", "n1"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"r1"}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"r1", "r2"}), Laws{4});
  scene.cluster.apply(fragile(gang("running", 2, 10)));
  EXPECT_EQ(scene.laws(), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"r1"}), Laws{5});
  EXPECT_EQ(scene.breaches().front().text,
            "victim default/r1 brings its group under its minimum of 2, and default/r2 stays");
  scene.cluster.apply(fragile(gang("running", 1, 10)));
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(fragile(gang("running", 3, 10)));
  EXPECT_EQ(scene.laws(), Laws{});  // It was under it before.
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"r1", "r2"}), Laws{4});
}

TEST(CheckPlanGroups, Law5AGangWithAMemberThatMayNotLeaveIsDegraded) {
  GroupScene scene = running_gang(3);
  Pod leader = in_group(pod("r3", "n2", 10, 100), "running");
  leader.is_protected = true;
  scene.cluster.apply(leader);
  scene.cluster.apply(fragile(gang("running", 3, 10)));
  const Spots spots = {{"m1", "n1"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"r1"}), Laws{});
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"r1", "r2"}), Laws{4});
}

TEST(CheckPlanGroups, Law5WhatEarlierAsksTookCounts) {
  PodGroup running = gang("running", 2, 10);
  GroupScene scene(node("n1", 600), node("n2", 600), node("n3", 600), running,
                   in_group(pod("r1", "n1", 10, 600), "running"),
                   in_group(pod("r2", "n2", 10, 600), "running"),
                   in_group(pod("r3", "n3", 10, 600), "running"), pod("first", "", 200, 600),
                   gang("gang", 1), member("m1", 600));
  scene.cluster.apply(fragile(running));
  scene.ask("first", Outcome::preempts, "n1", {"r1"});
  EXPECT_EQ(scene.laws(), Laws{});
  const Plan before = scene.plan;
  scene.group_ask("gang", Outcome::preempts, {{"m1", "n2"}}, {"r2"});
  EXPECT_EQ(scene.laws(), Laws{5});
  scene.plan = before;
  scene.group_ask("gang", Outcome::preempts, {{"m1", "n2"}}, {"r2", "r3"});
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 7 --------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law7ValidNominationsNeedNoVictims) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 1200));
  scene.cluster.apply(leaving(pod("goes", "n3", 10, 1200)));
  scene.cluster.apply(nominated(member("m1", 600), "n3"));
  scene.cluster.apply(nominated(member("m2", 599), "n3"));
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{7});
  scene.cluster.apply(member("m2", 599));  // One of two says nothing.
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(nominated(member("m2", 601), "n3"));
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanGroups, Law7RoomNominatedToOthersIsTheirs) {
  const auto laws_against = [](std::int32_t priority) {
    GroupScene scene(node("n1", 1000), nominated(pod("holder", "", priority, 600), "n1"),
                     gang("gang", 2), member("m1", 300), member("m2", 300));
    return scene.laws_of("gang", Outcome::fits, {{"m1", "n1"}, {"m2", "n1"}});
  };
  EXPECT_EQ(laws_against(99), Laws{});
  EXPECT_EQ(laws_against(100), Laws{7});
}

TEST(CheckPlanGroups, Law7PreemptedPodsHoldNominationsWhereTheConfigurationSaysSo) {
  Pod goes = leaving(pod("goes", "n3", 10, 1200));
  goes.disrupted_by_preemption = true;
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(node("n3", 1200));
  scene.cluster.apply(goes);
  scene.cluster.apply(nominated(member("m1", 600), "n3"));
  scene.configuration.engine.laws_waived = {WaivedLaw::law_6};
  scene.configuration.workload.leaving_room = LeavingRoom::victims;
  scene.configuration.workload.nomination_held_by = NominationHeldBy::preempted_pods;
  scene.group_waits("gang", {{"m1", "n3"}}, "goes");
  EXPECT_EQ(scene.laws(), Laws{});  // It keeps what it has, be it room or not.
  const Spots spots = {{"m1", "n1"}, {"m2", "n2"}};
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, spots, {"low-1", "low-2"}), Laws{7});
  goes.priority = 100;
  scene.cluster.apply(goes);
  EXPECT_EQ(scene.laws(), Laws{});
}

/// m2 waits for room that is not free yet, and m1 wants to be near it: m1 is only tentative, too,
/// though it is judged first.
TEST(CheckPlanGroups, Law3AMemberThatDependsOnATentativeOneIsPromisedNothing) {
  Pod goes = leaving(pod("goes", "b1", 10, 1200));
  goes.disrupted_by_preemption = true;
  Pod first = nominated(member("m1", 600), "a1");
  first.shape.affinity = {term("friend", "zone")};
  Pod second = nominated(member("m2", 600), "b1");
  second.labels = {{"app", "friend"}};
  GroupScene scene(in_zone(node("a1", 600), "z"), in_zone(node("b1", 1200), "z"), gang("gang", 2),
                   first, second, goes);
  scene.configuration.engine.laws_waived = {WaivedLaw::law_6};
  scene.configuration.workload.leaving_room = LeavingRoom::victims;
  scene.configuration.workload.nomination_held_by = NominationHeldBy::preempted_pods;
  scene.group_waits("gang", {{"m1", "a1"}, {"m2", "b1"}}, "goes");
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Law 8 --------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law8OwnMembersAreNoVictims) {
  PodGroup object = gang("gang", 1);
  object.priority.preemption_priority_class = "low";
  GroupScene scene(PriorityClass{.name = "low", .value = 1}, node("n1", 1000), object,
                   member("m0", 1000, "n1"), member("m1", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::preempts, {{"m1", "n1"}}, {"m0"}), Laws{8});
}

TEST(CheckPlanGroups, Law8AMemberIsPlacedOnce) {
  GroupScene scene(node("n1", 1000), gang("gang", 1), member("m1", 300));
  scene.group_ask("gang", Outcome::fits, {{"m1", "n1"}});
  scene.ask("m1", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), (Laws{8, 9}));
  scene.plan = {.now = now};
  scene.group_ask("gang", Outcome::not_found, {{"m1", "n1"}});
  scene.group_ask("gang", Outcome::not_found, {{"m1", "n1"}});
  EXPECT_EQ(scene.laws(), (Laws{3, 8}));
}

// ---- Law 9 --------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law9EveryMemberHasItsAction) {
  GroupScene scene = two_full_nodes();
  scene.group_ask("gang", Outcome::preempts, {{"m1", "n1"}, {"m2", "n2"}}, {"low-1", "low-2"});
  const std::vector<PlanAction> right = scene.plan.actions;
  for (std::size_t left_out = 0; left_out < right.size(); ++left_out) {
    scene.plan.actions = right;
    scene.plan.actions.erase(scene.plan.actions.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_EQ(scene.laws(), Laws{9});
  }
  scene.plan.actions = right;
  scene.plan.asks[0].victims[1].cause_for = "Pod default/m1";
  EXPECT_EQ(scene.laws(), Laws{9});
}

// ---- Law 10 -------------------------------------------------------------------------------------

TEST(CheckPlanGroups, Law10InfeasibleIsProvenForAlikeMembers) {
  GroupScene scene = two_full_nodes();
  ASSERT_EQ(scene.laws_of("gang", Outcome::infeasible), Laws{10});
  EXPECT_EQ(
      scene.breaches().front().text,
      "it is called infeasible, and 2 of its members fit when 2 pods leave, default/m1 on node "
      "n1");
  EXPECT_EQ(scene.laws_of("gang", Outcome::not_found), Laws{});
  scene.cluster.apply(pod("low-2", "n2", 100, 1000));  // Now it stays.
  EXPECT_EQ(scene.laws_of("gang", Outcome::infeasible), Laws{});
  scene.cluster.apply(gang("gang", 1));
  EXPECT_EQ(scene.laws(), Laws{10});
}

TEST(CheckPlanGroups, Law10FirstFitDisprovesForOthers) {
  GroupScene scene = two_full_nodes();
  scene.cluster.apply(repelling(member("m1", 600), term("gang")));
  scene.cluster.apply(repelling(member("m2", 500), term("gang")));
  scene.cluster.apply(host("n1", 1000));
  scene.cluster.apply(host("n2", 1000));
  EXPECT_EQ(scene.laws_of("gang", Outcome::infeasible), Laws{10});
  scene.cluster.apply(pod("low-2", "n2", 100, 1000));
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanGroups, Law10ADomainMustHoldThemAll) {
  PodGroup object = gang("gang", 2);
  object.policy.topology_keys = {"zone"};
  GroupScene scene(in_zone(node("a1", 600), "a"), in_zone(node("b1", 600), "b"), object,
                   member("m1", 600), member("m2", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::infeasible), Laws{});
  scene.cluster.apply(in_zone(node("b1", 600), "a"));
  EXPECT_EQ(scene.laws(), Laws{10});
}

TEST(CheckPlanGroups, Law10OtherReasonsToRefuse) {
  const auto laws_with = [](const auto& change) {
    GroupScene scene = two_full_nodes();
    change(scene);
    return scene.laws_of("gang", Outcome::infeasible);
  };
  EXPECT_EQ(laws_with([](GroupScene& scene) { scene.cluster.apply(gang("gang", 3)); }), Laws{});
  EXPECT_EQ(laws_with([](GroupScene& scene) {
              scene.cluster.apply(Removal{
                  .kind = ObjectKind::pod_group, .namespace_name = "default", .name = "gang"});
            }),
            Laws{});
  EXPECT_EQ(laws_with([](GroupScene& scene) {
              PodGroup object = gang("gang", 2);
              object.priority.preemption_policy = PreemptionPolicy::never;
              scene.cluster.apply(object);
            }),
            Laws{});
  const auto other_priority = [](GroupScene& scene) {
    Pod other = member("m2", 600);
    other.priority = 99;
    scene.cluster.apply(other);
  };
  EXPECT_EQ(laws_with(other_priority), Laws{10});
  EXPECT_EQ(laws_with([&](GroupScene& scene) {
              other_priority(scene);
              scene.configuration.workload.pods_not_matching_priority =
                  PodsNotMatchingPriority::refuse;
            }),
            Laws{});
}

TEST(CheckPlanGroups, Law10NeverStillUsesWhatIsFree) {
  PodGroup object = gang("gang", 2);
  object.priority.preemption_policy = PreemptionPolicy::never;
  GroupScene scene(node("n1", 1200), object, member("m1", 600), member("m2", 600));
  EXPECT_EQ(scene.laws_of("gang", Outcome::infeasible), Laws{10});
}

}  // namespace
}  // namespace makeway::scene
