// `makeway advance`: the objects after a plan was carried out, and some time has passed.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_advance(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
