#include "policies/shared/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "policies/shared/cluster_text.hpp"

namespace makeway {

bool waits_out_delay(const World& world, Time created, PlanAsk& ask) {
  const Duration delay = world.configuration().engine.preemption_delay;
  if (delay.ms == 0 || created == no_time || !(world.rules().now() - created < delay)) return false;
  ask.outcome = Outcome::waits;
  ask.waits_until = created + delay;
  ask.reason = fmt::format("may make others leave only {} after its creation, from {} on",
                           to_text(delay), to_text(*ask.waits_until));
  return true;
}

void add_preempted_leavers(const World& world, NodeIndex node, std::int32_t priority,
                           std::vector<PodPlacement>& awaited) {
  const PodColumns& pods = world.cluster().pods();
  for (const PodIndex pod : world.cluster().order().pods(node)) {
    if (pods.deletion[pod] == no_time || !pods.flags[pod].disrupted_by_preemption) continue;
    if (world.rules().priority_of(pod) >= priority || world.rules().overdue(pod)) continue;
    PodPlacement placement = placement_of(world.cluster(), pod, node);
    if (std::ranges::find(awaited, placement) == awaited.end()) {
      awaited.push_back(std::move(placement));
    }
  }
}

std::vector<PodPlacement> needed_leavers(World& world, std::span<const NodeIndex> nodes,
                                         const std::function<bool()>& fits) {
  std::vector<PodIndex> leaving(world.gone().begin(), world.gone().end());
  // Those of other nodes are put back first: they seldom matter.
  const PodColumns& pods = world.cluster().pods();
  std::ranges::stable_partition(leaving, [&](PodIndex pod) {
    return std::ranges::find(nodes, pods.node[pod]) == nodes.end();
  });
  Scratch& scratch = world.now();
  const Scratch::Checkpoint before = scratch.checkpoint();
  scratch.remove(leaving);
  std::vector<PodPlacement> needed;
  const bool enough = fits();
  for (const PodIndex pod : leaving) {
    if (!enough) break;  // It waits for somebody to come, not for somebody to go.
    scratch.place(pod, pods.node[pod]);
    if (fits()) continue;
    scratch.remove(pod);
    needed.push_back(placement_of(world.cluster(), pod, pods.node[pod]));
  }
  scratch.rollback(before);
  std::ranges::sort(needed);
  return needed;
}

}  // namespace makeway
