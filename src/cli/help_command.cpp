#include "cli/help_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/problem.hpp"
#include "cli/help.hpp"
#include "cli/suggest.hpp"

namespace makeway::cli {

ExitStatus run_help(const Arguments& arguments, Terminal& terminal) {
  if (arguments.operands().empty()) {
    terminal.out.write(program_help(palette_for_out(terminal, "never")));
    return ExitStatus::done;
  }
  const std::string name = fmt::format("{}", fmt::join(arguments.operands(), " "));
  const Command* const command = find_command(name);
  if (command == nullptr) {
    return usage_error({},
                       fmt::format("there is no command '{}'{}", shorten(name),
                                   did_you_mean(command_names(), name)),
                       terminal);
  }
  terminal.out.write(command_help(*command, palette_for_out(terminal, "never")));
  return ExitStatus::done;
}

}  // namespace makeway::cli
