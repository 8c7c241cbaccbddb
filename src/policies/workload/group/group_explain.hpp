// The words of an answer to a group: reasons and causes.
//
// What has the room of a group that got no place: asks before it in this cycle, or pods that are
// nominated there and not decided yet.
//
// Two counts of members that find room without victims: beside all other pods, and in
// the cluster as it was before this cycle gave anything to any ask. Each is one run of the placer
// per domain.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "policies/shared/draft.hpp"
#include "policies/workload/group/group_domains.hpp"
#include "policies/workload/group/group_search.hpp"
#include "policies/workload/group/member_fits.hpp"
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

/// Sets `ask.held_back` where the group has no place and enough of its members, or more than now,
/// would find room if no other got or kept one. Says nothing where places depend on other pods
/// (`World::has_promises`, `tentative_nominations`), or where the group's places are given. `after`
/// is over the world of that name, which is left as it was found.
void explain_held_back(const Draft& draft, const GroupTask& task,
                       std::span<const GroupDomain> domains, MemberFits& after, PlanAsk& ask);

}  // namespace makeway
