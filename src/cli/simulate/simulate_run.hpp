// One simulation of one load under one configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "codec/configuration_codec.hpp"
#include "control/control_loop.hpp"
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

}  // namespace makeway::cli
