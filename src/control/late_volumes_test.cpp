#include "control/late_volumes.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time late_start{1'000'000};
constexpr Duration late_wait_max{5'000};

PersistentVolumeClaim late_claim(bool bound) {
  return {.namespace_name = "a",
          .name = "data",
          .volume = bound ? "pv-1" : "",
          .selected_node = "n1",
          .bound = bound};
}

class LateVolumesTest : public testing::Test {
 protected:
  LateVolumesTest() { shown.apply(late_claim(false)); }

  /// As the view does: what it returns is shown from then on.
  std::vector<Change> show(std::vector<Change> changes, Time now = late_start) {
    std::vector<Change> result = volumes.show(std::move(changes), shown, now);
    for (const Change& change : result) shown.apply(change);
    return result;
  }

  Cluster shown;
  LateVolumes volumes{late_wait_max};
};

// SPEC section 8, provision a volume: the room is held until the pod is bound.
TEST_F(LateVolumesTest, AClaimIsShownWhenItsVolumeIs) {
  EXPECT_TRUE(show({late_claim(true)}).empty());
  EXPECT_EQ(volumes.next_due(), late_start + late_wait_max);
  EXPECT_TRUE(show({}).empty());
  const PersistentVolume volume{.name = "pv-1"};
  EXPECT_EQ(show({volume}), (std::vector<Change>{volume, late_claim(true)}));
  EXPECT_EQ(volumes.next_due(), std::nullopt);
  EXPECT_EQ(show({late_claim(true)}).size(), 1U);
}

TEST_F(LateVolumesTest, NothingIsHeldWhenBothComeTogetherOrTheVolumeWasFirst) {
  EXPECT_EQ(show({late_claim(true), PersistentVolume{.name = "pv-1"}}).size(), 2U);
  shown.apply(late_claim(false));
  EXPECT_EQ(show({late_claim(true)}).size(), 1U);
}

/// Every change of the claim would put it off for ever.
TEST_F(LateVolumesTest, AVolumeThatNeverComesIsWaitedForOnce) {
  EXPECT_TRUE(show({late_claim(true)}).empty());
  EXPECT_TRUE(show({late_claim(true)}, late_start + Duration{4'999}).empty());
  EXPECT_EQ(show({}, late_start + late_wait_max), std::vector<Change>{late_claim(true)});
  // It was shown without a volume, and is not reported again.
  EXPECT_EQ(show({late_claim(true)}, late_start + late_wait_max).size(), 1U);
}

TEST_F(LateVolumesTest, WhatElseHappensToAClaimIsShownAtOnce) {
  for (const bool is_removed : {true, false}) {
    shown.apply(late_claim(false));
    EXPECT_TRUE(show({late_claim(true)}).empty());
    PersistentVolumeClaim lost = late_claim(true);
    lost.lost = true;
    const Change change = is_removed ? Change(Removal{.kind = ObjectKind::persistent_volume_claim,
                                                      .namespace_name = "a",
                                                      .name = "data"})
                                     : Change(lost);
    EXPECT_EQ(show({change}), std::vector<Change>{change});
    EXPECT_EQ(volumes.next_due(), std::nullopt);
  }
}

/// Nothing is known of it that could be shown instead.
TEST_F(LateVolumesTest, AClaimThatWasNeverShownIsNotHeld) {
  PersistentVolumeClaim other = late_claim(true);
  other.name = "other";
  EXPECT_EQ(show({other}).size(), 1U);
}

}  // namespace
}  // namespace makeway
