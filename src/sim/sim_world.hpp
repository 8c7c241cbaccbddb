// SimWorld: a cluster that carries out plans, on a virtual clock (SPEC section 9).
//
// It stands behind the port like Kubernetes and shares no code with decisions. Its kubelets count
// the room of their nodes themselves: a bind for which there is none is refused and counted, and a
// test fails on it. Controllers make new pods for those that left; a gang works only while its
// minimum runs. Everything follows from the load and the options: same load, same bytes.
//
// Rules
//  1. A cycle takes `cycle` of virtual time: what happens meanwhile is the next batch.
//  2. A plan is carried out as SPEC section 8 says: statuses and nominations before the actions
//     that rely on them. Faults strike between the decision and the first action, or at an action.
//  3. A process that was killed starts again after ten seconds, and is shown everything anew.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/port.hpp"
#include "sim/load.hpp"
#include "sim/sim_pods.hpp"
#include "sim/sim_replicas.hpp"
#include "sim/sim_sampler.hpp"
#include "sim/sim_sessions.hpp"

namespace makeway {

class SimWorld final : public Port {
 public:
  /// The load outlives it.
  SimWorld(const SimLoad& load, const SimOptions& options);

  Batch poll(Time deadline) override;
  void submit(const Plan& plan) override;

  /// Another client writes an object, or removes it. The pods of a removed node go, too.
  void happens(const Change& change);
  /// Time passes without a poll.
  void pass(Time until);

  /// The next poll is by a new process, and shows everything.
  void show_anew() { state_.watch.list_anew(objects()); }
  /// Whether the process died in the last submit: its driver makes a new loop.
  bool take_kill() { return std::exchange(killed_, false); }

  Time now() const { return state_.now; }
  std::uint64_t tasks_arrived() const { return next_task_; }
  /// Tasks have not arrived, or runs have not ended; daemons run for ever and do not count.
  bool is_unfinished() const {
    return next_task_ < state_.load.tasks.size() || work_.unfinished() > 0;
  }
  /// Everything that is there, as a list shows it.
  std::vector<Change> objects() const;
  const SimMetrics& metrics() const { return state_.metrics; }
  /// Counts what still runs as if it were saved now; called once, at the end.
  SimMetrics finish();

 private:
  /// It is there from the start. Nodes are known, and pods come after their owners.
  void adopt(const Change& object);
  void expect_next_task();
  void happen(const Event& event);
  void happen_next();
  void removed(const Removal& gone);
  /// One of those that never change here.
  void written(const Change& rule);
  void node_goes(const std::string& name);  ///< By `place_name`.
  void arrive(std::uint32_t index);
  void run_ends(RunnerId id);

  void strike_before_plan();
  void lose_node();
  void die();
  void write_statuses(const Plan& plan);
  void write_queues(const Plan& plan);
  void carry_out(const PlanAction& action, const Plan& plan);
  void refuse(const PlanAction& action, const Plan& plan, std::string reason, bool by_fault);
  /// Whether a conflict hits the action.
  bool conflicts(const PlanAction& action, const Plan& plan);

  SimState state_;
  SimWork work_;
  SimPods pods_;
  SimSessions sessions_;
  SimReplicas replicas_;
  SimSampler sampler_;
  Time next_poll_;
  Time last_event_time_;
  std::size_t next_task_ = 0;  ///< Tasks come by arrival: only the next one is among the events.
  std::map<std::string, Queue> queues_;
  std::vector<Change> rules_;  ///< Objects that never change here.
  std::vector<std::string> lost_nodes_;
  std::set<ObjectRef> dropped_;  ///< Asks of this plan that lost what they rely on.
  bool killed_ = false;
};

}  // namespace makeway
