// `makeway run`: for now only beside another scheduler (--shadow).
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_run(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
