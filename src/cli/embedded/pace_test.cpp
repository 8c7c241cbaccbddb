#include <gtest/gtest.h>

#include "cli/embedded/embedded_run.hpp"

namespace makeway::cli {
namespace {

TEST(Pace, IsSoManyTimesAsFast) {
  const Pace pace(60, Time{1'000}, Time{500'000});
  EXPECT_EQ(pace.at(Time{1'000}), Time{500'000});
  EXPECT_EQ(pace.at(Time{2'000}), Time{560'000});
  // 90 s of the cluster are 1.5 s of ours; what is past takes no time, a part of one a whole one.
  EXPECT_EQ(pace.until(Time{1'000}, Time{590'000}), Duration{1'500});
  EXPECT_EQ(pace.until(Time{1'000}, Time{500'061}), Duration{2});
  EXPECT_EQ(pace.until(Time{1'000}, Time{400'000}), Duration{0});
}

TEST(Pace, StandsAndGoesOnFromThere) {
  Pace pace(10, Time{0}, Time{0});
  pace.pause(Time{100}, true);
  EXPECT_EQ(pace.at(Time{9'000}), Time{1'000});
  EXPECT_GT(pace.until(Time{9'000}, Time{1'000}), Duration{0});  // It never comes.
  pace.pause(Time{10'000}, false);
  EXPECT_EQ(pace.at(Time{10'100}), Time{2'000});
}

TEST(Pace, StepsThroughTheSpeedsAndKeepsTheTime) {
  Pace pace(60, Time{0}, Time{0});
  pace.faster(Time{1'000});
  EXPECT_EQ(pace.speed(), 120);
  EXPECT_EQ(pace.at(Time{1'000}), Time{60'000});
  pace.slower(Time{1'000});
  pace.slower(Time{1'000});
  EXPECT_EQ(pace.speed(), 30);
  // One that is no step goes to the next one; the ends stay.
  Pace odd(70, Time{0}, Time{0});
  odd.slower(Time{0});
  EXPECT_EQ(odd.speed(), 60);
  Pace slowest(1, Time{0}, Time{0});
  slowest.slower(Time{0});
  EXPECT_EQ(slowest.speed(), 1);
  Pace fastest(pace_max, Time{0}, Time{0});
  fastest.faster(Time{0});
  EXPECT_EQ(fastest.speed(), pace_max);
}

TEST(Pace, ForgivesWhatTheMachineCouldNotDo) {
  Pace pace(60, Time{0}, Time{0});
  pace.drop_lag(Time{900}, Time{0});  // Less than a second of ours: made up for.
  EXPECT_EQ(pace.at(Time{900}), Time{54'000});
  pace.drop_lag(Time{5'000}, Time{60'000});
  EXPECT_EQ(pace.at(Time{5'000}), Time{60'000});
  pace.jump(Time{5'000}, Time{100'000});
  EXPECT_EQ(pace.at(Time{5'000}), Time{100'000});
  pace.jump(Time{5'000}, Time{0});  // Never backwards.
  EXPECT_EQ(pace.at(Time{5'000}), Time{100'000});
}

}  // namespace
}  // namespace makeway::cli
