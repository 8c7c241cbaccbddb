#include "cli/shadow/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/shadow/shadow_text.hpp"
#include "cli/simulate/simulate_journal.hpp"
#include "cli/text.hpp"
#include "control/shadow_loop.hpp"
#include "kube/live_port.hpp"

namespace makeway::cli {
namespace {

constexpr Duration step_max{200};  ///< So soon Ctrl-C is heard.

ExitStatus usage_error(std::string_view text, Terminal& terminal) {
  terminal.error.write(fmt::format("makeway: {}\n{}\n", text, help_line(find_command("run"))));
  return ExitStatus::usage;
}

struct RunWish {
  std::string scheduler;
  kube::TargetWish target;
  std::optional<Duration> ends_after;
  std::optional<std::int64_t> count;
  bool json = false;
};

std::unexpected<Error> wrong(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

Result<RunWish> read_run_wish(const Arguments& arguments) {
  if (!arguments.has("shadow")) {
    return wrong(
        "makeway cannot schedule a live cluster yet; --shadow NAME decides beside its scheduler "
        "and changes nothing");
  }
  RunWish wish{.scheduler = std::string(arguments.text("shadow")),
               .target = {.kubeconfig = std::string(arguments.text("kubeconfig")),
                          .context = std::string(arguments.text("context"))},
               .json = arguments.text("output") == "json"};
  if (wish.scheduler.empty()) return wrong("--shadow '': expected the NAME of a scheduler");
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") return wrong(fmt::format("--{} '': it is empty", flag));
  }
  if (const auto text = arguments.given("for")) {
    const Result<Duration> duration = parse_duration(*text);
    if (!duration) {
      return wrong(fmt::format("--for '{}': {}", shorten(*text), duration.error().message));
    }
    if (duration->ms == 0) return wrong("--for 0: expected a time such as 10m");
    wish.ends_after = *duration;
  }
  if (const auto text = arguments.given("count")) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
    if (error != std::errc() || end != text->data() + text->size() || count < 1) {
      return wrong(fmt::format("--count '{}': expected a number from 1 on", shorten(*text)));
    }
    wish.count = count;
  }
  if (!arguments.has("journal") && arguments.has("journal-size")) {
    return wrong("--journal-size is for --journal FILE");
  }
  return wish;
}

/// None: the status says how it ended.
std::optional<ConfigurationDocument> read_rules(const Arguments& arguments, Terminal& terminal,
                                                ExitStatus& status) {
  const ConfigurationChoice choice{.preset = arguments.text("preset"),
                                   .file = arguments.given("config"),
                                   .overrides = arguments.all("set")};
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) {
    status = usage_error(chosen.usage, terminal);
    return std::nullopt;
  }
  terminal.error.write(problem_lines(chosen.problems, palette_for_error(terminal)));
  if (!chosen.document) {
    status = ExitStatus::failed;
    return std::nullopt;
  }
  const TrustSettings& trust = chosen.document->configuration.trust;
  if (trust != TrustSettings{.namespaces = trust.namespaces}) {
    terminal.error.write(
        "warning: knobs of trust are not applied in a shadow run: marks on objects count as "
        "everybody's\n");
  }
  name_configuration(*chosen.document, choice);
  return std::move(chosen.document);
}

/// The run itself, once everything that it needs is there.
class ShadowRun {
 public:
  ShadowRun(const RunWish& wish, const ConfigurationDocument& document, kube::LiveFeed& feed,
            LoopWatcher* watcher, Terminal& terminal, const Palette& palette)
      : wish_(wish),
        document_(document),
        feed_(feed),
        terminal_(terminal),
        palette_(palette),
        tools_(real_tools()),
        port_(feed, nullptr),
        shadow_(port_, document.configuration, tools_,
                {.scheduler = wish.scheduler, .preset = document.name, .watcher = watcher}) {}

  ExitStatus run() {
    while (!is_over()) {
      const std::vector<ShadowResult> results = shadow_.step(port_.now() + step_max);
      if (!shadow_.has_begun()) {
        if (tell_refusals()) return ExitStatus::failed;
        tell_progress();
        continue;
      }
      tell_sight();
      for (const ShadowResult& result : results) tell(result);
    }
    erase_progress();
    if (!shadow_.has_begun()) return tell_no_sight();
    tell_summary();
    return tell_bugs() ? ExitStatus::bug : ExitStatus::done;
  }

 private:
  bool is_over() const {
    if (interrupts_.seen() || terminal_.out.is_closed()) return true;
    if (wish_.count && totals_.compared() >= *wish_.count) return true;
    return wish_.ends_after && ran() >= *wish_.ends_after;
  }
  Duration ran() const { return kube::monotonic_now() - started_; }

  void tell(const ShadowResult& result) {
    if (wish_.count && totals_.compared() >= *wish_.count) return;
    totals_.add(result);
    terminal_.out.write(wish_.json ? shadow_json_line(result) : shadow_line(result, palette_));
    terminal_.out.flush();
  }

  /// Once all kinds were asked for: what is missing. True: no patience helps against it.
  bool tell_refusals() {
    const std::vector<kube::MissingSight> missing = feed_.missing();
    const kube::FeedStatistics statistics = feed_.statistics();
    if (missing.empty() || statistics.kinds_seen + missing.size() < statistics.kinds) return false;
    const bool is_hopeless = std::ranges::any_of(missing, [](const kube::MissingSight& each) {
      return each.error.failure == kube::Failure::forbidden ||
             each.error.failure == kube::Failure::credentials;
    });
    if (is_hopeless || !tells_missing_) {
      erase_progress();
      tell_missing();
    }
    tells_missing_ = true;
    return is_hopeless;
  }

  void tell_missing() {
    Problems problems;
    for (const kube::MissingSight& each : feed_.missing()) problems.push_back(each.error.problem);
    terminal_.error.write(problem_lines(problems, palette_for_error(terminal_)));
  }

  ExitStatus tell_no_sight() {
    tell_missing();
    terminal_.error.write("makeway: the cluster was not read completely; nothing was decided\n");
    return ExitStatus::failed;
  }

  void tell_progress() {
    if (!terminal_.error_is_terminal) return;
    const kube::FeedStatistics statistics = feed_.statistics();
    terminal_.error.write(fmt::format("\r\x1b[Kreading the live cluster: {} of {} kinds",
                                      statistics.kinds_seen, statistics.kinds));
    terminal_.error.flush();
    shows_progress_ = true;
  }
  void erase_progress() {
    if (shows_progress_) terminal_.error.write("\r\x1b[K");
    shows_progress_ = false;
  }

  /// When the first lists are there, and whenever sight is lost or comes back.
  void tell_sight() {
    if (shadow_.is_blind() == was_blind_) return;
    was_blind_ = shadow_.is_blind();
    erase_progress();
    if (was_blind_) {
      tell_missing();
      terminal_.error.write("makeway: sight is lost; nothing is decided until it is back\n");
    } else if (has_seen_) {
      terminal_.error.write("makeway: sight is back\n");
    } else {
      has_seen_ = true;
      terminal_.error.write(
          fmt::format("makeway: watching {} on {} with {}; nothing is changed there; Ctrl-C ends "
                      "it with a summary\n",
                      shorten(wish_.scheduler), counted(shadow_.cluster().node_count(), "node"),
                      counted(shadow_.cluster().pod_count(), "pod")));
    }
    terminal_.error.flush();
  }

  void tell_summary() {
    const ShadowSummary summary{.scheduler = wish_.scheduler,
                                .preset = document_.name,
                                .ran = ran(),
                                .open = shadow_.open(),
                                .totals = totals_,
                                .statistics = shadow_.statistics()};
    terminal_.out.write(wish_.json ? shadow_summary_json(summary)
                                   : shadow_summary_text(summary, palette_));
  }

  /// True: a plan broke a law.
  bool tell_bugs() {
    for (const RefusedPlan& refused : shadow_.refused()) {
      for (const LawBreach& breach : refused.breaches) {
        terminal_.error.write(fmt::format("makeway: plan {} was refused: law {}: {}: {}\n",
                                          refused.id, breach.law, printable(breach.ask),
                                          printable(breach.text)));
      }
    }
    return !shadow_.refused().empty();
  }

  const RunWish& wish_;
  const ConfigurationDocument& document_;
  kube::LiveFeed& feed_;
  Terminal& terminal_;
  Palette palette_;
  PlanTools tools_;
  kube::LivePort port_;
  ShadowLoop shadow_;
  ShadowTotals totals_;
  InterruptWatch interrupts_;
  Time started_ = kube::monotonic_now();
  bool shows_progress_ = false;
  bool tells_missing_ = false;
  bool was_blind_ = true;
  bool has_seen_ = false;
};

}  // namespace

ExitStatus run_run(const Arguments& arguments, Terminal& terminal) {
  const Result<RunWish> wish = read_run_wish(arguments);
  if (!wish) return usage_error(wish.error().message, terminal);
  ExitStatus status = ExitStatus::done;
  const auto document = read_rules(arguments, terminal, status);
  if (!document) return status;
  std::optional<JournalOptions> journal_wish;
  if (arguments.has("journal")) {
    Result<JournalOptions> options = journal_options(arguments);
    if (!options) return usage_error(options.error().message, terminal);
    journal_wish = *std::move(options);
  }
  OpenedCluster opened = open_cluster(wish->target, terminal.kube);
  const Palette palette = palette_for_error(terminal);
  terminal.error.write(problem_lines(opened.problems, palette));
  if (opened.connection == nullptr) return ExitStatus::failed;
  const auto served = opened.connection->api().discover();
  if (!served) {
    terminal.error.write(problem_lines(Problems{served.error().problem}, palette));
    return ExitStatus::failed;
  }
  std::unique_ptr<Journal> journal;
  if (journal_wish) {
    auto begun = Journal::open(*std::move(journal_wish));
    if (!begun) {
      terminal.error.write(fmt::format("error: {}\n", printable(begun.error().message)));
      return ExitStatus::failed;
    }
    journal = *std::move(begun);
    if (!journal->file().notice().empty()) {
      terminal.error.write(fmt::format("warning: {}\n", printable(journal->file().notice())));
    }
  }
  kube::LiveFeed feed(std::move(opened.connection), *served,
                      kube::real_connection_tools().jitter_seed);
  status = ShadowRun(*wish, *document, feed, journal.get(), terminal,
                     palette_for_out(terminal, arguments.text("color")))
               .run();
  const bool is_recorded = report_journal(journal.get(), terminal, "the run");
  return is_recorded || status != ExitStatus::done ? status : ExitStatus::failed;
}

}  // namespace makeway::cli
