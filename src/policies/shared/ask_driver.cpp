#include "policies/shared/ask_driver.hpp"

#include <algorithm>
#include <utility>

#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {
namespace {

bool found_nothing(const PlanAsk& ask) {
  return ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
}

/// Late pods on these nodes that were evicted for this ask.
std::vector<PodIndex> late_victims_of(const World& world, const std::vector<NodeIndex>& nodes,
                                      const PlanAsk& ask) {
  const PodColumns& pods = world.cluster().pods();
  std::vector<PodIndex> own;
  for (const NodeIndex node : nodes) {
    for (const PodIndex pod : world.late()) {
      if (pods.node[pod] != node) continue;
      const std::string& noted = world.cluster().notes(pods.notes[pod]).evicted_for;
      const bool preempted =
          pods.flags[pod].disrupted_by_preemption && world.rules().priority_of(pod) < ask.priority;
      if (noted.empty() ? preempted : noted == ask_text(ask)) own.push_back(pod);
    }
  }
  return own;
}

void credit_own_late(World& world, AskStrategy& strategy) {
  const std::vector<NodeIndex> nodes = strategy.nominated_nodes();
  if (nodes.empty()) return;
  const std::vector<PodIndex> own = late_victims_of(world, nodes, strategy.answer());
  if (own.empty()) return;
  world.credit_late(own);
  if (!strategy.nomination_holds()) world.return_late();
}

/// Nothing else was found, so the ask waits for late pods: until when.
void explain_late_wait(const World& world, PlanAsk& ask) {
  Time last = world.time();
  for (const PodPlacement& awaited : ask.waits_for) {
    const auto pod = world.cluster().find_pod(awaited.namespace_name, awaited.name, awaited.plane);
    if (pod) last = std::max(last, world.departures().leaves_at(*pod));
  }
  add_reason(world.cluster(), ask,
             {.code = ReasonCode::takes_long, .arguments = {last - world.time()}});
}

/// Nothing was found without the room of late pods, so the ask is not called infeasible.
void explain_late(const World& world, PlanAsk& ask) {
  ask.outcome = Outcome::not_found;
  add_reason(world.cluster(), ask,
             {.code = ReasonCode::late_pods_do_not_help,
              .arguments = {world.late().size(), world.configuration().engine.leave_wait_max}});
}

/// `undecided`: the entry before room was looked for.
void wait_for_late(World& world, AskStrategy& strategy, PlanAsk undecided) {
  const std::vector<PodIndex> useful = strategy.useful_late_pods();
  if (useful.empty()) return;
  world.credit_late(useful);
  PlanAsk failed = std::exchange(strategy.answer(), std::move(undecided));
  if (strategy.fits_late()) return explain_late_wait(world, strategy.answer());
  world.return_late();
  strategy.answer() = std::move(failed);
  explain_late(world, strategy.answer());
}

/// All steps but the first and the last.
void find_answer(AskStrategy& strategy) {
  if (strategy.fits_now() || strategy.fits_soon() || strategy.is_held()) return;
  strategy.preempt();
}

}  // namespace

void drive_ask(World& world, AskStrategy& strategy) {
  if (world.late().empty()) {
    if (!strategy.is_refused()) find_answer(strategy);
    return;
  }
  credit_own_late(world, strategy);
  if (!strategy.is_refused()) {
    PlanAsk undecided = strategy.answer();
    find_answer(strategy);
    if (found_nothing(strategy.answer())) wait_for_late(world, strategy, std::move(undecided));
  }
  world.return_late();
}

bool waits_for_late(const World& world, const PlanAsk& ask) {
  return ask.outcome == Outcome::waits &&
         std::ranges::any_of(ask.waits_for, [&](const PodPlacement& awaited) {
           const auto pod =
               world.cluster().find_pod(awaited.namespace_name, awaited.name, awaited.plane);
           return pod && world.rules().late(*pod);
         });
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

}  // namespace makeway
