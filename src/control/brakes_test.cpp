#include "control/brakes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time brakes_start{1'000'000};

EvictionRequest request(std::string_view ask, std::vector<EvictionRequest::Victim> victims) {
  return {.profile = "makeway", .ask = *parse_ref(ask), .victims = std::move(victims)};
}

Receipt refusal_of(const std::string& pod, std::string plan) {
  return {.plan = std::move(plan), .object = pod_ref("a", pod), .ask = pod_ref("a", "urgent")};
}

EvictionRequest two_of_one_owner(std::string plan) {
  EvictionRequest two = request("Pod a/urgent", {{"a", "owner", pod_ref("a", "low-1")},
                                                 {"a", "owner", pod_ref("a", "low-2")}});
  two.plan = std::move(plan);
  return two;
}

TEST(EvictionBrakes, StartEmptyAndFill) {
  EvictionBrakes brakes({.evictions_per_minute = 60}, brakes_start);
  const EvictionRequest one = request("Pod a/urgent", {{"a", "", {}}});
  EXPECT_EQ(brakes.admit(one, brakes_start).why,
            "brake: 60 evictions a minute for profile makeway");
  EXPECT_EQ(brakes.admit(one, brakes_start + Duration{999}).why,
            "brake: 60 evictions a minute for profile makeway");
  EXPECT_EQ(brakes.admit(one, brakes_start + Duration{1'000}).why, "");
  EXPECT_NE(brakes.admit(one, brakes_start + Duration{1'000}).why, "");
}

/// The other members have left, so the rest only holds room that no gang can use.
TEST(EvictionBrakes, TheRestOfAGangLeavesAtOnceAndCounts) {
  EvictionBrakes brakes({.evictions_per_minute = 60}, brakes_start);
  EvictionRequest rest = request("PodGroup a/gang", {{"a", "", {}}, {"a", "", {}}});
  rest.rolls_back = true;
  EXPECT_EQ(brakes.admit(rest, brakes_start).why, "");
  const EvictionRequest other = request("Pod a/urgent", {{"a", "", {}}});
  EXPECT_NE(brakes.admit(other, brakes_start + Duration{2'000}).why, "");
}

TEST(EvictionBrakes, AProfileMayHaveItsOwnAllowance) {
  EvictionBrakes brakes({.evictions_per_minute = 60, .of_profiles = {{"batch", 1}}}, brakes_start);
  EvictionRequest of_batch = request("Pod a/batch", {{"a", "", {}}});
  of_batch.profile = "batch";
  const Time later = brakes_start + Duration{59'999};
  EXPECT_EQ(brakes.admit(of_batch, later).why, "brake: 1 evictions a minute for profile batch");
  EXPECT_EQ(brakes.admit(request("Pod a/urgent", {{"a", "", {}}}), later).why, "");
  EXPECT_EQ(brakes.admit(of_batch, later + Duration{1}).why, "");
}

TEST(EvictionBrakes, NoMoreThanAMinuteIsSavedUp) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const Time later = brakes_start + Duration{3'600'000};
  EXPECT_EQ(brakes.admit(request("Pod a/1", {{"a", "", {}}}), later).why, "");
  EXPECT_EQ(brakes.admit(request("Pod a/2", {{"a", "", {}}}), later).why, "");
  EXPECT_NE(brakes.admit(request("Pod a/3", {{"a", "", {}}}), later).why, "");
}

TEST(EvictionBrakes, ALargeGangWaitsAMinuteAndPaysForAll) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const EvictionRequest gang =
      request("PodGroup a/gang", {{"a", "", {}}, {"a", "", {}}, {"a", "", {}}, {"a", "", {}}});
  EXPECT_NE(brakes.admit(gang, brakes_start + Duration{59'999}).why, "");
  EXPECT_EQ(brakes.admit(gang, brakes_start + Duration{60'000}).why, "");
  const EvictionRequest next = request("Pod a/next", {{"a", "", {}}});
  EXPECT_NE(brakes.admit(next, brakes_start + Duration{149'999}).why, "");
  EXPECT_EQ(brakes.admit(next, brakes_start + Duration{150'000}).why, "");
}

TEST(EvictionBrakes, ANamespaceHasItsOwnAllowance) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const Time later = brakes_start + Duration{60'000};
  EXPECT_EQ(
      brakes.admit({"one", pod_ref("a", "1"), {{"a", "", {}}, {"a", "", {}}}, "p"}, later).why, "");
  EXPECT_EQ(brakes.admit({"two", pod_ref("a", "2"), {{"a", "", {}}}, "p"}, later).why,
            "brake: 2 evictions a minute in namespace a");
  EXPECT_EQ(brakes.admit({"two", pod_ref("a", "2"), {{"b", "", {}}}, "p"}, later).why, "");
}

TEST(EvictionBrakes, TheSameAskTakesPodsOfOneOwnerThreeTimes) {
  EvictionBrakes brakes({.evict_again_window = Duration{0}}, brakes_start);
  Time now = brakes_start + Duration{60'000};
  const EvictionRequest again = request("Pod a/urgent", {{"a", "owner", {}}, {"a", "owner", {}}});
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(brakes.admit(again, now).why, "");
    now = now + Duration{1'000};
  }
  EXPECT_EQ(brakes.admit(again, now).why,
            "brake: Pod a/urgent has taken pods of one owner 3 times within 10m");
  EXPECT_EQ(brakes.admit(request("Pod a/other", {{"a", "owner", {}}}), now).why, "");
  EXPECT_EQ(brakes.admit(request("Pod a/urgent", {{"a", "", {}}}), now).why, "");
  EXPECT_EQ(brakes.admit(again, brakes_start + Duration{60'000 + 600'000}).why, "");
}

// SPEC section 8, Brakes: the same ask evicting again within `evictAgainWindow` backs off and
// alarms.
TEST(EvictionBrakes, TheSameAskDoesNotEvictAgainAtOnce) {
  EvictionBrakes brakes({.evict_again_window = Duration{60'000}}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  EvictionRequest again = request("Pod a/urgent", {{"a", "o1", {}}});
  again.plan = "p1";
  EXPECT_EQ(brakes.admit(again, now).why, "");
  again.plan = "p2";
  const BrakeAnswer answer = brakes.admit(again, now + Duration{10'000});
  EXPECT_EQ(answer.until, now + Duration{60'000});
  EXPECT_EQ(answer.why,
            "brake: Pod a/urgent made pods leave 10s ago and needs others again; it waits for 50s");
  EXPECT_NE(brakes.admit(again, now + Duration{20'000}).why, "");
  EXPECT_EQ(brakes.alarms(), 1U);
  EXPECT_EQ(brakes.admit(request("Pod a/other", {{"a", "o1", {}}}), now + Duration{20'000}).why,
            "");
  EXPECT_EQ(brakes.admit(again, now + Duration{60'000}).why, "");
  EXPECT_NE(brakes.admit(again, now + Duration{60'001}).why, "");
  EXPECT_EQ(brakes.alarms(), 2U);
}

TEST(EvictionBrakes, AnAskWithARefusedVictimFinishesWhatItBegan) {
  EvictionBrakes brakes({.evict_again_window = Duration{60'000}}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  EvictionRequest again = request(
      "Pod a/urgent", {{"a", "o1", pod_ref("a", "low-1")}, {"a", "o2", pod_ref("a", "low-2")}});
  again.plan = "p1";
  EXPECT_EQ(brakes.admit(again, now).why, "");
  brakes.refused(refusal_of("low-1", "an older plan"));
  EXPECT_NE(brakes.admit(again, now + Duration{1'000}).why, "");
  brakes.refused(refusal_of("low-1", "p1"));
  again.plan = "p2";
  EXPECT_EQ(brakes.admit(again, now + Duration{1'000}).why, "");
  EXPECT_NE(brakes.admit(again, now + Duration{2'000}).why, "");
}

// SPEC section 8, Brakes: a crash loop evicts no pod; afterwards the saved budget is there at
// once.
TEST(EvictionBrakes, NoPodIsEvictedRightAfterTheStart) {
  EvictionBrakes brakes({.evictions_per_minute = 600, .quiet_first = Duration{5'000}},
                        brakes_start);
  const BrakeAnswer early =
      brakes.admit(request("Pod a/1", {{"a", "", {}}}), brakes_start + Duration{4'999});
  EXPECT_EQ(early.why, "brake: no pod is evicted within 5s of the start");
  EXPECT_EQ(early.until, brakes_start + Duration{5'000});
  EvictionRequest rest = request("PodGroup a/g", {{"a", "", {}}});
  rest.rolls_back = true;
  rest.plan = "p";
  EXPECT_EQ(brakes.admit(rest, brakes_start + Duration{1'000}).why, "");
  brakes.refused({.plan = "p", .ask = parse_ref("PodGroup a/g")});
  // 600 a minute are 50 in five seconds.
  const Time later = brakes_start + Duration{5'000};
  for (int ask = 0; ask < 50; ++ask) {
    EXPECT_EQ(brakes.admit(request(fmt::format("Pod a/{}", ask), {{"a", "", {}}}), later).why, "");
  }
  EXPECT_NE(brakes.admit(request("Pod a/more", {{"a", "", {}}}), later).why, "");
}

TEST(EvictionBrakes, WhatTheWorldRefusedIsGivenBack) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  // However often it is refused: no pod has left, so no budget was used.
  for (int times = 0; times < 5; ++times) {
    const std::string plan = fmt::format("p{}", times);
    EXPECT_EQ(brakes.admit(two_of_one_owner(plan), now).why, "");
    brakes.refused(refusal_of("low-1", plan));
    brakes.refused(refusal_of("low-2", plan));
    brakes.refused(refusal_of("low-2", plan));  // Reported twice, it counts once.
  }
  EXPECT_EQ(brakes.alarms(), 0U);
  EXPECT_EQ(brakes.admit(two_of_one_owner("p6"), now).why, "");
  EXPECT_NE(brakes.admit(request("Pod a/other", {{"a", "", {}}}), now).why, "");
}

/// Deployments of one name in two planes.
TEST(EvictionBrakes, WhatAPlaneRefusedIsGivenBackForThatPlane) {
  EvictionBrakes brakes({.occasions_max = 1, .evict_again_window = Duration{0}}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  const auto take = [](const std::string& plane) {
    EvictionRequest::Victim victim{"a", plane + " a/web", {RefKind::deployment, "a", "web", plane}};
    EvictionRequest one = request("ReplicaSchedule a/reco", {std::move(victim)});
    one.is_claim = true;
    return one;
  };
  EvictionRequest both = take("east");
  both.victims.push_back(take("west").victims.front());
  both.plan = "p";
  EXPECT_EQ(brakes.admit(both, now).why, "");
  brakes.refused({.plan = "p",
                  .object = take("west").victims.front().object,
                  .reason = "the plane is not seen",
                  .ask = parse_ref("ReplicaSchedule a/reco")});
  EXPECT_NE(brakes.admit(take("east"), now).why, "");
  EXPECT_EQ(brakes.admit(take("west"), now).why, "");
}

TEST(EvictionBrakes, AnOccasionCountsAsLongAsOneOfItsPodsMayHaveGone) {
  EvictionBrakes brakes({.occasions_max = 1}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  EXPECT_EQ(brakes.admit(two_of_one_owner("p1"), now).why, "");
  brakes.refused(refusal_of("low-1", "p1"));
  EXPECT_NE(brakes.admit(two_of_one_owner("p2"), now).why, "");
  Receipt unknown = refusal_of("low-2", "p1");
  unknown.uncertain = true;
  brakes.refused(unknown);
  const BrakeAnswer still = brakes.admit(two_of_one_owner("p3"), now);
  EXPECT_EQ(still.why, "brake: Pod a/urgent has taken pods of one owner 1 times within 10m");
  EXPECT_EQ(still.until, now + Duration{600'000});
  brakes.refused(refusal_of("low-2", "p1"));
  EXPECT_EQ(brakes.admit(two_of_one_owner("p4"), now).why, "");
}

TEST(EvictionBrakes, AGangThatTakesBackItsOwnMembersDoesNotEvictAgain) {
  EvictionBrakes brakes({.evict_again_window = Duration{60'000}}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  EvictionRequest gang = request("PodGroup a/g", {{"a", "", pod_ref("a", "low")}});
  EXPECT_EQ(brakes.admit(gang, now).why, "");
  gang.rolls_back = true;
  EXPECT_EQ(brakes.admit(gang, now + Duration{1'000}).why, "");
  EXPECT_EQ(brakes.alarms(), 0U);
}

TEST(EvictionBrakes, AClaimThatGrowsIsNoAlarm) {
  EvictionBrakes brakes({}, brakes_start);
  const Time later = brakes_start + Duration{60'000};
  EvictionRequest claim = request("Queue team", {{"a", "one", {}}});
  claim.is_claim = true;
  EXPECT_EQ(brakes.admit(claim, later).why, "");
  claim.victims = {{"a", "two", {}}};
  EXPECT_EQ(brakes.admit(claim, later + Duration{1'000}).why, "");
  EXPECT_EQ(brakes.alarms(), 0U);
}

}  // namespace
}  // namespace makeway
