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
      decided(the_cluster.pods().slots(), 0) {
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

void settle_bound(Cycle& cycle, PodIndex pod, NodeIndex node) {
  cycle.now.place(pod, node);
  cycle.after.place(pod, node);
  cycle.rules.settle(pod);
}

void settle_nominated(Cycle& cycle, PodIndex pod, NodeIndex node,
                      std::span<const PodIndex> victims) {
  for (const PodIndex victim : victims) {
    cycle.after.remove(victim);
    cycle.gone.push_back(victim);
    cycle.rules.settle(victim);
  }
  cycle.budgets.commit(victims);
  cycle.after.place(pod, node);
  cycle.rules.settle(pod);
  cycle.worlds_differ = true;
}

}  // namespace makeway
