#include "policies/shared/pod_actions.hpp"

#include "model/request.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {

std::string uid_of(const Cluster& cluster, const PodPlacement& placement) {
  const auto pod = cluster.find_pod(placement.namespace_name, placement.name, placement.plane);
  return pod ? std::string(cluster.pods().uid[pod->value]) : std::string();
}

void add_evictions(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  if (ask.victims.empty()) return;
  const ObjectRef asks = ref_of(ask);
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
        {.object = pod_ref(victim.namespace_name, victim.name, victim.plane),
         .condition = "DisruptionTarget",
         .value = true,
         .reason = "PreemptionByScheduler",
         .message = write_text(cluster, {.code = ReasonCode::makes_room_for,
                                         .arguments = {object_of(ask), victim.reason}})});
  }
}

void add_placements(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  const bool bound = ask.outcome == Outcome::fits;
  for (const PodPlacement& placement : ask.placements) {
    plan.actions.push_back({.type = bound ? ActionType::bind : ActionType::nominate,
                            .namespace_name = placement.namespace_name,
                            .name = placement.name,
                            .uid = uid_of(cluster, placement),
                            .node = placement.node,
                            .ask = {},
                            .since = {},
                            .plane = placement.plane});
  }
}

void add_wait(const PlanAsk& ask, Plan& plan) {
  if (ask.outcome != Outcome::waits || !ask.placements.empty()) return;
  plan.actions.push_back({.type = ActionType::wait,
                          .namespace_name = ask.namespace_name,
                          .name = ask.name,
                          .uid = {},
                          .node = {},
                          .ask = {},
                          .since = {},
                          .plane = ask.plane});
}

void add_unscheduled(const PlanAsk& ask, std::string_view condition, Plan& plan) {
  if (ask.outcome == Outcome::fits) return;
  plan.status.push_back({.object = ref_of(ask),
                         .condition = std::string(condition),
                         .value = false,
                         .reason = "Unschedulable",
                         .message = ask.reason,
                         .message_mentions = ask.reason_mentions});
}

}  // namespace makeway
