#include "base/prng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace makeway {
namespace {

// Golden numbers: seeds are written into bug reports and recorded runs, so the sequence behind a
// seed may never change. Computed once by a separate implementation of splitmix64 and xoshiro256**
// in another language; the first mix64 value is also the published one for splitmix64 with seed 0.
TEST(Prng, MixIsSplitmix) {
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15U), 0x6E789E6AA1B965F4U);
}

TEST(Prng, ASeedGivesTheSameNumbersForEver) {
  using Golden = std::array<std::uint64_t, 4>;
  const auto first_of = [](std::uint64_t seed) {
    Prng random(seed);
    Golden drawn{};
    for (std::uint64_t& number : drawn) number = random.next();
    return drawn;
  };
  EXPECT_EQ(first_of(0), (Golden{0x99EC5F36CB75F2B4U, 0xBF6E1F784956452AU, 0x1A5F849D4933E6E0U,
                                 0x6AA594F1262D2D2CU}));
  EXPECT_EQ(first_of(1), (Golden{0xB3F2AF6D0FC710C5U, 0x853B559647364CEAU, 0x92F89756082A4514U,
                                 0x642E1C7BC266A3A7U}));
  EXPECT_EQ(first_of(42), (Golden{0x15780B2E0C2EC716U, 0x6104D9866D113A7EU, 0xAE17533239E499A1U,
                                  0xECB8AD4703B360A1U}));
}

TEST(Prng, ACopyRunsOnAlone) {
  Prng original(5);
  Prng copy = original;
  const std::uint64_t first = original.next();
  EXPECT_EQ(copy.next(), first);
}

TEST(Prng, BelowStaysBelowAndReachesEverything) {
  Prng random(3);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7'000; ++i) ++seen[random.below(7)];
  // 1,000 expected each; the standard deviation is about 29, so 200 is out of any reach.
  for (const int count : seen) EXPECT_NEAR(count, 1'000, 200);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
  const std::uint64_t huge = (std::uint64_t{1} << 63U) + 1;  // Half of all draws are refused.
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below(huge), huge);
}

TEST(Prng, BetweenIncludesBothEnds) {
  Prng random(4);
  std::array<bool, 5> seen{};
  for (int i = 0; i < 1'000; ++i) {
    const std::int64_t drawn = random.between(-2, 2);
    ASSERT_GE(drawn, -2);
    ASSERT_LE(drawn, 2);
    seen[static_cast<std::size_t>(drawn + 2)] = true;
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](bool was_seen) { return was_seen; }));
  EXPECT_EQ(random.between(9, 9), 9);
}

TEST(Prng, BetweenCoversTheWholeRangeWithoutWrapping) {
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  Prng random(6);
  int negative = 0;
  for (int i = 0; i < 1'000; ++i) negative += random.between(smallest, largest) < 0 ? 1 : 0;
  EXPECT_NEAR(negative, 500, 150);
  for (int i = 0; i < 100; ++i) EXPECT_GE(random.between(largest - 1, largest), largest - 1);
  for (int i = 0; i < 100; ++i) EXPECT_LE(random.between(smallest, smallest + 1), smallest + 1);
}

TEST(Prng, ChanceHasItsEnds) {
  Prng random(8);
  int hits = 0;
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(random.chance(0));
    EXPECT_TRUE(random.chance(100));
    hits += random.chance(25) ? 1 : 0;
  }
  EXPECT_NEAR(hits, 250, 100);
}

TEST(Prng, ShuffleKeepsEveryItem) {
  Prng random(9);
  std::vector<int> items = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int> before = items;
  int moved = 0;
  for (int i = 0; i < 20; ++i) {
    random.shuffle(items);
    moved += items != before ? 1 : 0;
    ASSERT_TRUE(std::ranges::is_permutation(items, before));
  }
  EXPECT_GT(moved, 15);
  std::vector<int> none;
  random.shuffle(none);
  EXPECT_TRUE(none.empty());
}

TEST(PrngDeathTest, ImpossibleRequestsAreBugs) {
  Prng random(1);
  EXPECT_DEATH(random.below(0), "bound > 0");
  EXPECT_DEATH(random.between(2, 1), "low <= high");
  EXPECT_DEATH(random.pick(std::vector<int>{}), "from.empty");
}

}  // namespace
}  // namespace makeway
