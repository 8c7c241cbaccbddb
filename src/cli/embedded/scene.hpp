// Scene: what is shown of a cluster that is being scheduled, as plain values.
//
// `watch_scene` and the driver of the loop fill it; `draw_scene` makes a frame of
// it. Names are untrusted text; drawing escapes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "cli/terminal.hpp"
#include "control/loop_watcher.hpp"
#include "control/preemption_report.hpp"
#include "control/waiting_asks.hpp"

namespace makeway::cli {

/// What pods of one priority hold.
struct SceneShare {
  std::int32_t priority = 0;
  std::int64_t amount = 0;

  friend bool operator==(const SceneShare&, const SceneShare&) = default;
};

struct SceneNode {
  std::string name;
  std::int64_t room = 0;
  std::vector<SceneShare> used;  ///< Highest priority first; without leaving pods.
  std::int64_t leaving = 0;
  std::size_t pods = 0;

  friend bool operator==(const SceneNode&, const SceneNode&) = default;
};

/// A pending ask.
struct SceneAsk {
  std::string name;  ///< "PodGroup default/training"
  std::int32_t priority = 0;
  std::size_t pods = 1;  ///< That are pending.
  Duration waiting;
  std::string why;  ///< What it waits for.

  friend bool operator==(const SceneAsk&, const SceneAsk&) = default;
};

struct ScenePreemption {
  Time when;
  std::string victim;  ///< "default/task-1"
  std::int32_t priority = 0;
  std::string node;
  std::string ask;  ///< The preemptor: "Pod default/urgent".
  std::string reason;
  std::string alternative;  ///< Where else it could have gone, and on what that lost.

  friend bool operator==(const ScenePreemption&, const ScenePreemption&) = default;
};

struct SceneCounters {
  std::size_t pods_running = 0;
  std::size_t pods_waiting = 0;
  std::uint64_t pods_started = 0;  ///< Bound since the beginning.
  std::uint64_t preemptions = 0;   ///< Since the beginning, too.
  std::int64_t decide_p50_us = 0;  ///< Of the last thousand decisions.
  std::int64_t decide_p99_us = 0;

  friend bool operator==(const SceneCounters&, const SceneCounters&) = default;
};

struct Scene {
  std::string served;  ///< "8 nodes, generated, seed 1"
  std::string preset;
  std::string page;  ///< Where figures are served; empty: nowhere.
  Time now;
  std::int64_t speed = 1;
  bool is_paused = false;
  std::string resource;                  ///< What bars are drawn of: "nvidia.com/gpu".
  std::vector<std::int32_t> priorities;  ///< All that were ever seen, highest first.
  SceneCounters counters;
  std::vector<SceneNode> nodes;              ///< By name.
  std::vector<SceneAsk> asks;                ///< Highest priority first, then longest waiting.
  std::vector<ScenePreemption> preemptions;  ///< Newest first; only the last ones.
  // What the person has chosen:
  std::size_t first_node = 0;
  bool shows_help = false;
};

// SceneWatcher: observes a loop and keeps what the screen shows of it.
//
// Waiting asks (control/waiting_asks.hpp), the last victims (control/preemption_report.hpp),
// and how long decisions took. What the cluster itself shows is read off it when a scene is made.

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

// A scene as the lines of a screen.
//
//  1. Never more lines than the screen has rows, never a line wider than its columns.
//  2. Letters are priorities, A the highest; colours only repeat that, so they are not needed.
//  3. A node is a bar: what each priority holds, most important first, then what is about to be
//     free (x) and what is free (.). All nodes together are the first bar; of many nodes a part is
//     shown, and keys move it.
//  4. Everything is ASCII. What others wrote is escaped: a name can neither move the cursor nor
//     reorder a line nor take two columns where one was counted.
//
// Costs what is shown, plus one pass over the nodes.

std::vector<std::string> draw_scene(const Scene& scene, ScreenSize size, const Palette& palette);

/// How many nodes a page shows.
std::size_t nodes_shown(const Scene& scene, ScreenSize size);

/// Printable, and everything that is not ASCII escaped, too: \u4e2d.
std::string ascii_text(std::string_view text);

/// "default/task-1 leaves node-3 for Pod default/urgent": without time and cause.
std::string preemption_text(const ScenePreemption& preemption);

/// What all nodes together have of the resource, and what of it is in use, leaving included.
struct SceneUse {
  std::int64_t used = 0;
  std::int64_t room = 0;
};
SceneUse use_of(const Scene& scene);

/// "12:03:20" of the cluster's clock.
std::string clock_text(Time time);

}  // namespace makeway::cli
