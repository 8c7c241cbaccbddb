// The results of simulations as a page for a browser (page/page.hpp): what the table shows, and how
// it came about. web/src/report.tsx draws it; the JSON between them is described here.
//
// Everything is per configuration: samples over time, waits by priority, preemptions by priority,
// how full nodes were, queues against what they deserve, and decisions that stand out. Times are
// seconds since the start, shares thousandths, amounts in the unit of `unit` times `divisor`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/simulate/simulate_report.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "sim/sim_metrics.hpp"

namespace makeway::cli {

/// The JSON of the page; results have a chronicle.
std::string simulate_page_json(const Simulation& simulation,
                               std::span<const SimulateResult> results);
std::string simulate_page(const Simulation& simulation, std::span<const SimulateResult> results);

/// Makes sure that a report can be written there, before a long simulation. Creates the file; what
/// is in it stays.
Result<void> try_report_file(const std::string& path);
Result<void> write_report_file(const std::string& path, std::string_view html);

// How long runs waited, by priority: what a report draws as bars.

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
