#include "cli/simulate/simulate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/printable.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/quantity.hpp"
#include "model/cluster_objects.hpp"
#include "model/request.hpp"

namespace makeway::cli {
namespace {

void add(LoopStatistics& sum, const LoopStatistics& more) {
  sum.cycles += more.cycles;
  sum.asks += more.asks;
  sum.judged += more.judged;
  sum.refused += more.refused;
  sum.left_out += more.left_out;
  sum.receipts += more.receipts;
  sum.decide_us += more.decide_us;
  sum.check_us += more.check_us;
}

/// The loop that runs, and what those before it have left behind.
class Process {
 public:
  Process(SimWorld& world, const ConfigurationDocument& document, const SimulateSettings& settings,
          const PlanTools& tools)
      : world_(world),
        document_(document),
        tools_(tools),
        options_(
            {.preset = document.name,
             .judge_every = settings.judge_every,
             .backlog = {.time_wakes = document.configuration.protection.minimum_runtime.ms > 0,
                         .tries_all = false},
             .watcher = settings.watcher}) {
    start();
  }

  bool step() {
    const bool more = loop_->step();
    if (!world_.take_kill()) return more;
    finish();
    start();
    return true;
  }
  std::uint64_t cycles() const { return result_.loop.cycles + loop_->statistics().cycles; }
  const ControlLoop& loop() const { return *loop_; }
  /// The metrics of the loops; the others come from the world.
  SimulateResult take_result() {
    finish();
    return std::move(result_);
  }

 private:
  void start() {
    loop_ = std::make_unique<ControlLoop>(world_, document_.configuration, tools_, options_);
  }
  void finish() {
    add(result_.loop, loop_->statistics());
    std::ranges::copy(loop_->refused(), std::back_inserter(result_.refused));
    result_.missed_wakeups += loop_->backlog().missed_wakeups();
  }

  SimWorld& world_;
  const ConfigurationDocument& document_;
  const PlanTools& tools_;
  LoopOptions options_;
  std::unique_ptr<ControlLoop> loop_;
  SimulateResult result_;
};

}  // namespace

SimulateResult simulate(const SimLoad& load, const ConfigurationDocument& document,
                        const SimulateSettings& settings, const PlanTools& tools,
                        const std::function<bool(const SimulateStep&)>& go_on) {
  SimOptions options = settings.options;
  options.behaviour.scales_deployments = document.configuration.replica.enabled;
  options.behaviour.places_sessions = document.configuration.session.enabled;
  std::optional<SimChronicle> chronicle;
  if (settings.chronicle) options.chronicle = &chronicle.emplace(options.start, options.sample);
  SimWorld world(load, options);
  Process process(world, document, settings, tools);
  bool wanted = true;
  while (wanted && world.now() < settings.options.until && process.step()) {
    wanted = go_on({.tasks_arrived = world.tasks_arrived(),
                    .tasks = load.tasks.size(),
                    .cycles = process.cycles()});
  }
  const bool stopped = !wanted || world.now() >= settings.options.until;
  if (!stopped && settings.at_rest) settings.at_rest(process.loop().cluster(), world.now());
  SimulateResult result = process.take_result();
  result.name = document.name;
  result.partial = stopped && world.is_unfinished();
  result.metrics = world.finish();
  result.chronicle = std::move(chronicle);
  return result;
}

namespace {

constexpr std::int64_t journal_bytes_min = 1 << 16;
constexpr std::uint32_t journal_files_most = 1'000;

bool has_content(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed) &&
         std::filesystem::file_size(path, failed) > 0;
}

}  // namespace

Result<JournalOptions> journal_options(const Arguments& arguments) {
  JournalOptions options{.path = std::string(arguments.text("journal")), .version = version_line()};
  if (options.path.empty()) return wrong_usage("--journal '': expected a FILE");
  if (const auto size = arguments.given("journal-size")) {
    const Result<std::int64_t> bytes = parse_quantity(*size, Scale::one);
    if (!bytes || *bytes < journal_bytes_min) {
      return wrong_usage(
          fmt::format("--journal-size '{}': expected a size of at least 64Ki, such as "
                      "64Mi",
                      shorten(*size)));
    }
    options.bytes_max = static_cast<std::uint64_t>(*bytes);
  }
  const std::string_view kept = arguments.text("journal-files");
  const auto [end, failed] =
      std::from_chars(kept.data(), kept.data() + kept.size(), options.files_kept);
  if (failed != std::errc{} || end != kept.data() + kept.size() ||
      options.files_kept > journal_files_most) {
    return wrong_usage(fmt::format("--journal-files '{}': expected a number from 0 to {}",
                                   shorten(kept), journal_files_most));
  }
  return options;
}

Result<std::unique_ptr<Journal>> open_simulate_journal(const Arguments& arguments,
                                                       std::size_t configurations) {
  if (!arguments.has("journal")) {
    if (!arguments.has("journal-size")) return nullptr;
    return wrong_usage("--journal-size is for --journal FILE");
  }
  if (configurations != 1) {
    return wrong_usage(
        fmt::format("--journal records one configuration, and {} are simulated", configurations));
  }
  Result<JournalOptions> options = journal_options(arguments);
  if (!options) return std::unexpected(options.error());
  for (std::uint32_t number = 1; number <= journal_files_most; ++number) {
    const std::string rotated = rotated_path(options->path, number);
    if (!has_content(rotated)) continue;
    return input_error(fmt::format(
        "{}: it belongs to an earlier journal of that name; remove it, or give another name",
        rotated));
  }
  if (has_content(options->path)) {
    return input_error(fmt::format(
        "{}: it is there already, and a new journal is to begin here; remove it, or give another "
        "name",
        options->path));
  }
  return Journal::open(*std::move(options));
}

bool report_journal(const Journal* journal, Terminal& terminal, std::string_view writer) {
  if (journal == nullptr || journal->file().alarm().empty()) return true;
  terminal.error.write(fmt::format(
      "error: the journal ended early: {}; {} were not written; {} went on without it\n",
      printable(journal->file().alarm()), counted(journal->file().lost(), "record"), writer));
  return false;
}

namespace {}  // namespace

std::optional<SnapshotStart> read_snapshot_start(const Arguments& arguments, Terminal& terminal,
                                                 ExitStatus& status) {
  auto input = input_of(arguments, terminal, LiveByDefault::no);
  if (!input) {
    status = usage_error("simulate", input.error().message, terminal);
    return std::nullopt;
  }
  std::optional<Time> said;
  if (arguments.has("now")) {
    const Result<Time> now = parse_time(arguments.text("now"));
    if (!now) {
      status = usage_error("simulate", fmt::format("--now: {}", now.error().message), terminal);
      return std::nullopt;
    }
    said = *now;
  }
  input->now = said;
  const std::optional<Loaded> loaded =
      load_or_report(*input, terminal, {.limits = {}, .asked = {}, .keep_going = false});
  if (!loaded) {
    status = ExitStatus::failed;
    return std::nullopt;
  }
  terminal.error.write(load_notes(*loaded));
  return SnapshotStart{.objects = objects_of(loaded->cluster),
                       .now = said ? *said : newest_time(loaded->cluster)};
}

void start_from(const SnapshotStart& start, Time load_start, SimLoad& load) {
  const bool had_nodes = !load.objects.empty();
  load.objects = start.objects;
  for (SimTask& task : load.tasks) task.arrival = start.now + (task.arrival - load_start);
  load.notes.emplace_back(
      had_nodes ? "The snapshot takes the place of the nodes and queues of the load; its pods run "
                  "until they are evicted."
                : "The pods of the snapshot run until they are evicted.");
}

}  // namespace makeway::cli
