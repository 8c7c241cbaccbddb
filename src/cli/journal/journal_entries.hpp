// The commands over journals, for the table of commands.
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace makeway::cli {

/// In the order of the help: replay, why, journal and what it can do.
std::vector<Command> journal_commands();

}  // namespace makeway::cli
