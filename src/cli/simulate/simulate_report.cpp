#include "cli/simulate/simulate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

#include "base/printable.hpp"
#include "cli/text.hpp"
#include "codec/json_text.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

using Measured = std::optional<std::int64_t>;

std::string decimal(std::int64_t thousandths) {
  return fmt::format("{}.{}", thousandths / 1'000, thousandths % 1'000 / 100);
}

/// Amounts times milliseconds as hundredths of amounts times hours.
std::int64_t hundredths_of_hours(Wide amount_ms, std::string_view resource) {
  const std::int64_t unit = resource == "cpu" || resource.ends_with("-milli") ? 1'000 : 1;
  return static_cast<std::int64_t>(amount_ms * 100 / 3'600'000 / unit);
}

using Part = std::pair<std::string_view, std::int64_t Spread::*>;
constexpr std::array parts = {Part{"mean", &Spread::mean}, Part{"p50", &Spread::p50},
                              Part{"p90", &Spread::p90}, Part{"p99", &Spread::p99},
                              Part{"max", &Spread::max}};
constexpr const Part& band_part = parts[2];

/// Runs of one priority, or of one size.
struct NamedBand {
  std::string label;  ///< " of priority 100"
  std::string field;  ///< ".priority100"
  RunBand band;
};

NamedBand priority_band(std::int32_t priority) {
  return {.label = fmt::format(" of priority {}", priority),
          .field = fmt::format(".priority{}", priority),
          .band = {.priority = priority}};
}

std::vector<NamedBand> size_bands() {
  return {{" of 1 pod", ".size1", {.priority = {}, .pods_min = 1, .pods_max = 1}},
          {" of 2 to 7 pods", ".size2to7", {.priority = {}, .pods_min = 2, .pods_max = 7}},
          {" of 8 pods or more", ".size8", {.priority = {}, .pods_min = 8}}};
}

/// Sizes only where they differ.
std::vector<NamedBand> bands_of(const SimMetrics& metrics) {
  std::vector<NamedBand> bands;
  for (const std::int32_t priority : priorities(metrics)) bands.push_back(priority_band(priority));
  const std::size_t before = bands.size();
  for (NamedBand& size : size_bands()) {
    const auto holds = [&](const RunRecord& run) { return size.band.holds(run); };
    if (std::ranges::any_of(metrics.runs, holds)) bands.push_back(std::move(size));
  }
  if (bands.size() == before + 1) bands.pop_back();
  return bands;
}

/// Those that some run has values of, highest priority first.
std::vector<NamedBand> bands_of(std::span<const SimulatedRun> runs) {
  constexpr std::string_view prefix = "waitMs.priority";
  std::set<std::int32_t, std::greater<>> found;
  const auto has = [&](const std::string& field) {
    return std::ranges::any_of(runs,
                               [&](const SimulatedRun& run) { return run.values.contains(field); });
  };
  for (const SimulatedRun& run : runs) {
    for (const auto& [field, value] : run.values) {
      std::int32_t priority = 0;
      if (!field.starts_with(prefix)) continue;
      const char* const begin = field.data() + prefix.size();
      const auto [end, error] = std::from_chars(begin, field.data() + field.size(), priority);
      if (error == std::errc()) found.insert(priority);
    }
  }
  std::vector<NamedBand> bands;
  bands.reserve(found.size() + size_bands().size());
  for (const std::int32_t priority : found) bands.push_back(priority_band(priority));
  for (NamedBand& size : size_bands()) {
    if (has(fmt::format("waitMs{}.{}", size.field, band_part.first))) {
      bands.push_back(std::move(size));
    }
  }
  return bands;
}

class MetricTable {
 public:
  explicit MetricTable(const std::vector<NamedBand>& bands) {
    add_runs();
    for (const Part& part : parts) add_wait(part, {});
    for (const NamedBand& band : bands) add_wait(band_part, band);
    for (const Part& part : parts) add_stretch(part, {});
    for (const NamedBand& band : bands) add_stretch(band_part, band);
    add_work();
    add_preemptions();
    add_order();
    add_health();
    add_faults();
  }
  std::vector<Metric> take() { return std::move(all_); }

 private:
  void add(std::string label, std::string field, Better better, Shown shown,
           std::function<Measured(const SimulateResult&)> measure) {
    all_.push_back({std::move(label), std::move(field), better, shown, std::move(measure)});
  }
  void add_count(std::string label, std::string field, Better better,
                 std::function<Measured(const SimulateResult&)> count) {
    add(std::move(label), std::move(field), better, Shown::count, std::move(count));
  }

  void add_where_any(std::string label, std::string field, std::int64_t SimMetrics::* count) {
    add_count(std::move(label), std::move(field), Better::less,
              [count](const SimulateResult& from) -> Measured {
                const std::int64_t times = from.metrics.*count;
                return times == 0 ? std::nullopt : Measured(times);
              });
  }

  void add_runs() {
    const auto count = [](const SimulateResult& from, auto&& which) {
      return Measured(std::ranges::count_if(from.metrics.runs, which));
    };
    const auto started = [](const RunRecord& run) { return run.first_start.has_value(); };
    add_count("runs that started", "runs.started", Better::more,
              [=](const SimulateResult& from) { return count(from, started); });
    add_count("runs that never started", "runs.neverStarted", Better::less,
              [=](const SimulateResult& from) { return count(from, std::not_fn(started)); });
    add_count("runs that ended", "runs.ended", Better::more, [=](const SimulateResult& from) {
      return count(from, [](const RunRecord& run) { return run.end.has_value(); });
    });
  }

  void add_wait(const Part& part, const NamedBand& band) {
    add(fmt::format("wait{}, {}", band.label, part.first),
        fmt::format("waitMs{}.{}", band.field, part.first), Better::less, Shown::milliseconds,
        [part, band](const SimulateResult& from) -> Measured {
          const Spread spread = spread_of(waits(from.metrics, band.band));
          return spread.count == 0 ? std::nullopt : Measured(spread.*part.second);
        });
  }

  void add_stretch(const Part& part, const NamedBand& band) {
    add(fmt::format("stretch{}, {}", band.label, part.first),
        fmt::format("stretchPermille{}.{}", band.field, part.first), Better::less, Shown::permille,
        [part, band](const SimulateResult& from) -> Measured {
          const Spread spread = spread_of(stretches(from.metrics, band.band));
          return spread.count == 0 ? std::nullopt : Measured(spread.*part.second);
        });
  }

  void add_work() {
    add("goodput", "goodputPpm", Better::more, Shown::ppm,
        [](const SimulateResult& from) -> Measured {
          const auto found = from.metrics.resources.find(from.metrics.scarce);
          if (found == from.metrics.resources.end() || found->second.capacity == 0) {
            return std::nullopt;
          }
          return static_cast<std::int64_t>(found->second.useful * 1'000'000 /
                                           found->second.capacity);
        });
    add("lost work, resource hours", "lostWorkHundredthsOfHours", Better::less, Shown::hundredths,
        [](const SimulateResult& from) -> Measured {
          const auto found = from.metrics.resources.find(from.metrics.scarce);
          if (found == from.metrics.resources.end()) return std::nullopt;
          return hundredths_of_hours(found->second.lost, from.metrics.scarce);
        });
  }

  void add_preemptions() {
    add_count("preemptions", "preemptions", Better::less,
              [](const SimulateResult& from) { return from.metrics.victims; });
    add_where_any("sessions preempted", "sessionsPreempted", &SimMetrics::session_victims);
    add_where_any("replicas scaled down", "replicasScaledDown", &SimMetrics::replica_victims);
    add("victims per ask that preempts", "victimsPerAskPermille", Better::less, Shown::permille,
        [](const SimulateResult& from) -> Measured {
          if (from.metrics.asks_with_victims == 0) return std::nullopt;
          return from.metrics.victims * 1'000 / from.metrics.asks_with_victims;
        });
    add_count("again (preempted twice or more)", "again", Better::less,
              [](const SimulateResult& from) {
                return std::ranges::count_if(
                    from.metrics.runs, [](const RunRecord& run) { return run.interruptions >= 2; });
              });
  }

  void add_order() {
    add("inversion, resource hours", "inversionHundredthsOfHours", Better::less, Shown::hundredths,
        [](const SimulateResult& from) {
          return hundredths_of_hours(from.metrics.inversion, from.metrics.scarce);
        });
    add("fragmentation", "fragmentationPpm", Better::less, Shown::ppm,
        [](const SimulateResult& from) -> Measured {
          if (from.metrics.fragmented_samples == 0) return std::nullopt;
          return from.metrics.fragmented_ppm / from.metrics.fragmented_samples;
        });
    add("queue share error", "shareErrorPpm", Better::less, Shown::ppm,
        [](const SimulateResult& from) -> Measured {
          if (from.metrics.share_cycles == 0) return std::nullopt;
          return from.metrics.share_error_ppm / from.metrics.share_cycles;
        });
    add_count("rest (cycles in a row with victims)", "restCycles", Better::less,
              [](const SimulateResult& from) { return from.metrics.longest_eviction_streak; });
  }

  void add_health() {
    const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    add_count("cycles", "cycles", Better::neither,
              [=](const SimulateResult& from) { return number(from.loop.cycles); });
    add_count("asks decided", "asksDecided", Better::neither,
              [=](const SimulateResult& from) { return number(from.loop.asks); });
    add_count("plans refused by the judge", "plansRefused", Better::less,
              [=](const SimulateResult& from) { return number(from.loop.refused); });
    add_count("actions refused by the world", "actionsRefused", Better::less,
              [](const SimulateResult& from) { return from.metrics.refused; });
    add_count("pods evicted twice", "evictedTwice", Better::less,
              [](const SimulateResult& from) { return from.metrics.evicted_twice; });
    add_count("missed wake-ups", "missedWakeups", Better::less,
              [=](const SimulateResult& from) { return number(from.missed_wakeups); });
  }

  /// Only those that happened.
  void add_faults() {
    using Row = std::tuple<std::string_view, std::string_view, std::int64_t FaultCounts::*>;
    for (const auto& [label, field, count] :
         {Row{"faults: nodes lost", "faults.nodesLost", &FaultCounts::nodes_lost},
          Row{"faults: conflicts", "faults.conflicts", &FaultCounts::conflicts},
          Row{"faults: changes shown late", "faults.late", &FaultCounts::late},
          Row{"faults: pods stuck in termination", "faults.stuck", &FaultCounts::stuck},
          Row{"faults: acts of a second writer", "faults.secondWrites",
              &FaultCounts::second_writes},
          Row{"faults: restarts", "faults.kills", &FaultCounts::kills},
          Row{"faults: actions refused because of them", "faults.actionsRefused",
              &FaultCounts::refused}}) {
      add_count(std::string(label), std::string(field), Better::neither,
                [count](const SimulateResult& from) -> Measured {
                  const std::int64_t times = from.metrics.faults.*count;
                  return times == 0 ? std::nullopt : Measured(times);
                });
    }
  }

  std::vector<Metric> all_;
};

}  // namespace

SimulatedRun measured(const SimulateResult& result) {
  SimulatedRun run{.name = result.name,
                   .partial = result.partial,
                   .scarce = result.metrics.scarce,
                   .start = result.metrics.start,
                   .end = result.metrics.end};
  for (const Metric& metric : MetricTable(bands_of(result.metrics)).take()) {
    if (const Measured value = metric.measure(result)) run.values.emplace(metric.field, *value);
  }
  return run;
}

std::vector<Metric> metrics_of(std::span<const SimulatedRun> runs) {
  std::vector<Metric> metrics = MetricTable(bands_of(runs)).take();
  std::erase_if(metrics, [&](const Metric& metric) {
    return std::ranges::none_of(
        runs, [&](const SimulatedRun& run) { return run.values.contains(metric.field); });
  });
  return metrics;
}

std::optional<std::int64_t> value_of(const SimulatedRun& run, const Metric& metric) {
  const auto found = run.values.find(metric.field);
  return found == run.values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> best_value(const Metric& metric, std::span<const SimulatedRun> runs) {
  std::optional<std::int64_t> best;
  bool differ = false;
  for (const SimulatedRun& run : runs) {
    const std::optional<std::int64_t> value = value_of(run, metric);
    if (!value) continue;
    if (!best) best = value;
    differ = differ || *best != *value;
    best = metric.better == Better::less ? std::min(*best, *value) : std::max(*best, *value);
  }
  return metric.better == Better::neither || !differ ? std::nullopt : best;
}

std::string value_text(Shown shown, std::int64_t value) {
  switch (shown) {
    case Shown::milliseconds:
      return value > 0 && value < 1'000 ? fmt::format("{}ms", value) : pending_text(value / 1'000);
    case Shown::permille: return decimal(value);
    case Shown::ppm: return fmt::format("{} %", decimal(value / 10));
    case Shown::hundredths:
      return fmt::format("{}.{:02}", grouped(static_cast<std::uint64_t>(value / 100)), value % 100);
    case Shown::count: break;
  }
  return grouped(static_cast<std::uint64_t>(value));
}

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
  write_list(writer, "results", simulation.runs, [&](const SimulatedRun& run) {
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
  });
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
