#include "model/planes.hpp"

namespace makeway {

std::optional<StringId> replica_plane(const Cluster& cluster, NodeIndex node,
                                      std::optional<StringId> key) {
  const StringId own = cluster.nodes().plane[node];
  if (own != StringId{0}) return own;
  if (!key) return std::nullopt;
  for (const LabelPair& label : cluster.labels(cluster.nodes().labels[node])) {
    if (label.key == *key) return label.value;
  }
  return std::nullopt;
}

std::optional<NodeIndex> find_node_in_plane(const Cluster& cluster, std::string_view plane,
                                            std::string_view name) {
  const auto there = plane.empty() ? std::nullopt : cluster.find_node(name, plane);
  return there ? there : cluster.find_node(name);
}

std::optional<PodIndex> find_pod_in_plane(const Cluster& cluster, std::string_view plane,
                                          std::string_view namespace_name, std::string_view name) {
  const auto there = plane.empty() ? std::nullopt : cluster.find_pod(namespace_name, name, plane);
  return there ? there : cluster.find_pod(namespace_name, name);
}

std::optional<PodIndex> find_claimed_victim(const Cluster& cluster, const ReplicaClaim& claim,
                                            const ClaimedVictim& victim) {
  const auto pod = find_pod_in_plane(cluster, claim.plane, victim.namespace_name, victim.name);
  return pod && cluster.pods().uid[pod->value] == victim.uid ? pod : std::nullopt;
}

}  // namespace makeway
