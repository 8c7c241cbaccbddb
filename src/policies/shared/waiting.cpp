#include "policies/shared/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "policies/shared/cluster_text.hpp"

namespace makeway {

bool waits_out_delay(const World& world, Time created, PlanAsk& ask) {
  ask.waits_until = world.rules().delayed_until(created);
  if (!ask.waits_until) return false;
  ask.outcome = Outcome::waits;
  ask.reason = fmt::format("may preempt only {} after its creation, from {} on",
                           to_text(world.configuration().engine.preemption_delay),
                           to_text(*ask.waits_until));
  return true;
}

void wait_for(World& world, std::span<const PodIndex> leaving, PlanAsk& ask) {
  world.await(leaving);
  ask.waits_for = placements_of(world.cluster(), leaving);
}

std::string waits_reason(const PlanAsk& ask) {
  if (ask.waits_for.empty()) {
    return fmt::format("fits on {} once the asks before it are placed",
                       ask.placements.front().node);
  }
  return fmt::format("fits on {} once {} {} gone", ask.placements.front().node,
                     counted(static_cast<std::int64_t>(ask.waits_for.size()), "leaving pod"),
                     ask.waits_for.size() == 1 ? "is" : "are");
}

std::vector<PodIndex> preempted_leavers(const World& world, NodeIndex node, std::int32_t priority) {
  const PodColumns& pods = world.cluster().pods();
  std::vector<PodIndex> leaving;
  for (const PodIndex pod : world.cluster().order().pods(node)) {
    if (pods.deletion[pod] == no_time || !pods.flags[pod].disrupted_by_preemption) continue;
    if (world.rules().priority_of(pod) >= priority || world.rules().overdue(pod)) continue;
    leaving.push_back(pod);
  }
  return leaving;
}

}  // namespace makeway
