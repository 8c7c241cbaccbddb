#include "cli/run.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"

namespace makeway::cli {
namespace {

/// The last gate: whatever a command writes, no character passes that drives a terminal or misleads
/// its reader, but our own colours.
class PrintableSink final : public TextSink {
 public:
  explicit PrintableSink(TextSink& behind) : behind_(behind) {}

  void write(std::string_view text) override {
    if (has_printable_lines(text)) return behind_.write(text);
    behind_.write(printable_lines(text));
  }
  void flush() override { behind_.flush(); }
  bool is_closed() const override { return behind_.is_closed(); }

 private:
  TextSink& behind_;
};

ExitStatus run_invocation(std::span<const std::string> arguments, Terminal& terminal) {
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
    const Palette palette = palette_for_out(terminal, "never");
    terminal.out.write(invocation->command == nullptr
                           ? program_help(palette)
                           : command_help(*invocation->command, palette));
    return ExitStatus::done;
  }
  return invocation->command->run(invocation->arguments, terminal);
}

}  // namespace

ExitStatus run(std::span<const std::string> arguments, Terminal& terminal) {
  PrintableSink out(terminal.out);
  PrintableSink error(terminal.error);
  Terminal gated{.out = out,
                 .error = error,
                 .out_is_terminal = terminal.out_is_terminal,
                 .error_is_terminal = terminal.error_is_terminal,
                 .colour_refused = terminal.colour_refused,
                 .ascii_only = terminal.ascii_only,
                 .columns = terminal.columns,
                 .kube = terminal.kube,
                 .input = terminal.input,
                 .screen = terminal.screen};
  try {
    // A bug outside of any plan ends the run, not the process half-way; tests hide none.
    std::optional<CheckContainment> contained;
    if (MAKEWAY_CONTAIN != 0) contained.emplace();
    return run_invocation(arguments, gated);
  } catch (const std::bad_alloc&) {
    error.write("makeway: out of memory; give it more, or split the input\n");
    return ExitStatus::failed;
  } catch (const std::exception& failure) {
    error.write(fmt::format("makeway: internal error: {}\n", shorten(failure.what(), 1'000)));
    error.write("This is a bug in Makeway, not in your input. Please report it with the input.\n");
    return ExitStatus::bug;
  }
}

}  // namespace makeway::cli
