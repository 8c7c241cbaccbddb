#include "base/time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"

namespace makeway {
namespace {

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t day_ms = 24 * hour_ms;

struct TimeCase {
  std::string_view text;
  std::int64_t ms = 0;
};

TEST(ParseTime, KnownMoments) {
  // Day counts by hand: 1970 to 2000 has 7 leap days (10,957 days), to 2026 it is 20,454 days.
  const std::vector<TimeCase> cases = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T00:00:00.001Z", 1},
      {"1969-12-31T23:59:59.999Z", -1},
      {"2000-01-01T00:00:00Z", 10'957 * day_ms},
      {"2000-02-29T12:34:56Z", 951'827'696'000},
      {"2024-02-29T00:00:00Z", 1'709'164'800'000},
      {"2026-01-01T00:00:00Z", 20'454 * day_ms},
      {"0001-01-01T00:00:00Z", -62'135'596'800'000},
      {"9999-12-31T23:59:59.999Z", 253'402'300'799'999},
  };
  for (const TimeCase& time_case : cases) {
    SCOPED_TRACE(time_case.text);
    const Result<Time> time = parse_time(time_case.text);
    ASSERT_TRUE(time.has_value());
    EXPECT_EQ(time->ms, time_case.ms);
    EXPECT_EQ(to_text(*time), time_case.text);
  }
}

TEST(ParseTime, TheSameMomentInOtherWords) {
  const Time moment = parse_time("2026-03-01T10:30:00Z").value();
  const std::vector<std::string_view> texts = {
      "2026-03-01T10:30:00+00:00", "2026-03-01T10:30:00-00:00",      "2026-03-01T12:00:00+01:30",
      "2026-02-28T23:45:00-10:45", "2026-03-02T10:29:00+23:59",      "2026-03-01t10:30:00z",
      "2026-03-01 10:30:00Z",      "2026-03-01T10:30:00.000000000Z",
      "2026-03-01T10:30:00.0009Z",  // Cut off, not rounded.
  };
  for (const std::string_view text : texts) {
    SCOPED_TRACE(text);
    const Result<Time> time = parse_time(text);
    ASSERT_TRUE(time.has_value());
    EXPECT_EQ(*time, moment);
  }
}

TEST(ParseTime, FractionsHaveAnyLength) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:00.5Z")->ms, 500);
  EXPECT_EQ(parse_time("1970-01-01T00:00:00.25Z")->ms, 250);
  EXPECT_EQ(parse_time("1970-01-01T00:00:00.123456789Z")->ms, 123);
  const std::string nines(10'000, '9');
  EXPECT_EQ(parse_time("1970-01-01T00:00:00." + nines + "Z")->ms, 999);
}

TEST(ParseTime, LeapDaysFollowTheGregorianRule) {
  for (const std::string_view year : {"1972", "2000", "2024", "2400", "0000"}) {
    EXPECT_TRUE(parse_time(std::string(year) + "-02-29T00:00:00Z").has_value()) << year;
  }
  for (const std::string_view year : {"1900", "2023", "2100", "2026"}) {
    EXPECT_FALSE(parse_time(std::string(year) + "-02-29T00:00:00Z").has_value()) << year;
  }
}

TEST(ParseTime, RefusesEverythingElse) {
  const std::vector<std::string_view> texts = {
      "", "Z", "now", "2026", "2026-01-01", "2026-01-01T00:00:00",
      // Fields out of range.
      "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
      "2026-01-32T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00+24:00",
      "2026-01-01T00:00:00+00:60",
      // Wrong shapes.
      "26-01-01T00:00:00Z", "+2026-01-01T00:00:00Z", "2026-1-1T00:00:00Z", "2026-01-01T0:00:00Z",
      "2026-01-01T00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0100",
      "2026-01-01T00:00:00+01", "2026-01-01T00:00:00ZZ", " 2026-01-01T00:00:00Z",
      "2026-01-01T00:00:00Z ", "2026/01/01T00:00:00Z", "2026-01-01T00:00:00 Z",
      "2026-01-01T00:00:-1Z",
      // Beyond what can be written with four digits, once the offset is applied.
      "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"};
  for (const std::string_view text : texts) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

TEST(ParseTime, TheErrorShowsTheTextShortenedAndAnExample) {
  const Error error = parse_time(std::string(100, 'x')).error();
  EXPECT_EQ(error.code, ErrorCode::fix_input);
  EXPECT_EQ(error.message, "'" + std::string(60, 'x') +
                               "...' is not a time; expected RFC 3339 such as "
                               "2026-01-01T00:00:00Z");
}

TEST(TimeText, ReadsBackAsTheSameMoment) {
  Prng random(21);
  for (int i = 0; i < 20'000; ++i) {
    const Time time{random.between(-62'167'219'200'000, 253'402'300'799'999)};
    const Result<Time> again = parse_time(to_text(time));
    ASSERT_TRUE(again.has_value()) << to_text(time);
    ASSERT_EQ(*again, time) << to_text(time);
  }
}

TEST(TimeText, SortsLikeTheMoments) {
  Prng random(22);
  for (int i = 0; i < 2'000; ++i) {
    // Whole seconds: a fraction makes the text longer, and '.' sorts before 'Z'.
    const Time a{random.between(-62'167'219'200, 253'402'300'799) * 1'000};
    const Time b{random.between(-62'167'219'200, 253'402'300'799) * 1'000};
    ASSERT_EQ(a < b, to_text(a) < to_text(b));
  }
}

TEST(TimeArithmetic, DifferencesAndSums) {
  EXPECT_EQ(Time{5'000} - Time{2'000}, Duration{3'000});
  EXPECT_EQ(Time{2'000} - Time{5'000}, Duration{-3'000});
  EXPECT_EQ(Time{5'000} + Duration{-1}, Time{4'999});
}

TEST(ParseDuration, KnownLengths) {
  const std::vector<TimeCase> cases = {
      {"0", 0},
      {"0s", 0},
      {"250ms", 250},
      {"30s", 30'000},
      {"5m", 300'000},
      {"1h30m", 5'400'000},
      {"90s", 90'000},
      {"1h2m3s4ms", 3'723'004},
      {"100h", 360'000'000},
      {"0h0m7s", 7'000},
      {"87840h", 3'660 * day_ms},  // Ten years of 366 days, the most we take.
  };
  for (const TimeCase& duration_case : cases) {
    SCOPED_TRACE(duration_case.text);
    const Result<Duration> duration = parse_duration(duration_case.text);
    ASSERT_TRUE(duration.has_value());
    EXPECT_EQ(duration->ms, duration_case.ms);
  }
}

TEST(ParseDuration, RefusesEverythingElse) {
  const std::vector<std::string_view> texts = {"",
                                               "s",
                                               "5",
                                               "-5s",
                                               "+5s",
                                               "1.5h",
                                               "5 s",
                                               " 5s",
                                               "5s ",
                                               "1d",
                                               "1us",
                                               "5S",
                                               "1h30",
                                               "0x5s",
                                               "1e3s",
                                               "87841h",
                                               "87840h1ms",
                                               "999999999999h",
                                               "9999999999999s",
                                               "99999999999999999999999999s",
                                               "00"};
  for (const std::string_view text : texts) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
  EXPECT_EQ(parse_duration("soon").error().message,
            "'soon' is not a duration; expected for example 30s, 5m, 1h30m or 250ms");
}

TEST(DurationText, IsTheShortest) {
  EXPECT_EQ(to_text(Duration{0}), "0s");
  EXPECT_EQ(to_text(Duration{90'000}), "1m30s");
  EXPECT_EQ(to_text(Duration{3'600'000}), "1h");
  EXPECT_EQ(to_text(Duration{1}), "1ms");
  EXPECT_EQ(to_text(Duration{3'723'004}), "1h2m3s4ms");
  EXPECT_EQ(to_text(Duration{-1'500}), "-1s500ms");
  EXPECT_EQ(to_text(Duration{100 * hour_ms}), "100h");
}

TEST(DurationText, EvenTheExtremesCanBePrinted) {
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(to_text(Duration{smallest + 1}), "-2562047788015h12m55s807ms");
  EXPECT_EQ(to_text(Duration{smallest}), "-2562047788015h12m55s808ms");
}

TEST(DurationText, ReadsBackAsTheSameLength) {
  Prng random(23);
  for (int i = 0; i < 20'000; ++i) {
    const Duration duration{random.between(0, 3'660 * day_ms) >> random.between(0, 38)};
    const Result<Duration> again = parse_duration(to_text(duration));
    ASSERT_TRUE(again.has_value()) << to_text(duration);
    ASSERT_EQ(*again, duration) << to_text(duration);
  }
}

}  // namespace
}  // namespace makeway
