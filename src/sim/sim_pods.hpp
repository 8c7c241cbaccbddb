// SimPods: the pods of the simulated world, and the controllers that make them.
//
// Rules
//  1. An evicted pod stops working at once and holds its room until it is gone. Of its work it
//     loses what was not saved; of a gang all pods do, once it stops.
//  2. A new pod of a task has the work left that was not saved, and a name of its own.
//  3. A pod without a task (from a snapshot) runs until it is evicted; it comes back if a
//     controller owns it. Pods of other planes are usage: they are not scheduled here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/plan.hpp"
#include "sim/sim_work.hpp"

namespace makeway {

struct SimPod {
  Pod object;
  RunnerId runner = 0;
  std::int64_t member = 0;
  std::int64_t attempt = 0;
  std::uint32_t life = 0;  ///< Counts the pods that had this place in the table.
  bool there = false;
  bool counted = false;  ///< By its budgets, as running.
};

class SimPods {
 public:
  SimPods(SimState& state, SimWork& work) : state_(state), work_(work) {}

  /// It was shown already.
  void adopt(const Pod& pod);
  void arrive(std::uint32_t index);
  void comes_back(const Event& event);
  void gone(const Event& event);
  void run_ends(RunnerId id);

  /// False: there is no such pod.
  bool carry_out(const PlanAction& action, const std::string& plan);
  /// A pod that the newest plan does not nominate loses its nomination.
  void clear_nominations(const Plan& plan);

  /// Another client has written it, or it is new.
  void written(const Pod& pod);
  /// Another client has removed it. False: there is no such pod.
  bool removed(const Removal& gone);
  /// Its pods are gone, too. By `place_name`.
  void node_is_lost(const std::string& place);
  /// Another client binds a pod, deletes one, or starts one of its own.
  void second_writer();

  const std::vector<SimPod>& all() const { return pods_; }
  /// Everything that is there, groups first.
  void list(std::vector<Change>& objects) const;

 private:
  SimPodId add(SimPod pod);
  void remove(SimPodId id);
  void count(SimPod& pod, bool runs);
  void make(RunnerId runner, std::int64_t member, std::int64_t attempt);
  Pod pod_of(const SimTask& task, std::int64_t member, std::int64_t attempt) const;
  std::optional<SimPodId> find(const std::string& name) const;  ///< By `sim_name`.

  void refuse(const PlanAction& action, const std::string& plan, std::string reason);
  void bind(SimPodId id, const PlanAction& action, const std::string& plan);
  void runs_on(SimPodId id, const std::string& node);
  void force_delete(SimPodId id);
  void clear_nomination(SimPodId id);
  void clear_members(const PlanAsk& ask);
  void expect_gone(SimPodId id, const std::optional<Time>& when);
  void evict(SimPodId id, const PlanAction& action, const std::string& plan);
  void make_leave(SimPodId id, bool preempted);
  void stops(const SimPod& pod, bool preempted);
  void lose_work(const SimPod& pod);
  void is_gone(SimPodId id);
  void again_without_task(const SimPod& pod);

  void bind_by_others();
  void delete_by_others();
  void start_foreign_pod();

  SimState& state_;
  SimWork& work_;
  std::vector<SimPod> pods_;
  std::vector<SimPodId> free_;
  std::unordered_map<std::string, SimPodId> by_name_;
  std::set<SimPodId> nominated_;
  std::map<std::string, PodGroup> groups_;  ///< By "namespace/name".
  std::int64_t foreign_ = 0;
};

}  // namespace makeway
