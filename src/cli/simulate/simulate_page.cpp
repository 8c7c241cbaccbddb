#include "cli/simulate/simulate_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "cli/text.hpp"
#include "codec/writer.hpp"
#include "page/page.hpp"
#include "sim/sim_chronicle.hpp"

namespace makeway::cli {
namespace {

// What each metric of a simulation means, in one sentence and with its unit: shown beside a number
// in a report. docs/simulation.md has the definitions.

struct MetricMeaning {
  std::string unit;
  std::string text;
};

struct MeaningRow {
  std::string_view field;  ///< How the field begins; the first row that fits counts.
  std::string_view text;
};

constexpr std::array meaning_rows = {
    MeaningRow{"runs.started",
               "Runs that got a place at least once. A run is what works as one: "
               "a pod of a job, a gang, a pod of a service."},
    MeaningRow{"runs.neverStarted", "Runs that never got a place before the simulation ended."},
    MeaningRow{"runs.ended", "Runs that did all their work."},
    MeaningRow{"waitMs", "Time from arrival to the first start, of runs that started."},
    MeaningRow{"stretchPermille",
               "Time from arrival to the end, divided by the run time: 1.0 "
               "means that it never waited or restarted. Of runs that ended."},
    MeaningRow{"goodputPpm",
               "Work that was saved or finished, as a share of what the nodes could "
               "have done from the start to the last end."},
    MeaningRow{"lostWork",
               "Work that had to be done again because of preemptions, times "
               "the request."},
    MeaningRow{"preemptions",
               "Pods and sessions that were evicted, and replicas that were "
               "scaled down."},
    MeaningRow{"sessionsPreempted", "Sessions among the preemptions."},
    MeaningRow{"replicasScaledDown", "Replicas among the preemptions."},
    MeaningRow{"victimsPerAsk", "Preemptions divided by the asks that preempted."},
    MeaningRow{"again", "Runs whose work was interrupted by preemption twice or more."},
    MeaningRow{"inversion",
               "What waiting pods ask for, times how long they wait although they "
               "would fit in place of pods of lower priority. Sampled."},
    MeaningRow{"fragmentation",
               "Share of the free room that lies on nodes where the first waiting "
               "pod does not fit; mean over samples in which pods wait."},
    MeaningRow{"shareError",
               "How far queues are from what they deserve: the sum of the "
               "differences divided by the sum of what they deserve; mean over "
               "cycles."},
    MeaningRow{"restCycles", "The longest row of cycles with evictions."},
    MeaningRow{"cycles", "Cycles in which something was decided."},
    MeaningRow{"asksDecided",
               "Decisions about pending asks; a waiting ask is decided "
               "again and again."},
    MeaningRow{"plansRefused", "Plans that broke a law and were not carried out: bugs of Makeway."},
    MeaningRow{"actionsRefused",
               "Actions that the simulated nodes refused, and no fault explains "
               "it: must be 0."},
    MeaningRow{"evictedTwice",
               "Pods that were evicted although they were leaving: must be 0, "
               "except under presets that allow it."},
    MeaningRow{"missedWakeups",
               "Asks that found a place although nothing woke them: a bug of "
               "Makeway that cost time."},
    MeaningRow{"faults.", "Faults injected by --faults."},
};

std::string_view part_text(std::string_view field) {
  if (field.ends_with(".mean")) return " The mean of all.";
  if (field.ends_with(".p50")) return " Half of them have at most this.";
  if (field.ends_with(".p90")) return " 90 of 100 have at most this.";
  if (field.ends_with(".p99")) return " 99 of 100 have at most this.";
  return field.ends_with(".max") ? " The largest of all." : "";
}

std::string unit_of_metric(const Metric& metric, std::string_view scarce) {
  switch (metric.shown) {
    case Shown::milliseconds: return "time";
    case Shown::permille: return "ratio";
    case Shown::ppm: return "%";
    case Shown::hundredths: return fmt::format("{} hours", short_name(scarce));
    case Shown::count: break;
  }
  return "count";
}

/// `scarce`: the resource of the resource hours.
MetricMeaning meaning_of(const Metric& metric, std::string_view scarce) {
  MetricMeaning meaning{.unit = unit_of_metric(metric, scarce), .text = {}};
  for (const MeaningRow& row : meaning_rows) {
    if (!metric.field.starts_with(row.field)) continue;
    meaning.text = fmt::format("{}{}", row.text, part_text(metric.field));
    break;
  }
  switch (metric.better) {
    case Better::less: meaning.text += " Less is better."; break;
    case Better::more: meaning.text += " More is better."; break;
    case Better::neither: break;
  }
  return meaning;
}

/// Queues beyond these are left out of a report: those that are closest to what they deserve.
constexpr std::size_t queues_shown_max = 24;

template <class Items, class Value>
void integers_field(DocumentWriter& writer, std::string_view name, const Items& items,
                    const Value& value) {
  writer.key(name);
  writer.begin_array();
  for (const auto& item : items) writer.integer(value(item));
  writer.end_array();
}

void write_metrics(DocumentWriter& writer, const Simulation& simulation) {
  writer.key("metrics");
  writer.begin_array();
  for (const Metric& metric : metrics_of(simulation.runs)) {
    const MetricMeaning meaning = meaning_of(metric, simulation.runs.front().scarce);
    const std::optional<std::int64_t> best = best_value(metric, simulation.runs);
    writer.begin_object();
    writer.string_field("label", metric.label);
    writer.string_field("unit", meaning.unit);
    writer.string_field("meaning", meaning.text);
    writer.key("values");
    writer.begin_array();
    for (const SimulatedRun& run : simulation.runs) {
      const std::optional<std::int64_t> value = value_of(run, metric);
      if (!value) {
        writer.null();
        continue;
      }
      writer.begin_object();
      writer.string_field("text", value_text(metric.shown, *value));
      writer.boolean_field("best", best && *value == *best);
      writer.end_object();
    }
    writer.end_array();
    writer.end_object();
  }
  writer.end_array();
}

void write_samples(DocumentWriter& writer, const SimMetrics& metrics) {
  writer.key("samples");
  writer.begin_object();
  integers_field(writer, "seconds", metrics.samples,
                 [&](const SimSample& sample) { return (sample.when - metrics.start).ms / 1'000; });
  integers_field(writer, "waiting", metrics.samples, [](const SimSample& s) { return s.waiting; });
  integers_field(writer, "running", metrics.samples, [](const SimSample& s) { return s.running; });
  integers_field(writer, "used", metrics.samples,
                 [](const SimSample& s) { return share_permille(s.used, s.room); });
  integers_field(writer, "preemptions", metrics.samples,
                 [](const SimSample& s) { return s.victims; });
  writer.end_object();
}

void write_waits(DocumentWriter& writer, const SimMetrics& metrics) {
  const auto wait_text = [](std::int64_t ms) { return value_text(Shown::milliseconds, ms); };
  write_list(writer, "waits", wait_rows(metrics), [&](const WaitRow& row) {
    writer.string_field("priority", row.priority);
    integers_field(writer, "runs", row.runs, [](std::int64_t runs) { return runs; });
    writer.integer_field("never", row.never);
    if (row.spread.count > 0) {
      writer.string_field("p50", wait_text(row.spread.p50));
      writer.string_field("p90", wait_text(row.spread.p90));
      writer.string_field("p99", wait_text(row.spread.p99));
      writer.string_field("max", wait_text(row.spread.max));
    }
  });
}

/// Highest priority first, queues last.
void write_matrix(DocumentWriter& writer, const PreemptionMatrix& matrix) {
  std::set<std::optional<std::int64_t>, std::greater<>> askers;
  std::set<std::int64_t, std::greater<>> victims;
  for (const auto& [priorities, count] : matrix.counts()) {
    askers.insert(priorities.first);
    victims.insert(priorities.second);
  }
  const auto names_field = [&](std::string_view name, const auto& all) {
    writer.key(name);
    writer.begin_array();
    for (const std::optional<std::int64_t> lowest : all) {
      writer.string(lowest ? priority_text(*lowest, matrix.grain()) : "a queue");
    }
    writer.end_array();
  };
  writer.key("matrix");
  writer.begin_object();
  names_field("askers", askers);
  names_field("victims", victims);
  writer.key("counts");
  writer.begin_array();
  for (const std::optional<std::int64_t> asker : askers) {
    writer.begin_array();
    for (const std::int64_t victim : victims) {
      const auto found = matrix.counts().find({asker, victim});
      writer.integer(found == matrix.counts().end() ? 0 : found->second);
    }
    writer.end_array();
  }
  writer.end_array();
  writer.end_object();
}

void write_seconds(DocumentWriter& writer, const TimeGrid& grid, Time start) {
  integers_field(writer, "seconds", grid.filled(),
                 [&](std::size_t column) { return (grid.begin_of(column) - start).ms / 1'000; });
}

/// The means of a row in the filled columns.
void write_row(DocumentWriter& writer, const TimeGrid& grid, std::size_t row) {
  writer.begin_array();
  for (const std::size_t column : grid.filled()) {
    const std::optional<std::int64_t> mean = grid.mean(row, column);
    if (mean) {
      writer.integer(*mean);
    } else {
      writer.null();
    }
  }
  writer.end_array();
}

void write_nodes(DocumentWriter& writer, const SimChronicle& chronicle, Time start) {
  writer.key("nodes");
  writer.begin_object();
  writer.strings_field("rows", chronicle.node_rows());
  write_seconds(writer, chronicle.node_use(), start);
  writer.key("used");
  writer.begin_array();
  for (std::size_t row = 0; row < chronicle.node_rows().size(); ++row) {
    write_row(writer, chronicle.node_use(), row);
  }
  writer.end_array();
  writer.end_object();
}

/// How far a queue is from what it deserves, all columns together.
Wide distance_of(const SimChronicle& chronicle, std::size_t row) {
  Wide distance = 0;
  for (const std::size_t column : chronicle.queue_used().filled()) {
    const std::int64_t used = chronicle.queue_used().mean(row, column).value_or(0);
    const std::int64_t deserved = chronicle.queue_deserved().mean(row, column).value_or(0);
    distance += used > deserved ? used - deserved : deserved - used;
  }
  return distance;
}

/// By name; the ones that are furthest from what they deserve where there are too many.
std::vector<std::pair<std::string, std::size_t>> queues_shown(const SimChronicle& chronicle) {
  std::vector<std::pair<std::string, std::size_t>> queues(chronicle.queues().begin(),
                                                          chronicle.queues().end());
  if (queues.size() <= queues_shown_max) return queues;
  std::vector<std::pair<Wide, std::size_t>> distances;  // Negative, by position.
  distances.reserve(queues.size());
  for (std::size_t at = 0; at < queues.size(); ++at) {
    distances.emplace_back(-distance_of(chronicle, queues[at].second), at);
  }
  std::ranges::sort(distances);
  distances.resize(queues_shown_max);
  std::ranges::sort(distances, {}, &std::pair<Wide, std::size_t>::second);
  std::vector<std::pair<std::string, std::size_t>> shown;
  shown.reserve(distances.size());
  for (const auto& [distance, at] : distances) shown.push_back(std::move(queues[at]));
  return shown;
}

void write_queues(DocumentWriter& writer, const SimChronicle& chronicle, std::string_view scarce,
                  Time start) {
  const bool thousandths = scarce == "cpu" || scarce.ends_with("-milli");
  writer.key("queues");
  writer.begin_object();
  writer.integer_field("all", std::ssize(chronicle.queues()));
  writer.boolean_field("more", chronicle.has_more_queues());
  writer.string_field("unit", short_name(scarce));
  writer.integer_field("divisor", thousandths ? 1'000 : 1);
  write_seconds(writer, chronicle.queue_used(), start);
  writer.key("rows");
  writer.begin_array();
  for (const auto& [name, row] : queues_shown(chronicle)) {
    writer.begin_object();
    writer.string_field("name", name);
    writer.key("used");
    write_row(writer, chronicle.queue_used(), row);
    writer.key("deserved");
    write_row(writer, chronicle.queue_deserved(), row);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

void write_decision(DocumentWriter& writer, const ChronicledDecision& decision, Time start) {
  writer.integer_field("second", (decision.when - start).ms / 1'000);
  writer.string_field("ask", decision.ask);
  if (decision.priority) writer.integer_field("priority", *decision.priority);
  writer.string_field("outcome", choice_names<Outcome>[static_cast<std::size_t>(decision.outcome)]);
  writer.integer_field("waited", decision.waited_seconds);
  writer.string_field("place", decision.place);
  writer.integer_field("victims", decision.victims);
  writer.integer_field("podSeconds", decision.cost.pod_seconds);
  writer.integer_field("gpuSeconds", decision.cost.gpu_seconds);
  writer.string_field("reason", decision.reason);
  writer.string_field("rule", decision.rule);
  writer.string_field("alternative", decision.alternative);
  writer.string_field("key", decision.key);
  write_list(writer, "first", decision.first_victims, [&](const ChronicledVictim& victim) {
    writer.string_field("name", victim.name);
    writer.string_field("node", victim.node);
    writer.integer_field("priority", victim.priority);
    writer.string_field("reason", victim.reason);
  });
}

void write_decisions(DocumentWriter& writer, std::string_view name,
                     const std::vector<ChronicledDecision>& decisions, Time start) {
  write_list(writer, name, decisions,
             [&](const ChronicledDecision& decision) { write_decision(writer, decision, start); });
}

void write_run(DocumentWriter& writer, const SimulateResult& result) {
  const SimMetrics& metrics = result.metrics;
  const SimChronicle& chronicle = *result.chronicle;
  writer.string_field("name", result.name);
  writer.boolean_field("partial", result.partial);
  writer.string_field("scarce", short_name(metrics.scarce));
  writer.string_field("start", to_text(metrics.start));
  writer.integer_field("seconds", (metrics.end - metrics.start).ms / 1'000);
  write_samples(writer, metrics);
  write_waits(writer, metrics);
  write_matrix(writer, chronicle.matrix());
  write_nodes(writer, chronicle, metrics.start);
  write_queues(writer, chronicle, metrics.scarce, metrics.start);
  write_decisions(writer, "slowest", chronicle.slowest(), metrics.start);
  write_decisions(writer, "mostDisruptive", chronicle.most_disruptive(), metrics.start);
}

struct CloseFile {
  void operator()(std::FILE* file) const {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory)
    static_cast<void>(std::fclose(file));
  }
};

std::unexpected<Error> report_error(const std::string& path, int number) {
  return input_error(fmt::format("--report {}: {}; give a path that can be written", path,
                                 // NOLINTNEXTLINE(concurrency-mt-unsafe)
                                 std::strerror(number)));
}

}  // namespace

std::string simulate_page_json(const Simulation& simulation,
                               std::span<const SimulateResult> results) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("load", simulation.load);
  writer.integer_field("nodes", simulation.nodes);
  writer.integer_field("tasks", simulation.tasks);
  writer.integer_field("pods", simulation.pods);
  writer.strings_field("notes", simulation.notes);
  writer.integer_field("cycleMs", simulation.cycle_ms);
  integers_field(writer, "waitBoundsMs", wait_bounds_ms, [](std::int64_t bound) { return bound; });
  write_metrics(writer, simulation);
  write_list(writer, "runs", results, write_run);
  writer.end_object();
  return text;
}

std::string simulate_page(const Simulation& simulation, std::span<const SimulateResult> results) {
  const std::string json = simulate_page_json(simulation, results);
  return page_html({.title = "Makeway simulation", .bundle = PageBundle::report, .json = json});
}

Result<void> try_report_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "ab"));
  if (file == nullptr) return report_error(path, errno);
  return {};
}

Result<void> write_report_file(const std::string& path, std::string_view html) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return report_error(path, errno);
  const bool written = std::fwrite(html.data(), 1, html.size(), file.get()) == html.size() &&
                       std::fflush(file.get()) == 0;
  if (!written) return report_error(path, errno);
  return {};
}

namespace {

/// The smallest that leaves few enough ranges.
std::int64_t grain_for(const SimMetrics& metrics) {
  const std::vector<std::int32_t> all = priorities(metrics);
  std::int64_t grain = 1;
  for (;; grain *= 10) {
    std::set<std::int64_t> ranges;
    for (const std::int32_t priority : all) ranges.insert(range_of(priority, grain));
    if (ranges.size() <= PreemptionMatrix::priorities_max) return grain;
  }
}

}  // namespace

std::string priority_text(std::int64_t lowest, std::int64_t grain) {
  return grain == 1 ? fmt::format("{}", lowest)
                    : fmt::format("{} to {}", lowest, lowest + grain - 1);
}

std::vector<WaitRow> wait_rows(const SimMetrics& metrics) {
  const std::int64_t grain = grain_for(metrics);
  std::map<std::int64_t, std::pair<WaitRow, std::vector<std::int64_t>>, std::greater<>> rows;
  for (const RunRecord& run : metrics.runs) {
    auto& [row, waited] = rows[range_of(run.priority, grain)];
    if (!run.first_start) {
      ++row.never;
      continue;
    }
    waited.push_back((*run.first_start - run.arrival).ms);
    const auto bound = std::ranges::upper_bound(wait_bounds_ms, waited.back());
    ++row.runs[static_cast<std::size_t>(bound - wait_bounds_ms.begin())];
  }
  std::vector<WaitRow> result;
  result.reserve(rows.size());
  for (auto& [lowest, entry] : rows) {
    entry.first.priority = priority_text(lowest, grain);
    entry.first.spread = spread_of(std::move(entry.second));
    result.push_back(std::move(entry.first));
  }
  return result;
}

}  // namespace makeway::cli
