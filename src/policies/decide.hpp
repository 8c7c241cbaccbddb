// decide: one cycle. Cluster and configuration in, plan out; nothing else is read.
//
// Without a name, every pending unit asks, in the order of scheduling priority, creation and name;
// what one ask gets, the next one cannot have. With a name, only that unit asks; other pending
// units count only where they hold a nomination.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

struct AskName {
  AskKind kind = AskKind::pod;
  std::string namespace_name;
  std::string name;

  friend bool operator==(const AskName&, const AskName&) = default;
};

struct PlanRequest {
  Time now;
  std::string preset;          ///< Only copied into the plan.
  std::optional<AskName> ask;  ///< None: everything that is pending.
  /// Taken as they are, for the pods of `ask`: only victims are chosen.
  std::vector<PodPlacement> placements;
  /// Fill the explanations, which may cost more than the decision. The decision is the same.
  bool explain = true;
};

struct Decision {
  std::optional<Plan> plan;  ///< None: see `problems`.
  Problems problems;         ///< Of the request: an ask that is not there, or already bound.
};

Decision decide(const Cluster& cluster, const Configuration& configuration,
                const PlanRequest& request);

/// The newest timestamp of the cluster: `now` when nobody says what time it is.
Time newest_time(const Cluster& cluster);

}  // namespace makeway
