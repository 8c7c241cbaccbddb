#include "policies/cycle.hpp"

#include "model/object_text.hpp"

namespace makeway {

Cycle::Cycle(const Cluster& the_cluster, const Configuration& the_configuration, Time now_time)
    : cluster(the_cluster),
      configuration(the_configuration),
      survey(the_cluster),
      rules(survey, the_configuration, now_time),
      budgets(survey),
      now(the_cluster),
      after(the_cluster),
      decided(the_cluster.pods().slots()) {
  for (const NodeIndex node : survey.nodes()) {
    if (cluster.nodes().leaving[node] == 0) continue;
    for (const PodIndex pod : cluster.order().pods(node)) {
      if (!rules.credited(pod)) continue;
      after.remove(pod);
      gone.push_back(pod);
      worlds_differ = true;
    }
  }
}

std::string pod_text(const Cluster& cluster, PodIndex pod) {
  return object_text("Pod", cluster.text(cluster.pods().namespace_name[pod]),
                     cluster.pods().name[pod.value]);
}

std::string unit_text(const Cluster& cluster, UnitIndex unit) {
  const Unit& row = cluster.units()[unit];
  if (row.kind == UnitKind::pod) return pod_text(cluster, row.pod);
  const Group& group = cluster.groups()[row.group];
  return object_text("PodGroup", cluster.text(group.namespace_name), cluster.text(group.name));
}

std::string node_name(const Cluster& cluster, NodeIndex node) {
  return std::string(cluster.text(cluster.nodes().name[node]));
}

PodPlacement placement_of(const Cluster& cluster, PodIndex pod, NodeIndex node) {
  return {.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod])),
          .name = std::string(cluster.pods().name[pod.value]),
          .node = node_name(cluster, node)};
}

PlanAsk start_pod_ask(const Cluster& cluster, PodIndex pod) {
  PlanAsk ask;
  ask.kind = AskKind::pod;
  ask.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod]));
  ask.name = std::string(cluster.pods().name[pod.value]);
  ask.priority = cluster.units()[cluster.pods().unit[pod]].scheduling_priority;
  return ask;
}

bool keeps_promises(Cycle& cycle, PodIndex ask, NodeIndex node, std::span<const PodIndex> victims) {
  if (cycle.promises.empty()) return true;
  Scratch& world = cycle.after;
  const Scratch::Checkpoint before = world.checkpoint();
  world.remove(cycle.hopeful);
  world.remove(victims);
  world.place(ask, node);
  bool kept = true;
  for (const Promise& promise : cycle.promises) {
    world.remove(promise.pod);
    {
      PodFit fit(cycle.survey, world, promise.pod, cycle.decided);
      kept = !fit.check_unreserved(promise.node);
    }
    if (!kept) break;
    world.place(promise.pod, promise.node);
  }
  world.rollback(before);
  return kept;
}

void settle_decided(Cycle& cycle, PodIndex pod) {
  cycle.decided.writable(pod) = 1;
  const NodeIndex nominated = cycle.cluster.pods().nominated[pod];
  if (nominated.exists() && cycle.cluster.nodes().flags[nominated].exists) {
    cycle.changed_nodes.push_back(nominated);
  }
}

void settle_bound(Cycle& cycle, PodIndex pod, NodeIndex node) {
  cycle.changed_nodes.push_back(node);
  cycle.now.place(pod, node);
  cycle.after.place(pod, node);
  cycle.rules.settle(pod);
}

void settle_nominated(Cycle& cycle, PodIndex pod, NodeIndex node,
                      std::span<const PodIndex> victims) {
  cycle.changed_nodes.push_back(node);
  for (const PodIndex victim : victims) {
    cycle.changed_nodes.push_back(cycle.cluster.pods().node[victim]);
    cycle.after.remove(victim);
    cycle.gone.push_back(victim);
    cycle.rules.settle(victim);
  }
  cycle.budgets.commit(victims);
  const PodShape& shape = cycle.cluster.shape(cycle.cluster.pods().shape[pod]);
  const bool depends_on_others = !shape.affinity.empty() || !shape.spread.empty();
  const bool may_hope = victims.empty() && cycle.configuration.workload.nomination_held_by ==
                                               NominationHeldBy::preempted_pods;
  if (depends_on_others || may_hope) {
    PodFit fit(cycle.survey, cycle.after, pod, cycle.decided);
    if (fit.check_unreserved(node)) {
      cycle.hopeful.push_back(pod);
    } else if (depends_on_others) {
      cycle.promises.push_back({pod, node});
    }
  }
  cycle.after.place(pod, node);
  cycle.rules.settle(pod);
  cycle.worlds_differ = true;
}

}  // namespace makeway
