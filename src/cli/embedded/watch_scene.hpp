// SceneWatcher: observes a loop and keeps what the screen shows of it.
//
// Waiting asks (control/waiting_asks.hpp), the last victims (control/preemption_report.hpp),
// and how long decisions took. What the cluster itself shows is read off it when a scene is made.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/embedded/scene.hpp"
#include "control/loop_watcher.hpp"
#include "control/preemption_report.hpp"
#include "control/waiting_asks.hpp"

namespace makeway::cli {

class SceneWatcher final : public LoopWatcher {
 public:
  /// `preempted` is called with each as it is decided.
  explicit SceneWatcher(std::function<void(const ScenePreemption&)> preempted)
      : preempted_(std::move(preempted)) {}

  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& /*batch*/, const Cluster& /*cluster*/) override {}
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  /// Counts from here on; the last preemptions stay.
  void begin_counting();
  /// Nodes, asks, preemptions, counters and priorities; bars are of `resource`. Drops answers of
  /// asks that are not pending any more.
  Scene scene(const Cluster& cluster, std::string_view resource, Time now);

 private:
  void note_actions(const Plan& plan, Time now);
  std::vector<SceneNode> nodes_of(const Cluster& cluster, std::string_view resource);
  std::string why_of(const WaitingAsk& ask) const;
  std::vector<SceneAsk> asks_of(const Cluster& cluster, Time now);

  std::function<void(const ScenePreemption&)> preempted_;
  Configuration configuration_;
  WaitingAsks waiting_;
  std::deque<ScenePreemption> preemptions_;  ///< Newest first.
  std::deque<std::int64_t> decide_us_;
  std::set<std::int32_t, std::greater<>> priorities_;
  std::uint64_t preemption_count_ = 0;
  std::uint64_t start_count_ = 0;
};

}  // namespace makeway::cli
