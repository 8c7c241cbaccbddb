// Why an ask waits: a delay has not passed, or a pod has not left yet.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/world.hpp"
#include "model/reason.hpp"

namespace makeway {

/// True: `engine.preemptionDelay` has not passed since `created`, so no pod is evicted for
/// the ask yet; it says until when.
bool waits_out_delay(const World& world, Time created, PlanAsk& ask);

/// The ask waits until these pods are gone: says so in the plan and in the world.
void wait_for(World& world, std::span<const PodIndex> leaving, PlanAsk& ask);

/// Whether `fits` still holds in `after` once these pods are gone: an ask that waits for them in
/// its queue may need one beside it.
bool fits_without(World& world, std::span<const PodIndex> leaving,
                  const std::function<bool()>& fits);
/// The answer to an ask whose queue has room only once a pod is gone that its place depends on.
void needs_what_leaves(const World& world, PlanAsk& ask);

/// Why the one pod of the ask waits for room on its node.
Reason waits_reason(const PlanAsk& ask);

/// The pods of less than this priority that a scheduler preempted and that are still leaving the
/// node (`workload.nominationHeldBy` preempted-pods).
std::vector<PodIndex> preempted_leavers(const World& world, NodeIndex node, std::int32_t priority);

}  // namespace makeway
