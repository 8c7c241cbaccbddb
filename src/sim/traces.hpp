// Traces as loads: openb's tables, the Standard Workload Format, and a table of our own.
//
// What each format means here is in docs/simulation.md; what a reader has to know about a result
// (GPU shares without devices, priorities that were made up) is among the notes of the load.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "sim/load.hpp"

namespace makeway {

/// Node table and pod table of openb. Times are seconds after `start`.
Result<SimLoad> openb_load(std::string_view nodes, std::string_view pods, Time start);
/// Standard Workload Format 2.2. Errors name the file. Jobs without a run time or processors are
/// left out, and counted among the notes.
Result<SimLoad> swf_load(std::string_view text, Time start, std::string_view file = "swf");
/// A heading, then a line for each node or task. Errors name the file, the line and the node or
/// task.
Result<SimLoad> csv_load(std::string_view text, Time start, std::string_view file = "csv");

/// So that real traces contend.
struct LoadScale {
  std::int64_t arrivals_percent = 100;  ///< 200: twice as fast.
  std::int64_t nodes_percent = 100;     ///< 50: every second node is there.
  std::int64_t runs_percent = 100;      ///< 200: everything runs twice as long.
  std::int64_t tasks_max = 0;           ///< 0: all.
};
/// Says so among the notes.
void scale_load(SimLoad& load, const LoadScale& scale, Time start);

}  // namespace makeway
