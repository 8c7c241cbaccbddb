#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

TEST(ManualClock, MovesOnlyWhenSet) {
  ManualClock clock(Time{1'000});
  const Clock& seen = clock;
  EXPECT_EQ(seen.now(), Time{1'000});
  EXPECT_EQ(seen.now(), Time{1'000});
  clock.advance(Duration{250});
  EXPECT_EQ(seen.now(), Time{1'250});
  clock.advance(Duration{0});
  EXPECT_EQ(seen.now(), Time{1'250});
}

TEST(ManualClockDeathTest, NeverRunsBackwards) {
  ManualClock clock(Time{1'000});
  EXPECT_DEATH(clock.advance(Duration{-1}), "time does not run backwards");
}

}  // namespace
}  // namespace makeway
