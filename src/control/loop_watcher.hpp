// LoopWatcher: receives all that a decision of the loop depends on, and the decision itself.
//
// What it gets is enough to decide again: the rules at the start, then every batch as the
// cluster took it, then each cycle with what was due and what came out. A cycle comes before its
// plan is submitted, so that a record of it is never younger than its effects. The watcher changes
// nothing, and the loop does not wait for an answer: a slow watcher loses records, not the
// scheduler.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "control/lawful_plan.hpp"
#include "control/port.hpp"

namespace makeway {

/// The rules; they outlive the watcher's call only.
struct LoopStart {
  const Configuration& configuration;
  std::string_view preset;
  bool carries_out = true;  ///< False: plans are only made (shadow, --dry-run).
};

/// What the cluster took in at once; `changes` before `effects`, each in order.
struct AppliedBatch {
  Time now;
  std::span<const Change> changes;  ///< As the port showed them, with what is in flight over them.
  std::span<const Change> effects;  ///< Of our own actions, which came into flight or out of it.
  std::span<const Receipt> receipts;
};

/// One cycle in which an ask was due.
struct MadeCycle {
  Time now;
  std::span<const AskName> due;
  bool judged = true;
  const LawfulPlan& made;  ///< With the plans that the judge refused on the way.
};

class LoopWatcher {
 public:
  LoopWatcher() = default;
  LoopWatcher(const LoopWatcher&) = delete;
  LoopWatcher& operator=(const LoopWatcher&) = delete;
  LoopWatcher(LoopWatcher&&) = delete;
  LoopWatcher& operator=(LoopWatcher&&) = delete;
  virtual ~LoopWatcher() = default;

  virtual void start(const LoopStart& start) = 0;
  /// The cluster has taken it.
  virtual void batch(const AppliedBatch& batch, const Cluster& cluster) = 0;
  /// The cluster is what the plan was decided on.
  virtual void cycle(const MadeCycle& cycle, const Cluster& cluster) = 0;
  /// A plan that no policy decided: what stands only in part ends (interrupted_gangs.hpp).
  virtual void ends(const Plan& /*plan*/) {}
};

}  // namespace makeway
