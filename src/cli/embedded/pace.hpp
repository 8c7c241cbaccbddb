// Pace: the clock of the embedded cluster, so many times as fast as ours, or standing.
//
// What the machine cannot do in time is not made up for later: a clock that is behind by more than
// a second of real time continues from where it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/time.hpp"

namespace makeway::cli {

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
  void forgive(Time ours, Time cluster) {
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

}  // namespace makeway::cli
