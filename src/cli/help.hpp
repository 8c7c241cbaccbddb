// What the program says about itself: help of the program and of commands, its version, and the
// manual page; all read off the table of commands.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace makeway::cli {

// Help texts, written from the table of commands.

/// Broken at the width of sentences.
std::string program_help(const Palette& palette);
std::string command_help(const Command& command, const Palette& palette);

/// Where to read more: "makeway snapshot --help"; without a command the program's help.
std::string help_line(const Command* command);
/// Writes what is wrong with the arguments, and the line that leads to the help of the command.
ExitStatus usage_error(std::string_view command, std::string_view message, Terminal& terminal);

// `makeway help`.

ExitStatus run_help(const Arguments& arguments, Terminal& terminal);

// `makeway version` and `--version`.

/// "makeway 0.1.0"
std::string version_line();

ExitStatus run_version(const Arguments& arguments, Terminal& terminal);

// `makeway man`: the manual page, written from the table of commands.

/// roff text for man(1).
std::string man_page();

ExitStatus run_man(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
