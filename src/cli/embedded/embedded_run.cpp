#include "cli/embedded/embedded_run.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/embedded/scene.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/run/decision_log.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "cli/text.hpp"
#include "codec/presets.hpp"
#include "control/control_loop.hpp"
#include "control/port.hpp"
#include "kube/http_client.hpp"
#include "server/run_pages.hpp"
#include "sim/sim_world.hpp"

namespace makeway::cli {
namespace {

constexpr std::array<std::string_view, 8> live_only = {
    "kubeconfig", "context", "shadow", "count", "dry-run", "lease", "plane", "scheduler-name"};
constexpr std::array<std::string_view, 4> embedded_only = {"embedded", "generate", "seed", "speed"};

/// More than fits, so that priorities matter within minutes; "pods" follows from the nodes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> standard_load = {
    {{"nodes", "8"},
     {"cpus", "64"},
     {"gpus", "8"},
     {"load", "400"},
     {"gangs", "15"},
     {"services", "10"},
     {"priorities", "4"}}};
constexpr std::int64_t pods_per_node = 2'500;
constexpr std::int64_t pods_most = 100'000;

template <std::size_t Size>
std::string_view first_given(const Arguments& arguments,
                             const std::array<std::string_view, Size>& flags) {
  const auto* const found =
      std::ranges::find_if(flags, [&](std::string_view flag) { return arguments.has(flag); });
  return found == flags.end() ? std::string_view{} : *found;
}

bool has_live_cluster(const kube::KubeEnvironment& environment) {
  if (environment.is_plugin || environment.is_in_cluster()) return true;
  // A list of missing files is an error to report, and not a request for another cluster.
  if (!environment.kubeconfig.empty()) return true;
  std::error_code ignored;
  return !environment.home.empty() &&
         std::filesystem::exists(environment.home + "/.kube/config", ignored);
}

Result<std::int64_t> number_in(const Arguments& arguments, std::string_view flag,
                               std::int64_t standard, std::int64_t least, std::int64_t most) {
  const auto text = arguments.given(flag);
  if (!text) return standard;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc{} && end == text->data() + text->size() && value >= least &&
      value <= most) {
    return value;
  }
  return wrong_usage(fmt::format("--{} '{}': expected a whole number from {} to {}", flag,
                                 shorten(*text), least, most));
}

bool names_part(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    if (part.substr(0, part.find('=')) == name) return true;
    list.remove_prefix(std::min(part.size() + 1, list.size()));
  }
  return false;
}

}  // namespace

Result<bool> wants_embedded(const Arguments& arguments, const kube::KubeEnvironment& environment) {
  const std::string_view live = first_given(arguments, live_only);
  const std::string_view embedded = first_given(arguments, embedded_only);
  if (!live.empty() && !embedded.empty()) {
    return wrong_usage(fmt::format(
        "--{} is for the embedded cluster and --{} for a live one; leave one of them out", embedded,
        live));
  }
  if (!live.empty()) return false;
  return !embedded.empty() || !has_live_cluster(environment);
}

std::string embedded_notice(const Arguments& arguments) {
  if (!first_given(arguments, embedded_only).empty()) return {};
  const std::string journal(arguments.text("journal"));
  return fmt::format(
      "no Kubernetes cluster was found (KUBECONFIG is not set, there is no ~/.kube/config, and "
      "this is no pod), so a made-up one is scheduled{}; name yours with --kubeconfig FILE, or "
      "say --embedded",
      journal.empty() ? "" : fmt::format(" and recorded in {}", shorten(journal)));
}

Result<GenerateOptions> embedded_load(std::string_view text) {
  std::string list(text);
  for (const auto& [name, value] : standard_load) {
    if (!names_part(text, name)) {
      list += fmt::format("{}{}={}", list.empty() ? "" : ",", name, value);
    }
  }
  Result<GenerateOptions> options = parse_generate(list);
  if (!options) return wrong_usage(options.error().message);
  if (!names_part(text, "pods")) {
    options->pods = std::min(options->nodes * pods_per_node, pods_most);
  }
  return options;
}

Result<EmbeddedOptions> read_embedded_options(const Arguments& arguments) {
  EmbeddedOptions options{.journal = std::string(arguments.text("journal")),
                          .json = arguments.text("output") == "json"};
  const auto load = embedded_load(arguments.given("generate").value_or(""));
  if (!load) return std::unexpected(load.error());
  options.load = *load;
  const auto seed = number_in(arguments, "seed", 1, 0, std::numeric_limits<std::int64_t>::max());
  if (!seed) return std::unexpected(seed.error());
  options.seed = static_cast<std::uint64_t>(*seed);
  const auto speed = number_in(arguments, "speed", options.speed, 1, pace_max);
  if (!speed) return std::unexpected(speed.error());
  options.speed = *speed;
  if (const auto text = arguments.given("for")) {
    const Result<Duration> duration = parse_duration(*text);
    if (!duration || duration->ms == 0) {
      return wrong_usage(
          fmt::format("--for '{}': {}", shorten(*text),
                      duration ? "expected a time such as 10m" : duration.error().message));
    }
    options.ends_after = *duration;
  }
  Result<ListenOptions> listen = read_listen_options(arguments);
  if (!listen) return std::unexpected(listen.error());
  options.listen = *std::move(listen);
  return options;
}

namespace {

// PacedPort: a world on a virtual clock that keeps a loop waiting as a real one would.
//
// What the loop is shown, and when on the cluster's clock, does not depend on how fast that clock
// goes: the world is asked first, and its answer is held back until its time has come. So the same
// load gives the same decisions at every speed, and pauses leave no trace.

class PacedPort final : public Port {
 public:
  /// `await` returns when the cluster's clock shows that time, or when waiting was cancelled.
  PacedPort(Port& world, std::function<void(Time)> await)
      : world_(world), await_(std::move(await)) {}

  Batch poll(Time deadline) override {
    Batch batch = world_.poll(deadline);
    await_(batch.now);
    return batch;
  }
  void submit(const Plan& plan) override { world_.submit(plan); }

 private:
  Port& world_;
  std::function<void(Time)> await_;
};

constexpr Time embedded_start{1'767'225'600'000};  // 2026-01-01T00:00:00Z
constexpr Duration passed_at_once{5'400'000};      ///< Rule 2.
constexpr Duration plain_run{20'000};              ///< Real time, without --for.
constexpr Duration plain_line_every{5'000};        ///< Real time, at the requested speed.
constexpr Duration frame_every{100};
/// A machine that cannot keep up may take this many times as long as --for.
constexpr std::int64_t plain_patience = 3;

/// For the log.
std::int64_t counter_value(std::uint64_t count) { return static_cast<std::int64_t>(count); }

/// Restores the screen, however the run ends, so that the summary is printed on the normal screen.
class ScreenGuard {
 public:
  explicit ScreenGuard(FullScreen* screen) : screen_(screen) {}
  ScreenGuard(const ScreenGuard&) = delete;
  ScreenGuard& operator=(const ScreenGuard&) = delete;
  ~ScreenGuard() {
    if (screen_ != nullptr) screen_->leave();
  }

 private:
  FullScreen* screen_;
};

class EmbeddedRun {
 public:
  EmbeddedRun(EmbeddedParts parts, Terminal& terminal)
      : parts_(std::move(parts)),
        options_(parts_.options),
        terminal_(terminal),
        screen_(options_.json ? nullptr : terminal.screen),
        rules_(std::make_unique<ConfigurationDocument>(parts_.document)),
        load_(generate_load(options_.load, options_.seed, embedded_start)),
        world_(load_, world_options()),
        port_(world_, [this](Time until) { await(until); }),
        scenes_([this](const ScenePreemption& each) { add_preemption(each); }),
        metrics_({std::string(default_preset)}, server::RunMetrics::Ours::all),
        watchers_(heard_by()),
        pace_(options_.speed, parts_.clock.now(), shown_from()) {
    presets_.push_back(parts_.document.name);
    for (const std::string_view name : preset_names()) {
      if (name != parts_.document.name) presets_.emplace_back(name);
    }
  }

  ExitStatus run() {
    interrupts_.emplace();
    print_start();
    if (!listen()) return ExitStatus::failed;
    start_loop();
    fill();
    {
      const ScreenGuard guard(screen_);
      begin_showing();
      while (!is_over() && world_.now() < ends_at() && step()) {
      }
    }
    note_refused();
    print_notices();
    print_summary();
    return shows_bug_ ? ExitStatus::bug : ExitStatus::done;
  }

 private:
  // ---- Before ----

  static Time shown_from() { return embedded_start + passed_at_once; }

  /// Of the cluster's clock; rule 4: a speed decides how far it comes, and nothing else does.
  Time ends_at() const {
    if (screen_ != nullptr) return SimOptions{}.until;
    return {shown_from().ms + options_.ends_after.value_or(plain_run).ms * options_.speed};
  }

  SimOptions world_options() const {
    SimOptions options;
    options.start = embedded_start;
    options.seed = options_.seed;
    options.sample = {0};
    options.until = ends_at();
    options.behaviour.scales_deployments = rules_->configuration.replica.enabled;
    options.behaviour.places_sessions = rules_->configuration.session.enabled;
    return options;
  }

  std::vector<LoopWatcher*> heard_by() {
    std::vector<LoopWatcher*> watchers;
    // The journal first: a record is never younger than what it leads to.
    if (parts_.journal != nullptr) watchers.push_back(parts_.journal);
    watchers.push_back(&scenes_);
    watchers.push_back(&metrics_);
    return watchers;
  }

  bool listen() {
    if (!options_.listen.address) return true;
    auto started =
        start_dashboard({.listen = options_.listen, .journal = options_.journal, .schedulers = {}},
                        [this](std::string_view path) {
                          return server::run_page(path, health_, metrics_, kube::monotonic_now());
                        });
    if (!started) {
      terminal_.error.write(
          fmt::format("error: --listen: {}; give an address of this machine and a free port\n",
                      printable(started.error().message)));
      return false;
    }
    dashboard_ = std::move(*started);
    watchers_.add(dashboard_->watcher());
    page_ = dashboard_address(options_.listen, dashboard_->port());
    if (options_.json) {
      print_event("listening", {{"address", page_}});
    } else {
      print_line(shows_dashboard(options_.listen)
                     ? fmt::format("The dashboard is at {} (figures at /metrics, health at "
                                   "/healthz).",
                                   page_)
                     : fmt::format("Figures are at {0}metrics, health at {0}healthz.", page_));
    }
    const std::string warning = dashboard_warning(options_.listen);
    if (!warning.empty()) terminal_.error.write(fmt::format("warning: {}\n", warning));
    return true;
  }

  /// Not over the screen: notices that come while it is shown are printed afterwards.
  void print_notices() {
    if (dashboard_ == nullptr) return;
    for (const server::Notice& notice : dashboard_->take_notices()) {
      terminal_.error.write(
          fmt::format("warning: the dashboard: {}\n", printable(notice_text(notice))));
    }
  }

  void start_loop() {
    LoopOptions options;
    options.preset = rules_->name;
    options.backlog.time_wakes = rules_->configuration.protection.minimum_runtime.ms > 0;
    options.watcher = &watchers_;
    loop_ = std::make_unique<ControlLoop>(port_, rules_->configuration, parts_.tools,
                                          std::move(options));
  }

  /// Rule 2.
  void fill() {
    while (!is_over() && world_.now() < shown_from() && loop_->step()) {
    }
  }

  void begin_showing() {
    if (is_over()) return;
    scenes_.begin_counting();
    if (screen_ != nullptr) {
      interrupts_.reset();  // The screen has its own, which gives the terminal back.
      if (!screen_->enter()) {
        screen_ = nullptr;
        interrupts_.emplace();
      }
    }
    began_ = parts_.clock.now();
    pace_ = Pace(options_.speed, began_, world_.now());
    next_line_ = shown_from();
    is_showing_ = true;
    health_.plays(server::RunRole::leader);
    health_.sees(true);
  }

  // ---- Stepping ----

  bool step() {
    const bool goes_on = loop_->step();
    is_dirty_ = true;
    note_figures();
    if (screen_ == nullptr) {
      print_figures_due();
      print_notices();
    }
    if (std::exchange(switches_, false)) switch_preset();
    return goes_on;
  }

  bool is_over() {
    if (is_over_) return true;
    const Duration passed = parts_.clock.now() - began_;
    bool time_is_up = false;
    if (is_showing_ && screen_ != nullptr) {
      time_is_up = options_.ends_after && passed >= *options_.ends_after;
    } else if (is_showing_) {
      time_is_up = passed.ms > options_.ends_after.value_or(plain_run).ms * plain_patience;
    }
    is_over_ = time_is_up || (interrupts_ && interrupts_->seen()) ||
               (screen_ != nullptr && screen_->wants_end()) || terminal_.out.is_closed();
    return is_over_;
  }

  /// Rule 1: called with the world's answer in hand.
  void await(Time until) {
    health_.stepped(kube::monotonic_now());
    if (!is_showing_) return;
    pace_.drop_lag(parts_.clock.now(), until);
    while (true) {
      attend();
      const Time now = parts_.clock.now();
      // The first answer to a new loop is everything: without it there is nothing to show.
      if (is_over() || switches_ || is_new_loop_) {
        pace_.jump(now, until);
        is_new_loop_ = false;
        return;
      }
      const Duration left = pace_.until(now, until);
      if (left.ms == 0) return;
      wait(std::min(left, frame_every));
    }
  }

  void wait(Duration at_most) {
    if (screen_ == nullptr) return parts_.clock.sleep(at_most);
    for (const char key : screen_->keys(at_most)) press(key);
  }

  void attend() {
    const Time now = parts_.clock.now();
    health_.stepped(kube::monotonic_now());
    if (screen_ == nullptr) return;
    for (const char key : screen_->keys({0})) press(key);
    if (now - drawn_ >= frame_gap_) draw(now);
  }

  /// Rule 5.
  void switch_preset() {
    note_refused();
    preset_ = (preset_ + 1) % presets_.size();
    auto next = std::make_unique<ConfigurationDocument>(parts_.document);
    if (preset_ > 0) {
      auto rules = load_preset(presets_[preset_]);
      if (!rules) return;
      next->name = presets_[preset_];
      next->configuration = *std::move(rules);
    }
    loop_.reset();
    rules_ = std::move(next);
    world_.show_anew();
    is_new_loop_ = true;
    start_loop();
  }

  void note_figures() {
    metrics_.note({.nodes = loop_->cluster().node_count(),
                   .pods = loop_->cluster().pod_count(),
                   .asks_pending = loop_->backlog().pending(),
                   .assumed = loop_->in_flight().size(),
                   .leads = true,
                   .sees = true,
                   .missed_wakeups = loop_->backlog().missed_wakeups()});
  }

  // ---- The screen ----

  void press(char key) {
    const Time now = parts_.clock.now();
    const std::size_t page = std::max<std::size_t>(1, nodes_shown(scene_, screen_->size()));
    const auto move = [&](std::size_t rows, bool down) {
      const std::size_t last = scene_.nodes.size() - std::min(scene_.nodes.size(), page);
      first_node_ =
          down ? std::min(last, first_node_ + rows) : first_node_ - std::min(first_node_, rows);
    };
    switch (key) {
      case ' ': pace_.pause(now, !pace_.is_paused()); break;
      case '+':
      case '=': pace_.faster(now); break;
      case '-':
      case '_': pace_.slower(now); break;
      case 'p': switches_ = true; break;
      case 'q': is_over_ = true; break;
      case '?':
      case 'h': shows_help_ = !shows_help_; break;
      case 'j':
      case key_down: move(1, true); break;
      case 'k':
      case key_up: move(1, false); break;
      case key_page_down: move(page, true); break;
      case key_page_up: move(page, false); break;
      default: return;
    }
    drawn_ = {};  // A key press redraws at once.
  }

  void refresh_scene() {
    if (std::exchange(is_dirty_, false)) {
      scene_ = scenes_.scene(loop_->cluster(), world_.metrics().scarce, world_.now());
    }
    scene_.served = served_text();
    scene_.preset = rules_->name;
    scene_.page = page_;
    scene_.speed = pace_.speed();
    scene_.is_paused = pace_.is_paused();
    scene_.first_node = first_node_;
    scene_.shows_help = shows_help_;
  }

  void draw(Time now) {
    refresh_scene();
    scene_.now = std::min(pace_.at(now), world_.now());
    std::vector<std::string> frame = draw_scene(scene_, screen_->size(), parts_.palette);
    if (frame != frame_) {
      frame_ = std::move(frame);
      screen_->show(frame_);
    }
    drawn_ = parts_.clock.now();
    // Drawing a large cluster must not keep it from being scheduled.
    frame_gap_.ms = std::max(frame_every.ms, 10 * (drawn_ - now).ms);
  }

  // ---- Plain lines ----

  std::string served_text() const {
    return fmt::format("{}, generated, seed {}",
                       counted(static_cast<std::uint64_t>(options_.load.nodes), "node"),
                       options_.seed);
  }

  void print_line(std::string_view text) {
    terminal_.out.write(fmt::format("{}\n", text));
    terminal_.out.flush();
  }
  void print_event(std::string_view event, const std::vector<LogField>& fields) {
    terminal_.out.write(log_line(true, world_.now(), LogLevel::info, event, fields));
    terminal_.out.flush();
  }

  void print_start() {
    if (options_.json) {
      return print_event("start", {{"cluster", "embedded"},
                                   {"served", served_text()},
                                   {"preset", rules_->name},
                                   {"speed", options_.speed}});
    }
    print_line(
        fmt::format("Embedded cluster: {}, inside this process; no Kubernetes cluster is "
                    "read or changed.",
                    served_text()));
    print_line(
        fmt::format("Preset {}, {} times as fast as a clock; the first {} of it pass at once.",
                    rules_->name, options_.speed, to_text(passed_at_once)));
  }

  void add_preemption(const ScenePreemption& each) {
    if (!is_showing_ || screen_ != nullptr) return;
    if (!options_.json) {
      return print_line(fmt::format("{}  {}: {}", clock_text(each.when), preemption_text(each),
                                    ascii_text(each.reason)));
    }
    print_event("preemption", {{"pod", each.victim},
                               {"priority", each.priority},
                               {"node", each.node},
                               {"for", each.ask},
                               {"cause", each.reason},
                               {"alternative", each.alternative}});
  }

  void print_figures_due() {
    if (world_.now() < next_line_) return;
    const std::int64_t every = plain_line_every.ms * options_.speed;
    next_line_.ms += ((world_.now() - next_line_).ms / every + 1) * every;
    refresh_scene();
    const SceneUse use = use_of(scene_);
    const SceneCounters& counters = scene_.counters;
    const std::int64_t percent = percent_of(use.used, use.room);
    if (options_.json) {
      return print_event("figures", {{"resource", scene_.resource},
                                     {"inUsePercent", percent},
                                     {"podsRunning", counter_value(counters.pods_running)},
                                     {"podsWaiting", counter_value(counters.pods_waiting)},
                                     {"preemptions", counter_value(counters.preemptions)}});
    }
    print_line(fmt::format("{}  {} % of {} in use, {} on the nodes, {} waiting, {}",
                           clock_text(world_.now()), percent, short_name(scene_.resource),
                           counted(counters.pods_running, "pod"), grouped(counters.pods_waiting),
                           counted(counters.preemptions, "preemption")));
  }

  // ---- After ----

  /// A plan broke a law: it was not carried out, and it is a bug of ours.
  void note_refused() {
    for (const RefusedPlan& refused : loop_->refused()) {
      shows_bug_ = true;
      for (const LawBreach& breach : refused.breaches) {
        bugs_ += fmt::format("{}: plan {} was refused: law {}: {}: {}\n", rules_->name, refused.id,
                             breach.law, breach.ask, breach.text);
      }
    }
    loop_->forget_refused();
  }

  /// Waiting times of runs that first started while the cluster was shown; milliseconds.
  Spread waits_shown() const {
    std::vector<std::int64_t> waited;
    for (const RunRecord& run : world_.metrics().runs) {
      if (run.first_start && *run.first_start >= shown_from()) {
        waited.push_back((*run.first_start - run.arrival).ms);
      }
    }
    return spread_of(std::move(waited));
  }

  void print_summary() {
    terminal_.error.write(bugs_);
    is_dirty_ = true;
    refresh_scene();
    const SceneCounters& counters = scene_.counters;
    const Spread waits = waits_shown();
    const std::string passed =
        pending_text(std::max<std::int64_t>(0, (world_.now() - shown_from()).ms / 1'000));
    if (options_.json) {
      return print_event("summary", {{"passed", passed},
                                     {"preset", rules_->name},
                                     {"podsStarted", counter_value(counters.pods_started)},
                                     {"preemptions", counter_value(counters.preemptions)},
                                     {"podsWaiting", counter_value(counters.pods_waiting)},
                                     {"waitP50Ms", waits.p50},
                                     {"waitP90Ms", waits.p90},
                                     {"decideP50Us", counters.decide_p50_us},
                                     {"decideP99Us", counters.decide_p99_us}});
    }
    print_line(
        fmt::format("Summary: {} of the cluster's time under {}: {} started, {}, {} waiting.",
                    passed, rules_->name, counted(counters.pods_started, "pod"),
                    counted(counters.preemptions, "preemption"), grouped(counters.pods_waiting)));
    if (waits.count > 0) {
      print_line(
          fmt::format("Before they first ran they waited {} (median), {} (p90), {} (longest).",
                      pending_text(waits.p50 / 1'000), pending_text(waits.p90 / 1'000),
                      pending_text(waits.max / 1'000)));
    }
    print_line(fmt::format("A decision took {} us (median), {} us (p99).", counters.decide_p50_us,
                           counters.decide_p99_us));
  }

  EmbeddedParts parts_;
  const EmbeddedOptions& options_;
  Terminal& terminal_;
  FullScreen* screen_;  ///< Null: plain lines.
  std::unique_ptr<ConfigurationDocument> rules_;
  SimLoad load_;
  SimWorld world_;
  PacedPort port_;
  SceneWatcher scenes_;
  server::RunHealth health_;
  server::RunMetrics metrics_;
  WatcherList watchers_;
  std::unique_ptr<ControlLoop> loop_;
  std::optional<InterruptWatch> interrupts_;
  Pace pace_;
  Time began_;  ///< Ours, when showing began.
  Time drawn_;  ///< Ours, the last frame.
  Duration frame_gap_ = frame_every;
  Time next_line_;
  std::vector<std::string> presets_;  ///< The first is what was asked for.
  std::size_t preset_ = 0;
  Scene scene_;
  std::vector<std::string> frame_;
  std::string page_;
  std::string bugs_;
  std::size_t first_node_ = 0;
  bool shows_help_ = false;
  bool is_showing_ = false;
  bool is_dirty_ = true;  ///< The cluster is not what the scene shows.
  bool is_over_ = false;
  bool switches_ = false;     ///< The user wants the next preset.
  bool is_new_loop_ = false;  ///< It has not been shown anything yet.
  bool shows_bug_ = false;
  std::unique_ptr<server::Dashboard> dashboard_;  ///< Last: its threads read the others.
};

}  // namespace

EmbeddedClock real_clock() {
  return {
      .now = [] { return kube::monotonic_now(); },
      .sleep =
          [](Duration time) { std::this_thread::sleep_for(std::chrono::milliseconds(time.ms)); }};
}

ExitStatus run_embedded_cluster(EmbeddedParts parts, Terminal& terminal) {
  return EmbeddedRun(std::move(parts), terminal).run();
}

ExitStatus run_embedded(const Arguments& arguments, Terminal& terminal) {
  Result<EmbeddedOptions> options = read_embedded_options(arguments);
  if (!options) return usage_error("run", options.error().message, terminal);
  // As in a simulation there are no untrusted users, so marks count as in files.
  const ConfigurationChoice choice = choice_in(arguments);
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) return usage_error("run", chosen.usage, terminal);
  print_problems(chosen.problems, terminal);
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
