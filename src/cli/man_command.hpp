// `makeway man`: the manual page, written from the table of commands.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace makeway::cli {

/// roff text for man(1).
std::string man_page();

ExitStatus run_man(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
