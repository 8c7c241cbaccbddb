#include "cli/run/shadow_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/printable.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/palette.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/run/shadow_text.hpp"
#include "cli/text.hpp"
#include "control/live_view.hpp"
#include "control/shadow_loop.hpp"
#include "kube/live_port.hpp"

namespace makeway::cli {
namespace {

constexpr Duration shadow_step_max{200};  ///< So soon Ctrl-C is heard.

/// The run itself, once everything that it needs is there.
class ShadowRun {
 public:
  ShadowRun(const RunRequest& request, const ConfigurationDocument& document, kube::LiveFeed& feed,
            LoopWatcher* watcher, Terminal& terminal, const Palette& palette)
      : request_(request),
        document_(document),
        feed_(feed),
        terminal_(terminal),
        palette_(palette),
        tools_(real_tools()),
        view_(document.configuration, {}),
        port_(feed, nullptr, &view_),
        shadow_(port_, document.configuration, tools_,
                {.scheduler = request.shadow, .preset = document.name, .watcher = watcher}) {}

  ExitStatus run() {
    while (!is_over()) {
      const std::vector<ShadowResult> results = shadow_.step(port_.now() + shadow_step_max);
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
    if (request_.count && totals_.compared() >= *request_.count) return true;
    return request_.ends_after && ran() >= *request_.ends_after;
  }
  Duration ran() const { return kube::monotonic_now() - started_; }

  void tell(const ShadowResult& result) {
    if (request_.count && totals_.compared() >= *request_.count) return;
    totals_.add(result);
    terminal_.out.write(request_.json ? shadow_json_line(result) : shadow_line(result, palette_));
    terminal_.out.flush();
  }

  /// Once all kinds were asked for: what is missing. True: no patience helps against it.
  bool tell_refusals() {
    const kube::WatchTrouble trouble = feed_.trouble();
    if (trouble == kube::WatchTrouble::none) return false;
    const bool is_permanent = trouble == kube::WatchTrouble::permanent;
    if (is_permanent || !tells_missing_) {
      erase_progress();
      tell_missing();
    }
    tells_missing_ = true;
    return is_permanent;
  }

  void tell_missing() {
    Problems problems;
    for (const kube::MissingWatch& each : feed_.missing()) problems.push_back(each.error.problem);
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
      terminal_.error.write("makeway: seen_object is lost; nothing is decided until it is back\n");
    } else if (has_seen_) {
      terminal_.error.write("makeway: seen_object is back\n");
    } else {
      has_seen_ = true;
      terminal_.error.write(
          fmt::format("makeway: watching {} on {} with {}; nothing is changed there; Ctrl-C ends "
                      "it with a summary\n",
                      shorten(request_.shadow), counted(shadow_.cluster().node_count(), "node"),
                      counted(shadow_.cluster().pod_count(), "pod")));
    }
    terminal_.error.flush();
  }

  void tell_summary() {
    const ShadowSummary summary{.scheduler = request_.shadow,
                                .preset = document_.name,
                                .ran = ran(),
                                .open = shadow_.open(),
                                .totals = totals_,
                                .statistics = shadow_.statistics()};
    terminal_.out.write(request_.json ? shadow_summary_json(summary)
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

  const RunRequest& request_;
  const ConfigurationDocument& document_;
  kube::LiveFeed& feed_;
  Terminal& terminal_;
  Palette palette_;
  PlanTools tools_;
  LiveView view_;  ///< Nobody's pods are kept from being victims: SPEC section 1.
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

ExitStatus run_shadow(const RunRequest& request, const ConfigurationDocument& document,
                      kube::LiveFeed& feed, LoopWatcher* watcher, Terminal& terminal,
                      const Palette& palette) {
  return ShadowRun(request, document, feed, watcher, terminal, palette).run();
}

}  // namespace makeway::cli
