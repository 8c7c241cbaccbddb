#include "control/brakes.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time brakes_start{1'000'000};

EvictionWish wish(std::string ask, std::vector<EvictionWish::Victim> victims) {
  return {.profile = "makeway", .ask = std::move(ask), .victims = std::move(victims)};
}

TEST(EvictionBrakes, StartEmptyAndFill) {
  EvictionBrakes brakes({.evictions_per_minute = 60}, brakes_start);
  const EvictionWish one = wish("Pod a/urgent", {{"a", ""}});
  EXPECT_EQ(brakes.admit(one, brakes_start), "brake: 60 evictions a minute for profile makeway");
  EXPECT_EQ(brakes.admit(one, brakes_start + Duration{999}),
            "brake: 60 evictions a minute for profile makeway");
  EXPECT_EQ(brakes.admit(one, brakes_start + Duration{1'000}), "");
  EXPECT_NE(brakes.admit(one, brakes_start + Duration{1'000}), "");
}

TEST(EvictionBrakes, NoMoreThanAMinuteIsSavedUp) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const Time later = brakes_start + Duration{3'600'000};
  EXPECT_EQ(brakes.admit(wish("Pod a/1", {{"a", ""}}), later), "");
  EXPECT_EQ(brakes.admit(wish("Pod a/2", {{"a", ""}}), later), "");
  EXPECT_NE(brakes.admit(wish("Pod a/3", {{"a", ""}}), later), "");
}

TEST(EvictionBrakes, ALargeGangWaitsAMinuteAndPaysForAll) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const EvictionWish gang = wish("PodGroup a/gang", {{"a", ""}, {"a", ""}, {"a", ""}, {"a", ""}});
  EXPECT_NE(brakes.admit(gang, brakes_start + Duration{59'999}), "");
  EXPECT_EQ(brakes.admit(gang, brakes_start + Duration{60'000}), "");
  const EvictionWish next = wish("Pod a/next", {{"a", ""}});
  EXPECT_NE(brakes.admit(next, brakes_start + Duration{149'999}), "");
  EXPECT_EQ(brakes.admit(next, brakes_start + Duration{150'000}), "");
}

TEST(EvictionBrakes, ANamespaceHasItsOwnAllowance) {
  EvictionBrakes brakes({.evictions_per_minute = 2}, brakes_start);
  const Time later = brakes_start + Duration{60'000};
  EXPECT_EQ(brakes.admit({"one", "Pod a/1", {{"a", ""}, {"a", ""}}, "p"}, later), "");
  EXPECT_EQ(brakes.admit({"two", "Pod a/2", {{"a", ""}}, "p"}, later),
            "brake: 2 evictions a minute in namespace a");
  EXPECT_EQ(brakes.admit({"two", "Pod a/2", {{"b", ""}}, "p"}, later), "");
}

TEST(EvictionBrakes, TheSameAskTakesPodsOfOneOwnerThreeTimes) {
  EvictionBrakes brakes({.evict_again_window = {}}, brakes_start);
  Time now = brakes_start + Duration{60'000};
  const EvictionWish again = wish("Pod a/urgent", {{"a", "owner"}, {"a", "owner"}});
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(brakes.admit(again, now), "");
    now = now + Duration{1'000};
  }
  EXPECT_EQ(brakes.admit(again, now),
            "brake: Pod a/urgent has taken pods of one owner 3 times within 10m");
  EXPECT_EQ(brakes.admit(wish("Pod a/other", {{"a", "owner"}}), now), "");
  EXPECT_EQ(brakes.admit(wish("Pod a/urgent", {{"a", ""}}), now), "");
  EXPECT_EQ(brakes.admit(again, brakes_start + Duration{60'000 + 600'000}), "");
}

// SPEC section 8, Brakes: the same ask evicting again within `evictAgainWindow` backs off and
// alarms.
TEST(EvictionBrakes, TheSameAskDoesNotEvictAgainAtOnce) {
  EvictionBrakes brakes({.evict_again_window = Duration{60'000}}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  EvictionWish again = wish("Pod a/urgent", {{"a", "o1"}});
  again.plan = "p1";
  EXPECT_EQ(brakes.admit(again, now), "");
  again.plan = "p2";
  const std::string why = brakes.admit(again, now + Duration{10'000});
  EXPECT_EQ(why,
            "brake: Pod a/urgent made pods leave 10s ago and needs others again; it waits for 50s");
  EXPECT_NE(brakes.admit(again, now + Duration{20'000}), "");
  EXPECT_EQ(brakes.alarms(), 1U);
  EXPECT_EQ(brakes.admit(wish("Pod a/other", {{"a", "o1"}}), now + Duration{20'000}), "");
  EXPECT_EQ(brakes.admit(again, now + Duration{60'000}), "");
  EXPECT_NE(brakes.admit(again, now + Duration{60'001}), "");
  EXPECT_EQ(brakes.alarms(), 2U);
}

TEST(EvictionBrakes, WhoeverWasRefusedAVictimFinishesWhatItBegan) {
  EvictionBrakes brakes({.evict_again_window = Duration{60'000}}, brakes_start);
  const Time now = brakes_start + Duration{60'000};
  EvictionWish again = wish("Pod a/urgent", {{"a", "o1"}, {"a", "o2"}});
  again.plan = "p1";
  EXPECT_EQ(brakes.admit(again, now), "");
  brakes.refused("Pod a/urgent", "an older plan");
  EXPECT_NE(brakes.admit(again, now + Duration{1'000}), "");
  brakes.refused("Pod a/urgent", "p1");
  again.plan = "p2";
  EXPECT_EQ(brakes.admit(again, now + Duration{1'000}), "");
  EXPECT_NE(brakes.admit(again, now + Duration{2'000}), "");
}

}  // namespace
}  // namespace makeway
