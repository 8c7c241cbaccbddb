#include <fmt/format.h>

#include "base/printable.hpp"
#include "cli/embedded/embedded_run.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/simulate/simulate_run.hpp"

namespace makeway::cli {

ExitStatus run_embedded(const Arguments& arguments, Terminal& terminal) {
  Result<EmbeddedOptions> options = read_embedded_options(arguments);
  if (!options) return usage_error("run", options.error().message, terminal);
  // As in a simulation there are no untrusted users, so marks count as in files.
  const ConfigurationChoice choice{.preset = arguments.text("preset"),
                                   .file = arguments.given("config"),
                                   .overrides = arguments.all("set")};
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) return usage_error("run", chosen.usage, terminal);
  terminal.error.write(problem_lines(chosen.problems, palette_for_error(terminal)));
  if (!chosen.document) return ExitStatus::failed;
  name_configuration(*chosen.document, choice);
  const auto journal = open_simulate_journal(arguments, 1);
  if (!journal) {
    if (journal.error().code == ErrorCode::fix_usage) {
      return usage_error("run", journal.error().message, terminal);
    }
    terminal.error.write(fmt::format("error: {}\n", printable(journal.error().message)));
    return ExitStatus::failed;
  }
  const ExitStatus status =
      run_embedded_cluster({.options = *std::move(options),
                            .document = *std::move(chosen.document),
                            .journal = journal->get(),
                            .tools = real_tools(),
                            .clock = real_clock(),
                            .palette = palette_for_out(terminal, arguments.text("color"))},
                           terminal);
  const bool is_recorded = report_journal(journal->get(), terminal, "the run");
  return is_recorded || status != ExitStatus::done ? status : ExitStatus::failed;
}

}  // namespace makeway::cli
