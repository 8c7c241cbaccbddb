#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/simulate/simulate_page.hpp"
#include "cli/simulate/simulate_report.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "codec/source.hpp"
#include "sim/generate.hpp"
#include "sim/traces.hpp"

namespace makeway::cli {
namespace {

constexpr Time simulated_start{1'767'225'600'000};  // 2026-01-01T00:00:00Z

ExitStatus print_error(const Error& error, Terminal& terminal) {
  if (error.code == ErrorCode::fix_usage) return usage_error("simulate", error.message, terminal);
  terminal.error.write(fmt::format("error: {}\n", printable(error.message)));
  return ExitStatus::failed;
}

/// A whole number of a flag; an error names what is expected.
Result<std::int64_t> number_of(const Arguments& arguments, std::string_view flag,
                               std::int64_t least, std::int64_t most) {
  const std::string_view text = arguments.text(flag);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) {
    return value;
  }
  return input_error(
      fmt::format("--{} \"{}\": expected a whole number from {} to {}", flag, text, least, most));
}

Result<std::int64_t> seed_of(const Arguments& arguments) {
  return number_of(arguments, "seed", 0, std::numeric_limits<std::int64_t>::max());
}

// ---- The load -----------------------------------------------------------------------------------

Result<std::string> read_text(const std::string& path) {
  Result<SourceText> source = read_source({path});
  if (!source) return std::unexpected(source.error());
  return std::string(source->text.view());
}

/// A folder, or the pod table in it.
Result<SimLoad> read_openb(std::string path) {
  std::string pods = path + "/openb_pod_list_default.csv";
  if (path.ends_with(".csv")) {
    pods = path;
    const std::size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "." : path.substr(0, slash);
  }
  const Result<std::string> node_text = read_text(path + "/openb_node_list_all_node.csv");
  if (!node_text) return std::unexpected(node_text.error());
  const Result<std::string> pod_text = read_text(pods);
  if (!pod_text) return std::unexpected(pod_text.error());
  return openb_load(*node_text, *pod_text, simulated_start);
}

Result<SimLoad> read_trace(std::string_view trace) {
  const std::size_t colon = trace.find(':');
  const std::string_view kind = trace.substr(0, colon);
  const std::string path(colon == std::string_view::npos ? "" : trace.substr(colon + 1));
  if (path.empty() || (kind != "openb" && kind != "swf" && kind != "csv")) {
    return wrong_usage(
        fmt::format("--trace \"{}\": expected openb:DIR, swf:FILE or csv:FILE", shorten(trace)));
  }
  if (kind == "openb") return read_openb(path);
  const Result<std::string> text = read_text(path);
  if (!text) return std::unexpected(text.error());
  return kind == "swf" ? swf_load(*text, simulated_start, path)
                       : csv_load(*text, simulated_start, path);
}

bool has_snapshot(const Arguments& arguments) {
  return arguments.has("file") || arguments.has("plane") || arguments.has("kubeconfig") ||
         arguments.has("context") || arguments.has("live");
}

Result<SimLoad> make_load(const Arguments& arguments, std::string& name) {
  const auto trace = arguments.given("trace");
  const auto generate = arguments.given("generate");
  const bool snapshot = has_snapshot(arguments);
  if (snapshot && arguments.text("nodes") != "100") {
    return wrong_usage("-f, --plane and a live cluster bring their nodes; --nodes scales others");
  }
  if (snapshot && !trace && !generate) {
    name = "a snapshot";
    return SimLoad{};
  }
  if (trace.has_value() == generate.has_value()) {
    return wrong_usage("give one of --trace KIND:PATH and --generate nodes=N,pods=M");
  }
  if (trace) {
    name = *trace;
    return read_trace(*trace);
  }
  const Result<std::int64_t> seed = seed_of(arguments);
  if (!seed) return wrong_usage(seed.error().message);
  const Result<GenerateOptions> options = parse_generate(*generate);
  if (!options) return wrong_usage(options.error().message);
  name = fmt::format("generated ({}), seed {}", *generate, *seed);
  return generate_load(*options, static_cast<std::uint64_t>(*seed), simulated_start);
}

bool is_node(const Change& object) { return std::holds_alternative<Node>(object); }

Result<LoadScale> scale_of(const Arguments& arguments) {
  LoadScale scale;
  struct Row {
    std::string_view flag;
    std::int64_t LoadScale::* value;
    std::int64_t least;
    std::int64_t most;
  };
  for (const Row& row : {Row{"arrivals", &LoadScale::arrivals_percent, 1, 10'000'000},
                         Row{"nodes", &LoadScale::nodes_percent, 1, 100},
                         Row{"runs", &LoadScale::runs_percent, 1, 10'000},
                         Row{"tasks", &LoadScale::tasks_max, 0, 100'000'000}}) {
    const Result<std::int64_t> value = number_of(arguments, row.flag, row.least, row.most);
    if (!value) return std::unexpected(value.error());
    scale.*row.value = *value;
  }
  return scale;
}

// ---- The configurations -------------------------------------------------------------------------

/// None: the problem was printed.
std::optional<std::vector<ConfigurationDocument>> read_configurations(const Arguments& arguments,
                                                                      Terminal& terminal,
                                                                      ExitStatus& status) {
  std::vector<ConfigurationChoice> choices;
  for (const std::string& preset : arguments.all("preset")) {
    choices.push_back({.preset = preset, .overrides = arguments.all("set")});
  }
  for (const std::string& file : arguments.all("config")) {
    choices.push_back({.preset = {}, .file = file, .overrides = arguments.all("set")});
  }
  if (choices.empty()) choices.push_back({.preset = "makeway", .overrides = arguments.all("set")});
  std::vector<ConfigurationDocument> documents;
  for (const ConfigurationChoice& choice : choices) {
    ChosenConfiguration chosen = choose_configuration(choice);
    if (!chosen.usage.empty()) {
      status = usage_error("simulate", chosen.usage, terminal);
      return std::nullopt;
    }
    print_problems(chosen.problems, terminal);
    if (!chosen.document) {
      status = ExitStatus::failed;
      return std::nullopt;
    }
    name_configuration(*chosen.document, choice);
    documents.push_back(*std::move(chosen.document));
  }
  return documents;
}

/// Drops those of the other shards; returns what is wrong.
std::string keep_shard(const Arguments& arguments, std::vector<ConfigurationDocument>& documents) {
  if (!arguments.has("shard")) return {};
  const std::string_view text = arguments.text("shard");
  const std::size_t slash = text.find('/');
  std::size_t shard = 0;
  std::size_t count = 0;
  const auto read = [](std::string_view part, std::size_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size();
  };
  const bool is_read = slash != std::string_view::npos && read(text.substr(0, slash), shard) &&
                       read(text.substr(slash + 1), count);
  if (!is_read || shard >= count) {
    return fmt::format("--shard \"{}\": expected I/N, with I from 0 to N-1", shorten(text));
  }
  if (count > documents.size()) {
    return fmt::format("--shard {}: {} cannot be divided so often; take at most as many shards",
                       text, counted(documents.size(), "configuration"));
  }
  std::vector<ConfigurationDocument> kept;
  for (std::size_t at = shard; at < documents.size(); at += count) {
    kept.push_back(std::move(documents[at]));
  }
  documents = std::move(kept);
  return {};
}

Result<SimulateSettings> settings_of(const Arguments& arguments, const SimLoad& load, Time begin) {
  SimulateSettings settings;
  settings.options.start = begin;
  const Result<std::int64_t> seed = seed_of(arguments);
  if (!seed) return std::unexpected(seed.error());
  settings.options.seed = static_cast<std::uint64_t>(*seed);
  const Result<FaultOptions> faults = parse_faults(arguments.given("faults").value_or(""));
  if (!faults) return std::unexpected(faults.error());
  settings.options.faults = *faults;
  const std::string_view judge = arguments.text("judge");
  if (judge == "off") {
    settings.judge_every = 0;
  } else if (judge != "every") {
    const Result<std::int64_t> every = number_of(arguments, "judge", 1, 1'000'000'000);
    if (!every) return input_error(every.error().message + ", every or off");
    settings.judge_every = static_cast<std::uint64_t>(*every);
  }
  if (const auto until = arguments.given("until")) {
    const Result<Duration> span = parse_duration(*until);
    if (!span) return input_error(fmt::format("--until: {}", span.error().message));
    settings.options.until = begin + *span;
  }
  const Result<Duration> cycle = parse_duration(arguments.text("cycle"));
  if (!cycle || cycle->ms == 0) return input_error("--cycle: expected a duration above 0");
  settings.options.cycle = *cycle;
  const std::int64_t span = load.tasks.empty() ? 0 : (load.tasks.back().arrival - begin).ms;
  settings.options.sample.ms = std::max<std::int64_t>(60'000, span / 500);
  return settings;
}

// ---- Progress -----------------------------------------------------------------------------------

/// A line on standard error that is written over, on a terminal only.
class Progress {
 public:
  Progress(Terminal& terminal, const PlanTools& tools, std::string name)
      : terminal_(terminal), tools_(tools), name_(std::move(name)), begun_(tools.microseconds()) {}

  void show(const SimulateStep& step) {
    if (!terminal_.error_is_terminal || ++steps_ % 64 != 0) return;
    const std::int64_t now = tools_.microseconds();
    if (now - reported_ < 200'000) return;
    reported_ = now;
    const std::int64_t spent = std::max<std::int64_t>(now - begun_, 1);
    const auto arrived = static_cast<std::int64_t>(step.tasks_arrived);
    const auto tasks = static_cast<std::int64_t>(step.tasks);
    const std::int64_t left = arrived == 0 ? 0 : spent / arrived * (tasks - arrived) / 1'000'000;
    terminal_.error.write(fmt::format(
        "\r\x1b[Kmakeway: {}: {} % of the tasks have arrived, {} tasks a second, about {} left",
        name_, tasks == 0 ? 100 : arrived * 100 / tasks,
        grouped(static_cast<std::uint64_t>(arrived * 1'000'000 / spent)), pending_text(left)));
    terminal_.error.flush();
    shown_ = true;
  }
  void end() {
    if (shown_) terminal_.error.write("\r\x1b[K");
  }

 private:
  Terminal& terminal_;
  const PlanTools& tools_;
  std::string name_;
  std::int64_t begun_;
  std::int64_t reported_ = 0;
  std::uint64_t steps_ = 0;
  bool shown_ = false;
};

// ---- Results ------------------------------------------------------------------------------------

Simulation simulation_of(std::string name, const SimLoad& load, const SimulateSettings& settings,
                         std::span<const SimulateResult> results) {
  Simulation simulation{.load = std::move(name),
                        .nodes = std::ranges::count_if(load.objects, is_node),
                        .tasks = std::ssize(load.tasks),
                        .pods = 0,
                        .notes = load.notes,
                        .cycle_ms = settings.options.cycle.ms};
  for (const SimTask& task : load.tasks) simulation.pods += task.pods;
  simulation.runs.reserve(results.size());
  for (const SimulateResult& result : results) simulation.runs.push_back(measured(result));
  return simulation;
}

void print_simulation(const Simulation& simulation, const Arguments& arguments,
                      Terminal& terminal) {
  terminal.out.write(
      arguments.text("output") == "json"
          ? simulate_json(simulation)
          : simulate_text(simulation, palette_for_out(terminal, arguments.text("color"))));
}

/// True: a plan broke a law.
bool print_refused(const SimulateResult& result, Terminal& terminal) {
  for (const RefusedPlan& refused : result.refused) {
    for (const LawBreach& breach : refused.breaches) {
      terminal.error.write(fmt::format("{}: plan {} was refused: law {}: {}: {}\n", result.name,
                                       refused.id, breach.law, breach.ask, breach.text));
    }
  }
  return !result.refused.empty();
}

/// Before anything is simulated.
Result<void> try_report(const Arguments& arguments) {
  if (!arguments.has("report")) return {};
  const std::string path(arguments.text("report"));
  if (path.empty()) {
    return wrong_usage("--report '': expected a FILE");
  }
  return try_report_file(path);
}

/// One after the other, until it is interrupted; problems are printed.
std::vector<SimulateResult> simulate_all(const SimLoad& load,
                                         std::span<const ConfigurationDocument> documents,
                                         const SimulateSettings& settings, Terminal& terminal,
                                         ExitStatus& status) {
  const PlanTools tools = real_tools();
  const InterruptWatch watch;
  std::vector<SimulateResult> results;
  for (const ConfigurationDocument& document : documents) {
    Progress progress(terminal, tools, document.name);
    results.push_back(simulate(load, document, settings, tools, [&](const SimulateStep& step) {
      progress.show(step);
      return !watch.seen();
    }));
    progress.end();
    if (print_refused(results.back(), terminal)) status = ExitStatus::bug;
    if (watch.seen()) break;
  }
  for (std::size_t at = results.size(); at < documents.size(); ++at) {
    terminal.error.write(
        fmt::format("makeway: interrupted; {} was not simulated\n", shorten(documents[at].name)));
  }
  return results;
}

/// What is different about two simulations that were to be put side by side; empty: nothing.
std::string_view difference(const Simulation& a, const Simulation& b) {
  if (a.load != b.load) return "another load";
  if (a.nodes != b.nodes) return "another number of nodes";
  if (a.tasks != b.tasks || a.pods != b.pods) return "another number of tasks or pods";
  if (a.notes != b.notes) return "a load that was scaled otherwise";
  return a.cycle_ms != b.cycle_ms ? "another --cycle" : "";
}

/// The name of a configuration that both have results of; empty: none.
std::string in_both(const Simulation& a, const Simulation& b) {
  for (const SimulatedRun& run : b.runs) {
    if (std::ranges::find(a.runs, run.name, &SimulatedRun::name) != a.runs.end()) return run.name;
  }
  return {};
}

}  // namespace

ExitStatus run_simulate_merge(const Arguments& arguments, Terminal& terminal) {
  std::optional<Simulation> merged;
  const std::string_view first = arguments.operands().front();
  for (const std::string_view path : arguments.operands()) {
    const Result<std::string> text = read_text(std::string(path));
    Result<Simulation> next = text ? read_simulation(*text) : std::unexpected(text.error());
    std::string wrong = next ? std::string{} : next.error().message;
    if (next && merged && !difference(*merged, *next).empty()) {
      wrong = fmt::format("it has {} than {}; only results of the same load stand side by side",
                          difference(*merged, *next), first);
    }
    if (!wrong.empty()) {
      terminal.error.write(
          fmt::format("error: {}{}\n", text ? printable(path) + ": " : "", printable(wrong)));
      return ExitStatus::failed;
    }
    if (!merged) {
      merged = *std::move(next);
    } else if (const std::string twice = in_both(*merged, *next); !twice.empty()) {
      terminal.error.write(
          fmt::format("error: {}: the results of {} are in a file before it; give each file once, "
                      "and each configuration a name of its own\n",
                      printable(path), shorten(twice)));
      return ExitStatus::failed;
    } else {
      std::ranges::move(next->runs, std::back_inserter(merged->runs));
    }
  }
  if (merged->runs.empty()) {
    terminal.error.write("error: there is no result in these files\n");
    return ExitStatus::failed;
  }
  print_simulation(*merged, arguments, terminal);
  return ExitStatus::done;
}

ExitStatus run_simulate(const Arguments& arguments, Terminal& terminal) {
  std::string name;
  Result<SimLoad> load = make_load(arguments, name);
  const Result<LoadScale> scale = scale_of(arguments);
  if (!load && load.error().code == ErrorCode::fix_usage)
    return print_error(load.error(), terminal);
  if (!scale) return usage_error("simulate", scale.error().message, terminal);
  if (!load) return print_error(load.error(), terminal);
  scale_load(*load, *scale, simulated_start);
  ExitStatus status = ExitStatus::done;
  Time begin = simulated_start;
  if (has_snapshot(arguments)) {
    const auto start = read_snapshot_start(arguments, terminal, status);
    if (!start) return status;
    start_from(*start, simulated_start, *load);
    begin = start->now;
  }
  if (std::ranges::none_of(load->objects, is_node)) {
    terminal.error.write(
        fmt::format("error: {}: there is no node; add nodes to the trace, or raise --nodes\n",
                    printable(name)));
    return ExitStatus::failed;
  }
  Result<SimulateSettings> settings = settings_of(arguments, *load, begin);
  if (!settings) return usage_error("simulate", settings.error().message, terminal);
  auto documents = read_configurations(arguments, terminal, status);
  if (!documents) return status;
  if (std::string wrong = keep_shard(arguments, *documents); !wrong.empty()) {
    return usage_error("simulate", wrong, terminal);
  }
  const std::string report(arguments.text("report"));
  if (const Result<void> able = try_report(arguments); !able)
    return print_error(able.error(), terminal);
  settings->chronicle = !report.empty();
  const Result<std::unique_ptr<Journal>> journal =
      open_simulate_journal(arguments, documents->size());
  if (!journal) return print_error(journal.error(), terminal);
  settings->watcher = journal->get();

  const std::vector<SimulateResult> results =
      simulate_all(*load, *documents, *settings, terminal, status);
  if (const auto faults = arguments.given("faults")) {
    name += fmt::format(", faults {}", *faults);
    if (!arguments.given("generate")) name += fmt::format(", seed {}", settings->options.seed);
  }
  if (!report_journal(journal->get(), terminal) && status == ExitStatus::done) {
    status = ExitStatus::failed;
  }
  const Simulation simulation = simulation_of(name, *load, *settings, results);
  if (!report.empty()) {
    const Result<void> written = write_report_file(report, simulate_page(simulation, results));
    if (!written) {
      const ExitStatus failure = print_error(written.error(), terminal);
      if (status == ExitStatus::done) status = failure;
    }
  }
  if (arguments.text("output") == "csv") {
    terminal.out.write(simulate_csv(results));
  } else {
    print_simulation(simulation, arguments, terminal);
  }
  return status;
}

}  // namespace makeway::cli
