// Why an ask waits: a delay has not passed, or somebody has not left yet.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/world.hpp"

namespace makeway {

/// True: `engine.preemptionDelay` has not passed since `created`, so nobody is made to leave for
/// the ask yet; it says until when.
bool waits_out_delay(const World& world, Time created, PlanAsk& ask);

/// Adds to `awaited` the pods of less than this priority that a scheduler preempted and that are
/// still leaving the node (`workload.nominationHeldBy` preempted-pods); each once.
void add_preempted_leavers(const World& world, NodeIndex node, std::int32_t priority,
                           std::vector<PodPlacement>& awaited);

/// The pods of the world `now` that have to be gone before `fits` says yes, an irreducible set of
/// them; by namespace and name. Those that leave `nodes` are kept in the set before others.
std::vector<PodPlacement> needed_leavers(World& world, std::span<const NodeIndex> nodes,
                                         const std::function<bool()>& fits);

}  // namespace makeway
