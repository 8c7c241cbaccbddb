#include "cli/simulate/simulate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/amount.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "codec/json_text.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

/// In quotes where it needs them.
std::string csv_cell(std::string_view text) {
  std::string plain = printable(text);
  if (plain.find_first_of(",\"") == std::string::npos) return plain;
  std::string quoted = "\"";
  for (const char each : plain) quoted += each == '"' ? std::string("\"\"") : std::string(1, each);
  return quoted + "\"";
}

// ---- Reading ------------------------------------------------------------------------------------

std::int64_t number_in(const JsonValue& value, std::string_view key) {
  const JsonValue* const found = value.find(key);
  const std::int64_t* const number = found == nullptr ? nullptr : found->as_integer();
  return number == nullptr ? 0 : *number;
}

Result<SimulatedRun> read_run(const JsonValue& value) {
  const Result<Time> start = parse_time(text_in(value, "start"));
  const Result<Time> end = parse_time(text_in(value, "end"));
  const JsonValue* const metrics = value.find("metrics");
  const JsonValue* const partial = value.find("partial");
  if (!start || !end || metrics == nullptr || metrics->as_object() == nullptr) {
    return input_error("a result has no start, end or metrics");
  }
  SimulatedRun run{
      .name = text_in(value, "configuration"),
      .partial = partial != nullptr && partial->as_boolean() != nullptr && *partial->as_boolean(),
      .scarce = text_in(value, "scarce"),
      .start = *start,
      .end = *end};
  for (const JsonMember& member : *metrics->as_object()) {
    if (const std::int64_t* const number = member.value.as_integer();
        number != nullptr && *number >= 0) {
      run.values.emplace(member.key, *number);
    }
  }
  return run;
}

}  // namespace

std::string simulate_text(const Simulation& simulation, const Palette& palette) {
  std::string text = fmt::format("Simulated: {} in {} on {}; {}.\n",
                                 counted(static_cast<std::uint64_t>(simulation.pods), "pod"),
                                 counted(static_cast<std::uint64_t>(simulation.tasks), "task"),
                                 counted(static_cast<std::uint64_t>(simulation.nodes), "node"),
                                 printable(simulation.load));
  for (const std::string& note : simulation.notes) {
    text += fmt::format("Note: {}\n", printable(note));
  }
  std::vector<Column> columns = {{"METRIC"}};
  for (const SimulatedRun& run : simulation.runs) {
    columns.push_back({run.name, Align::right});
    if (!run.partial) continue;
    text += fmt::format("{}: partial, stopped after {} of virtual time.\n", shorten(run.name),
                        pending_text((run.end - run.start).ms / 1'000));
  }
  Table table(std::move(columns));
  for (const Metric& metric : metrics_of(simulation.runs)) {
    const std::optional<std::int64_t> best = best_value(metric, simulation.runs);
    std::vector<Cell> cells = {{metric.label}};
    for (const SimulatedRun& run : simulation.runs) {
      const std::optional<std::int64_t> value = value_of(run, metric);
      const bool wins = value && best && *value == *best;
      const std::string mark = wins ? "* " : "";
      cells.push_back(
          {value ? mark + value_text(metric.shown, *value) : "-", wins ? Tone::good : Tone::plain});
    }
    table.row(std::move(cells));
  }
  text += "\n" + table.text(palette);
  text += fmt::format(
      "\n* the best of its line. Resource hours, goodput and fragmentation are those of {}.\n"
      "A cycle takes {} of virtual time. docs/simulation.md defines every metric.\n",
      printable(simulation.runs.front().scarce), to_text(Duration{simulation.cycle_ms}));
  return text;
}

std::string simulate_json(const Simulation& simulation) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Simulation");
  writer.string_field("load", simulation.load);
  writer.integer_field("nodes", simulation.nodes);
  writer.integer_field("tasks", simulation.tasks);
  writer.integer_field("pods", simulation.pods);
  writer.strings_field("notes", simulation.notes);
  writer.integer_field("cycleMs", simulation.cycle_ms);
  const std::vector<Metric> metrics = metrics_of(simulation.runs);
  writer.key("results");
  writer.begin_array();
  for (const SimulatedRun& run : simulation.runs) {
    writer.begin_object();
    writer.string_field("configuration", run.name);
    writer.boolean_field("partial", run.partial);
    writer.string_field("scarce", run.scarce);
    writer.string_field("start", to_text(run.start));
    writer.string_field("end", to_text(run.end));
    writer.key("metrics");
    writer.begin_object();
    for (const Metric& metric : metrics) {
      if (const auto value = value_of(run, metric)) writer.integer_field(metric.field, *value);
    }
    writer.end_object();
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return text;
}

Result<Simulation> read_simulation(std::string_view text) {
  const std::string wanted = "it is no simulation; expected what makeway simulate -o json printed";
  const auto document = parse_json_value(text);
  if (!document || text_in(*document, "kind") != "Simulation") return input_error(wanted);
  const JsonValue* const results = document->find("results");
  if (results == nullptr || results->as_array() == nullptr) return input_error(wanted);
  Simulation simulation{.load = text_in(*document, "load"),
                        .nodes = number_in(*document, "nodes"),
                        .tasks = number_in(*document, "tasks"),
                        .pods = number_in(*document, "pods"),
                        .cycle_ms = number_in(*document, "cycleMs")};
  const JsonValue* const notes = document->find("notes");
  if (notes != nullptr && notes->as_array() != nullptr) {
    for (const JsonValue& note : *notes->as_array()) {
      if (note.as_string() != nullptr) simulation.notes.push_back(*note.as_string());
    }
  }
  for (const JsonValue& result : *results->as_array()) {
    Result<SimulatedRun> run = read_run(result);
    if (!run) return input_error(run.error().message);
    simulation.runs.push_back(*std::move(run));
  }
  return simulation;
}

std::string simulate_csv(std::span<const SimulateResult> results) {
  std::string text = "configuration,time,waiting_pods,running_pods,used,room,preemptions\n";
  for (const SimulateResult& result : results) {
    for (const SimSample& sample : result.metrics.samples) {
      text += fmt::format("{},{},{},{},{},{},{}\n", csv_cell(result.name), to_text(sample.when),
                          sample.waiting, sample.running, sample.used, sample.room, sample.victims);
    }
  }
  return text;
}

}  // namespace makeway::cli
