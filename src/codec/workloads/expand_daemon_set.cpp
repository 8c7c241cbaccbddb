// DaemonSet (facts/workload-kinds.md, 3.4): one pod a matching node.
#include <algorithm>
#include <array>
#include <map>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/node_match.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/required_node.hpp"

namespace makeway {
namespace {

constexpr std::string_view node_prefix = "node.kubernetes.io/";

/// Added by the controller; all of them exist-tolerations without a time limit.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> daemon_tolerations = {{
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
}};

/// The nodes of home, by name; the cluster's own list is not ready while it is loaded.
std::map<std::string_view, NodeIndex> nodes_of_home(const Cluster& cluster) {
  std::map<std::string_view, NodeIndex> nodes;
  for (std::uint32_t slot = 0; slot < cluster.nodes().slots(); ++slot) {
    const NodeIndex node{slot};
    if (!cluster.nodes().flags[node].exists) continue;
    if (cluster.nodes().plane[node] != StringId{0}) continue;
    nodes.emplace(cluster.text(cluster.nodes().name[node]), node);
  }
  return nodes;
}

/// Nodes that have a pod of it, bound or meant for it.
std::vector<std::string> nodes_with_pod(Expansion& expansion, const Manifest& manifest) {
  std::vector<std::string> nodes;
  const Cluster& cluster = expansion.cluster();
  for (const PodIndex pod : expansion.pods_of("DaemonSet", manifest.name, manifest.uid)) {
    expansion.note_present(pod);
    const NodeIndex node = cluster.pods().node[pod];
    nodes.emplace_back(node.exists() ? cluster.text(cluster.nodes().name[node])
                                     : required_node_of(cluster, pod));
  }
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace

void expand_daemon_set(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  PodTemplate pods = read_template(spec.at("template"));
  pods.owner = expansion.controller("DaemonSet", manifest.name, manifest.uid);
  for (const auto& [key, effect] : daemon_tolerations) tolerate(pods.spec, key, effect);
  const JsonValue* const host_network = pods.spec.find("hostNetwork");
  if (host_network != nullptr && host_network->as_boolean() != nullptr &&
      *host_network->as_boolean()) {
    tolerate(pods.spec, std::string(node_prefix) + "network-unavailable", "NoSchedule");
  }
  if (!expansion.prepare(pods)) return;
  check_selector(spec.at("selector"), pods);
  const std::vector<std::string> served = nodes_with_pod(expansion, manifest);
  const std::string hash = template_hash(pods.spec_text + compact_text(pods.labels));
  const Cluster& cluster = expansion.cluster();
  std::vector<std::string> wanted;
  for (const auto& [name, node] : nodes_of_home(cluster)) {
    if (std::ranges::binary_search(served, name)) continue;
    if (!pods.sample.node.empty() && pods.sample.node != name) continue;
    if (may_run_on(pods.sample.shape, name, cluster.label_objects(cluster.nodes().labels[node]),
                   cluster.taints(cluster.nodes().taints[node]))) {
      wanted.emplace_back(name);
    }
  }
  for (const std::string& name : wanted) {
    JsonValue own = pods.spec;
    pin_to_node(own, name);
    const std::string spec_text = compact_text(own);
    if (!expansion.add(
            pods, {.name = expansion.fresh_name(manifest.name + "-"),
                   .labels = {{"controller-revision-hash", hash}, {"pod-template-generation", "1"}},
                   .spec_text = &spec_text})) {
      return;
    }
  }
}

}  // namespace makeway
