// Help texts, written from the table of commands.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace makeway::cli {

std::string program_help();
std::string command_help(const Command& command);

/// Where to read more: "makeway snapshot --help"; without a command the program's help.
std::string help_line(const Command* command);

}  // namespace makeway::cli
