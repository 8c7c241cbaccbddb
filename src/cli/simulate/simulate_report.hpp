// The results of simulations side by side: a table, a document, or a time series.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "cli/terminal.hpp"

namespace makeway::cli {

// What a simulation is measured by: the metrics of docs/simulation.md, with their names, how they
// are shown, and which is better.
//
// The values of a run are whole numbers by field name ("waitMs.p90"), so that results of several
// processes can be put side by side (`makeway simulate merge`).

enum class Better : std::uint8_t { less, more, neither };
/// Thousandths, millionths and hundredths are shown as what they are parts of.
enum class Shown : std::uint8_t { count, milliseconds, permille, ppm, hundredths };

struct Metric {
  std::string label;  ///< "wait, p90"
  std::string field;  ///< "waitMs.p90"
  Better better = Better::less;
  Shown shown = Shown::count;
  std::function<std::optional<std::int64_t>(const SimulateResult&)> measure;
};

/// One configuration, measured.
struct SimulatedRun {
  std::string name;
  bool partial = false;
  std::string scarce;  ///< The resource of the resource hours.
  Time start;
  Time end;
  std::map<std::string, std::int64_t, std::less<>> values;  ///< By field.
};

/// What was simulated, and what became of it under each configuration.
struct Simulation {
  std::string load;  ///< "openb:DIR", "generated, seed 1".
  std::int64_t nodes = 0;
  std::int64_t tasks = 0;
  std::int64_t pods = 0;
  std::vector<std::string> notes;
  std::int64_t cycle_ms = 0;
  std::vector<SimulatedRun> runs;
};

SimulatedRun measured(const SimulateResult& result);
/// All metrics that some run has a value of, in the order of the table.
std::vector<Metric> metrics_of(std::span<const SimulatedRun> runs);
std::optional<std::int64_t> value_of(const SimulatedRun& run, const Metric& metric);
/// If not all are equal, and one of them can be called better.
std::optional<std::int64_t> best_value(const Metric& metric, std::span<const SimulatedRun> runs);
std::string value_text(Shown shown, std::int64_t value);

std::string simulate_text(const Simulation& simulation, const Palette& palette);
std::string simulate_json(const Simulation& simulation);
/// What `simulate_json` wrote.
Result<Simulation> read_simulation(std::string_view text);
/// One line for each sample of each configuration.
std::string simulate_csv(std::span<const SimulateResult> results);

}  // namespace makeway::cli
