// The results of simulations side by side: a table, a document, or a time series.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/palette.hpp"
#include "cli/simulate/simulate_metrics.hpp"

namespace makeway::cli {

std::string simulate_text(const Simulation& simulation, const Palette& palette);
std::string simulate_json(const Simulation& simulation);
/// What `simulate_json` wrote.
Result<Simulation> read_simulation(std::string_view text);
/// One line for each sample of each configuration.
std::string simulate_csv(std::span<const SimulateResult> results);

}  // namespace makeway::cli
