#include "policies/shared/waiting.hpp"

#include <algorithm>

#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {

bool waits_out_delay(const World& world, Time created, PlanAsk& ask) {
  ask.waits_until = world.rules().delayed_until(created);
  if (!ask.waits_until) return false;
  ask.outcome = Outcome::waits;
  set_reason(world.cluster(), ask,
             {.code = ReasonCode::may_preempt_later,
              .arguments = {world.configuration().engine.preemption_delay, *ask.waits_until}});
  return true;
}

void wait_for(World& world, std::span<const PodIndex> leaving, PlanAsk& ask) {
  world.await(leaving);
  ask.waits_for = placements_of(world.cluster(), leaving);
}

bool fits_without(World& world, std::span<const PodIndex> leaving,
                  const std::function<bool()>& fits) {
  Scratch& after = world.after();
  const Scratch::Checkpoint before = after.checkpoint();
  for (const PodIndex pod : leaving) {
    if (after.node_of(pod).exists()) after.remove(pod);
  }
  const bool nothing_moved = after.checkpoint() == before;
  const bool result = nothing_moved || fits();
  after.rollback(before);
  return result;
}

void needs_what_leaves(const World& world, PlanAsk& ask) {
  ask.outcome = Outcome::not_found;
  ask.placements.clear();
  set_reason(world.cluster(), ask, {.code = ReasonCode::place_needs_leaving_pods});
}

Reason waits_reason(const PlanAsk& ask) {
  const std::string& node = ask.placements.front().node;
  if (ask.waits_for.empty()) {
    return {.code = ReasonCode::fits_on_after_asks, .arguments = {node}};
  }
  return {.code = ReasonCode::fits_on_after_pods, .arguments = {node, ask.waits_for.size()}};
}

std::vector<PodIndex> preempted_leavers(const World& world, NodeIndex node, std::int32_t priority) {
  const PodColumns& pods = world.cluster().pods();
  std::vector<PodIndex> leaving;
  for (const PodIndex pod : world.cluster().order().pods(node)) {
    if (!world.departures().departing(pod) || !pods.flags[pod].disrupted_by_preemption) continue;
    if (world.rules().priority_of(pod) >= priority) continue;
    leaving.push_back(pod);
  }
  return leaving;
}

}  // namespace makeway
