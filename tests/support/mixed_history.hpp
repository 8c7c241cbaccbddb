// MixedHistory: a random world over many cycles on a virtual clock, driven by plans.
//
//   MixedHistory history(cluster_of(item.objects), *load_preset(item.preset), now, {.seed = seed});
//   for (int cycle = 0; cycle < 10 && history.complaints().empty(); ++cycle) history.step();
//
// The world is that of src/sim, behind its port; the loop is that of src/control, which decides
// about every ask in each cycle. This stands between them, and decides what the world leaves open:
// a leaving pod is gone after its grace, later, or never; controllers remove any replica, and
// Kubernetes places the next one anywhere in its plane.
//
// A complaint is a plan that breaks a law, which is not carried out, an action that the world
// refuses, or input that no longer holds together after a plan was carried out.
//
// The histories of single kinds (history, fleet_history, session_history) know more laws over time;
// this one is about kinds that meet, and about hostile worlds of every kind (hostility.hpp): what
// others do is written to the world, parts of a plan never reach it, and a process that crashed in
// between starts anew with what the world shows. With a Hostility it also complains when others
// have to leave twice for the same ask without a cause (eviction_ledger.hpp), when the same cluster
// decided once more evicts others for an ask that has just been served, and when replicas are lost
// or made up by carrying out a plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "control/control_loop.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "sim/sim_world.hpp"
#include "support/eviction_ledger.hpp"
#include "support/hostility.hpp"

namespace makeway {

struct MixedHistoryOptions {
  std::uint64_t seed = 1;
  Duration step_max{30'000};
  std::int64_t grace_max_s = 30;
  std::int64_t late_max_s = 0;      ///< How long after its grace a pod may still be there.
  std::uint64_t stuck_percent = 0;  ///< Of leaving pods: they never leave.
  bool happenings = false;          ///< Pods and sessions finish, nodes are cordoned, ...
  bool recreate = false;            ///< Controllers submit their pods that are gone once more.
  Hostility* hostility = nullptr;   ///< Outlives the history; null: the world is a friendly one.
};

class MixedHistory final : private Port, private LoopWatcher {
 public:
  MixedHistory(const Cluster& cluster, Configuration configuration, Time now,
               MixedHistoryOptions options);

  /// One cycle, and time until the next one.
  const Plan& step();
  /// From now on nothing else happens, and cycles are minutes apart. Of the stuck pods some leave,
  /// and some stay for ever.
  void calm();

  /// Whether the last plan asked the world for anything that changes it: waiting, and nominations
  /// and reservations that stand already, do not.
  bool acted() const { return acted_; }
  /// With a Hostility, once cycles are minutes apart: whether the last step, with the time that
  /// passed, has left every object as it was.
  bool still() const { return still_; }
  /// At rest: what is neither placed nor has a reason, and what leaves and could be gone.
  std::vector<std::string> unaccounted() const;
  const EvictionLedger& ledger() const { return ledger_; }
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.

  /// One write to the world: actions that go together, or a status.
  struct Effect {
    bool relied_on = false;  ///< Statuses and nominations: on the server before all others.
    std::string ask;         ///< "Pod default/urgent"; empty: it is about all asks.
    /// Where it happens first, then where its ask runs, or is nominated so far.
    std::vector<std::string> nodes;
    bool makes_leave = false;
    std::string object;                          ///< "Pod default/web", for a receipt.
    std::vector<const PlanAction*> actions;      ///< Of the plan.
    const PlanQueueStatus* queue = nullptr;      ///< Else.
    const PlanReplicaStatus* replica = nullptr;  ///< Else.
  };

  /// What a leaving pod will give up, and where.
  struct LeavingRoomOf {
    std::string node;
    Amounts room;
  };

  // Between the loop and the world.
  Batch poll(Time deadline) override;
  void submit(const Plan& plan) override;
  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  SimOptions sim_options(Time now);
  void start_loop();
  std::vector<Effect> effects_of(const Plan& plan, const Cluster& cluster) const;
  void add_session_effects(const Plan& plan, const Cluster& cluster,
                           std::vector<Effect>& effects) const;
  std::size_t crash_halfway(std::vector<Effect>& effects);
  std::size_t mistake_victim(const Plan& plan, std::vector<Effect>& effects);
  void drop(const Effect& effect);
  void hold_by_finalizers(const Plan& plan);
  void decide_once_more(const Plan& plan, const Cluster& before);
  bool has_queues(const Cluster& cluster) const;
  bool places_outside(const Plan& plan, const Cluster& cluster) const;
  bool may_scale_in_vain(const PlanAsk& ask, const Cluster& cluster) const;
  void carry_out(const HostileWorld& hostile);

  std::optional<Duration> lateness(const Pod& pod);
  std::optional<Duration> forced(const Pod& pod);
  std::optional<Duration> session_lateness(const Session& session);
  std::size_t removes(const std::vector<const Pod*>& pods);
  std::size_t removes_claimed(const std::vector<const Pod*>& pods,
                              const std::vector<std::size_t>& order);
  bool is_stuck(const Pod& pod);
  void take_room(const std::string& node, const Amounts& room);
  void pass();
  void note_new(const Cluster& before);
  void take_left_room();
  void something_happens();
  void expect_sound();

  static std::map<Key, std::int64_t> replica_totals(const Cluster& cluster);
  void judge_pending(const Cluster& cluster, std::vector<std::string>& complaints) const;
  void judge_asks(std::vector<std::string>& complaints) const;
  void judge_sessions(const Cluster& cluster, std::vector<std::string>& complaints) const;
  Time now() const { return world_.now(); }
  Cluster seen() const;
  void log(std::string line);

  SimLoad load_;
  Configuration configuration_;
  MixedHistoryOptions options_;
  Prng random_;
  PlanTools tools_;
  Plan plan_;
  bool calm_ = false;
  bool acted_ = false;
  bool still_ = false;
  bool crashed_ = false;  ///< The next cycle is that of a new loop.
  EvictionLedger ledger_;
  std::vector<Receipt> receipts_;  ///< That the loop has not seen.
  std::map<Key, LeavingRoomOf> leaving_;
  std::map<Key, LeavingRoomOf> leaving_sessions_;
  std::set<Key> stuck_;       ///< Pods that never leave.
  std::set<Key> finalizers_;  ///< Of these: force-deletion does not help either.
  std::set<Key> stuck_sessions_;
  std::string last_world_;  ///< Before the last cycle.
  std::uint64_t calm_cycles_ = 0;
  std::vector<std::string> complaints_;
  std::vector<std::string> story_;
  SimWorld world_;
  std::optional<ControlLoop> loop_;
};

}  // namespace makeway
