#include "policies/replica/replica_actions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/object_text.hpp"
#include "model/planes.hpp"
#include "model/request.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"

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

// ---- The net schedule ---------------------------------------------------------------------------

namespace {

/// Namespace and deployment.
using DeploymentName = std::pair<std::string, std::string>;
/// What changes in one plane, and for which asks.
struct NetPlane {
  PlanNetScale scale;
  std::vector<const PlanAsk*> asks;  ///< As in `scale`.
};
using NetPlanes = std::map<std::string, NetPlane>;

void add_step(NetPlanes& planes, const PlanScale& step, const PlanAsk& ask) {
  const auto [at, is_new] =
      planes.try_emplace(step.plane, NetPlane{.scale = {.plane = step.plane,
                                                        .committed_before = step.committed_before,
                                                        .committed_after = step.committed_after,
                                                        .asks = {}}});
  PlanNetScale& net = at->second.scale;
  // Steps of one deployment and plane go one way, each on from another.
  const bool down = step.committed_after < step.committed_before;
  if (!is_new && down) {
    net.committed_before = std::max(net.committed_before, step.committed_before);
    net.committed_after = std::min(net.committed_after, step.committed_after);
  }
  std::vector<const PlanAsk*>& asks = at->second.asks;
  if (std::ranges::find(asks, &ask) != asks.end()) return;
  asks.push_back(&ask);
  net.asks.push_back(ask_text(ask));
}

std::map<DeploymentName, NetPlanes> steps_of(const Plan& plan) {
  std::map<DeploymentName, NetPlanes> steps;
  for (const PlanAsk& ask : plan.asks) {
    if (!ask.replicas) continue;
    for (const PlanScaleUp& up : ask.replicas->scale_ups) {
      add_step(steps[{ask.namespace_name, ask.replicas->deployment}],
               {.plane = up.plane,
                .committed_before = up.committed_before,
                .committed_after = up.committed_after},
               ask);
    }
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      for (const PlanReplicaVictim& victim : claim.victims) {
        if (victim.action != ReplicaAction::scale_down) continue;
        add_step(steps[{victim.namespace_name, victim.deployment}],
                 {.plane = claim.plane,
                  .committed_before = *victim.committed_before,
                  .committed_after = *victim.committed_after},
                 ask);
      }
    }
  }
  return steps;
}

/// "1 replica in plane eu goes for ReplicaSchedule default/reco"
Reason loss_reason(const NetPlane& plane) {
  Reasons asks;
  for (const PlanAsk* const ask : plane.asks) {
    asks.push_back({.code = ReasonCode::named, .arguments = {object_of(*ask)}});
  }
  return {.code = ReasonCode::replicas_go,
          .arguments = {plane.scale.committed_before - plane.scale.committed_after,
                        plane.scale.plane, std::move(asks)}};
}

Reason change_reason(const PlanNetSchedule& net) {
  return {.code = ReasonCode::replica_unmet, .arguments = {net.unmet_before, net.unmet_after}};
}

/// `parts`: what it loses.
void report_losses(const Cluster& cluster, const PlanNetSchedule& net, Reasons parts, Plan& plan) {
  const bool asks = std::ranges::any_of(plan.asks, [&](const PlanAsk& ask) {
    return ask.replicas && ask.namespace_name == net.namespace_name && ask.name == net.name;
  });
  if (parts.empty() || asks) return;
  parts.push_back(change_reason(net));
  Sentence sentence =
      write_reason(cluster, {.code = ReasonCode::replica_losses, .arguments = {std::move(parts)}});
  plan.status.push_back({.object = {.kind = RefKind::replica_schedule,
                                    .namespace_name = net.namespace_name,
                                    .name = net.name},
                         .condition = "ReplicasMet",
                         .value = false,
                         .reason = "Preempted",
                         .message = sentence.text,
                         .message_mentions = Mentions(std::move(sentence))});
}

}  // namespace

void add_net_schedule(const Cluster& cluster, Plan& plan) {
  std::map<DeploymentName, NetPlanes> steps = steps_of(plan);
  if (steps.empty()) return;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    const auto found = steps.find({schedule.namespace_name, schedule.deployment});
    if (found == steps.end()) continue;
    PlanNetSchedule net{.namespace_name = schedule.namespace_name,
                        .name = schedule.name,
                        .deployment = schedule.deployment,
                        .unmet_before = schedule.unmet,
                        .unmet_after = schedule.unmet};
    Reasons losses;
    for (auto& [name, plane] : found->second) {
      const std::int64_t lost = plane.scale.committed_before - plane.scale.committed_after;
      net.unmet_after += lost;
      if (lost > 0) losses.push_back(loss_reason(plane));
      net.planes.push_back(std::move(plane.scale));
    }
    report_losses(cluster, net, std::move(losses), plan);
    plan.net_schedule.push_back(std::move(net));
  }
}

std::optional<Reason> unmet_reason(const Plan& plan, const PlanAsk& ask) {
  for (const PlanNetSchedule& net : plan.net_schedule) {
    if (net.namespace_name != ask.namespace_name || net.name != ask.name) continue;
    const bool loses = std::ranges::any_of(net.planes, [](const PlanNetScale& scale) {
      return scale.committed_after < scale.committed_before;
    });
    if (loses) return change_reason(net);
  }
  return std::nullopt;
}

}  // namespace makeway
