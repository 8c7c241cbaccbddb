// `run` in the table of commands.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

Command run_entry();

}  // namespace makeway::cli
