// InFlight: writes whose effects the watch has not shown yet (SPEC section 8, Assumed state).
//
// The loop decides on what the port has shown plus what it has sent. Each object about which
// something was sent has one overlay: the object as the port showed it last, and the effects that
// it does not show yet. Every change of the object that does not show an effect has it laid over,
// so no ask is decided twice and no victim chosen twice. This holds for pods, sessions, statuses
// of queues and of ReplicaSchedules, and for disruption budgets, which a victim charges until the
// disruption controller has counted it.
//
// Rules
//  1. An effect ends when the port shows it, when the object is gone or another one has its name,
//     when a receipt says that it was refused, or after `unseen_max`: another client may have
//     written over it. Only a bind or an eviction stays for longer: one that is not carried out
//     has a receipt, so it has happened and the watch is behind.
//  2. For a write that waits to be sent, `unseen_max` has not begun (`sending_since`).
//  3. Sessions are decided together, and so are ReplicaSchedules. As long as an effect on a session
//     is unseen, no session is decided; as long as an effect on a schedule, or a scale, is unseen,
//     no schedule is. Other asks do not wait: they are decided on the overlay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "control/port.hpp"
#include "model/cluster.hpp"
#include "model/object_at.hpp"
#include "model/plan.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway {

class InFlight {
 public:
  static constexpr Duration unseen_max{10'000};

  /// The cluster is the one that the plan was made for.
  void sent(const Plan& plan, const Cluster& cluster, Time now);

  /// What the port shows, with unseen effects laid over.
  Change seen(Change change);
  /// The object without what was refused, where that was laid over it. What other plans have sent
  /// is still in flight.
  std::optional<Change> refused(const Receipt& receipt);
  /// What the port has not shown at the first look after it was sent, laid over its objects; and
  /// objects as they were shown, where it took too long. What was sent at `sending_since` or later
  /// may still wait to be sent.
  std::vector<Change> unseen(Time now, std::optional<Time> sending_since = std::nullopt);

  bool empty() const { return overlays_.empty() && scales_.empty(); }
  /// Pods, sessions and schedules about which something is unseen, and scales.
  std::size_t size() const;
  /// Whether something that was sent about this pod is not seen yet.
  bool has_pod(std::string_view namespace_name, std::string_view name) const;
  /// Rule 3: until then nothing is decided about asks of that kind; none: they need not wait.
  std::optional<Time> hold_until(AskKind kind, Time now) const;

 private:
  /// Of a pod, or of a session or a kernel of one. A nomination without a node takes it back.
  struct ActionSent {
    PlanAction action;
    std::optional<SessionNotice> notice = std::nullopt;  ///< Of a session that has to leave.
  };
  /// A victim that a budget has not counted yet.
  struct Charge {
    ChangeKey pod;
  };
  struct Effect {
    std::string plan;
    std::variant<ActionSent, PlanQueueStatus, ReplicaStatus, Charge> what;
    Time sent;
    Time awaited = sent;  ///< From then on it may be expected.

    bool is_late(Time now) const;
  };
  /// One object about which something was sent.
  struct Overlay {
    Change shown;  ///< Without the effects.
    std::vector<Effect> effects;
    bool laid = false;  ///< The loop has it with these effects.

    Change laid_over() const;
  };
  /// Of a Deployment in a plane: of several steps of a plan the port shows the last one.
  struct ScaleSent {
    std::string plan;
    std::int64_t committed = 0;  ///< Afterwards.
    Time sent;
    Time awaited = sent;
  };

  template <class Object>
  static bool shows(const Effect& effect, const Object& before, const Object& object);
  template <class Object>
  static void lay(const Effect& effect, Object& object);

  void add(Change object, Effect effect);
  void send_pod(const Plan& plan, const PlanAction& action, const Cluster& cluster, Time now);
  void clear_nominations(const Plan& plan, const Cluster& cluster, Time now);
  void charge_budgets(const Plan& plan, const Pod& pod, const Cluster& cluster, Time now);
  void send_sessions(const Plan& plan, const Cluster& cluster, Time now);
  void send_session(const Plan& plan, const PlanAsk& ask, const Session& session, Time now);
  void send_statuses(const Plan& plan, const Cluster& cluster, Time now);
  void see_scales(const ReplicaSchedule& schedule);

  std::map<ChangeKey, Overlay> overlays_;
  std::map<ObjectRef, ScaleSent> scales_;  ///< By Deployment.
};

}  // namespace makeway
