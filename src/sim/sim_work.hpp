// SimWork: what works in the simulated world, since when, and what of it is saved.
//
// A runner is what works as one: a pod of a job, a gang, a session. It works while at least as many
// of its pods run as it needs. An interrupted runner loses what it did since its last checkpoint;
// services and daemons lose nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/sim_state.hpp"

namespace makeway {

using RunnerId = std::uint32_t;
using SimPodId = std::uint32_t;
inline constexpr std::uint32_t no_task = 0xFFFFFFFFU;

struct Runner {
  std::uint32_t task = no_task;  ///< None: a pod that was there from the start.
  std::int64_t left_ms = 0;
  std::int64_t need = 1;     ///< Pods that must run so that it works.
  std::int64_t running = 0;  ///< Bound and not leaving.
  std::optional<Time> works_since;
  std::uint32_t works = 0;     ///< How often it started to work, or stopped.
  std::uint32_t life = 0;      ///< Counts the runners that had this place in the table.
  std::vector<SimPodId> pods;  ///< That are there.
  std::size_t record = 0;
};

/// Why a runner stops working.
struct WorkStop {
  bool saved = false;      ///< Nothing of it is lost.
  bool preempted = false;  ///< It was evicted.
};

class SimWork {
 public:
  explicit SimWork(SimState& state) : state_(state) {}

  RunnerId add(std::uint32_t task, std::int64_t need, std::int64_t pods);
  Runner& operator[](RunnerId id) { return runners_[id]; }
  const SimTask& task_of(const Runner& runner) const { return state_.load.tasks[runner.task]; }
  void free(RunnerId id) { free_.push_back(id); }

  void start(RunnerId id);
  void stop(RunnerId id, WorkStop how);
  /// It has done everything. Nothing that was expected of it happens any more.
  void end(RunnerId id);
  /// Counts what still runs as if it were saved now.
  void stop_all();
  /// Runs that have not ended; daemons run for ever and do not count.
  std::int64_t unfinished() const { return unfinished_; }

 private:
  SimState& state_;
  std::vector<Runner> runners_;
  std::vector<RunnerId> free_;
  std::int64_t unfinished_ = 0;
};

}  // namespace makeway
