// `makeway completion`: scripts for shells, written from the table of commands.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace makeway::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

ExitStatus run_completion(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
