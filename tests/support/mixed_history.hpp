// MixedHistory: a random world over many cycles on a virtual clock, driven by plans.
//
//   MixedHistory history(cluster_of(item.objects), *load_preset(item.preset), {.seed = seed});
//   for (int cycle = 0; cycle < 10 && history.complaints().empty(); ++cycle) history.step();
//
// A cycle decides, shows the plan to the judge and carries it out: binds, nominations, evictions
// with a grace period, statuses of queues and schedules, scale-ups and scale-downs, sessions that
// start and leave. Then time passes: who leaves is gone after its grace, later, or never; the
// controllers of deployments remove and add replicas, and Kubernetes places them.
//
// A complaint is a plan that breaks a law, or input that no longer holds together after a plan was
// carried out. Such a plan is not carried out.
//
// The histories of single kinds (history, fleet_world, session_history) know more laws over time;
// this one is about kinds that meet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

struct MixedHistoryOptions {
  std::uint64_t seed = 1;
  Duration step_max{30'000};
  std::int64_t grace_max_s = 30;
  std::int64_t late_max_s = 0;      ///< How long after its grace somebody may still be there.
  std::uint64_t stuck_percent = 0;  ///< Of those who leave: they never do.
  bool happenings = false;          ///< Pods and sessions finish, nodes are cordoned, ...
};

class MixedHistory {
 public:
  MixedHistory(Cluster cluster, Configuration configuration, Time now, MixedHistoryOptions options);

  /// One cycle, and time until the next one.
  const Plan& step();
  /// From now on nothing else happens, and cycles are minutes apart.
  void calm() { calm_ = true; }

  /// Whether the last plan asked the world for anything that changes it: waiting, and nominations
  /// and reservations that stand already, do not.
  bool acted() const { return acted_; }
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;
  /// How often something was done, by action.
  const std::map<ActionType, std::uint64_t>& done() const { return done_; }

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.

  void carry_out(const Plan& plan);
  void act(const PlanAction& action);
  void scale(const PlanAction& action);
  void leave(Pod pod);
  void pass();
  void let_pods_go();
  void let_sessions_go();
  void control_replicas();
  void place(const ReplicaSchedule& schedule, const std::string& plane);
  void something_happens();
  void expect_sound();
  std::vector<Pod> pods() const;
  std::vector<Pod> replicas(const ReplicaSchedule& schedule, const std::string& plane) const;
  std::string plane_of(const Pod& pod) const;
  std::optional<Pod> find(const PlanAction& action) const;
  void tell(std::string line);

  Cluster cluster_;
  Configuration configuration_;
  Time now_;
  MixedHistoryOptions options_;
  Prng random_;
  Plan plan_;
  bool calm_ = false;
  bool acted_ = false;
  std::uint64_t made_ = 0;                   ///< Pods that controllers made.
  std::map<Key, std::optional<Time>> gone_;  ///< When who leaves is gone; none: never.
  std::map<ActionType, std::uint64_t> done_;
  std::vector<std::string> complaints_;
  std::vector<std::string> story_;
};

}  // namespace makeway
