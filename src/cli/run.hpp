// The command line as a function: arguments in, text to two sinks, exit status out.
#pragma once

#include <span>
#include <string>

#include "cli/terminal.hpp"

namespace makeway::cli {

/// `arguments` come without the name of the program.
ExitStatus run(std::span<const std::string> arguments, Terminal& terminal);

}  // namespace makeway::cli
