// `makeway help`.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_help(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
