// SessionHistory: sessions over time in the simulated world.
//
//   SessionHistory history(random, options, configuration);
//   for (int cycle = 0; cycle < 10; ++cycle) history.step();
//   history.calm(40);   // nothing else happens any more
//   history.complaints();
//
// The world is that of src/sim, the loop that of src/control, which decides about every session in
// each cycle; this watches it. Sessions whose grace time is over leave, now and then late. `step`
// also lets sessions end, come, and be resumed by their users. In an adversarial world some kernels
// never leave, users resume suspended sessions, too, and nodes change their group.
//
// Complaints are plans that break a law, actions that the world refuses, and what SPEC section 6
// promises over time: no session is forgotten, exempt times and `maxPreemptions` are kept, a
// session that is off the queue stays off it until its back-off has passed, no configuration
// changes while its session is preempted and comes back, and what the world does with a plan is
// what `sessions_after` says. At rest (nothing leaves, starts or was decided in the last cycles) no
// pending session would fit in room of its group that is free (law 15).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/control_loop.hpp"
#include "model/plan.hpp"
#include "model/session_lifecycle.hpp"
#include "sim/sim_world.hpp"
#include "support/random_sessions.hpp"

namespace makeway {

class SessionHistory final : private LoopWatcher {
 public:
  enum class World : bool { friendly, adversarial };

  SessionHistory(Prng& random, const RandomSessions& options, Configuration configuration,
                 World world = World::friendly);

  void step();
  /// So many cycles in which nothing else happens, five minutes apart.
  void calm(std::size_t cycles);

  std::int64_t evictions() const { return evictions_; }
  std::int64_t resumed() const { return resumed_; }
  /// The last calm cycle, counted from 1, in which a session was preempted; 0: none.
  std::size_t last_calm_eviction() const { return last_calm_eviction_; }
  /// The same for sessions that start.
  std::size_t last_calm_start() const { return last_calm_start_; }
  std::int64_t moved_nodes() const { return moved_nodes_; }
  /// After the calm cycles: how many pending sessions law 15 was asked about. Nothing: a session is
  /// still leaving, so the world is not at rest.
  std::optional<std::int64_t> judge_rest();
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;

 private:
  using Key = ObjectKey;

  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  SimOptions sim_options();
  void decide();
  void disturb();
  void move_node();
  void judge_asks(const Plan& plan);
  void note_outcome(const PlanAsk& ask, const Cluster& cluster);
  void judge_victim(const PlanAsk& ask, const PlanSessionVictim& victim, const Cluster& cluster);
  void judge_states();
  void keep(const Session& session);
  void complain(const std::string& text);
  std::vector<Session> sessions() const;
  Time now() const { return world_.now(); }

  Prng& random_;
  RandomSessions options_;
  Configuration configuration_;
  SimLoad load_;
  PlanTools tools_;
  World kind_;
  bool calm_ = false;
  std::map<Key, Session> first_seen_;   ///< As it came.
  std::map<Key, Session> expected_;     ///< After the last plan.
  std::map<Key, std::string> ended_;    ///< Why.
  std::map<Key, Time> off_queue_till_;  ///< Of sessions that were preempted and requeue.
  std::size_t arrived_ = 0;
  std::int64_t evictions_ = 0;
  std::int64_t resumed_ = 0;
  std::int64_t starts_ = 0;
  std::int64_t moved_nodes_ = 0;
  std::size_t last_calm_eviction_ = 0;
  std::size_t last_calm_start_ = 0;
  std::vector<std::string> complaints_;
  std::vector<std::string> story_;
  SimWorld world_;
  ControlLoop loop_;
};

}  // namespace makeway
