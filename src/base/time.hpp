// Time and Duration in whole milliseconds, and their texts.
//
// Core code never reads a clock: `now` is an argument. Times print as RFC 3339 in UTC, the way
// Kubernetes writes them ("2026-01-01T00:00:00Z", with ".250" only when there is a fraction).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace makeway {

struct Duration {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(const Duration&, const Duration&) = default;
};

struct Time {
  std::int64_t ms = 0;  ///< Since 1970-01-01T00:00:00Z.

  friend constexpr auto operator<=>(const Time&, const Time&) = default;
};

constexpr Duration operator-(Time later, Time earlier) { return {later.ms - earlier.ms}; }
constexpr Time operator+(Time time, Duration duration) { return {time.ms + duration.ms}; }

/// RFC 3339 with any offset; years 0000 to 9999, so that every Time can be written again.
Result<Time> parse_time(std::string_view text);
std::string to_text(Time time);

/// "1h30m", "90s", "250ms", "0"; units h, m, s, ms; never negative; at most ten years.
Result<Duration> parse_duration(std::string_view text);
/// The shortest such text: "0s", "90s" becomes "1m30s".
std::string to_text(Duration duration);

}  // namespace makeway
