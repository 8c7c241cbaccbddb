// InFlight: what was sent and is not yet seen (SPEC section 8, Assumed state).
//
// The loop decides on what the port has shown plus what it has sent. An effect ends when the port
// shows it, when the object is gone or another one of that name is there, or when a receipt says
// that it was refused; a nomination at the latest after `unseen_max`: somebody may have written
// over it. Until then every change of the object that does not show it yet has it laid over, so no
// ask is decided twice and no victim chosen twice.
//
// A victim counts against its budgets until their status has changed after it, its eviction is
// refused, or `unseen_max` has passed: the disruption controller takes its time.
//
// The status of a queue is laid over as a whole until the port shows it, a receipt says that it was
// refused, the queue is gone or another one, or `unseen_max` has passed.
//
// Effects on other objects than pods (sessions, statuses of schedules) are not laid over: as long
// as one of them is unseen, no cycle starts, for at most `unseen_max`. About schedules nothing is
// decided as long as a scale is unseen (a plane that does not answer holds up nobody else), or a
// status of theirs waits for its turn, and `unseen_max` longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/port.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

class InFlight {
 public:
  static constexpr Duration unseen_max{10'000};

  /// The cluster is the one that the plan was made for.
  void sent(const Plan& plan, const Cluster& cluster, Time now);

  /// What the port shows, with what it does not show yet laid over.
  Change seen(Change change);
  /// The object without what was refused, where that was laid over it. What other plans have sent
  /// is still in flight.
  std::optional<Change> refused(const Receipt& receipt);
  /// What the port has not shown at the first look after it was sent, laid over its objects; and
  /// objects as they were shown, where it took too long. What was sent at `sending_since` or later
  /// may still wait for its turn: its time has not begun.
  std::vector<Change> unseen(const Cluster& cluster, Time now,
                             std::optional<Time> sending_since = std::nullopt);

  bool empty() const {
    return pods_.empty() && others_.empty() && schedules_.empty() && scales_.empty() &&
           budgets_.empty() && queues_.empty();
  }
  std::size_t size() const {
    return pods_.size() + others_.size() + schedules_.size() + scales_.size();
  }
  /// Whether something that was sent about this pod is not seen yet.
  bool has_pod(std::string_view namespace_name, std::string_view name) const;
  /// Until then no cycle starts; none: one may.
  std::optional<Time> hold_until(Time now) const;
  /// Until then nothing is decided about schedules.
  std::optional<Time> hold_schedules_until(Time now) const;

 private:
  struct Sent {
    std::string plan;
    PlanAction action;  ///< A nomination without a node: it is taken back.
  };
  struct Effects {
    std::string uid;
    std::vector<Sent> actions;
    Time sent;
    Time awaited;  ///< From then on it may be expected.
    bool laid = false;
    std::optional<Pod> shown;  ///< Without what was laid over it.

    bool is_late(Time now) const { return awaited + unseen_max <= now; }
  };

  /// Of a session, or of a pod that is not in the store.
  struct Other {
    Time sent;
    std::vector<PlanAction> actions;
  };
  /// The status of a schedule was written: the port will show another one than before.
  struct StatusSent {
    std::string plan;
    ReplicaStatus before;
    Time sent;
    Time awaited;
  };
  /// Of a Deployment in a plane: of several steps of a plan the port shows the last one.
  struct ScaleSent {
    std::string plan;
    std::int64_t committed = 0;  ///< Afterwards.
    Time sent;
    Time awaited;
  };
  using ScaleName = std::pair<std::string, std::string>;  ///< "namespace/name", and its plane.

  /// A victim that a budget does not know of yet.
  struct Charge {
    std::string plan;
    std::string pod;  ///< "default/web"
    Time sent;
    Time awaited;
  };
  struct Charged {
    DisruptionBudget shown;  ///< Without the charges.
    std::vector<Charge> charges;
    bool laid = false;

    DisruptionBudget laid_over() const;
  };

  /// The next status of a queue, which the port does not show yet.
  struct QueueSent {
    std::string plan;
    PlanQueueStatus next;
    Queue shown;  ///< Without what was laid over it.
    Time sent;
    Time awaited;
    bool laid = false;

    Queue laid_over() const;
  };

  void send_statuses(const Plan& plan, const Cluster& cluster, Time now);
  void send_schedules(const Plan& plan, const Cluster& cluster, Time now);
  void send_scale(const Sent& sent, Time now);
  void seen_schedule(const ReplicaSchedule& schedule);
  void forget_schedule(const Removal& gone);
  Change seen_queue(Queue queue);
  std::optional<Change> refused_queue(const Receipt& receipt);
  void unseen_queues(Time now, std::vector<Change>& changes);
  void charge(const Sent& sent, const Cluster& cluster, Time now);
  Change seen_budget(DisruptionBudget budget);
  void await(Time sending_since, Time now);
  void unseen_budgets(Time now, std::vector<Change>& changes);
  static bool shows(const PlanAction& action, const Pod& pod);
  static bool shows(const PlanAction& action, const Session& session);
  void seen_session(const Session& session);
  static void lay(const Effects& effects, Pod& pod);
  void add(Sent sent, const Cluster& cluster, Time now);
  void send_other(const std::string& object, const PlanAction& action, Time now);

  std::unordered_map<std::string, Effects> pods_;  ///< By "namespace/name".
  std::unordered_map<std::string, Other> others_;  ///< By kind, too: "Session team/train".
  std::map<std::string, StatusSent> schedules_;    ///< By "namespace/name".
  std::map<ScaleName, ScaleSent> scales_;
  std::map<std::string, Charged> budgets_;   ///< By "namespace/name".
  std::map<std::string, QueueSent> queues_;  ///< By name.
};

}  // namespace makeway
