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
// The histories of single kinds (history, fleet_history, session_history) know more laws over time;
// this one is about kinds that meet, and about hostile worlds of every kind (hostility.hpp). With a
// Hostility it also complains when others have to leave twice for the same ask without a cause
// (eviction_ledger.hpp), when the same cluster decided once more makes others leave for an ask that
// has just been served, and when replicas are lost or made up by carrying out a plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "support/eviction_ledger.hpp"
#include "support/hostility.hpp"

namespace makeway {

struct MixedHistoryOptions {
  std::uint64_t seed = 1;
  Duration step_max{30'000};
  std::int64_t grace_max_s = 30;
  std::int64_t late_max_s = 0;      ///< How long after its grace somebody may still be there.
  std::uint64_t stuck_percent = 0;  ///< Of those who leave: they never do.
  bool happenings = false;          ///< Pods and sessions finish, nodes are cordoned, ...
  bool recreate = false;            ///< Controllers submit their pods that are gone once more.
  Hostility* hostility = nullptr;   ///< Outlives the history; null: the world is a friendly one.
};

class MixedHistory {
 public:
  MixedHistory(Cluster cluster, Configuration configuration, Time now, MixedHistoryOptions options);
  // The ledger refers to the configuration.
  MixedHistory(const MixedHistory&) = delete;
  MixedHistory& operator=(const MixedHistory&) = delete;
  MixedHistory(MixedHistory&&) = delete;
  MixedHistory& operator=(MixedHistory&&) = delete;
  ~MixedHistory() = default;

  /// One cycle, and time until the next one.
  const Plan& step();
  /// From now on nothing else happens, and cycles are minutes apart. Of those who would not leave
  /// some do, and some stay for ever.
  void calm();

  /// Whether the last plan asked the world for anything that changes it: waiting, and nominations
  /// and reservations that stand already, do not.
  bool acted() const { return acted_; }
  /// With a Hostility, once cycles are minutes apart: whether the last step, with the time that
  /// passed, has left every object as it was.
  bool still() const { return still_; }
  /// At rest: who is neither placed nor told why not, and who leaves and could be gone.
  std::vector<std::string> unaccounted() const;
  const EvictionLedger& ledger() const { return ledger_; }
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;
  /// How often something was done, by action.
  const std::map<ActionType, std::uint64_t>& done() const { return done_; }

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.

  /// One write to the world.
  struct Effect {
    bool relied_on = false;  ///< Statuses and nominations: on the server before all others.
    std::string ask;         ///< "Pod default/urgent"; empty: it is about everybody.
    /// Where it happens first, then where whom it is about is nominated so far.
    std::vector<std::string> nodes;
    bool makes_leave = false;
    std::function<void()> act;
  };

  void carry_out(const Plan& plan);
  void clear_nominations(const Plan& plan);
  std::vector<Effect> effects_of(const Plan& plan);
  void add_session_effects(const Plan& plan, std::vector<Effect>& effects);
  std::size_t crash_halfway(std::vector<Effect>& effects);
  std::size_t mistake_victim(const Plan& plan, std::vector<Effect>& effects);
  void drop(const Effect& effect);
  void decide_once_more(const Plan& plan);
  bool has_queues() const;
  bool places_outside(const Plan& plan) const;
  bool may_scale_in_vain(const PlanAsk& ask) const;
  void note(const HostileWorld& world);
  void take_room(const std::string& node, const Amounts& room);
  bool is_stuck(const Pod& pod);
  void stay_for_ever(Pod pod);
  void recreate(const Pod& gone);
  bool is_claimed(const Pod& pod) const;
  void choose_claimed(std::vector<Pod>& running);
  std::map<Key, std::int64_t> replica_totals() const;
  void judge_pending(std::vector<std::string>& complaints) const;
  void judge_asks(std::vector<std::string>& complaints) const;
  void judge_sessions(std::vector<std::string>& complaints) const;
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
  bool still_ = false;
  EvictionLedger ledger_;
  std::set<Key> finalizers_;  ///< Of those who stay: force-deletion does not help either.
  std::set<Key> stuck_sessions_;
  std::string last_world_;  ///< Before the last cycle.
  std::uint64_t calm_cycles_ = 0;
  std::uint64_t made_ = 0;                   ///< Pods that controllers made.
  std::map<Key, std::optional<Time>> gone_;  ///< When who leaves is gone; none: never.
  std::map<ActionType, std::uint64_t> done_;
  std::vector<std::string> complaints_;
  std::vector<std::string> story_;
};

}  // namespace makeway
