#include "policies/shared/plan_end.hpp"

#include <fmt/format.h>

#include "model/group_status.hpp"
#include "model/object_text.hpp"
#include "policies/replica/replica_actions.hpp"
#include "policies/session/session_actions.hpp"
#include "policies/shared/plan_losses.hpp"

namespace makeway {
namespace {

std::string uid_of(const Cluster& cluster, const PodPlacement& placement) {
  const auto pod = cluster.find_pod(placement.namespace_name, placement.name, placement.plane);
  return pod ? std::string(cluster.pods().uid[pod->value]) : std::string();
}

void add_evictions(const PlanAsk& ask, Plan& plan) {
  const std::string asks = ask.victims.empty() ? std::string{} : ask_text(ask);
  for (const PlanVictim& victim : ask.victims) {
    plan.actions.push_back({.type = ActionType::evict,
                            .namespace_name = victim.namespace_name,
                            .name = victim.name,
                            .uid = victim.uid,
                            .node = victim.node,
                            .ask = asks,
                            .since = {},
                            .plane = victim.plane});
    plan.status.push_back(
        {.object = object_text("Pod", {victim.namespace_name, victim.name, victim.plane}),
         .condition = "DisruptionTarget",
         .value = true,
         .reason = "PreemptionByScheduler",
         .message = fmt::format("makeway: makes room for {}: {}", asks, victim.reason)});
  }
}

void add_actions(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  if (ask.replicas) return add_replica_actions(ask, plan);
  if (ask.kind == AskKind::session) return add_session_actions(cluster, ask, plan);
  add_evictions(ask, plan);
  for (const PodPlacement& placement : ask.placements) {
    const bool bound = ask.outcome == Outcome::fits;
    plan.actions.push_back({.type = bound ? ActionType::bind : ActionType::nominate,
                            .namespace_name = placement.namespace_name,
                            .name = placement.name,
                            .uid = uid_of(cluster, placement),
                            .node = placement.node,
                            .ask = {},
                            .since = {},
                            .plane = placement.plane});
  }
  if (ask.reservation && ask.placements.empty()) {
    const PodPlacement reserved{.namespace_name = ask.namespace_name,
                                .name = ask.name,
                                .node = ask.reservation->node,
                                .plane = ask.plane};
    plan.actions.push_back({.type = ActionType::reserve,
                            .namespace_name = ask.namespace_name,
                            .name = ask.name,
                            .uid = uid_of(cluster, reserved),
                            .node = ask.reservation->node,
                            .ask = {},
                            .since = ask.reservation->since,
                            .plane = ask.plane});
  } else if (ask.outcome == Outcome::waits && ask.placements.empty() &&
             ask.kind != AskKind::queue) {
    plan.actions.push_back({.type = ActionType::wait,
                            .namespace_name = ask.namespace_name,
                            .name = ask.name,
                            .uid = {},
                            .node = {},
                            .ask = {},
                            .since = {},
                            .plane = ask.plane});
  }
  if (ask.kind == AskKind::pod_group) {
    const auto group = cluster.find_group(ask.namespace_name, ask.name, ask.plane);
    if (auto status = priority_condition(cluster, *group)) {
      plan.status.push_back(*std::move(status));
    }
  }
  if (ask.outcome == Outcome::fits || ask.kind == AskKind::queue) return;
  plan.status.push_back(
      {.object = ask_text(ask),
       .condition = ask.kind == AskKind::pod ? "PodScheduled" : "PodGroupInitiallyScheduled",
       .value = false,
       .reason = "Unschedulable",
       .message = ask.reason});
}

}  // namespace

void finish_plan(Draft& draft) {
  const World& world = draft.world;
  Plan& plan = draft.plan;
  plan.now = world.rules().now();
  plan.configuration_hash = configuration_hash(world.configuration());
  plan.laws_waived = world.configuration().engine.laws_waived;
  add_losses(draft);
  std::size_t victims = 0;
  for (const PlanAsk& ask : plan.asks) victims += ask.victims.size();
  plan.actions.reserve(plan.asks.size() + victims);
  plan.status.reserve(plan.asks.size() + victims);
  for (const PlanAsk& ask : plan.asks) add_actions(world.cluster(), ask, plan);
}

}  // namespace makeway
