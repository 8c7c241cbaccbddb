#include "cli/snapshot_command.hpp"

#include "cli/input.hpp"
#include "cli/overview/overview.hpp"
#include "codec/dump.hpp"

namespace makeway::cli {

ExitStatus run_snapshot(const Arguments& arguments, Terminal& terminal) {
  const std::optional<Loaded> loaded = load_or_report(arguments.all("file"), terminal);
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
