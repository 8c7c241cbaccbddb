// `makeway apply`; the behaviour is described in apply_run.hpp.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_apply(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
