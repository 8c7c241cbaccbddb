#include "policies/shared/cluster_text.hpp"

#include <algorithm>

#include "model/object_text.hpp"

namespace makeway {

std::string pod_text(const Cluster& cluster, PodIndex pod) {
  if (cluster.pods().flags[pod].kernel) return "kernel " + cluster.pod_key(pod);
  return object_text(
      "Pod", {cluster.text(cluster.pods().namespace_name[pod]), cluster.pods().name[pod.value],
              cluster.text(cluster.pods().plane[pod])});
}

std::string unit_text(const Cluster& cluster, UnitIndex unit) {
  const Unit& row = cluster.units()[unit];
  if (row.kind == UnitKind::pod) return pod_text(cluster, row.pod);
  const Group& group = cluster.groups()[row.group];
  return object_text("PodGroup", {cluster.text(group.namespace_name), cluster.text(group.name),
                                  cluster.text(group.plane)});
}

std::string node_name(const Cluster& cluster, NodeIndex node) {
  return std::string(cluster.text(cluster.nodes().name[node]));
}

PodPlacement placement_of(const Cluster& cluster, PodIndex pod, NodeIndex node) {
  if (cluster.pods().flags[pod].kernel) {
    const std::string key = cluster.pod_key(pod);
    const std::size_t slash = key.find('/');
    return {.namespace_name = key.substr(0, slash),
            .name = key.substr(slash + 1),
            .node = node_name(cluster, node)};
  }
  return {.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod])),
          .name = std::string(cluster.pods().name[pod.value]),
          .node = node_name(cluster, node),
          .plane = std::string(cluster.text(cluster.pods().plane[pod]))};
}

std::vector<PodPlacement> placements_of(const Cluster& cluster, std::span<const PodIndex> pods) {
  std::vector<PodPlacement> placements;
  placements.reserve(pods.size());
  for (const PodIndex pod : pods) {
    PodPlacement& placement =
        placements.emplace_back(placement_of(cluster, pod, cluster.pods().node[pod]));
    // A kernel may have a row of its own for its memory.
    if (cluster.pods().flags[pod].kernel) {
      placement.name.resize(std::min(placement.name.size(), placement.name.find('#')));
    }
  }
  std::ranges::sort(placements);
  const auto repeated = std::ranges::unique(placements);
  placements.erase(repeated.begin(), repeated.end());
  return placements;
}

PlanAsk start_pod_ask(const Cluster& cluster, PodIndex pod) {
  PlanAsk ask;
  ask.kind = AskKind::pod;
  ask.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod]));
  ask.name = std::string(cluster.pods().name[pod.value]);
  ask.plane = std::string(cluster.text(cluster.pods().plane[pod]));
  const PodNotes& notes = cluster.notes(cluster.pods().notes[pod]);
  ask.made_from = notes.made_from;
  ask.wave = notes.wave;
  ask.wave_after = notes.wave_after;
  ask.priority = cluster.units()[cluster.pods().unit[pod]].scheduling_priority;
  return ask;
}

}  // namespace makeway
