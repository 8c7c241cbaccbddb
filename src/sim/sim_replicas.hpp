// SimReplicas: deployments that are scaled per plane, and the Kubernetes that places their pods
// (SPEC section 4).
//
// Rules
//  1. A plan changes commits and statuses; which pod goes and where the next one lands is not ours.
//  2. A second later the controller of each plane acts: too many pods, and those go that ReplicaSet
//     would remove (not bound, more siblings on the node, newer, higher name); too few, and new
//     ones come.
//  3. A pending pod lands on the node of its plane with the most room left of the scarce resource.
//     A plane is a cluster of its own, or nodes at home with its label; its pods are where its
//     nodes are. A pending pod that no plane lacks stays pending.
//  4. A deployment works while a replica of it runs, and is taken down when its time is over.
//  5. Where deployments are not ours to scale (`SimBehaviour::scales_deployments`), their pods are
//     pods like all others, and none of this happens.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.hpp"
#include "sim/sim_work.hpp"

namespace makeway {

class SimReplicas {
 public:
  SimReplicas(SimState& state, SimWork& work);

  /// From a snapshot; it was shown already. Schedules before their pods.
  void adopt(const ReplicaSchedule& schedule);
  /// False: it belongs to no schedule.
  bool adopt(const Pod& pod);
  void arrive(std::uint32_t index);
  /// It is taken down.
  void run_ends(RunnerId id);
  void reconcile(RunnerId id);
  void pod_is_gone(const Event& event);
  /// Pending pods may find room.
  void place_pending();
  /// Another client has written it, or it is new.
  void written(const ReplicaSchedule& schedule);
  /// The same of a pod. False: it belongs to no schedule.
  bool written(const Pod& pod);
  /// Another client has removed it. False: there is no such pod.
  bool removed(const Removal& gone);
  void node_is_lost(const std::string& place);  ///< By `place_name`.
  /// Another client deletes a pod. False: none runs.
  bool second_writer();

  void write_statuses(const Plan& plan);
  /// False: it is about something else.
  bool carry_out(const PlanAction& action, const std::string& plan);

  void list(std::vector<Change>& objects) const;
  /// What was done until now is counted; called once, at the end.
  void finish();

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace, name.
  struct Entry {
    ReplicaSchedule object;
    RunnerId runner = 0;
    std::int64_t running = 0;
    Time counted;  ///< What its replicas did until then is in the metrics.
    std::int64_t pods_made = 0;
  };
  struct Replica {
    Pod object;
    std::string plane;         ///< The plane whose commit it counts for; empty: none.
    std::uint32_t number = 0;  ///< Unique.
    Key schedule;
  };

  using PodMap = std::map<ObjectKey, Replica, ObjectKeyLess>;

  PodMap::iterator find_pod(const PlanAction& action);
  std::vector<ObjectKey> pods_of(const Key& schedule, const std::string& plane) const;
  std::string plane_for(const Pod& pod, const Key& schedule) const;
  void expect_reconcile(const Entry& entry);
  void expect_gone(const Replica& replica, const std::optional<Time>& when);
  std::vector<ObjectKey>::iterator choose(std::vector<ObjectKey>& own);
  std::vector<std::string> nodes_for(const Replica& replica) const;
  void count_use(Entry& entry);
  void change_running(const Key& schedule, std::int64_t more);

  void evict(Replica& replica, const PlanAction& action);
  void force_delete(const ObjectKey& key);
  void scale(Entry& entry, const PlanAction& action, const std::string& plan);
  void remove_surplus(const Key& schedule, const std::string& plane, std::int64_t committed);
  void add_pod(const Key& schedule, const std::string& plane);
  void make_leave(Replica& replica);
  /// Its room is free, without a notice.
  void take_out(const ObjectKey& key);
  void drop(const ObjectKey& key);
  void place(Replica& replica);

  SimState& state_;
  SimWork& work_;
  std::vector<std::string> planes_;
  std::set<std::string> clusters_;  ///< Of these: those with an API server of their own.
  std::map<Key, Entry> schedules_;
  std::map<RunnerId, Key> by_runner_;
  PodMap pods_;
  std::map<std::uint32_t, ObjectKey> by_number_;
  std::uint32_t numbers_ = 0;
};

}  // namespace makeway
