#include "cli/snapshot_command.hpp"

#include <fmt/format.h>

#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/overview/overview.hpp"
#include "codec/dump.hpp"

namespace makeway::cli {

ExitStatus run_snapshot(const Arguments& arguments, Terminal& terminal) {
  const auto sources = sources_of(arguments.all("file"), arguments.all("plane"));
  const std::string_view missing =
      "-f/--file is missing; expected -f/--file FILE|DIR|-, or --plane NAME=FILE|DIR|-";
  if (!sources || sources->empty()) {
    terminal.error.write(fmt::format("makeway: {}\n{}\n",
                                     sources ? missing : std::string_view(sources.error().message),
                                     help_line(find_command("snapshot"))));
    return ExitStatus::usage;
  }
  const std::optional<Loaded> loaded = load_or_report(*sources, terminal);
  if (!loaded) return ExitStatus::failed;
  const std::string_view format = arguments.text("output");
  if (format == "json") {
    terminal.out.write(dump(loaded->cluster, DumpFormat::json));
  } else if (format == "yaml") {
    terminal.out.write(dump(loaded->cluster, DumpFormat::yaml));
  } else {
    const auto& found = loaded->configuration;
    terminal.out.write(
        overview_text(*loaded, {.all = arguments.has("all"),
                                .palette = palette_for_out(terminal, arguments.text("color")),
                                .configuration = found ? found->configuration : Configuration{}}));
  }
  return ExitStatus::done;
}

}  // namespace makeway::cli
