// `makeway simulate`: a trace or a generated load under one or several configurations.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

/// Results of several shards side by side.
ExitStatus run_simulate_merge(const Arguments& arguments, Terminal& terminal);
ExitStatus run_simulate(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
