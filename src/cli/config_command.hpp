// `makeway config list|show|explain`.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_config_list(const Arguments& arguments, Terminal& terminal);
ExitStatus run_config_show(const Arguments& arguments, Terminal& terminal);
ExitStatus run_config_explain(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
