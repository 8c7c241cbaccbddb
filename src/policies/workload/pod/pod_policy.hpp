// A single pod asks (SPEC section 2).
//
// The steps are those of every ask (policies/shared/ask_driver.hpp); here they mean:
//   now, soon  the best node with room (node_choice.hpp)
//   preempt    the node with the best score wins, then the first by name. Every node is tried
//              (victim_search.hpp) where that is to be explained, else only those that can be the
//              best (node_ranking.hpp). Not for preemptionPolicy Never; not before
//              `engine.preemptionDelay`. Nothing found is infeasible when that is proven.
#pragma once

#include <optional>
#include <vector>

#include "policies/shared/draft.hpp"
#include "policies/workload/pod/ask_classes.hpp"

namespace makeway {

struct PodTask {
  PodIndex pod;
  AskClass* kept = nullptr;  ///< What its class has kept; null: it is the only one of its kind.
  std::optional<NodeIndex> only;  ///< The node that is given, if it is.
  /// Where a member of a group may go, by name; null: everywhere.
  const std::vector<NodeIndex>* domain = nullptr;
  std::string_view domain_name;  ///< "rack=a"; empty: it has no name.
  /// The minimum of its group is not bound yet, so it may not be bound either.
  bool minimum_waits = false;
};

/// Decides about the pod, adds the answer to the plan and to the worlds of the cycle.
void decide_pod(Draft& draft, const PodTask& task);

}  // namespace makeway
