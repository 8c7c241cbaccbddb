// SessionHistory: sessions over time on a virtual clock, driven by plans.
//
//   SessionHistory history(random, options, configuration);
//   for (int cycle = 0; cycle < 10; ++cycle) history.step();
//   history.calm(40);   // nothing else happens any more
//   history.complaints();
//
// A cycle decides, shows the plan to the judge, and carries out its actions. Then time passes:
// sessions whose grace time is over leave, now and then late. `step` also lets sessions end, come,
// and be resumed by their people.
//
// Complaints are plans that break a law, and what SPEC section 6 promises over time: nobody is
// forgotten, exempt times and `maxPreemptions` are kept, whoever is off the queue stays off it
// until its back-off has passed, and nobody's configuration changes while it is preempted and comes
// back.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.hpp"
#include "model/session_lifecycle.hpp"
#include "support/random_sessions.hpp"

namespace makeway {

class SessionHistory {
 public:
  SessionHistory(Prng& random, const RandomSessions& options, Configuration configuration);

  void step();
  /// So many cycles in which nothing else happens, five minutes apart.
  void calm(std::size_t cycles);

  const Cluster& cluster() const { return cluster_; }
  std::int64_t evictions() const { return evictions_; }
  std::int64_t resumed() const { return resumed_; }
  /// The last calm cycle, counted from 1, in which somebody had to leave; 0: none.
  std::size_t last_calm_eviction() const { return last_calm_eviction_; }
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;

 private:
  using Key = ObjectKey;

  void cycle();
  void pass(Duration duration, bool late);
  void disturb();
  void carry_out(const Plan& plan);
  void carry_out_victims(const PlanAsk& ask, std::map<Key, Session>& changed);
  void judge_victim(const PlanAsk& ask, const Session& victim);
  void judge_asks(const Plan& plan);
  void judge_states();
  void keep(const Session& session);
  void complain(const std::string& text);
  std::vector<Session> sessions() const;

  Prng& random_;
  RandomSessions options_;
  Configuration configuration_;
  Cluster cluster_;
  Time now_ = planning_now;
  std::map<Key, Session> first_seen_;   ///< As it came.
  std::map<Key, std::string> ended_;    ///< Why.
  std::map<Key, Time> off_queue_till_;  ///< Of sessions that were preempted and requeue.
  std::size_t arrived_ = 0;
  std::int64_t evictions_ = 0;
  std::int64_t resumed_ = 0;
  std::size_t last_calm_eviction_ = 0;
  std::vector<std::string> complaints_;
  std::vector<std::string> story_;
};

}  // namespace makeway
