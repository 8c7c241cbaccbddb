// Which pods and groups ask in a cycle, in which order, and why a named one cannot.
// Other asks are known to their own policies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/world.hpp"
#include "model/request.hpp"

namespace makeway {

struct PendingUnit {
  std::int32_t priority = 0;
  Time created;
  UnitIndex unit;
  PodIndex pod;  ///< The first by name, for a group.
  std::int32_t wave = 0;
  bool member = false;  ///< One pod of a group is named; MemberAsks knows whether it may ask.
};

struct Asking {
  std::vector<PendingUnit> units;  ///< In the order in which they are decided.
  std::vector<PodOnNode> given;    ///< Places that the request gives.
  std::int64_t others = 0;         ///< Pending pods that do not ask.

  /// Of the places that are given, those of one unit.
  std::vector<PodOnNode> given_to(const Cluster& cluster, UnitIndex unit) const;
  std::optional<NodeIndex> given_node(PodIndex pod) const;
};

std::optional<Problem> find_asking(const Cluster& cluster, const Configuration& configuration,
                                   const PlanRequest& request, Asking& asking);

/// Which wave of its controller's pods the pod belongs to; members of a group ask with their group.
std::int32_t wave_of(const Cluster& cluster, PodIndex pod);

/// Why a unit that is named cannot ask.
Problem ask_problem(const AskName& name, std::string message, std::string remedy);

}  // namespace makeway
