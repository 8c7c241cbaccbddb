// NaiveRequiredNode: SPEC section 5 as its text has it, on one node, from the objects.
//
// The oracle of the required-node policy. It knows resources, priorities, classes, groups that
// leave whole and room that is leaving; not ports, affinity, budgets, nominations or other asks:
// leave those out of what it is asked about. Every list is sorted anew, every sum added up anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

struct NaivePinnedAnswer {
  Outcome outcome = Outcome::not_found;  ///< `infeasible` and `not_found` are distinguished, too.
  std::vector<std::string> victims;      ///< "namespace/name", sorted.
};

/// The ask is a pending pod that is pinned to an existing node that would take it.
NaivePinnedAnswer naive_required_node(const std::vector<Change>& objects,
                                      const Configuration& configuration, const Pod& ask,
                                      const std::string& node, Time now);

}  // namespace makeway
