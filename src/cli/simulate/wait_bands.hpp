// How long runs waited, by priority: what a report draws as bars.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/sim_metrics.hpp"

namespace makeway::cli {

/// A run that waited less than the first bound is in the first band, and so on; the last band has
/// no bound. Milliseconds.
inline constexpr std::array<std::int64_t, 9> wait_bounds_ms = {
    1'000, 10'000, 60'000, 300'000, 1'800'000, 7'200'000, 28'800'000, 86'400'000, 604'800'000};

struct WaitRow {
  std::string priority;  ///< "100", or of a range "100 to 199".
  std::array<std::int64_t, wait_bounds_ms.size() + 1> runs{};
  std::int64_t never = 0;  ///< Runs that never started.
  Spread spread;           ///< Of those that did, in milliseconds.
};

/// A priority, or the lowest one of a range of `grain`: "100", "100 to 199".
std::string priority_text(std::int64_t lowest, std::int64_t grain);

/// Highest priority first; at most `priorities_max` rows (PreemptionMatrix), so priorities may be
/// put together in ranges. O(runs log runs).
std::vector<WaitRow> wait_rows(const SimMetrics& metrics);

}  // namespace makeway::cli
