#include "sim/sim_metrics.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace makeway {

Spread spread_of(std::vector<std::int64_t> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](std::size_t percent) {
    const std::size_t rank = (values.size() * percent + 99) / 100;
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  const Wide sum = std::accumulate(values.begin(), values.end(), Wide{0});
  return {.mean = static_cast<std::int64_t>(sum / static_cast<std::int64_t>(values.size())),
          .p50 = at(50),
          .p90 = at(90),
          .p99 = at(99),
          .max = values.back(),
          .count = values.size()};
}

std::vector<std::int64_t> waits(const SimMetrics& metrics, const RunBand& band) {
  std::vector<std::int64_t> result;
  for (const RunRecord& run : metrics.runs) {
    if (!band.holds(run)) continue;
    if (run.first_start) result.push_back((*run.first_start - run.arrival).ms);
  }
  return result;
}

std::vector<std::int64_t> stretches(const SimMetrics& metrics, const RunBand& band) {
  std::vector<std::int64_t> result;
  for (const RunRecord& run : metrics.runs) {
    if (!band.holds(run)) continue;
    if (run.end && run.run_ms > 0) {
      const Wide permille = Wide{(*run.end - run.arrival).ms} * 1'000 / run.run_ms;
      result.push_back(static_cast<std::int64_t>(permille));
    }
  }
  return result;
}

std::vector<std::int32_t> priorities(const SimMetrics& metrics) {
  std::set<std::int32_t, std::greater<>> all;
  for (const RunRecord& run : metrics.runs) all.insert(run.priority);
  return {all.begin(), all.end()};
}

}  // namespace makeway
