// In which order the members of a group are placed (`workload.memberOrder`).
//
//  largest   the hardest to place first: by the sum, over resources, of what they ask for as a
//            share of all nodes together; then by name
//  creation  by priority, then creation, then name, as kube-scheduler's queue has them
#pragma once

#include <set>
#include <span>
#include <vector>

#include "engine/world.hpp"

namespace makeway {

void order_members(World& world, MemberOrder order, std::vector<PodIndex>& members);

/// Of members that are nominated: which still fit there when they come one after the other, as they
/// can. Alone one may find its place uneven, or no pod near it. The world is left as it was.
std::set<PodIndex> members_that_keep_their_place(World& world, std::span<const PodIndex> nominated);

}  // namespace makeway
