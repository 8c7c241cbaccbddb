#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/dashboard/dashboard_start.hpp"
#include "cli/embedded/embedded_run.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/run/decision_log.hpp"
#include "cli/run/plane_runs.hpp"
#include "cli/run/run_request.hpp"
#include "cli/run/shadow_run.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/control_loop.hpp"
#include "control/loop_watcher.hpp"
#include "kube/clocks.hpp"
#include "kube/connection.hpp"
#include "kube/live_port.hpp"
#include "kube/live_settings.hpp"
#include "kube/own_rights.hpp"
#include "kube/resources.hpp"
#include "model/profiles.hpp"
#include "server/run_pages.hpp"

namespace makeway::cli {
namespace {

// `makeway run`: the scheduler of the pods that name it, on a live cluster (SPEC section 8).
//
//  1. Without the rights that it needs, or on a cluster with kinds that it cannot serve yet, it
//     does not begin.
//  2. It seeks the Lease, and lists only when it has it: a new leader sees everything that the
//     last one wrote. While another one leads it stands by, watching, and writes nothing.
//  3. It schedules until a signal ends it. Then it decides nothing more, finishes the writes in
//     flight, and releases the Lease.
//  4. A lost Lease ends it at once, with a status of its own: a restart begins from scratch.
//  5. With --dry-run it takes no Lease and writes nothing; decisions go to standard output.
//  6. Planes are watched from when it leads (plane_runs.hpp); without the cluster of the Lease
//     nothing is decided, without a plane only nothing there.

/// Everything that a run needs, opened by the caller.
struct SchedulerParts {
  const RunRequest& request;
  const ConfigurationDocument& document;
  std::unique_ptr<kube::Connection> connection;
  std::vector<kube::ServedResource> served;  ///< What the cluster has of what we read.
  LoopWatcher* journal = nullptr;            ///< Null: there is none.
  std::vector<PlaneParts> planes;
};

constexpr Duration step_max{200};       ///< So soon a signal is heard.
constexpr Duration finish_max{5'000};   ///< So long what is being written may take at the end.
constexpr Duration blind_max{300'000};  ///< The run ends if a kind cannot be watched for this long.

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

class SchedulerRun {
 public:
  SchedulerRun(SchedulerParts parts, Terminal& terminal)
      : parts_(std::move(parts)),
        request_(parts_.request),
        configuration_(parts_.document.configuration),
        host_(host_name()),
        identity_(new_identity(host_)),
        tools_(real_tools()),
        log_(terminal.error, request_.json, [] { return kube::SystemClock().now(); }),
        decisions_sink_(request_.dry_run ? terminal.out : terminal.error, request_.json,
                        [] { return kube::SystemClock().now(); }),
        decisions_(decisions_sink_, parts_.document),
        metrics_(request_.schedulers),
        watchers_(heard_by()),
        planes_(std::move(parts_.planes), configuration_, log_),
        lease_times_(kube::lease_times(configuration_)) {
    if (const auto seen = parts_.connection->http().date()) {
      lease_time_.note(seen->date, seen->monotonic);
    }
  }

  ExitStatus run() {
    log_start();
    health_.stepped(kube::monotonic_now());
    if (!listen() || !may_begin()) return ExitStatus::failed;
    if (!request_.dry_run && !seek_lead()) {
      const bool lost = keeper_ != nullptr && keeper_->was_lost();
      log_end();
      if (was_ended_) return ExitStatus::done;
      return lost ? ExitStatus::lease_lost : ExitStatus::failed;
    }
    if (!begin()) return ExitStatus::failed;
    const ExitStatus status = schedule();
    finish(status);
    log_end();
    if (status != ExitStatus::done) return status;
    return decisions_.has_seen_bug() ? ExitStatus::bug : ExitStatus::done;
  }

 private:
  std::vector<LoopWatcher*> heard_by() {
    std::vector<LoopWatcher*> watchers;
    // The journal first: a record is never younger than what it leads to.
    if (parts_.journal != nullptr) watchers.push_back(parts_.journal);
    watchers.push_back(&decisions_);
    watchers.push_back(&metrics_);
    return watchers;
  }

  bool is_over() {
    const bool time_is_up =
        request_.ends_after && kube::monotonic_now() - started_ >= *request_.ends_after;
    was_ended_ = was_ended_ || time_is_up || interrupts_.seen();
    return was_ended_;
  }

  // ---- Before ----

  bool listen() {
    if (!request_.listen.address) return true;
    auto started = start_dashboard(
        {.listen = request_.listen, .journal = request_.journal, .schedulers = request_.schedulers},
        [this](std::string_view path) {
          return server::run_page(path, health_, metrics_, kube::monotonic_now());
        });
    if (!started) {
      log_.write(LogLevel::error, "no-listener",
                 {{"reason", started.error().message},
                  {"remedy", "give --listen an address of this machine and a free port"}});
      return false;
    }
    dashboard_ = std::move(*started);
    watchers_.add(dashboard_->watcher());
    log_.write(
        LogLevel::info, "listening",
        {{"address", fmt::format("{}:{}", request_.listen.address->host, dashboard_->port())},
         {shows_dashboard(request_.listen) ? "dashboard" : "metrics",
          dashboard_address(request_.listen, dashboard_->port()) +
              (shows_dashboard(request_.listen) ? "" : "metrics")}});
    if (std::string warning = dashboard_warning(request_.listen); !warning.empty()) {
      log_.write(LogLevel::warning, "exposed", {{"reason", std::move(warning)}});
    }
    return true;
  }

  /// What went wrong beside the loop; it goes on.
  void log_notices() {
    if (dashboard_ == nullptr) return;
    for (const server::Notice& notice : dashboard_->take_notices()) {
      log_.write(LogLevel::warning, "dashboard", {{"reason", notice_text(notice)}});
    }
  }

  void log_start() {
    log_.write(LogLevel::info, "start",
               {{"schedulerNames", joined_names(request_.schedulers)},
                {"preset", parts_.document.name},
                {"server", parts_.connection->http().settings().server},
                {"lease", request_.dry_run ? std::string{}
                                           : fmt::format("{}/{}", request_.lease_namespace,
                                                         request_.lease_name)},
                {"identity", request_.dry_run ? std::string{} : identity_},
                {"dryRun", request_.dry_run ? "true" : ""}});
  }

  /// Rule 1.
  bool may_begin() {
    if (!planes_.may_begin(!request_.dry_run)) return false;
    if (request_.dry_run) return true;
    const auto missing = kube::missing_rights(
        parts_.connection->api(),
        kube::scheduler_rights({.lease_namespace = request_.lease_namespace,
                                .lease_name = request_.lease_name,
                                .evicts_by_api = configuration_.budgets.mode == BudgetMode::strict,
                                .has_groups = !group_version().empty(),
                                .own_kinds = own_kinds_written(parts_.served)}));
    for (const kube::Right& right : missing) {
      log_.write(LogLevel::error, "right-missing",
                 {{"verb", right.verb},
                  {"resource", right.resource},
                  {"namespace", right.namespace_name},
                  {"remedy", fmt::format("add the rule {} to a role of this user "
                                         "(deploy/rbac.yaml has all of them)",
                                         kube::rule_for(right))}});
    }
    return missing.empty();
  }

  /// Of PodGroups; empty: they are not served.
  std::string group_version() const {
    for (const kube::ServedResource& each : parts_.served) {
      if (each.resource->plural == "podgroups") return each.version;
    }
    return {};
  }

  std::unique_ptr<kube::Connection> connect() {
    kube::ConnectionTools tools = kube::real_connection_tools();
    tools.limits.silent_attempts_max = tools.limits.attempts_max;  // We may lead already.
    auto opened = kube::Connection::open(parts_.connection->target(), tools);
    if (opened) return std::move(*opened);
    for (const Problem& problem : opened.error()) log_problem("no-connection", problem);
    return nullptr;
  }

  void log_problem(std::string_view event, const Problem& problem,
                   LogLevel level = LogLevel::error) {
    log_.write(level, event,
               {{"object", problem.object},
                {"field", problem.field},
                {"value", problem.value},
                {"reason", problem.message},
                {"remedy", problem.remedy}});
  }

  // ---- Lease ----

  /// Rule 2. False: it was ended before, or cannot begin.
  bool seek_lead() {
    auto connection = connect();
    if (connection == nullptr) return false;
    keeper_ = std::make_unique<kube::LeaseKeeper>(
        std::move(connection),
        kube::LeaseName{.namespace_name = request_.lease_namespace,
                        .name = request_.lease_name,
                        .identity = identity_},
        lease_times_, gate_,
        [this] {
          return lease_time_.at(kube::monotonic_now()).value_or(kube::SystemClock().now());
        },
        [] {});
    while (!keeper_->await_lead(step_max)) {
      if (is_over() || has_lost_lead()) return false;
      health_.stepped(kube::monotonic_now());
      log_lease_trouble();
      if (!stand_by()) return false;
    }
    standby_.reset();
    health_.sees(false);
    health_.plays(server::RunRole::leader);
    log_.write(LogLevel::info, "lead", {{"identity", identity_}});
    return true;
  }

  void log_lease_trouble() {
    const std::string trouble = keeper_->trouble();
    if (trouble == lease_trouble_) return;
    lease_trouble_ = trouble;
    if (!trouble.empty()) log_.write(LogLevel::warning, "lease-trouble", {{"reason", trouble}});
  }

  /// While another process leads: whether we could. What is read is discarded.
  bool stand_by() {
    const std::string holder = keeper_->holder();
    if (holder.empty() || holder == identity_) return true;
    if (holder != logged_holder_) {
      logged_holder_ = holder;
      log_.write(LogLevel::info, "standby", {{"holder", holder}});
    }
    if (standby_ == nullptr) standby_ = make_feed();
    if (standby_ == nullptr) return false;
    standby_->mailbox().take();
    health_.sees(standby_->sees_all());
    health_.plays(server::RunRole::standby);
    return !is_permanent(*standby_);
  }

  // ---- The run itself ----

  /// Runs discovery again: the kinds may have changed while we stood by, and the answer has the
  /// server's time, without which the first decision would be made by the clock of this machine.
  std::unique_ptr<kube::LiveFeed> make_feed() {
    auto connection = connect();
    if (connection == nullptr) return nullptr;
    const auto served = connection->api().discover();
    if (!served) {
      log_problem("not-seen", served.error().problem);
      return nullptr;
    }
    parts_.served = *served;
    return std::make_unique<kube::LiveFeed>(std::move(connection), *served,
                                            kube::real_connection_tools().jitter_seed,
                                            kube::WatchLimits{}, kube::FeedUse::to_schedule);
  }

  bool begin() {
    if (request_.dry_run) health_.plays(server::RunRole::dry_run);
    feed_ = make_feed();
    if (feed_ == nullptr) return false;
    seen_at_ = kube::monotonic_now();
    if (!planes_.begin()) return false;
    if (!request_.dry_run && !begin_writing()) return false;
    LoopOptions options;
    options.preset = parts_.document.name;
    options.poll_max = step_max;
    options.queue_turns = true;
    options.backlog.time_wakes = configuration_.protection.minimum_runtime.ms > 0;
    options.backlog.schedulers = request_.schedulers;
    view_ = std::make_unique<LiveView>(configuration_, kube::view_options(request_.schedulers));
    port_ = std::make_unique<kube::LivePort>(*feed_, actuator_.get(), view_.get());
    planes_.join(*port_);
    options.carries_out = !request_.dry_run;
    options.finishes_begun = !request_.dry_run;
    options.watcher = &watchers_;
    loop_ = std::make_unique<ControlLoop>(*port_, configuration_, tools_, std::move(options));
    return true;
  }

  bool begin_writing() {
    auto connection = connect();
    kube::PlaneConnections planes = planes_.connections();
    if (connection == nullptr || planes.size() < request_.planes.size()) return false;
    kube::ActuatorSettings settings =
        kube::actuator_settings(configuration_, parts_.served, fmt::format("makeway-{}", host_));
    settings.sessions.scheduler = request_.schedulers.front();
    actuator_ = std::make_unique<kube::Actuator>(
        std::move(connection), std::move(settings), gate_,
        kube::ActuatorTools{.server_now =
                                [this] {
                                  return feed_->server_time()
                                      .at(kube::monotonic_now())
                                      .value_or(kube::SystemClock().now());
                                },
                            .wake = [this] { feed_->mailbox().wake(); }},
        std::move(planes));
    return true;
  }

  ExitStatus schedule() {
    while (!is_over()) {
      loop_->step();
      loop_->forget_refused();  // They are in the log.
      if (has_lost_lead()) return ExitStatus::lease_lost;
      if (!has_seen_ && is_permanent(*feed_)) return ExitStatus::failed;
      log_sight();
      planes_.log_states();
      if (is_blind_for_long()) return ExitStatus::failed;
      log_pause();
      log_notices();
      show();
    }
    return ExitStatus::done;
  }

  /// It was ours and is not any more; the keeper does not try again.
  bool has_lost_lead() {
    if (keeper_ == nullptr || !keeper_->was_lost()) return false;
    const std::string trouble = keeper_->trouble();  // Such as a token that has expired.
    log_.write(LogLevel::error, "lease-lost",
               {{"holder", keeper_->holder()},
                {"reason", fmt::format("{}{}another process may lead now; this one writes nothing "
                                       "any more",
                                       trouble, trouble.empty() ? "" : "; ")}});
    return true;
  }

  /// A process that cannot watch the cluster must not keep others from leading; also, the served
  /// kinds may have changed, and discovery runs only at a start.
  bool is_blind_for_long() {
    const Time now = kube::monotonic_now();
    if (sees_) seen_at_ = now;
    if (now - seen_at_ < blind_max) return false;
    log_missing(*feed_, LogLevel::error);
    log_.write(
        LogLevel::error, "blind",
        {{"reason", fmt::format("a kind could not be watched for {}; the next start asks again "
                                "what is served",
                                to_text(blind_max))}});
    return true;
  }

  /// A right to read is missing, and no patience helps against that.
  bool is_permanent(const kube::LiveFeed& feed) {
    if (feed.trouble() != kube::WatchTrouble::permanent) return false;
    log_missing(feed, LogLevel::error);
    return true;
  }

  void log_missing(const kube::LiveFeed& feed, LogLevel level) {
    for (const kube::MissingWatch& each : feed.missing()) {
      log_problem("not-seen", each.error.problem, level);
    }
  }

  void log_sight() {
    const bool sees = feed_->sees_all();
    if (sees == sees_) return;
    sees_ = sees;
    if (!sees) {
      log_missing(*feed_, LogLevel::warning);  // It is tried again.
      log_.write(LogLevel::warning, "sight-lost",
                 {{"reason", "a kind cannot be watched; nothing is decided until it can"}});
      return;
    }
    has_seen_ = true;
    log_.write(LogLevel::info, "sight",
               {{"nodes", static_cast<std::int64_t>(loop_->cluster().node_count())},
                {"pods", static_cast<std::int64_t>(loop_->cluster().pod_count())},
                {"pending", static_cast<std::int64_t>(loop_->backlog().pending())}});
  }

  void log_pause() {
    const kube::WritePause pause = gate_.paused();
    if (pause == pause_) return;
    pause_ = pause;
    const std::string what = pause == kube::WritePause::none        ? "nothing"
                             : pause == kube::WritePause::evictions ? "evictions"
                                                                    : "all";
    log_.write(LogLevel::warning, "paused",
               {{"what", what}, {"reason", "makeway.dev/pause on the Lease"}});
  }

  /// What the server answers with.
  void show() {
    health_.stepped(kube::monotonic_now());
    health_.sees(sees_);
    const kube::FeedStatistics feed = feed_->statistics();
    server::RunFigures figures{.nodes = loop_->cluster().node_count(),
                               .pods = loop_->cluster().pod_count(),
                               .asks_pending = loop_->backlog().pending(),
                               .assumed = loop_->in_flight().size(),
                               .leads = keeper_ != nullptr,
                               .sees = sees_,
                               .lists = feed.lists,
                               .watch_failures = feed.failures,
                               .objects_refused = feed.refused,
                               .missed_wakeups = loop_->backlog().missed_wakeups(),
                               .kubelet_refusals = view_->kubelet_refusals()};
    for (std::size_t mark = 0; mark < choice_names<TrustMark>.size(); ++mark) {
      figures.marks_not_honoured += view_->not_honoured(static_cast<TrustMark>(mark));
    }
    if (actuator_ != nullptr) {
      const kube::QueueStatistics writes = actuator_->statistics();
      figures.unsent = actuator_->unsent();
      figures.writes_sent = writes.sent;
      figures.writes_refused = writes.refused;
      figures.writes_repeated = writes.again;
      figures.writes_unknown = writes.unknown;
      figures.events_dropped = writes.events_dropped;
      figures.brake_alarms = actuator_->brake_alarms();
      figures.left_behind = writes.left_behind;
    }
    metrics_.note(figures);
  }

  /// Rules 3 and 4.
  void finish(ExitStatus status) {
    if (actuator_ != nullptr && status != ExitStatus::lease_lost) {
      actuator_->await_idle(finish_max);
    }
    loop_.reset();
    port_.reset();
    actuator_.reset();
    planes_.end();
    feed_.reset();
    keeper_.reset();
  }

  void log_end() {
    keeper_.reset();
    log_.write(LogLevel::info, "end");
  }

  SchedulerParts parts_;
  const RunRequest& request_;
  const Configuration& configuration_;
  std::string host_;
  std::string identity_;
  PlanTools tools_;
  RunLog log_;
  RunLog decisions_sink_;
  DecisionLog decisions_;
  server::RunHealth health_;
  server::RunMetrics metrics_;
  WatcherList watchers_;
  PlaneRuns planes_;
  const kube::LeaseTimes lease_times_;
  InterruptWatch interrupts_;
  const Time started_ = kube::monotonic_now();
  kube::ServerTime lease_time_;
  kube::WriteGate gate_;
  std::unique_ptr<kube::LeaseKeeper> keeper_;
  std::unique_ptr<kube::LiveFeed> standby_;
  std::unique_ptr<kube::LiveFeed> feed_;
  std::unique_ptr<kube::Actuator> actuator_;
  std::unique_ptr<LiveView> view_;
  std::unique_ptr<kube::LivePort> port_;
  std::unique_ptr<ControlLoop> loop_;
  std::string logged_holder_;
  std::string lease_trouble_;
  kube::WritePause pause_ = kube::WritePause::none;
  bool was_ended_ = false;
  bool sees_ = false;
  bool has_seen_ = false;
  Time seen_at_ = kube::monotonic_now();          ///< Last; before the first time: the start.
  std::unique_ptr<server::Dashboard> dashboard_;  ///< Last: its threads read the others.
};

ExitStatus run_scheduler(SchedulerParts parts, Terminal& terminal) {
  return SchedulerRun(std::move(parts), terminal).run();
}

/// None: the status says how it ended.
std::optional<ConfigurationDocument> read_rules(const Arguments& arguments, bool is_shadow,
                                                Terminal& terminal, ExitStatus& status) {
  const ConfigurationChoice choice = choice_in(arguments, true);
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) {
    status = usage_error("run", chosen.usage, terminal);
    return std::nullopt;
  }
  print_problems(chosen.problems, terminal);
  status = ExitStatus::failed;
  if (!chosen.document) return std::nullopt;
  const Configuration& configuration = chosen.document->configuration;
  if (const std::string waived = waived_too_much(configuration); !is_shadow && !waived.empty()) {
    terminal.error.write(fmt::format("error: {}\n", waived));
    return std::nullopt;
  }
  name_configuration(*chosen.document, choice);
  // A shadow decides each ask once, and would never retry one that has to wait first.
  if (!is_shadow) {
    chosen.document->configuration = kube::live_rules(std::move(chosen.document->configuration));
  }
  return std::move(chosen.document);
}

/// Null: it cannot be opened, and the error was printed.
std::unique_ptr<Journal> open_journal(JournalOptions options, Terminal& terminal) {
  auto begun = Journal::open(std::move(options));
  if (!begun) {
    terminal.error.write(fmt::format("error: {}\n", printable(begun.error().message)));
    return nullptr;
  }
  if (const std::string& notice = (*begun)->file().notice(); !notice.empty()) {
    terminal.error.write(fmt::format("warning: {}\n", printable(notice)));
  }
  return *std::move(begun);
}

/// Fewer than requested: one could not be opened, and that was printed.
std::vector<PlaneParts> open_planes(const RunRequest& request, const kube::KubeTarget& home,
                                    Terminal& terminal) {
  std::vector<PlaneParts> planes;
  GivenServers servers;
  servers.note_home(home);
  for (const LivePlane& plane : request.planes) {
    OpenedCluster opened = open_cluster(plane.target, terminal.kube);
    if (opened.connection != nullptr) {
      if (auto twice = servers.note(plane.name, opened.connection->target())) {
        opened.problems.push_back(*std::move(twice));
      }
    }
    print_problems(opened.problems, terminal);
    if (opened.connection == nullptr || has_errors(opened.problems)) return planes;
    planes.push_back({.name = plane.name, .connection = std::move(opened.connection)});
  }
  return planes;
}

}  // namespace

ExitStatus run_run(const Arguments& arguments, Terminal& terminal) {
  const Result<bool> embedded = wants_embedded(arguments, terminal.kube);
  if (!embedded) return usage_error("run", embedded.error().message, terminal);
  if (*embedded) {
    if (const std::string notice = embedded_notice(arguments); !notice.empty()) {
      terminal.error.write(fmt::format("warning: {}\n", notice));
    }
    return run_embedded(arguments, terminal);
  }
  Result<RunRequest> request = read_run_request(arguments);
  if (!request) return usage_error("run", request.error().message, terminal);
  const bool is_shadow = !request->shadow.empty();
  ExitStatus status = ExitStatus::done;
  const auto document = read_rules(arguments, is_shadow, terminal, status);
  if (!document) return status;
  request->schedulers = served_schedulers(std::move(request->schedulers), document->configuration);
  std::optional<JournalOptions> journal_request;
  if (arguments.has("journal")) {
    Result<JournalOptions> options = journal_options(arguments);
    if (!options) return usage_error("run", options.error().message, terminal);
    journal_request = *std::move(options);
  }
  OpenedCluster opened = open_cluster(request->target, terminal.kube);
  const Palette palette = palette_for_error(terminal);
  terminal.error.write(problem_lines(opened.problems, palette));
  if (opened.connection == nullptr) return ExitStatus::failed;
  std::vector<PlaneParts> planes = open_planes(*request, opened.connection->target(), terminal);
  if (planes.size() < request->planes.size()) return ExitStatus::failed;
  const auto served = opened.connection->api().discover();
  if (!served) {
    terminal.error.write(problem_lines(Problems{served.error().problem}, palette));
    return ExitStatus::failed;
  }
  std::unique_ptr<Journal> journal;
  if (journal_request) {
    journal = open_journal(*std::move(journal_request), terminal);
    if (journal == nullptr) return ExitStatus::failed;
  }
  if (is_shadow) {
    kube::LiveFeed feed(std::move(opened.connection), *served,
                        kube::real_connection_tools().jitter_seed, {}, kube::FeedUse::to_compare);
    status = run_shadow(*request, *document, feed, journal.get(), terminal,
                        palette_for_out(terminal, arguments.text("color")));
  } else {
    status = run_scheduler({.request = *request,
                            .document = *document,
                            .connection = std::move(opened.connection),
                            .served = *served,
                            .journal = journal.get(),
                            .planes = std::move(planes)},
                           terminal);
  }
  const bool is_recorded = report_journal(journal.get(), terminal, "the run");
  return is_recorded || status != ExitStatus::done ? status : ExitStatus::failed;
}

}  // namespace makeway::cli
