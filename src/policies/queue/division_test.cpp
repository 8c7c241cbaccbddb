// SPEC section 3, division: the level, bounds, rounding, conservation.
#include "policies/queue/division.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace makeway {
namespace {

constexpr std::int64_t no_cap = std::numeric_limits<std::int64_t>::max() / 4;

std::vector<std::int64_t> shares_of(std::int64_t total, const std::vector<Claimant>& claimants) {
  std::vector<Share> shares(claimants.size());
  divide(total, claimants, shares);
  std::vector<std::int64_t> amounts;
  amounts.reserve(shares.size());
  for (const Share& share : shares) amounts.push_back(share.amount);
  return amounts;
}

std::vector<Claimant> by_weight(const std::vector<std::int64_t>& weights) {
  std::vector<Claimant> claimants;
  claimants.reserve(weights.size());
  for (const std::int64_t weight : weights) {
    claimants.push_back({.weight = weight, .floor = 0, .cap = no_cap});
  }
  return claimants;
}

std::vector<Claimant> with_caps(const std::vector<std::int64_t>& weights,
                                const std::vector<std::int64_t>& caps) {
  std::vector<Claimant> claimants = by_weight(weights);
  for (std::size_t at = 0; at < caps.size(); ++at) claimants[at].cap = caps[at];
  return claimants;
}

using Amounts64 = std::vector<std::int64_t>;

// The vectors of facts/batch-schedulers.md 3.5, in thousandths of a CPU.
TEST(Division, ByWeightIsTheSeeds) {
  EXPECT_EQ(shares_of(9000, by_weight({2, 4})), (Amounts64{3000, 6000}));
  EXPECT_EQ(shares_of(9000, by_weight({2, 4, 3})), (Amounts64{2000, 4000, 3000}));
  EXPECT_EQ(shares_of(27, by_weight({2, 4, 3})), (Amounts64{6, 12, 9}));
}

TEST(Division, RemaindersGoToTheLargestFractionThenToTheFirst) {
  // 2222.2, 4444.4, 3333.3: one unit is left.
  EXPECT_EQ(shares_of(10'000, by_weight({2, 4, 3})), (Amounts64{2222, 4445, 3333}));
  EXPECT_EQ(shares_of(8, by_weight({1, 1, 1})), (Amounts64{3, 3, 2}));
}

TEST(Division, TheExactShareRoundedDownIsReportedToo) {
  std::vector<Share> shares(3);
  divide(8, by_weight({1, 1, 1}), shares);
  EXPECT_EQ(shares, (std::vector<Share>{{3, 2}, {3, 2}, {2, 2}}));
  divide(6, by_weight({1, 1, 1}), shares);
  EXPECT_EQ(shares, (std::vector<Share>{{2, 2}, {2, 2}, {2, 2}}));
}

TEST(Division, DemandCapsAndTheRestIsRefilled) {
  EXPECT_EQ(shares_of(9000, with_caps({2, 4, 3}, {3000, 5000, 2000})),
            (Amounts64{2333, 4667, 2000}));
  EXPECT_EQ(shares_of(9000, with_caps({2, 4, 3}, {3000, 5000, 0})), (Amounts64{3000, 5000, 0}));
  EXPECT_EQ(shares_of(9000, with_caps({2, 4}, {1000, 9000})), (Amounts64{1000, 8000}));
}

TEST(Division, FloorsHoldAndOthersShareTheRest) {
  std::vector<Claimant> claimants = by_weight({1, 1, 1});
  claimants[0].floor = 6;
  EXPECT_EQ(shares_of(9, claimants), (Amounts64{6, 2, 1}));
  claimants[1].floor = 6;  // 12 of 9: in proportion to the floors, 4.5 each.
  EXPECT_EQ(shares_of(9, claimants), (Amounts64{5, 4, 0}));
}

TEST(Division, SaysTheExactShareRoundedDown) {
  std::vector<Share> shares(3);
  divide(9, with_caps({1, 1, 1}, {1, no_cap, no_cap}), shares);
  EXPECT_EQ(shares, (std::vector<Share>{{1, 1}, {4, 4}, {4, 4}}));
  divide(10, by_weight({1, 1, 1}), shares);
  EXPECT_EQ(shares, (std::vector<Share>{{4, 3}, {3, 3}, {3, 3}}));
}

TEST(Division, NothingToShareAndNoClaimant) {
  EXPECT_EQ(shares_of(0, by_weight({1, 2})), (Amounts64{0, 0}));
  EXPECT_EQ(shares_of(5, {}), Amounts64{});
  EXPECT_EQ(shares_of(5, with_caps({1, 1}, {0, 0})), (Amounts64{0, 0}));
}

TEST(Division, LargeAmountsDoNotOverflow) {
  constexpr std::int64_t total = std::int64_t{1} << 60;
  const Amounts64 shares = shares_of(total, by_weight({1'000'000, 999'999, 1}));
  EXPECT_EQ(shares[0] + shares[1] + shares[2], total);
}

}  // namespace
}  // namespace makeway
