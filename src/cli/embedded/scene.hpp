// Scene: what is shown of a cluster that is being scheduled, as plain values.
//
// `watch_scene` and the driver of the loop fill it; `draw_scene` (draw_scene.hpp) makes a frame of
// it. Names are untrusted text; drawing escapes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

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

}  // namespace makeway::cli
