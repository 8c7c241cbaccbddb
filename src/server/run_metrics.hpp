// RunMetrics: what the loop does, counted for Prometheus.
//
// Where a figure means what kube-scheduler's means it has kube-scheduler's name (scheduler_*), so
// that its dashboards work; ours are makeway_*. docs/kubernetes.md has the table. No label names an
// object: the values are results, queues and the names of our schedulers.
//
// The loop's thread writes, any thread may ask for the text. The one place that knows
// prometheus-cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/loop_watcher.hpp"

namespace makeway::server {

/// What the loop's watcher cannot see. Counts only grow.
struct RunFigures {
  std::size_t nodes = 0;
  std::size_t pods = 0;
  std::size_t asks_pending = 0;
  std::size_t unsent = 0;
  std::size_t assumed = 0;
  bool leads = false;
  bool sees = false;
  std::uint64_t writes_sent = 0;
  std::uint64_t writes_refused = 0;
  std::uint64_t writes_repeated = 0;
  std::uint64_t writes_unknown = 0;
  std::uint64_t events_dropped = 0;
  std::uint64_t lists = 0;
  std::uint64_t watch_failures = 0;
  std::uint64_t objects_refused = 0;
  std::uint64_t missed_wakeups = 0;
  std::uint64_t kubelet_refusals = 0;
  std::uint64_t brake_alarms = 0;
  std::uint64_t left_behind = 0;
  std::uint64_t marks_not_honoured = 0;
};

class RunMetrics final : public LoopWatcher {
 public:
  enum class Ours : std::uint8_t {
    by_name,  ///< Pods of these schedulers.
    all,      ///< Every pod, as in a cluster of our own.
  };
  /// `schedulers`: the values of `profile`.
  explicit RunMetrics(std::vector<std::string> schedulers, Ours ours = Ours::by_name);
  ~RunMetrics() override;

  void start(const LoopStart& /*start*/) override {}
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;
  void note(const RunFigures& figures);

  /// Prometheus' text format.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace makeway::server
