// `makeway apply` in the table of commands.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

Command apply_entry();

}  // namespace makeway::cli
