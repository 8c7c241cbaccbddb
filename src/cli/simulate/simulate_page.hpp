// The results of simulations as a page for a browser (page/page.hpp): what the table shows, and how
// it came about. web/src/report.tsx draws it; the JSON between them is described here.
//
// Everything is per configuration: samples over time, waits by priority, preemptions by priority,
// how full nodes were, queues against what they deserve, and decisions that stand out. Times are
// seconds since the start, shares thousandths, amounts in the unit of `unit` times `divisor`.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "cli/simulate/simulate_metrics.hpp"
#include "cli/simulate/simulate_run.hpp"

namespace makeway::cli {

/// The JSON of the page; results have a chronicle.
std::string simulate_page_json(const Simulation& simulation,
                               std::span<const SimulateResult> results);
std::string simulate_page(const Simulation& simulation, std::span<const SimulateResult> results);

/// Makes sure that a report can be written there, before a long simulation. Creates the file; what
/// is in it stays.
Result<void> try_report_file(const std::string& path);
Result<void> write_report_file(const std::string& path, std::string_view html);

}  // namespace makeway::cli
