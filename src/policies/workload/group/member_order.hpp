// In which order the members of a group are placed (`workload.memberOrder`).
//
//  largest   the hardest to place first: by the sum, over resources, of what they ask for as a
//            share of all nodes together; then by name
//  creation  by priority, then creation, then name, as kube-scheduler's queue has them
#pragma once

#include <vector>

#include "engine/world.hpp"

namespace makeway {

void order_members(World& world, MemberOrder order, std::vector<PodIndex>& members);

}  // namespace makeway
