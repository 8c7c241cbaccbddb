#include "cli/simulate/wait_bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "sim/sim_chronicle.hpp"

namespace makeway::cli {
namespace {

/// The smallest that leaves few enough ranges.
std::int64_t grain_for(const SimMetrics& metrics) {
  const std::vector<std::int32_t> all = priorities(metrics);
  std::int64_t grain = 1;
  for (;; grain *= 10) {
    std::set<std::int64_t> ranges;
    for (const std::int32_t priority : all) ranges.insert(range_of(priority, grain));
    if (ranges.size() <= PreemptionMatrix::priorities_max) return grain;
  }
}

}  // namespace

std::string priority_text(std::int64_t lowest, std::int64_t grain) {
  return grain == 1 ? fmt::format("{}", lowest)
                    : fmt::format("{} to {}", lowest, lowest + grain - 1);
}

std::vector<WaitRow> wait_rows(const SimMetrics& metrics) {
  const std::int64_t grain = grain_for(metrics);
  std::map<std::int64_t, std::pair<WaitRow, std::vector<std::int64_t>>, std::greater<>> rows;
  for (const RunRecord& run : metrics.runs) {
    auto& [row, waited] = rows[range_of(run.priority, grain)];
    if (!run.first_start) {
      ++row.never;
      continue;
    }
    waited.push_back((*run.first_start - run.arrival).ms);
    const auto bound = std::ranges::upper_bound(wait_bounds_ms, waited.back());
    ++row.runs[static_cast<std::size_t>(bound - wait_bounds_ms.begin())];
  }
  std::vector<WaitRow> result;
  result.reserve(rows.size());
  for (auto& [lowest, entry] : rows) {
    entry.first.priority = priority_text(lowest, grain);
    entry.first.spread = spread_of(std::move(entry.second));
    result.push_back(std::move(entry.first));
  }
  return result;
}

}  // namespace makeway::cli
