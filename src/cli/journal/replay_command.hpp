// `makeway replay`: the cycles of a journal once more.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_replay(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
