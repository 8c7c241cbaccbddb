#include "model/validation/regimes.hpp"

#include <fmt/format.h>

#include "model/names.hpp"
#include "model/regime.hpp"

namespace makeway {
namespace {

void find_claimed_twice(const Cluster& cluster, const Regimes& regimes, Problems& problems) {
  for (const NodeIndex node : cluster.nodes_by_name()) {
    if (!regimes.claimed_twice(node)) continue;
    problems.push_back(
        {.severity = Severity::error,
         .origin = {},
         .object = fmt::format("Node {}", cluster.text(cluster.nodes().name[node])),
         .field = fmt::format("metadata.labels[{}]", names::plane),
         .value = {},
         .message = "a ResourceGroup lists the node as well, so it belongs to sessions alone",
         .remedy = "take it out of the group, or remove the label"});
  }
}

void find_misdirected(const Cluster& cluster, const Regimes& regimes, Problems& problems) {
  const auto ours = cluster.strings().find(names::own_scheduler);
  if (!ours) return;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.pods_by_name()) {
    if (pods.node[pod].exists() || pods.scheduler[pod] != *ours) continue;
    const ReplicaSchedule* const schedule = regimes.schedule_of(pod);
    if (schedule == nullptr) continue;
    problems.push_back({.severity = Severity::warning,
                        .origin = {},
                        .object = "Pod " + cluster.pod_key(pod),
                        .field = "spec.schedulerName",
                        .value = std::string(names::own_scheduler),
                        .message = fmt::format("it belongs to ReplicaSchedule {}/{}, whose pods "
                                               "are placed by Kubernetes: it is not placed here",
                                               schedule->namespace_name, schedule->name),
                        .remedy = "leave out its schedulerName"});
  }
}

}  // namespace

Problems find_regime_problems(const Cluster& cluster, const Configuration& configuration) {
  Problems problems;
  const Regimes regimes(cluster, configuration);
  if (regimes.mixed()) find_claimed_twice(cluster, regimes, problems);
  if (regimes.any_schedules()) find_misdirected(cluster, regimes, problems);
  return problems;
}

}  // namespace makeway
