// What each metric of a simulation means, in one sentence and with its unit: shown beside a number
// in a report. docs/simulation.md has the definitions.
#pragma once

#include <string>
#include <string_view>

#include "cli/simulate/simulate_metrics.hpp"

namespace makeway::cli {

struct MetricMeaning {
  std::string unit;
  std::string text;
};

/// `scarce`: the resource of the resource hours.
MetricMeaning meaning_of(const Metric& metric, std::string_view scarce);

}  // namespace makeway::cli
