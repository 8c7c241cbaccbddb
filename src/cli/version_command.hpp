// `makeway version` and `--version`.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace makeway::cli {

/// "makeway 0.1.0"
std::string version_line();

ExitStatus run_version(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
