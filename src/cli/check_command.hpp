// `makeway check`: lints manifests and configuration.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_check(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
