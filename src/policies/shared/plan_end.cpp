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

class Identity {
 public:
  void add(std::string_view text) { hash_ = hash_combine(hash_, hash_of(text)); }
  void add(std::int64_t number) { hash_ = hash_combine(hash_, static_cast<std::uint64_t>(number)); }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0;
};

void add_queues(Identity& identity, const Plan& plan) {
  for (const PlanQueue& queue : plan.queues) {
    identity.add(queue.name);
    for (const PlanQueueShare& share : queue.shares) {
      identity.add(share.resource);
      identity.add(share.deserved);
      identity.add(share.allocated);
      identity.add(share.preempting);
    }
  }
  for (const PlanQueueMove& move : plan.queue_moves) {
    identity.add(move.resource);
    identity.add(move.from);
    identity.add(move.to);
    identity.add(move.amount);
  }
}

std::string identity_of(const Plan& plan) {
  Identity identity;
  identity.add(plan.configuration_hash);
  identity.add(plan.now.ms);
  add_queues(identity, plan);
  for (const PlanAsk& ask : plan.asks) {
    identity.add(ask_text(ask));
    identity.add(choice_name(ask.outcome));
    identity.add(ask.priority);
    identity.add(ask.reason);
    if (ask.reservation) identity.add(ask.reservation->since.ms);
    for (const PodPlacement& awaited : ask.waits_for) identity.add(awaited.name);
    for (const PodPlacement& placement : ask.placements) {
      identity.add(placement.namespace_name);
      identity.add(placement.name);
      identity.add(placement.node);
    }
    for (const PlanVictim& victim : ask.victims) {
      identity.add(victim.namespace_name);
      identity.add(victim.name);
      identity.add(victim.uid);
    }
  }
  for (const PlanAction& action : plan.actions) {
    if (!action.scale && action.type != ActionType::force_delete) continue;
    identity.add(choice_name(action.type));
    identity.add(action.namespace_name);
    identity.add(action.name);
    identity.add(action.scale ? action.scale->plane : action.uid);
    identity.add(action.scale ? action.scale->committed_after : 0);
  }
  return identity.text();
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
  plan.id = identity_of(plan);
}

}  // namespace makeway
