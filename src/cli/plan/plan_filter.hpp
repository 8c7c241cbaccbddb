// PlanFilter: which asks of a plan the text shows. The plan itself is the same.
//
// An ask is shown when it meets all that is asked for. A namespace, node or queue is met by the ask
// itself (its name, place, reservation, queue), by one of its victims, or by a pod that it waits
// for: the text then shows everything that happens there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct PlanFilter {
  std::vector<Outcome> outcomes;  ///< None: all of them.
  std::string namespace_name;     ///< Empty: all; so with the others.
  std::string node;
  std::string queue;

  bool any() const {
    return !outcomes.empty() || !namespace_name.empty() || !node.empty() || !queue.empty();
  }
};

/// "infeasible,waits" -> the outcomes; the error says what was expected.
Result<std::vector<Outcome>> parse_outcomes(std::string_view text);

/// A node, namespace or queue that is not there, with what could have been meant.
Problems filter_problems(const PlanFilter& filter, const Cluster& cluster);

/// "outcome infeasible, namespace shop"
std::string filter_text(const PlanFilter& filter);

/// In the order of the plan.
std::vector<const PlanAsk*> filtered(const Plan& plan, const PlanFilter& filter,
                                     const Cluster& cluster, const Configuration& configuration);

}  // namespace makeway::cli
