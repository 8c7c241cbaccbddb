// Is the answer right? Asked before any time is taken.
//
// Every plan goes to check_plan. Beside that, where the cluster is small enough, the plan of the
// pruned search is compared with
//   every node     the search that looks at every node in full (as for an explanation);
//   node by node   the best of one decision a node, each with that node given.
#pragma once

#include <string>

#include "bench/support/plan_clusters.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "policies/decide.hpp"

namespace makeway::bench {

/// One pod or gang named default/ask, or all that are pending; without explanations.
PlanRequest plan_request(const ClusterCase& item);

struct AnswerCheck {
  std::string how;    ///< "every node", "every node, node by node", "check_plan only"
  std::string wrong;  ///< Empty: nothing is.
};

AnswerCheck check_answer(const ClusterCase& item, const Cluster& cluster,
                         const Configuration& configuration, const Plan& plan);

}  // namespace makeway::bench
