// One simulation of one load under one configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "codec/configuration_codec.hpp"
#include "control/control_loop.hpp"
#include "journal/journal.hpp"
#include "model/cluster.hpp"
#include "sim/load.hpp"
#include "sim/sim_chronicle.hpp"
#include "sim/sim_metrics.hpp"
#include "sim/sim_world.hpp"

namespace makeway::cli {

struct SimulateSettings {
  SimOptions options;
  std::uint64_t judge_every = 1;
  /// Receives the cluster as the loop sees it in the end, when nothing happens any more.
  std::function<void(const Cluster&, Time)> at_rest;
  LoopWatcher* watcher = nullptr;  ///< Receives what the loop does; a journal.
  bool chronicle = false;          ///< Keeps what a report shows.
};

struct SimulateStep {
  std::uint64_t tasks_arrived = 0;
  std::uint64_t tasks = 0;
  std::uint64_t cycles = 0;
};

struct SimulateResult {
  std::string name;  ///< Of the configuration.
  SimMetrics metrics;
  LoopStatistics loop;  ///< Of all loops: a process that is killed starts a new one.
  std::vector<RefusedPlan> refused;
  std::uint64_t missed_wakeups = 0;
  bool partial = false;  ///< It was interrupted, or `until` came first.
  std::optional<SimChronicle> chronicle;
};

/// `go_on` is called with the progress, and stops it by returning false.
SimulateResult simulate(const SimLoad& load, const ConfigurationDocument& document,
                        const SimulateSettings& settings, const PlanTools& tools,
                        const std::function<bool(const SimulateStep&)>& go_on);

// The journal of a simulation: a new file, of one configuration.

/// Null: none is wanted. An error that begins with a flag is one of usage.
Result<std::unique_ptr<Journal>> open_simulate_journal(const Arguments& arguments,
                                                       std::size_t configurations);

/// What --journal, --journal-size and --journal-files say. An error is one of usage.
Result<JournalOptions> journal_options(const Arguments& arguments);

/// Reports why the journal ended early, if it did; false then. `writer` continued without it.
bool report_journal(const Journal* journal, Terminal& terminal,
                    std::string_view writer = "the simulation");

// A cluster of files, or a live one, as the start of a simulation.

struct SnapshotStart {
  std::vector<Change> objects;
  Time now;  ///< --now, or the newest time in the input.
};

/// What -f, --plane and the live flags name. None: the problem was printed, and `status` says what
/// kind it is.
std::optional<SnapshotStart> read_snapshot_start(const Arguments& arguments, Terminal& terminal,
                                                 ExitStatus& status);

/// The objects of the snapshot instead of the nodes and queues of the load, and its tasks arrive
/// from the time of the snapshot on.
void start_from(const SnapshotStart& start, Time load_start, SimLoad& load);

}  // namespace makeway::cli
