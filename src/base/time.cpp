#include "base/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/ascii.hpp"
#include "base/problem.hpp"

namespace makeway {
namespace {

constexpr std::int64_t ms_per_second = 1'000;
constexpr std::int64_t ms_per_minute = 60 * ms_per_second;
constexpr std::int64_t ms_per_hour = 60 * ms_per_minute;
constexpr std::int64_t ms_per_day = 24 * ms_per_hour;
constexpr std::int64_t duration_ms_max = ms_per_day * 366 * 10;

/// Reads text from left to right; every reader returns nothing once something did not match.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (const char byte : rest_.substr(0, count)) {
      if (!is_digit(byte)) return std::nullopt;
      value = value * 10 + (byte - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }

  bool any_of(std::string_view accepted) {
    if (rest_.empty() || !accepted.contains(rest_.front())) return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  char last() const { return last_; }
  bool at_end() const { return rest_.empty(); }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }

 private:
  std::string_view rest_;
  char last_ = 0;
};

/// The fraction behind a dot in milliseconds, further digits cut off.
std::optional<std::int64_t> fraction_ms(Cursor& cursor) {
  if (!cursor.any_of(".,")) return 0;
  if (!cursor.at_digit()) return std::nullopt;
  std::int64_t scale = 100;
  std::int64_t value = 0;
  while (cursor.at_digit()) {
    value += scale * *cursor.digits(1);
    scale /= 10;
  }
  return value;
}

std::optional<std::int64_t> offset_ms(Cursor& cursor) {
  if (cursor.any_of("Zz")) return 0;
  if (!cursor.any_of("+-")) return std::nullopt;
  const std::int64_t sign = cursor.last() == '+' ? 1 : -1;
  const auto hours = cursor.digits(2);
  if (!hours || *hours > 23 || !cursor.any_of(":")) return std::nullopt;
  const auto minutes = cursor.digits(2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * ms_per_hour + *minutes * ms_per_minute);
}

std::optional<std::int64_t> day_ms(Cursor& cursor) {
  const auto year = cursor.digits(4);
  if (!year || !cursor.any_of("-")) return std::nullopt;
  const auto month = cursor.digits(2);
  if (!month || !cursor.any_of("-")) return std::nullopt;
  const auto day = cursor.digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch().count() * ms_per_day;
}

std::optional<std::int64_t> time_of_day_ms(Cursor& cursor) {
  const auto hour = cursor.digits(2);
  if (!hour || *hour > 23 || !cursor.any_of(":")) return std::nullopt;
  const auto minute = cursor.digits(2);
  if (!minute || *minute > 59 || !cursor.any_of(":")) return std::nullopt;
  const auto second = cursor.digits(2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = fraction_ms(cursor);
  if (!fraction) return std::nullopt;
  return *hour * ms_per_hour + *minute * ms_per_minute + *second * ms_per_second + *fraction;
}

/// Days since 1970-01-01 of a date that is known to be valid.
std::int64_t day_number(int year, int month, int day) {
  return std::chrono::sys_days{std::chrono::year{year} /
                               std::chrono::month{static_cast<unsigned>(month)} /
                               std::chrono::day{static_cast<unsigned>(day)}}
      .time_since_epoch()
      .count();
}

/// "2026-01-01T00:00:00Z", the only form that Kubernetes itself writes, with a day that every month
/// has. Nothing when the text is of another form; it may be a time all the same.
std::optional<Time> common_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t at = 0; at < form.size(); ++at) {
    if (form[at] == 'd' ? !is_digit(text[at]) : text[at] != form[at]) return std::nullopt;
  }
  const auto two = [text](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  const int month = two(5);
  const int day = two(8);
  const bool plain = month >= 1 && month <= 12 && day >= 1 && day <= 28 && two(11) <= 23 &&
                     two(14) <= 59 && two(17) <= 59;
  if (!plain) return std::nullopt;
  return Time{day_number(two(0) * 100 + two(2), month, day) * ms_per_day + two(11) * ms_per_hour +
              two(14) * ms_per_minute + two(17) * ms_per_second};
}

std::optional<Time> time_of(std::string_view text) {
  if (const std::optional<Time> common = common_time(text)) return common;
  Cursor cursor(text);
  const auto day = day_ms(cursor);
  if (!day || !cursor.any_of("Tt ")) return std::nullopt;
  const auto time_of_day = time_of_day_ms(cursor);
  if (!time_of_day) return std::nullopt;
  const auto offset = offset_ms(cursor);
  if (!offset || !cursor.at_end()) return std::nullopt;
  return Time{*day + *time_of_day - *offset};
}

constexpr std::int64_t time_ms_min = -62'167'219'200'000;  // 0000-01-01T00:00:00Z
constexpr std::int64_t time_ms_max = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

}  // namespace

Result<Time> parse_time(std::string_view text) {
  const std::optional<Time> time = time_of(text);
  if (!time || time->ms < time_ms_min || time->ms > time_ms_max) {
    return input_error(fmt::format(
        "'{}' is not a time; expected RFC 3339 such as 2026-01-01T00:00:00Z", shorten(text)));
  }
  return *time;
}

std::string to_text(Time time) {
  std::int64_t day = time.ms / ms_per_day;
  std::int64_t rest = time.ms % ms_per_day;
  if (rest < 0) {
    rest += ms_per_day;
    --day;
  }
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  std::string text = fmt::format(
      "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / ms_per_hour,
      rest % ms_per_hour / ms_per_minute, rest % ms_per_minute / ms_per_second);
  if (rest % ms_per_second != 0) text += fmt::format(".{:03}", rest % ms_per_second);
  return text + "Z";
}

namespace {

struct DurationUnit {
  std::string_view name;
  std::int64_t ms = 0;
};
constexpr std::array duration_units = {DurationUnit{"h", ms_per_hour},
                                       DurationUnit{"m", ms_per_minute},
                                       DurationUnit{"s", ms_per_second}, DurationUnit{"ms", 1}};

/// Takes "12s" off the front of `rest`; nothing when it does not start with number and unit.
std::optional<std::int64_t> take_part(std::string_view& rest) {
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin());
  if (digits == 0 || digits > 12) return std::nullopt;
  std::int64_t amount = 0;
  for (const char byte : rest.substr(0, digits)) amount = amount * 10 + (byte - '0');
  rest.remove_prefix(digits);
  const std::string_view name =
      rest.substr(0, static_cast<std::size_t>(std::ranges::find_if(rest, is_digit) - rest.begin()));
  for (const DurationUnit& unit : duration_units) {
    if (unit.name != name || amount > duration_ms_max / unit.ms) continue;
    rest.remove_prefix(name.size());
    return amount * unit.ms;
  }
  return std::nullopt;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto refused = [&] {
    return input_error(fmt::format(
        "'{}' is not a duration; expected for example 30s, 5m, 1h30m or 250ms", shorten(text)));
  };
  if (text == "0") return Duration{};
  if (text.empty()) return refused();
  std::string_view rest = text;
  std::int64_t total = 0;
  while (!rest.empty()) {
    const std::optional<std::int64_t> part = take_part(rest);
    if (!part) return refused();
    total += *part;
    if (total > duration_ms_max) return refused();
  }
  return Duration{total};
}

std::string to_text(Duration duration) {
  if (duration.ms == 0) return "0s";
  std::string text;
  if (duration.ms < 0) text += '-';
  // Digits are taken from the signed rest: the smallest int64 has no positive counterpart.
  std::int64_t rest = duration.ms;
  for (const DurationUnit& unit : duration_units) {
    const std::int64_t amount = std::abs(rest / unit.ms);
    if (amount > 0) text += fmt::format("{}{}", amount, unit.name);
    rest %= unit.ms;
  }
  return text;
}

}  // namespace makeway
