#include "base/checked_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/prng.hpp"
#include "base/wide.hpp"

namespace makeway {
namespace {

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

// Everything is usable in constant expressions.
static_assert(checked_add(2, 3) == 5);
static_assert(!checked_mul(largest, 2));
static_assert(saturated_add(largest, 1) == largest);

TEST(CheckedMath, AddsUpToTheBorder) {
  EXPECT_EQ(checked_add(largest - 1, 1), largest);
  EXPECT_EQ(checked_add(largest, 1), std::nullopt);
  EXPECT_EQ(checked_add(smallest, -1), std::nullopt);
  EXPECT_EQ(checked_add(smallest, largest), -1);
}

TEST(CheckedMath, SubtractsUpToTheBorder) {
  EXPECT_EQ(checked_sub(smallest + 1, 1), smallest);
  EXPECT_EQ(checked_sub(smallest, 1), std::nullopt);
  EXPECT_EQ(checked_sub(0, smallest), std::nullopt);
  EXPECT_EQ(checked_sub(-1, smallest), largest);
}

TEST(CheckedMath, MultipliesUpToTheBorder) {
  EXPECT_EQ(checked_mul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(checked_mul(-(std::int64_t{1} << 32), std::int64_t{1} << 31), smallest);
  EXPECT_EQ(checked_mul(smallest, -1), std::nullopt);
  EXPECT_EQ(checked_mul(smallest, 0), 0);
}

TEST(CheckedMath, SaturationStaysAtTheBorderItRanInto) {
  EXPECT_EQ(saturated_add(largest, largest), largest);
  EXPECT_EQ(saturated_add(smallest, -1), smallest);
  EXPECT_EQ(saturated_add(-7, 9), 2);
  EXPECT_EQ(saturated_mul(largest, 2), largest);
  EXPECT_EQ(saturated_mul(largest, -2), smallest);
  EXPECT_EQ(saturated_mul(-3, 4), -12);
  EXPECT_EQ(saturated_sub(smallest, 1), smallest);
  EXPECT_EQ(saturated_sub(0, smallest), largest);
  EXPECT_EQ(saturated_sub(5, smallest), largest);
  EXPECT_EQ(saturated_sub(-2, largest), smallest);
  EXPECT_EQ(saturated_sub(7, 9), -2);
}

// The oracle: the same sums in 128 bits, where none of these can overflow.
std::optional<std::int64_t> narrow(Wide value) {
  if (value < smallest || value > largest) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::int64_t clamp(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, smallest, largest));
}

TEST(CheckedMath, AgreesWithWideArithmetic) {
  Prng random(7);
  const std::vector<std::int64_t> corners = {smallest, smallest + 1, -2, -1, 0, 1, 2, largest};
  const auto draw = [&] {
    if (random.chance(30)) return random.pick(corners);
    return random.between(smallest, largest) >> random.between(0, 62);
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t a = draw();
    const std::int64_t b = draw();
    ASSERT_EQ(checked_add(a, b), narrow(Wide{a} + b)) << a << " + " << b;
    ASSERT_EQ(checked_sub(a, b), narrow(Wide{a} - b)) << a << " - " << b;
    ASSERT_EQ(checked_mul(a, b), narrow(Wide{a} * b)) << a << " * " << b;
    ASSERT_EQ(saturated_add(a, b), clamp(Wide{a} + b)) << a << " + " << b;
    ASSERT_EQ(saturated_sub(a, b), clamp(Wide{a} - b)) << a << " - " << b;
  }
}

}  // namespace
}  // namespace makeway
