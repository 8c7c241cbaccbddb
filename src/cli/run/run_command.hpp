// `makeway run`: the scheduler of a live cluster, or a shadow beside another one.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_run(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
