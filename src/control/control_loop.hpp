// ControlLoop: poll, decide, judge, contain, submit, over a port (DESIGN: Control).
//
//   ControlLoop loop(port, document.configuration, tools, {});
//   while (loop.step()) {}
//
// The loop holds the cluster as the port shows it, with the writes whose effects are not shown yet
// laid over it (in_flight.hpp), and sources that say which asks are due (ask_source.hpp). A step
// takes what has changed, decides all due asks in one cycle, and hands the plan to the port.
// Nothing is decided without a due ask, or while the port is blind. What must survive between
// cycles is an object of the cluster; the backlog only saves work, and losing it costs time only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/ask_source.hpp"
#include "control/backlog.hpp"
#include "control/in_flight.hpp"
#include "control/interrupted_gangs.hpp"
#include "control/lawful_plan.hpp"
#include "control/loop_watcher.hpp"
#include "control/own_kind_asks.hpp"
#include "control/port.hpp"
#include "control/queue_turn.hpp"
#include "model/cluster_compaction.hpp"

namespace makeway {

struct LoopOptions {
  std::string preset;
  /// Every so many cycles the judge sees the plan; 1: all of them, 0: none. Anything but 1 is for
  /// the simulator.
  std::uint64_t judge_every = 1;
  Duration poll_max{60'000};  ///< At least so often the port is asked.
  /// When the port says that nothing will happen any more, a time further away is not waited for:
  /// "never" is ten years in some presets.
  Duration patience{2'592'000'000};
  /// Every step decides, about all pending asks, due or not; the deadline of a poll is now.
  /// For tests that look at each cycle.
  bool every_ask = false;
  BacklogOptions backlog;
  /// A store that remembers so many texts and rows more than twice as many as it had is made anew,
  /// so many objects a step.
  std::size_t garbage_min = 200'000;
  std::size_t copied_at_once = 1'000;
  /// The queue stage has turns of its own (queue_turn.hpp): users look at the queues. Not needed
  /// in a simulation.
  bool queue_turns = false;
  Duration queue_pace{1'000};
  /// What a process before us has begun is finished first (interrupted_gangs.hpp).
  bool finishes_begun = false;
  bool carries_out = true;         ///< False: the port does nothing with the plans (--dry-run).
  LoopWatcher* watcher = nullptr;  ///< Notified of every batch and cycle; outlives the loop.
};

struct LoopStatistics {
  std::uint64_t cycles = 0;  ///< In which something was decided.
  std::uint64_t asks = 0;
  std::uint64_t judged = 0;
  std::uint64_t refused = 0;   ///< Plans that the judge refused.
  std::uint64_t left_out = 0;  ///< Asks.
  std::uint64_t receipts = 0;  ///< Actions that the world refused.
  std::uint64_t compactions = 0;
  std::uint64_t rollbacks = 0;  ///< Plans that delete members of half bound or half left gangs.
  std::int64_t decide_us = 0;
  std::int64_t check_us = 0;
};

class ControlLoop {
 public:
  /// Configuration and tools outlive it.
  ControlLoop(Port& port, const Configuration& configuration, const PlanTools& tools,
              LoopOptions options)
      : port_(port),
        configuration_(configuration),
        tools_(tools),
        options_(std::move(options)),
        backlog_(options_.backlog),
        schedules_(AskKind::replica_schedule, configuration),
        sessions_(AskKind::session, configuration),
        queue_turn_(options_.queue_turns && configuration.queue.enabled, options_.queue_pace),
        interrupted_binds_(configuration.live),
        interrupted_evictions_(configuration.engine.leave_timeout) {
    if (options_.watcher != nullptr) {
      options_.watcher->start({.configuration = configuration_,
                               .preset = options_.preset,
                               .carries_out = options_.carries_out});
    }
  }

  /// False: nothing will happen any more.
  bool step();

  const Cluster& cluster() const { return cluster_; }
  const Backlog& backlog() const { return backlog_; }
  const InFlight& in_flight() const { return in_flight_; }
  const LoopStatistics& statistics() const { return statistics_; }
  /// Plans that broke a law, with what the judge said; for the caller to report.
  const std::vector<RefusedPlan>& refused() const { return refused_; }
  /// For a caller that has reported them and runs for months.
  void forget_refused() { refused_.clear(); }

 private:
  void take(const Batch& batch);
  void apply(const std::vector<Change>& changes, QueueTurn::By by);
  void compact();
  struct Source {
    AskKind kind;
    AskSource& asks;
  };
  /// In the order in which they are asked.
  std::array<Source, 4> sources() {
    return {{{AskKind::pod, backlog_},
             {AskKind::replica_schedule, schedules_},
             {AskKind::session, sessions_},
             {AskKind::queue, queue_turn_}}};
  }
  std::vector<AskName> take_due();
  Time poll_until();
  /// See AskSource.
  std::optional<Time> next_due(bool retries);
  /// Until then nothing of that kind is decided: what was sent about it is not seen yet.
  std::optional<Time> held_until(AskKind kind) const;
  /// The answer about an ask may change within the time that is worth waiting for.
  bool expects();
  void decide(Time now, const std::vector<AskName>& due);
  void not_decided(const AskName& ask);
  void submit(const Plan& plan);
  void roll_back();
  void finish_begun();
  void submit_own(Plan plan);

  Port& port_;
  const Configuration& configuration_;
  const PlanTools& tools_;
  LoopOptions options_;
  Cluster cluster_;
  Backlog backlog_;
  OwnKindAsks schedules_;
  OwnKindAsks sessions_;
  QueueTurn queue_turn_;
  InFlight in_flight_;
  InterruptedGangBinds interrupted_binds_;
  InterruptedGangEvictions interrupted_evictions_;
  bool was_shown_ = false;  ///< The cluster was shown.
  std::optional<ClusterCompaction> compaction_;
  std::size_t interned_before_ = 0;  ///< After the last compaction.
  LoopStatistics statistics_;
  std::vector<RefusedPlan> refused_;
  std::string hash_;  ///< Of the configuration.
  Time now_;
  bool blind_ = false;  ///< The last batch was.
};

}  // namespace makeway
