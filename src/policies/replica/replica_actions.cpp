#include "policies/replica/replica_actions.hpp"

#include "model/planes.hpp"
#include "model/request.hpp"
#include "policies/replica/net_schedule.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_actions.hpp"

namespace makeway {
namespace {

void add_victim(const PlanReplicaClaim& claim, const PlanReplicaVictim& victim,
                const ObjectRef& ask, Plan& plan) {
  if (victim.action == ReplicaAction::wait) return;
  const bool down = victim.action == ReplicaAction::scale_down;
  PlanAction action{.type = down ? ActionType::scale_down : ActionType::force_delete,
                    .namespace_name = victim.namespace_name,
                    .name = down ? victim.deployment : victim.name,
                    .uid = down ? std::string() : victim.uid,
                    .node = down ? std::string() : claim.node,
                    .ask = ask,
                    .since = {},
                    .plane = victim.plane};
  if (down) {
    action.scale = PlanScale{.plane = claim.plane,
                             .committed_before = *victim.committed_before,
                             .committed_after = *victim.committed_after};
  }
  plan.actions.push_back(std::move(action));
}

/// Of the Deployment's key: empty where a label says in which plane its nodes are.
std::string plane_of_key(const Cluster& cluster, const PlanScaleUp& item) {
  if (item.expected.empty()) return {};
  const auto node = find_node_in_plane(cluster, item.plane, item.expected.front().node);
  return node ? std::string(cluster.text(cluster.nodes().plane[*node])) : std::string();
}

std::string_view reason_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::fits: return "Allocated";
    case Outcome::preempts: return "Preempting";
    case Outcome::waits: return "Waiting";
    case Outcome::infeasible:
    case Outcome::not_found: return "NoRoom";
  }
  return {};
}

}  // namespace

void add_replica_actions(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  const PlanReplicas& replicas = *ask.replicas;
  const ObjectRef ref = ref_of(ask);
  for (const PlanScaleUp& item : replicas.scale_ups) {
    plan.actions.push_back({.type = ActionType::scale_up,
                            .namespace_name = ask.namespace_name,
                            .name = replicas.deployment,
                            .uid = {},
                            .node = {},
                            .ask = ref,
                            .since = {},
                            .scale = PlanScale{.plane = item.plane,
                                               .committed_before = item.committed_before,
                                               .committed_after = item.committed_after},
                            .plane = plane_of_key(cluster, item)});
  }
  for (const PlanReplicaClaim& claim : replicas.claims) {
    for (const PlanReplicaVictim& victim : claim.victims) add_victim(claim, victim, ref, plan);
  }
  add_wait(ask, plan);
  // An ask that finds room in one plane may lose a replica in another.
  const std::optional<Reason> loss = unmet_reason(plan, ask);
  const bool fits = ask.outcome == Outcome::fits;
  if (fits && !loss) return;
  Sentence sentence = reason_sentence(ask);
  if (loss) {
    sentence = write_reason(cluster, {.code = ReasonCode::replica_and_unmet,
                                      .arguments = {std::move(sentence), *loss}});
  }
  plan.status.push_back({.object = ref,
                         .condition = "ReplicasMet",
                         .value = false,
                         .reason = fits ? "Preempted" : std::string(reason_word(ask.outcome)),
                         .message = sentence.text,
                         .message_mentions = Mentions(std::move(sentence))});
}

}  // namespace makeway
