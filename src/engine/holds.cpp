#include "engine/holds.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "engine/constraints.hpp"
#include "model/find_resource.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"
#include "model/required_node.hpp"

namespace makeway {

Holds::Holds(Survey& survey, const Configuration& configuration)
    : survey_(survey),
      cluster_(survey.cluster()),
      infeasible_stand_(configuration.workload.nomination_held_by ==
                        NominationHeldBy::preempted_pods),
      rows_(1, Hold{.is_void = true, .may_come = false}),
      row_at_(cluster_.pods().slots()),
      states_(cluster_.pods().slots()) {
  for (const PodIndex pod : cluster_.nominated_pods()) {
    const NodeIndex node = cluster_.pods().nominated[pod];
    if (!cluster_.nodes().flags[node].exists) continue;
    row_at_.writable(pod) = static_cast<std::uint32_t>(rows_.size());
    const Hold& hold = rows_.emplace_back(row(pod, node));
    if (hold.is_void) continue;
    const bool looks = looks_at_others(cluster_.shape(cluster_.pods().shape[pod]));
    (looks ? constrained_ : unconstrained_).push_back(hold);
  }
  for (std::vector<Hold>* list : {&constrained_, &unconstrained_}) {
    std::ranges::sort(*list, [this](const Hold& a, const Hold& b) {
      if (a.node == b.node) return cluster_.pod_key(a.pod) < cluster_.pod_key(b.pod);
      return cluster_.text(cluster_.nodes().name[a.node]) <
             cluster_.text(cluster_.nodes().name[b.node]);
    });
  }
}

/// A replica of a schedule is placed by Kubernetes, wherever it is pinned to.
bool Holds::asks_pinned(PodIndex pod) const { return survey_.regimes().crosses(pod); }

Hold Holds::row(PodIndex pod, NodeIndex node) {
  return nomination_hold(
      cluster_, pod, node,
      {.regime_admits = survey_.regimes().may_go(pod, node),
       .node_takes = cluster_.pods().flags[pod].kernel || survey_.could_take(pod, node),
       .pinned = asks_pinned(pod),
       .infeasible_stands = infeasible_stand_});
}

HoldAsk Holds::ask_of(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  HoldAsk ask{.pod = pod,
              .unit = {},
              .rank = {.priority = cluster_.units()[pods.unit[pod]].scheduling_priority},
              .turns_on = pods.nominated[pod]};
  if (ask.turns_on.exists() || !asks_pinned(pod)) return ask;
  const auto only =
      cluster_.find_node(required_node_of(cluster_, pod), cluster_.text(pods.plane[pod]));
  ask.turns_on = only.value_or(NodeIndex{});
  return ask;
}

// ---- Claims -------------------------------------------------------------------------------------

std::vector<std::int64_t> claim_need(const Cluster& cluster, const ReplicaSchedule& schedule,
                                     std::span<const PodIndex> still_there) {
  std::vector<std::int64_t> amounts(cluster.order().columns());
  amounts[resource_pods.value] = 1;
  for (const Amount& wanted : schedule.requests) {
    const auto found = find_resource(cluster.resources(), wanted.resource);
    if (found) amounts[found->value] = std::max(amounts[found->value], wanted.amount);
  }
  for (const PodIndex pod : still_there) {
    for (const ResourceAmount& item : request_of(cluster, pod)) {
      std::int64_t& amount = amounts[item.resource.value];
      amount = std::max<std::int64_t>(0, saturated_sub(amount, item.amount));
    }
  }
  return amounts;
}

std::vector<std::int64_t> Holds::claimed(const Scratch& scratch, NodeIndex node) const {
  std::vector<std::int64_t> held;
  if (survey_.regimes().of(node) != Regime::replicas ||
      cluster_.nodes().flags[node].unschedulable) {
    return held;
  }
  const auto value =
      replica_plane(cluster_, node, cluster_.strings().find(names::plane)).value_or(StringId{0});
  const std::string_view plane = cluster_.text(value);
  const std::string_view name = cluster_.text(cluster_.nodes().name[node]);
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    const bool listed =
        std::ranges::find(schedule.planes, plane, &ReplicaPlane::name) != schedule.planes.end();
    std::int64_t unmet = listed ? schedule.unmet : 0;
    for (const ReplicaClaim& claim : schedule.status.claims) {
      if (unmet-- <= 0) break;
      if (claim.node != name || claim.plane != plane) continue;
      std::vector<PodIndex> still_there;
      for (const ClaimedVictim& victim : claim.victims) {
        const auto pod = cluster_.find_pod(victim.namespace_name, victim.name,
                                           cluster_.text(cluster_.nodes().plane[node]));
        const bool is_it = pod && cluster_.pods().uid[pod->value] == victim.uid;
        if (is_it && scratch.node_of(*pod) == node) still_there.push_back(*pod);
      }
      const std::vector<std::int64_t> need = claim_need(cluster_, schedule, still_there);
      held.resize(need.size());
      std::ranges::transform(held, need, held.begin(), saturated_add);
    }
  }
  return held;
}

}  // namespace makeway
