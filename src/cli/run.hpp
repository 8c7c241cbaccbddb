// The command line as a function: arguments in, text to two sinks, exit status out.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace makeway::cli {

// From words to a command and its arguments. The only user of CLI11, which splits words into flags
// and values; what is allowed, and what to say when it is not, comes from the table of commands.

struct Invocation {
  const Command* command = nullptr;  ///< Null: the program without a command.
  Arguments arguments;
  bool help = false;     ///< --help was given: nothing else was checked.
  bool version = false;  ///< --version was given.
};

/// Errors have the code fix_usage; the message ends with where the help is.
Result<Invocation> parse(std::span<const std::string> words);

/// `arguments` come without the name of the program.
ExitStatus run(std::span<const std::string> arguments, Terminal& terminal);

}  // namespace makeway::cli
