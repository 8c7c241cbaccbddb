// `makeway why`: what happened to a pod, for which ask, and what it waits for.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_why(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
