// `makeway run` on the embedded cluster: the loop that schedules live clusters, on the simulator,
// whose clock runs at a chosen speed.
//
//  1. One thread: it polls the world, waits until the cluster's clock shows the time of what it got
//     (`PacedPort`), and lets the loop take and decide it. Keys and frames are attended to while
//     it waits, and between any two steps.
//  2. Before anything is shown some hours pass at once, so that the cluster is full.
//  3. With a screen it runs until the user quits, or --for is over. Without one, plain lines: a
//     line per preemption, a line with the figures every few seconds; it ends after a while.
//  4. The same load, seed and configuration give the same decisions whatever the speed; without a
//     screen also the same lines, but for how long decisions took.
//  5. Another preset is a new loop that reads everything again, like a restarted process.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/command.hpp"
#include "cli/dashboard/dashboard_start.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/lawful_plan.hpp"
#include "control/loop_watcher.hpp"
#include "kube/kubeconfig.hpp"
#include "sim/generate.hpp"

namespace makeway::cli {

// Which cluster `makeway run` serves, and the options of the embedded one.
//
//  1. A flag that only a live cluster has (--kubeconfig, --context, --shadow, --count, --dry-run,
//     --lease, --plane, --scheduler-name) means a live one, --embedded and the flags of its load
//     (--generate, --seed, --speed) the embedded one; both together are refused.
//  2. Without any of them it is the live cluster that kubectl would use (KUBECONFIG,
//     ~/.kube/config, the pod's own), even if it cannot be reached: a user with a cluster is
//     never shown another one instead.
//  3. The embedded cluster is the default only if there is no other, and a notice says so: the user
//     may have meant a real cluster, and must not take the journal for that of a real one.

// Pace: the clock of the embedded cluster, so many times as fast as ours, or standing.
//
// What the machine cannot do in time is not made up for later: a clock that is behind by more than
// a second of real time continues from where it is.

/// What + and - choose among; --speed may be any.
inline constexpr std::array<std::int64_t, 11> pace_steps = {1,   2,   5,   10,    30,   60,
                                                            120, 300, 600, 1'200, 3'600};
inline constexpr std::int64_t pace_max = 100'000;

class Pace {
 public:
  Pace(std::int64_t speed, Time ours, Time cluster)
      : speed_(speed), ours_(ours), cluster_(cluster) {}

  std::int64_t speed() const { return speed_; }
  bool is_paused() const { return is_paused_; }

  /// The cluster's time.
  Time at(Time ours) const {
    if (is_paused_) return cluster_;
    return {cluster_.ms + (ours - ours_).ms * speed_};
  }
  /// How long until the cluster's clock shows that; a paused one never does, so a while.
  Duration until(Time ours, Time cluster) const {
    constexpr Duration a_while{1'000};
    if (is_paused_) return a_while;
    return {std::max<std::int64_t>(0, ((cluster - at(ours)).ms + speed_ - 1) / speed_)};
  }

  void pause(Time ours, bool paused) {
    anchor(ours, at(ours));
    is_paused_ = paused;
  }
  void faster(Time ours) {
    anchor(ours, at(ours));
    const auto* const next = std::ranges::upper_bound(pace_steps, speed_);
    if (next != pace_steps.end()) speed_ = *next;
  }
  void slower(Time ours) {
    anchor(ours, at(ours));
    const auto* const next = std::ranges::lower_bound(pace_steps, speed_);
    if (next != pace_steps.begin()) speed_ = *(next - 1);
  }
  /// The cluster has only come to this time.
  void drop_lag(Time ours, Time cluster) {
    constexpr std::int64_t behind_max_ms = 1'000;
    if ((at(ours) - cluster).ms > behind_max_ms * speed_) anchor(ours, cluster);
  }
  /// The cluster did not wait for its clock.
  void jump(Time ours, Time cluster) { anchor(ours, std::max(cluster, at(ours))); }

 private:
  void anchor(Time ours, Time cluster) {
    ours_ = ours;
    cluster_ = cluster;
  }

  std::int64_t speed_;
  Time ours_;     ///< At this time of ours
  Time cluster_;  ///< the cluster's clock showed this one.
  bool is_paused_ = false;
};

struct EmbeddedOptions {
  GenerateOptions load;
  std::uint64_t seed = 1;
  std::int64_t speed = 60;
  std::optional<Duration> ends_after;
  ListenOptions listen;
  std::string journal;  ///< Where it is written; empty: nowhere.
  bool json = false;
};

/// Rules 1 to 3. An error is one of usage.
Result<bool> wants_embedded(const Arguments& arguments, const kube::KubeEnvironment& environment);

/// Rule 3, in one line; empty: a flag asks for the embedded cluster.
std::string embedded_notice(const Arguments& arguments);

/// An error is one of usage.
Result<EmbeddedOptions> read_embedded_options(const Arguments& arguments);

/// A load whose unnamed parts are as in the standard one; exposed for tests.
Result<GenerateOptions> embedded_load(std::string_view text);

/// A clock of ours that never goes back, and sleep; tests have their own.
struct EmbeddedClock {
  std::function<Time()> now;
  std::function<void(Duration)> sleep;
};
EmbeddedClock real_clock();

struct EmbeddedParts {
  EmbeddedOptions options;
  ConfigurationDocument document;
  LoopWatcher* journal = nullptr;  ///< Null: there is none.
  PlanTools tools;
  EmbeddedClock clock;
  Palette palette{false};  ///< Of standard output.
};

ExitStatus run_embedded_cluster(EmbeddedParts parts, Terminal& terminal);

/// The part of the command: reads flags and rules, opens the journal.
ExitStatus run_embedded(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
