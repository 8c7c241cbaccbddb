#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "cli/text.hpp"

namespace makeway::cli {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

TEST(AmountText, CoresAreExactWhileTheyAreFew) {
  EXPECT_EQ(amount_text("cpu", 0), "0");
  EXPECT_EQ(amount_text("cpu", 1), "0.001");
  EXPECT_EQ(amount_text("cpu", 250), "0.25");
  EXPECT_EQ(amount_text("cpu", 1'500), "1.5");
  EXPECT_EQ(amount_text("cpu", 9'999), "9.999");
  EXPECT_EQ(amount_text("cpu", 12'340), "12.3");
  EXPECT_EQ(amount_text("cpu", 12'350), "12.4");
  EXPECT_EQ(amount_text("cpu", 99'950), "100");
  EXPECT_EQ(amount_text("cpu", 224'000'499), "224,000");
  EXPECT_EQ(amount_text("cpu", 224'000'500), "224,001");
  EXPECT_EQ(amount_text("cpu", huge), "9,223,372,036,854,776");
}

TEST(AmountText, BytesAndCounts) {
  EXPECT_EQ(amount_text("memory", 1'536), "1.5Ki");
  EXPECT_EQ(amount_text("ephemeral-storage", std::int64_t{1} << 40U), "1Ti");
  EXPECT_EQ(amount_text("hugepages-2Mi", std::int64_t{4} << 20U), "4Mi");
  EXPECT_EQ(amount_text("nvidia.com/gpu", 8), "8");
  EXPECT_EQ(amount_text("pods", 550'000), "550,000");
}

TEST(ShortName, IsWhatFollowsTheSlash) {
  EXPECT_EQ(short_name("nvidia.com/gpu"), "gpu");
  EXPECT_EQ(short_name("cpu"), "cpu");
}

TEST(Percent, RoundsAndStaysInRange) {
  EXPECT_EQ(percent_of(0, 0), 0);
  EXPECT_EQ(percent_of(5, 8), 63);
  EXPECT_EQ(percent_of(1, 3), 33);
  EXPECT_EQ(percent_of(huge, huge), 100);
  EXPECT_EQ(percent_of(huge, 1), 999);
  EXPECT_EQ(percent_of(1'000, 10), 999);
}

TEST(Share, SaysWhetherItFits) {
  EXPECT_EQ(share_permille(0, 0), 0);
  EXPECT_EQ(share_permille(1, 0), 9'990) << "asks for what is not there";
  EXPECT_EQ(share_permille(1, 1'000'000), 1);
  EXPECT_EQ(share_permille(999'999, 1'000'000), 999);
  EXPECT_EQ(share_permille(10, 10), 1'000);
  EXPECT_EQ(share_permille(1'000'001, 1'000'000), 1'001);
}

TEST(Bar, IsFullOnlyWhenFull) {
  EXPECT_EQ(bar(0, 10, 4, false), "░░░░");
  EXPECT_EQ(bar(1, 1'000, 4, false), "█░░░");
  EXPECT_EQ(bar(5, 10, 4, false), "██░░");
  EXPECT_EQ(bar(999, 1'000, 4, false), "███░");
  EXPECT_EQ(bar(10, 10, 4, false), "████");
  EXPECT_EQ(bar(20, 10, 4, false), "████");
  EXPECT_EQ(bar(1, 0, 4, false), "░░░░");
  EXPECT_EQ(bar(5, 10, 4, true), "##..");
}

TEST(Amount, HoursHaveOneDecimal) {
  EXPECT_EQ(hours_text(0), "0.0");
  EXPECT_EQ(hours_text(1), "under 0.1");
  EXPECT_EQ(hours_text(180), "0.1");
  EXPECT_EQ(hours_text(5400), "1.5");
  EXPECT_EQ(hours_text(std::int64_t{3600} * 1234), "1,234.0");
  EXPECT_EQ(hours_text(std::numeric_limits<std::int64_t>::max()), "2,562,047,788,015,215.5");
}

TEST(Amount, PendingTimesHaveTwoUnits) {
  EXPECT_EQ(pending_text(0), "0s");
  EXPECT_EQ(pending_text(59), "59s");
  EXPECT_EQ(pending_text(60), "1m");
  EXPECT_EQ(pending_text(3723), "1h2m");
  EXPECT_EQ(pending_text(90'061), "1d1h");
}

}  // namespace
}  // namespace makeway::cli
