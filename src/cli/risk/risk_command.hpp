// `makeway risk`: which asks would evict a running pod, and what would protect it.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_risk(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
