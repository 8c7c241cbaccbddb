#include "policies/shared/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace makeway {

bool waits_out_delay(const Cycle& cycle, Time created, PlanAsk& ask) {
  const Duration delay = cycle.configuration.engine.preemption_delay;
  if (delay.ms == 0 || created == no_time || !(cycle.rules.now() - created < delay)) return false;
  ask.outcome = Outcome::waits;
  ask.waits_until = created + delay;
  ask.reason = fmt::format("may make others leave only {} after its creation, from {} on",
                           to_text(delay), to_text(*ask.waits_until));
  return true;
}

void add_preempted_leavers(const Cycle& cycle, NodeIndex node, std::int32_t priority,
                           std::vector<PodPlacement>& awaited) {
  const PodColumns& pods = cycle.cluster.pods();
  for (const PodIndex pod : cycle.cluster.order().pods(node)) {
    if (pods.deletion[pod] == no_time || !pods.flags[pod].disrupted_by_preemption) continue;
    if (cycle.rules.priority_of(pod) >= priority || cycle.rules.overdue(pod)) continue;
    PodPlacement placement = placement_of(cycle.cluster, pod, node);
    if (std::ranges::find(awaited, placement) == awaited.end()) {
      awaited.push_back(std::move(placement));
    }
  }
}

std::vector<PodPlacement> needed_leavers(Cycle& cycle, std::span<const NodeIndex> nodes,
                                         const std::function<bool()>& fits) {
  std::vector<PodIndex> leaving = cycle.gone;
  // Those of other nodes are put back first: they seldom matter.
  const PodColumns& pods = cycle.cluster.pods();
  std::ranges::stable_partition(leaving, [&](PodIndex pod) {
    return std::ranges::find(nodes, pods.node[pod]) == nodes.end();
  });
  Scratch& world = cycle.now;
  const Scratch::Checkpoint before = world.checkpoint();
  world.remove(leaving);
  std::vector<PodPlacement> needed;
  const bool enough = fits();
  for (const PodIndex pod : leaving) {
    if (!enough) break;  // It waits for somebody to come, not for somebody to go.
    world.place(pod, pods.node[pod]);
    if (fits()) continue;
    world.remove(pod);
    needed.push_back(placement_of(cycle.cluster, pod, pods.node[pod]));
  }
  world.rollback(before);
  std::ranges::sort(needed);
  return needed;
}

}  // namespace makeway
