#include "base/backoff.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace makeway {
namespace {

constexpr Backoff backoff{.first = Duration{1'000}, .max = Duration{60'000}};
constexpr Time now{500'000};

TEST(Backoff, DoublesUpToItsMaximum) {
  const std::int64_t waits[] = {0, 1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000};
  for (std::int64_t failures = 0; failures < std::ssize(waits); ++failures) {
    EXPECT_EQ(backoff.after(failures).ms, waits[failures]) << failures;
    EXPECT_EQ(backoff.next_try(now, failures).ms, now.ms + waits[failures]) << failures;
  }
  EXPECT_EQ(backoff.after(1'000'000).ms, 60'000);
}

TEST(Backoff, ATryThatMaySucceedSoonerIsMadeSooner) {
  EXPECT_EQ(backoff.next_try(now, 6, now + Duration{5'000}), now + Duration{5'000});
  // Not within the first wait, and never later than without the hint.
  EXPECT_EQ(backoff.next_try(now, 6, now), now + Duration{1'000});
  EXPECT_EQ(backoff.next_try(now, 2, now + Duration{90'000}), now + Duration{2'000});
}

/// Each wait is at least the one before, at most twice it, and within the limits.
TEST(Backoff, GrowsEvenlyWhateverItsLimits) {
  Prng prng(35);
  for (int round = 0; round < 1'000; ++round) {
    const std::int64_t first = prng.between(1, 10'000);
    const Backoff each{.first = {first}, .max = {prng.between(first, 1'000'000)}};
    Duration before = each.after(1);
    EXPECT_EQ(before, each.first);
    for (int failures = 2; failures < 40; ++failures) {
      const Duration wait = each.after(failures);
      EXPECT_GE(wait, before);
      EXPECT_LE(wait.ms, 2 * before.ms);
      EXPECT_LE(wait, each.max);
      before = wait;
    }
    EXPECT_EQ(before, each.max);
  }
}

}  // namespace
}  // namespace makeway
