// Backoff: how long to wait before the next try after failures in a row.
//
//   constexpr Backoff backoff{.first = Duration{1'000}, .max = Duration{60'000}};
//   backoff.after(1);            // 1 s; after(2) is 2 s, after(3) is 4 s, never more than 60 s.
//   backoff.next_try(now, 2);    // now + 2 s.
//
// Pure: the caller counts its failures, and starts again at 0 when a try succeeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace makeway {

struct Backoff {
  Duration first;
  Duration max;

  /// The wait after so many failures in a row; 0 after none.
  constexpr Duration after(std::int64_t failures) const {
    if (failures <= 0) return {0};
    std::int64_t wait_ms = first.ms;
    for (std::int64_t doubled = 1; doubled < failures && wait_ms < max.ms; ++doubled) wait_ms *= 2;
    return {std::min(wait_ms, max.ms)};
  }

  constexpr Time next_try(Time now, std::int64_t failures,
                          const std::optional<Time>& again_at = std::nullopt) const {
    return no_later_than(now + after(failures), again_at, now);
  }

  /// A try that is set for `at`, moved forward when it may succeed at `again_at` already. Never
  /// within `first` of now: many others may wait for the same moment.
  constexpr Time no_later_than(Time at, const std::optional<Time>& again_at, Time now) const {
    return again_at ? std::min(at, std::max(*again_at, now + first)) : at;
  }

  friend bool operator==(const Backoff&, const Backoff&) = default;
};

}  // namespace makeway
