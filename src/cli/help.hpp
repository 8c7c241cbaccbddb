// Help texts, written from the table of commands.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "cli/palette.hpp"

namespace makeway::cli {

/// Broken at the width of sentences.
std::string program_help(const Palette& palette);
std::string command_help(const Command& command, const Palette& palette);

/// Where to read more: "makeway snapshot --help"; without a command the program's help.
std::string help_line(const Command* command);
/// Writes what is wrong with the arguments, and the line that leads to the help of the command.
ExitStatus usage_error(std::string_view command, std::string_view message, Terminal& terminal);

}  // namespace makeway::cli
