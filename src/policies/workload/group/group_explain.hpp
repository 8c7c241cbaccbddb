// The words of an answer to a group: reasons and causes.
#pragma once

#include <optional>
#include <string>

#include "policies/workload/group/group_search.hpp"
#include "policies/workload/pod/pod_explain.hpp"

namespace makeway {

/// `members`: how many are pending.
Reason group_fits_reason(const PlanAsk& ask, std::size_t members);
Reason group_waits_reason(const PlanAsk& ask);
Reason group_preempts_reason(const PlanAsk& ask, std::size_t members);

/// `without`: the first member that found no place, if that is known.
Reason group_nothing_reason(const World& world, const PlanAsk& ask, std::optional<PodIndex> without,
                            Unplaced why);
/// `keys`: the labels of its topology constraint.
Reason no_domain_reason(const std::vector<std::string>& keys, bool given_apart);

/// Victims with their causes, and the spared. `other` is the next best plan, if any.
void explain_group_victims(World& world, const GroupCandidate& chosen, const GroupCandidate* other,
                           PlanAsk& ask);

}  // namespace makeway
