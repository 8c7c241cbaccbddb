// DecisionLog: logs what the loop decides, for which ask and why, and what the cluster refused.
//
// A cycle with actions or changed answers is one line with counts. An ask is logged when it has
// another outcome, place, victim or cause than the last time: the rest of its reason (how much is
// missing, on how many nodes) changes with every pod that comes or goes, and is in its condition
// and in the journal. What a brake refuses is logged once until the brake is over, and so is an ask
// that cannot be decided at all. Each victim is logged with its cause. A plan that broke a law
// leaves a reproducer (cli/plan/plan_maker.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/loop_watcher.hpp"

namespace makeway::cli {

// RunLog: one line an event, for people and machines.
//
//   time=2026-11-17T14:00:00Z level=info event=bind plan=0123456789abcdef ask="Pod shop/web"
//   node=n1
//   {"time":"2026-11-17T14:00:00Z","level":"info","event":"bind","plan":"0123456789abcdef",...}
//
// Untrusted text is escaped (base/printable.hpp). One thread writes.

enum class LogLevel : std::uint8_t { info, warning, error };

/// JSON distinguishes texts and numbers.
using LogValue = std::variant<std::string, std::int64_t>;
using LogField = std::pair<std::string_view, LogValue>;

/// With its line feed.
std::string log_line(bool json, Time now, LogLevel level, std::string_view event,
                     const std::vector<LogField>& fields);

class RunLog {
 public:
  RunLog(TextSink& sink, bool json, std::function<Time()> now)
      : sink_(sink), json_(json), now_(std::move(now)) {}

  /// Fields whose text is empty are left out.
  void write(LogLevel level, std::string_view event, const std::vector<LogField>& fields = {}) {
    sink_.write(log_line(json_, now_(), level, event, fields));
    sink_.flush();
  }

 private:
  TextSink& sink_;
  bool json_;
  std::function<Time()> now_;
};

class DecisionLog final : public LoopWatcher {
 public:
  /// Both outlive it.
  DecisionLog(RunLog& log, const ConfigurationDocument& document)
      : log_(log), document_(document) {}

  void start(const LoopStart& /*start*/) override {}
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;
  void ends(const Plan& plan) override;
  /// A plan broke a law, or an ask could not be decided.
  bool has_seen_bug() const { return has_seen_bug_; }

 private:
  /// Whether it was logged.
  bool log_ask(const Plan& plan, const PlanAsk& ask);
  void log_counts(const Plan& plan, bool has_changes);
  void log_undecided(const MadeCycle& cycle);
  void log_bug(const MadeCycle& cycle, const Cluster& cluster);
  void forget(const Change& change);
  bool is_logged(const Receipt& receipt, Time now);

  RunLog& log_;
  const ConfigurationDocument& document_;
  std::map<AskName, std::string> last_answers_;   ///< The last answer of each pending ask.
  std::map<std::string, std::string> undecided_;  ///< Asks without a decision, and why.
  /// By object and ask: until when a brake holds.
  std::map<std::pair<ObjectRef, std::optional<ObjectRef>>, Time> braked_;
  BugFiles bug_files_;
  bool has_seen_bug_ = false;
};

// WatcherList: several watchers of one loop, in order.

class WatcherList final : public LoopWatcher {
 public:
  /// They outlive it.
  explicit WatcherList(std::vector<LoopWatcher*> watchers) : watchers_(std::move(watchers)) {}
  /// Before the loop starts.
  void add(LoopWatcher& watcher) { watchers_.push_back(&watcher); }

  void start(const LoopStart& start) override {
    for (LoopWatcher* const watcher : watchers_) watcher->start(start);
  }
  void batch(const AppliedBatch& batch, const Cluster& cluster) override {
    for (LoopWatcher* const watcher : watchers_) watcher->batch(batch, cluster);
  }
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override {
    for (LoopWatcher* const watcher : watchers_) watcher->cycle(cycle, cluster);
  }
  void ends(const Plan& plan) override {
    for (LoopWatcher* const watcher : watchers_) watcher->ends(plan);
  }

 private:
  std::vector<LoopWatcher*> watchers_;
};

}  // namespace makeway::cli
