// Who asks in a cycle, in which order, and why somebody who is named cannot.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/world.hpp"
#include "model/request.hpp"
#include "policies/session/session_policy.hpp"

namespace makeway {

struct PendingUnit {
  std::int32_t priority = 0;
  Time created;
  UnitIndex unit;
  PodIndex pod;                                    ///< The first by name, for a group.
  std::optional<SessionTurn> turn = std::nullopt;  ///< Of a session; then unit and pod are none.
};

struct Asking {
  std::vector<PendingUnit> units;  ///< In the order in which they are decided.
  std::vector<PodOnNode> given;    ///< Places that the request gives.
  std::int64_t others = 0;         ///< Pending pods that do not ask.
};

/// Pods and groups; of schedules and sessions that are named, whether they can ask.
std::optional<Problem> find_asking(const Cluster& cluster, const Configuration& configuration,
                                   const PlanRequest& request, Asking& asking);
/// Sessions take their turns among the others, or alone where one of them is asked for.
std::optional<Problem> add_sessions(const SessionPolicy& policy, const PlanRequest& request,
                                    std::vector<PendingUnit>& units);

}  // namespace makeway
