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

std::vector<PodIndex> late_victims_of(const World& world, NodeIndex node, const PlanAsk& ask) {
  const PodColumns& pods = world.cluster().pods();
  std::vector<PodIndex> own;
  for (const PodIndex pod : world.late()) {
    if (pods.node[pod] != node) continue;
    const std::string& noted = world.cluster().notes(pods.notes[pod]).evicted_for;
    const bool preempted =
        pods.flags[pod].disrupted_by_preemption && world.rules().priority_of(pod) < ask.priority;
    if (noted.empty() ? preempted : noted == ask_text(ask)) own.push_back(pod);
  }
  return own;
}

bool could_use_late(World& world, PodIndex pod, PodIndex late) {
  const Cluster& cluster = world.cluster();
  const PodColumns& pods = cluster.pods();
  const NodeIndex node = pods.node[late];
  if (cluster.nodes().flags[node].exists && world.survey().could_take(pod, node)) return true;
  const std::vector<ClaimUse>& held = cluster.shape(pods.shape[late]).claims;
  return std::ranges::any_of(cluster.shape(pods.shape[pod]).claims, [&](const ClaimUse& wanted) {
    return std::ranges::find(held, wanted) != held.end();
  });
}

bool waits_for_late(const World& world, const PlanAsk& ask) {
  return ask.outcome == Outcome::waits &&
         std::ranges::any_of(ask.waits_for, [&](const PodPlacement& awaited) {
           const auto pod =
               world.cluster().find_pod(awaited.namespace_name, awaited.name, awaited.plane);
           return pod && world.rules().late(*pod);
         });
}

void explain_late_wait(const World& world, PlanAsk& ask) {
  Time last = world.time();
  for (const PodPlacement& awaited : ask.waits_for) {
    const auto pod = world.cluster().find_pod(awaited.namespace_name, awaited.name, awaited.plane);
    if (pod) last = std::max(last, world.departures().leaves_at(*pod));
  }
  add_reason(world.cluster(), ask,
             {.code = ReasonCode::takes_long, .arguments = {last - world.time()}});
}

void explain_late(const World& world, PlanAsk& ask) {
  ask.outcome = Outcome::not_found;
  add_reason(world.cluster(), ask,
             {.code = ReasonCode::late_pods_do_not_help,
              .arguments = {world.late().size(), world.configuration().engine.leave_wait_max}});
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
