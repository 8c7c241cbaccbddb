#include "cli/run.hpp"

#include <fmt/format.h>

#include "cli/help.hpp"
#include "cli/parse.hpp"
#include "cli/version_command.hpp"

namespace makeway::cli {

ExitStatus run(std::span<const std::string> arguments, Terminal& terminal) {
  const Result<Invocation> invocation = parse(arguments);
  if (!invocation) {
    terminal.error.write(fmt::format("makeway: {}\n", invocation.error().message));
    return ExitStatus::usage;
  }
  if (invocation->version) {
    terminal.out.write(version_line() + "\n");
    return ExitStatus::done;
  }
  if (invocation->help) {
    terminal.out.write(invocation->command == nullptr ? program_help()
                                                      : command_help(*invocation->command));
    return ExitStatus::done;
  }
  return invocation->command->run(invocation->arguments, terminal);
}

}  // namespace makeway::cli
