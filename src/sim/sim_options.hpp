// How a load is simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/objects.hpp"
#include "sim/faults.hpp"

namespace makeway {

// SimBehaviour: what a cluster leaves open, and the caller of a simulation may decide.
//
// A load is simulated with the defaults; tests that look for trouble set others, random or by hand.
// None of them breaks a promise of Kubernetes.

struct SimBehaviour {
  /// Of an evicted pod: until its deletion timestamp. Default: what its task says.
  std::function<Duration(const Pod&)> grace;
  /// How long after its deletion timestamp a pod is gone; none: never.
  std::function<std::optional<Duration>(const Pod&, Time now)> late;
  /// How long after the end of its notice a session is gone, whatever other asks need; none: never.
  std::function<std::optional<Duration>(const Session&)> session_late;
  /// How long a person takes to want a session back that is preempted; none: for ever.
  std::function<std::optional<Duration>(const Session&)> session_back;
  /// Which pod of a deployment is removed. Default: ReplicaSet's order.
  std::function<std::size_t(const std::vector<const Pod*>&)> removes;
  /// On which of these nodes (`place_name`) a replica lands. Default: where most room is left.
  std::function<std::size_t(const Pod&, const std::vector<std::string>&)> lands;
  /// How long the controller of a deployment takes to act.
  std::function<Duration()> reconciles;
  /// How long a force-deletion takes; none: it is lost. Default: no time.
  std::function<std::optional<Duration>(const Pod&)> forced;
  /// Deployments that have a ReplicaSchedule are scaled, and their pods placed, by the Kubernetes
  /// of their planes. False: they are not scaled, and their pods ask like all others.
  bool scales_deployments = true;
  /// Nodes of resource groups are for sessions. False: they are for pods like all others.
  bool places_sessions = true;
  /// Pods that should have gone before the start stay until a plan removes them by force, sessions
  /// until a plan takes them off.
  bool overdue_stay = false;
  /// Controllers make those of their pods again that belong to no task.
  bool recreate = true;
};

class SimChronicle;

struct SimOptions {
  Duration cycle{1'000};
  Duration sample{60'000};  ///< How often inversion and fragmentation are measured; 0: never.
  Time start;
  Time until{std::numeric_limits<std::int64_t>::max() / 4};  ///< Nothing happens later.
  FaultOptions faults;
  std::uint64_t seed = 1;  ///< Of the faults.
  SimBehaviour behaviour;
  SimChronicle* chronicle = nullptr;  ///< Records what a report needs; outlives the world.
};

}  // namespace makeway
