// `makeway snapshot`: load, and print the overview or the canonical dump.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_snapshot(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
