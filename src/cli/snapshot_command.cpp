#include "cli/snapshot_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/time.hpp"
#include "cli/help.hpp"
#include "cli/hidden_names.hpp"
#include "cli/input.hpp"
#include "cli/overview/overview.hpp"
#include "cli/problem_text.hpp"
#include "cli/snapshot_watch.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {

namespace {

/// Only a live cluster can be watched, and it is watched as it is.
Result<Duration> watch_span(const Arguments& arguments, const ClusterInput& input) {
  const std::string_view text = arguments.text("watch-for");
  Result<Duration> span = parse_duration(text);
  std::string wrong;
  if (!span) {
    wrong = span.error().message;
  } else if (!input.live) {
    wrong = "files cannot be watched; name a live cluster with --kubeconfig or --live";
  } else if (!input.sources.empty() || !input.planes.empty() || arguments.has("keep-going")) {
    wrong = "-f, --plane and --keep-going are for a cluster that is read once";
  }
  if (wrong.empty()) return span;
  return std::unexpected(
      Error{.code = ErrorCode::fix_usage,
            .message = fmt::format("--watch-for '{}': {}", shorten(text), wrong)});
}

/// An error is a usage error; without one and without a cluster, the problem was printed.
Result<std::optional<Loaded>> read_cluster(const Arguments& arguments, const ClusterInput& input,
                                           Terminal& terminal) {
  if (!arguments.has("watch-for")) {
    return load_or_report(input, terminal,
                          {.limits = {}, .asked = {}, .keep_going = arguments.has("keep-going")});
  }
  const Result<Duration> span = watch_span(arguments, input);
  if (!span) return std::unexpected(span.error());
  return watch_cluster(*input.live, *span, terminal);
}

std::vector<DaemonSetName> daemon_sets_of(const Loaded& loaded) {
  std::vector<DaemonSetName> names;
  for (const WorkloadPods& workload : loaded.workloads) {
    if (workload.kind != "DaemonSet") continue;
    names.push_back({.namespace_name = workload.namespace_name, .name = workload.name});
  }
  std::ranges::sort(names);
  return names;
}

std::string hidden_dump(const Loaded& loaded, DumpFormat format) {
  auto tree = parse_json_value(dump(loaded.cluster, DumpFormat::json, daemon_sets_of(loaded)));
  CHECK(tree.has_value(), "a dump is JSON");
  hide_names(*tree);
  std::string text;
  if (format == DumpFormat::json) {
    JsonWriter writer(text);
    write_value(*tree, writer);
  } else {
    YamlWriter writer(text);
    write_value(*tree, writer);
  }
  return text;
}

void show(const Loaded& loaded, const Arguments& arguments, Terminal& terminal) {
  terminal.error.write(
      quarantine_lines(loaded.quarantine, loaded.cluster, palette_for_error(terminal)));
  const std::string_view format = arguments.text("output");
  if (format != "text") {
    const DumpFormat as = format == "json" ? DumpFormat::json : DumpFormat::yaml;
    terminal.out.write(arguments.has("hide-names")
                           ? hidden_dump(loaded, as)
                           : dump(loaded.cluster, as, daemon_sets_of(loaded)));
  } else {
    const auto& found = loaded.configuration;
    terminal.out.write(
        overview_text(loaded, {.all = arguments.has("all"),
                               .palette = palette_for_out(terminal, arguments.text("color")),
                               .configuration = found ? found->configuration : Configuration{}}));
  }
}

}  // namespace

ExitStatus run_snapshot(const Arguments& arguments, Terminal& terminal) {
  const auto input = input_of(arguments, terminal, LiveByDefault::yes);
  const std::string_view missing =
      "there is no cluster; name files with -f or --plane, or a live one with --kubeconfig";
  if (!input || input->empty()) {
    return usage_error("snapshot", input ? missing : std::string_view(input.error().message),
                       terminal);
  }
  if (arguments.has("hide-names") && arguments.text("output") == "text") {
    return usage_error("snapshot", "--hide-names is for -o json and -o yaml", terminal);
  }
  const auto loaded = read_cluster(arguments, *input, terminal);
  if (!loaded) {
    return usage_error("snapshot", loaded.error().message, terminal);
  }
  if (!*loaded) return ExitStatus::failed;
  show(**loaded, arguments, terminal);
  return ExitStatus::done;
}

}  // namespace makeway::cli
