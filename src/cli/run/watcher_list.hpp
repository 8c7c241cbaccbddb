// WatcherList: several watchers of one loop, in order.
#pragma once

#include <utility>
#include <vector>

#include "control/loop_watcher.hpp"

namespace makeway::cli {

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
