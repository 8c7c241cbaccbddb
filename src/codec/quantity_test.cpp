#include "codec/quantity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/prng.hpp"

namespace makeway {
namespace {

struct QuantityCase {
  std::string_view text;
  std::int64_t one;
  std::int64_t milli;
};

class QuantityTable : public testing::TestWithParam<QuantityCase> {};

TEST_P(QuantityTable, GivesWholeUnitsAndThousandths) {
  const QuantityCase& expected = GetParam();
  EXPECT_EQ(parse_quantity(expected.text, Scale::one).value_or(-77), expected.one) << expected.text;
  EXPECT_EQ(parse_quantity(expected.text, Scale::milli).value_or(-77), expected.milli)
      << expected.text;
}

INSTANTIATE_TEST_SUITE_P(
    Common, QuantityTable,
    testing::Values(QuantityCase{"0", 0, 0}, QuantityCase{"2", 2, 2'000},
                    QuantityCase{"500m", 1, 500}, QuantityCase{"1500m", 2, 1'500},
                    QuantityCase{"1Ki", 1'024, 1'024'000},
                    QuantityCase{"128Mi", 134'217'728, 134'217'728'000},
                    QuantityCase{"4Gi", 4'294'967'296, 4'294'967'296'000},
                    QuantityCase{"1Ti", 1'099'511'627'776, 1'099'511'627'776'000},
                    QuantityCase{"1k", 1'000, 1'000'000},
                    QuantityCase{"3M", 3'000'000, 3'000'000'000},
                    QuantityCase{"1G", 1'000'000'000, 1'000'000'000'000},
                    QuantityCase{"1T", 1'000'000'000'000, 1'000'000'000'000'000}));

INSTANTIATE_TEST_SUITE_P(
    Notations, QuantityTable,
    testing::Values(QuantityCase{"+1", 1, 1'000}, QuantityCase{".5", 1, 500},
                    QuantityCase{"5.", 5, 5'000}, QuantityCase{"5.m", 1, 5},
                    QuantityCase{"1e3", 1'000, 1'000'000}, QuantityCase{"1E3", 1'000, 1'000'000},
                    QuantityCase{"1e+3", 1'000, 1'000'000}, QuantityCase{"1E-2", 1, 10},
                    QuantityCase{"1.5e2", 150, 150'000}, QuantityCase{"0005", 5, 5'000},
                    QuantityCase{"00.5", 1, 500}, QuantityCase{"0e99", 0, 0},
                    QuantityCase{"-0", 0, 0}, QuantityCase{"0.0000", 0, 0},
                    QuantityCase{"1e09", 1'000'000'000, 1'000'000'000'000},
                    QuantityCase{"1.5Gi", 1'610'612'736, 1'610'612'736'000},
                    QuantityCase{"0.1Ki", 103, 102'400}, QuantityCase{"1e-40", 1, 1},
                    QuantityCase{"1e-2147483647", 1, 1}));

INSTANTIATE_TEST_SUITE_P(
    RoundsAwayFromZero, QuantityTable,
    testing::Values(QuantityCase{"0.1m", 1, 1}, QuantityCase{"1n", 1, 1}, QuantityCase{"1u", 1, 1},
                    QuantityCase{"1.5", 2, 1'500}, QuantityCase{"1.0001", 2, 1'001},
                    QuantityCase{"0.9n", 1, 1}, QuantityCase{"0.00000000001", 1, 1},
                    QuantityCase{"1000000001n", 2, 1'001}, QuantityCase{"1000000000n", 1, 1'000},
                    QuantityCase{"-1.5", -2, -1'500}, QuantityCase{"-1500m", -2, -1'500},
                    QuantityCase{"-0.1m", -1, -1}, QuantityCase{"-1n", -1, -1},
                    QuantityCase{"-2", -2, -2'000}));

TEST(Quantity, OneEiIsTheLargestAmount) {
  EXPECT_EQ(parse_quantity("1Ei", Scale::one).value(), quantity_amount_max);
  EXPECT_EQ(parse_quantity("-1Ei", Scale::one).value(), -quantity_amount_max);
  EXPECT_EQ(parse_quantity("1E", Scale::one).value(), 1'000'000'000'000'000'000);
  EXPECT_EQ(parse_quantity("1152921504606846976", Scale::one).value(), quantity_amount_max);
  EXPECT_EQ(parse_quantity("1152921504606846976m", Scale::milli).value(), quantity_amount_max);
  for (const std::string_view text :
       {"1152921504606846977", "1.2E", "2Ei", "1.0000000000001Ei", "1152921504606846976.000000001",
        "1e19", "-2Ei", "1e400", "99999999999999999999999999999999999999999999999999"}) {
    const auto amount = parse_quantity(text, Scale::one);
    ASSERT_FALSE(amount) << text;
    EXPECT_NE(amount.error().message.find("too large"), std::string::npos);
    EXPECT_NE(amount.error().message.find("1152921504606846976 (1Ei)"), std::string::npos);
  }
  EXPECT_FALSE(parse_quantity("1152921504606846977m", Scale::milli));
  EXPECT_FALSE(parse_quantity("10P", Scale::milli));
  EXPECT_TRUE(parse_quantity("10P", Scale::one));
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  for (const std::string_view text : {"",      " ",     "1 Gi",
                                      " 1",    "1 ",    "1KB",
                                      "0x10",  "1e3Ki", "--1",
                                      "+-1",   "1..2",  "1.2.3",
                                      "1_000", "1K",    "1Kib",
                                      "1i",    ".5i",   "1e",
                                      "1e+",   "1e1.5", "1e3m",
                                      "1mm",   "aoeu",  "1+1",
                                      "-",     "+",     ".",
                                      "m",     "Ki",    "1,5",
                                      "1E3i",  "NaN",   "1e99999999999999999999",
                                      "1\n",   "\xff"}) {
    const auto amount = parse_quantity(text, Scale::milli);
    ASSERT_FALSE(amount) << text;
    EXPECT_NE(amount.error().message.find("is not a quantity"), std::string::npos) << text;
    EXPECT_FALSE(parse_quantity_exact(text)) << text;
  }
  EXPECT_FALSE(parse_quantity(std::string_view("1\0", 2), Scale::one));
}

TEST(Quantity, TakesAThousandDigits) {
  const std::string zeros(1'000, '0');
  const std::string nines(1'000, '9');
  EXPECT_EQ(parse_quantity(zeros + "7", Scale::one).value(), 7);
  EXPECT_EQ(parse_quantity("7." + zeros, Scale::one).value(), 7);
  EXPECT_EQ(parse_quantity("7." + zeros + "1", Scale::one).value(), 8);
  EXPECT_EQ(parse_quantity("0." + nines + "Ki", Scale::one).value(), 1'024);
  EXPECT_EQ(parse_quantity("0." + zeros + "1e1001", Scale::one).value(), 1);
  EXPECT_EQ(parse_quantity("5" + zeros + "e-1000", Scale::one).value(), 5);
  EXPECT_FALSE(parse_quantity(nines, Scale::one));
}

TEST(Quantity, SumsAreRoundedOnce) {
  ExactQuantity sum;
  for (int i = 0; i < 10; ++i) {
    sum = checked_add(sum, parse_quantity_exact("0.1").value()).value();
  }
  EXPECT_EQ(rounded_up(sum, Scale::one), 1);
  EXPECT_EQ(rounded_up(sum, Scale::milli), 1'000);
  const ExactQuantity small = parse_quantity_exact("100u").value();
  EXPECT_EQ(rounded_up(checked_add(small, small).value(), Scale::milli), 1);
  EXPECT_LT(small, sum);
  EXPECT_EQ(std::max(small, sum), sum);
  EXPECT_TRUE(parse_quantity_exact("-1n").value().is_negative());
  EXPECT_FALSE(parse_quantity_exact("-0").value().is_negative());
  const ExactQuantity largest = parse_quantity_exact("1Ei").value();
  EXPECT_EQ(rounded_up(checked_add(largest, largest).value(), Scale::one), std::nullopt);
  const ExactQuantity::Int128 border = ~(ExactQuantity::Int128{1} << 127U);
  EXPECT_EQ(checked_add(ExactQuantity::from_nano(border), ExactQuantity::from_nano(1)),
            std::nullopt);
}

// The oracle: schoolbook arithmetic on a vector of decimal digits, least significant first.
using BigDecimal = std::vector<int>;

void multiply(BigDecimal& number, int factor) {
  int carry = 0;
  for (int& digit : number) {
    carry += digit * factor;
    digit = carry % 10;
    carry /= 10;
  }
  for (; carry != 0; carry /= 10) number.push_back(carry % 10);
}

std::string naive_amount(const std::string& whole, const std::string& fraction, int exponent,
                         int doublings, int unit_digits) {
  BigDecimal number;
  for (const char digit : whole + fraction) number.insert(number.begin(), digit - '0');
  for (int i = 0; i < doublings; ++i) multiply(number, 2);
  // Drop or add digits until the last one counts `unit`; what is dropped rounds up.
  int shift = exponent - static_cast<int>(fraction.size()) + unit_digits;
  for (; shift > 0; --shift) number.insert(number.begin(), 0);
  bool dropped = false;
  for (; shift < 0 && !number.empty(); ++shift) {
    dropped = dropped || number.front() != 0;
    number.erase(number.begin());
  }
  if (dropped) {
    std::size_t at = 0;
    while (at < number.size() && number[at] == 9) number[at++] = 0;
    if (at == number.size()) number.push_back(0);
    ++number[at];
  }
  while (!number.empty() && number.back() == 0) number.pop_back();
  std::string text;
  for (const int digit : number) text.insert(text.begin(), static_cast<char>('0' + digit));
  return text.empty() ? "0" : text;
}

struct Suffix {
  std::string text;
  int exponent = 0;
  int doublings = 0;
};

Suffix random_suffix(Prng& prng) {
  static const std::vector<Suffix> suffixes = {
      {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0}, {"k", 3, 0},   {"M", 6, 0},
      {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0}, {"Ki", 0, 10}, {"Mi", 0, 20},
      {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}};
  if (!prng.chance(30)) return prng.pick(suffixes);
  const auto exponent = static_cast<int>(prng.between(-30, 30));
  return {fmt::format("{}{}", prng.chance(50) ? "e" : "E", exponent), exponent, 0};
}

std::string random_digits(Prng& prng, std::uint64_t length_max) {
  std::string digits;
  for (std::uint64_t left = prng.below(length_max + 1); left > 0; --left) {
    digits += prng.chance(40) ? '0' : static_cast<char>('0' + prng.below(10));
  }
  return digits;
}

TEST(QuantityProperties, AgreesWithSchoolbookArithmetic) {
  const std::string largest = std::to_string(quantity_amount_max);
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Prng prng(seed);
    const std::string whole = "0" + random_digits(prng, prng.chance(80) ? 6 : 30);
    const std::string fraction = prng.chance(50) ? random_digits(prng, 40) : "";
    const Suffix suffix = random_suffix(prng);
    const std::string text =
        fmt::format("{}{}{}{}", whole, fraction.empty() ? "" : ".", fraction, suffix.text);
    SCOPED_TRACE(fmt::format("seed={} text={}", seed, text));
    for (const Scale scale : {Scale::one, Scale::milli}) {
      // Kubernetes rounds to nano first, then to the unit; rounding up twice is rounding up once.
      const std::string naive = naive_amount(whole, fraction, suffix.exponent, suffix.doublings,
                                             scale == Scale::milli ? 3 : 0);
      const bool too_large =
          naive.size() > largest.size() || (naive.size() == largest.size() && naive > largest);
      const auto amount = parse_quantity(text, scale);
      ASSERT_EQ(amount.has_value(), !too_large);
      if (amount) {
        ++accepted;
        ASSERT_EQ(std::to_string(*amount), naive);
        ASSERT_EQ(parse_quantity(quantity_text(*amount, scale), scale).value(), *amount);
        ASSERT_EQ(parse_quantity("-" + text, scale).value(), -*amount);
        ASSERT_EQ(rounded_up(parse_quantity_exact(text).value(), scale), amount.value());
      }
    }
  }
  EXPECT_GT(accepted, 10'000);
}

TEST(QuantityText, IsTheShortestThatParsesBack) {
  EXPECT_EQ(quantity_text(1'500, Scale::milli), "1500m");
  EXPECT_EQ(quantity_text(2'000, Scale::milli), "2");
  EXPECT_EQ(quantity_text(0, Scale::milli), "0");
  EXPECT_EQ(quantity_text(-1, Scale::milli), "-1m");
  EXPECT_EQ(quantity_text(4'294'967'296, Scale::one), "4294967296");
}

TEST(HumanBytes, RoundsToOneDecimal) {
  EXPECT_EQ(human_bytes(0), "0");
  EXPECT_EQ(human_bytes(1'023), "1023");
  EXPECT_EQ(human_bytes(1'024), "1Ki");
  EXPECT_EQ(human_bytes(1'536), "1.5Ki");
  EXPECT_EQ(human_bytes(1'610'612'736), "1.5Gi");
  EXPECT_EQ(human_bytes(1'048'575), "1Mi");
  EXPECT_EQ(human_bytes(-2'048), "-2Ki");
  EXPECT_EQ(human_bytes(quantity_amount_max), "1Ei");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::int64_t>::max()), "8Ei");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::int64_t>::min()), "-8Ei");
}

}  // namespace
}  // namespace makeway
