#include "model/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/findings.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/selector.hpp"
#include "model/validation/priorities.hpp"
#include "model/validation/queues.hpp"
#include "model/validation/replicas.hpp"
#include "model/validation/sessions.hpp"
#include "model/validation/topology.hpp"

namespace makeway {
namespace {

constexpr std::int32_t user_priority_max = 1'000'000'000;

void check_classes(Findings& findings) {
  for (const PriorityClass* item : findings.cluster().priority_classes()) {
    const std::string object = object_text("PriorityClass", {}, item->name);
    const bool node_critical = item->name == names::node_critical;
    if (node_critical || item->name == names::cluster_critical) {
      const std::int32_t fixed = node_critical ? 2'000'001'000 : 2'000'000'000;
      if (item->value == fixed) continue;
      findings.error({.object = object,
                      .field = "value",
                      .value = fmt::format("{}", item->value),
                      .message = fmt::format("this class is built in with {}", fixed),
                      .remedy = "leave it out or give it that value"});
    } else if (item->value > user_priority_max) {
      findings.error({.object = object,
                      .field = "value",
                      .value = fmt::format("{}", item->value),
                      .message = fmt::format("expected at most {}", user_priority_max),
                      .remedy = "higher values are reserved for the system-critical classes"});
    }
  }
}

}  // namespace

Problems find_errors(const Cluster& cluster) {
  Findings findings(cluster);
  check_classes(findings);
  check_groups(findings);
  check_pods(findings);
  check_queues(findings);
  check_replicas(findings);
  check_sessions(findings);
  return findings.take();
}

Problems find_cap_errors(const Cluster& cluster, const Configuration& configuration) {
  Findings findings(cluster);
  check_caps(findings, configuration.workload);
  check_default_queue(findings, configuration.queue);
  return findings.take();
}

// ---- Lint -------------------------------------------------------------------------------------

namespace {

void lint_classes(Findings& findings) {
  const PriorityClass* first = findings.cluster().default_priority_class();
  for (const PriorityClass* item : findings.cluster().priority_classes()) {
    if (!item->global_default || item == first) continue;
    findings.warning({.object = object_text("PriorityClass", {}, item->name),
                      .field = "globalDefault",
                      .value = "true",
                      .message = fmt::format("there is more than one global default; {} counts, "
                                             "since it is lower",
                                             first->name),
                      .remedy = "leave one"});
  }
}

void lint_nodes(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  for (const NodeIndex node : cluster.nodes_by_name()) {
    const std::string object = object_text("Node", {}, cluster.text(cluster.nodes().name[node]));
    std::map<ResourceIndex, std::int64_t> allocatable;
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      allocatable[item.resource] = item.amount;
    }
    if (!allocatable.contains(resource_pods)) {
      findings.warning({.object = object,
                        .field = "status.allocatable.pods",
                        .message = "the node takes no pod at all",
                        .remedy = "state how many pods it takes, for example 110"});
    }
    const std::span<const std::int64_t> used = cluster.order().used(node);
    for (std::uint32_t column = 0; column < used.size(); ++column) {
      const ResourceIndex resource{column};
      const std::string_view name = cluster.resources().name(resource);
      if (used[column] <= allocatable[resource]) continue;
      findings.warning(
          {.object = object,
           .field = fmt::format("status.allocatable[{}]", name),
           .value = human_amount(name, allocatable[resource]),
           .message = fmt::format("its pods request more: {}", human_amount(name, used[column]))});
    }
  }
}

/// The pods of each namespace, for matching budgets.
std::map<std::string_view, std::vector<PodIndex>> pods_by_namespace(const Cluster& cluster) {
  std::map<std::string_view, std::vector<PodIndex>> pods;
  if (cluster.budgets().empty()) return pods;
  for (const PodIndex pod : cluster.pods_by_name()) {
    pods[cluster.text(cluster.pods().namespace_name[pod])].push_back(pod);
  }
  return pods;
}

void lint_budgets(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const auto pods = pods_by_namespace(cluster);
  std::map<std::string, std::int64_t> governed_by;
  for (const DisruptionBudget* budget : cluster.budgets()) {
    const std::string object =
        object_text("PodDisruptionBudget", budget->namespace_name, budget->name);
    std::int64_t governed = 0;
    const auto here = pods.find(budget->namespace_name);
    std::map<LabelSetId, bool> answers;  // Pods of one controller share their labels.
    if (here != pods.end()) {
      for (const PodIndex pod : here->second) {
        const LabelSetId labels = cluster.pods().labels[pod];
        const auto [at, is_new] = answers.try_emplace(labels, false);
        if (is_new) {
          at->second = governs(*budget, budget->namespace_name, cluster.label_objects(labels));
        }
        if (!at->second) continue;
        ++governed;
        ++governed_by[cluster.pod_key(pod)];
      }
    }
    if (governed > 0) continue;
    const bool empty = budget->selector && budget->selector->requirements.empty();
    findings.warning({.object = object,
                      .field = "spec.selector",
                      .message = empty ? "an empty selector governs nothing here, as in "
                                         "kube-scheduler; evictions through the API do count it"
                                       : "it governs no pod of its namespace",
                      .remedy = "compare the selector with the pods' labels"});
  }
  for (const auto& [pod, count] : governed_by) {
    if (count < 2) continue;
    findings.warning({.object = "Pod " + pod,
                      .message = fmt::format("{} budgets govern it; Kubernetes refuses to evict "
                                             "such a pod through its API",
                                             count),
                      .remedy = "make the selectors disjoint"});
  }
}

void lint_pod(Findings& findings, PodIndex pod) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  const std::string object = "Pod " + cluster.pod_key(pod);
  const auto missing = [&](NodeIndex node) {
    return cluster.node_count() > 0 && node.exists() && !cluster.nodes().flags[node].exists;
  };
  for (const auto& [node, field] : {std::pair{pods.node[pod], "spec.nodeName"},
                                    std::pair{pods.nominated[pod], "status.nominatedNodeName"}}) {
    if (!missing(node)) continue;
    findings.warning({.object = object,
                      .field = field,
                      .value = std::string(cluster.text(cluster.nodes().name[node])),
                      .message = "this node is not in the input",
                      .remedy = "add it (kubectl get nodes -o yaml) or leave the pod out"});
  }
  for (const std::string& need : cluster.shape(pods.shape[pod]).unsupported) {
    findings.warning({.object = object,
                      .value = need,
                      .message = "Makeway does not check this need yet and will refuse to place "
                                 "the pod"});
  }
}

/// Pending pods that ask for more of something than any node has.
void lint_size(Findings& findings, PodIndex pod,
               const std::map<ResourceIndex, std::int64_t>& largest) {
  const Cluster& cluster = findings.cluster();
  for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
    const auto found = largest.find(item.resource);
    const std::int64_t most = found == largest.end() ? 0 : found->second;
    if (item.amount <= most) continue;
    const std::string_view name = cluster.resources().name(item.resource);
    findings.warning({.object = "Pod " + cluster.pod_key(pod),
                      .field = fmt::format("requests[{}]", name),
                      .value = human_amount(name, item.amount),
                      .message = fmt::format("no node has that much; the largest has {}",
                                             human_amount(name, most))});
  }
}

}  // namespace

Problems lint(const Cluster& cluster) {
  Findings findings(cluster);
  lint_classes(findings);
  lint_nodes(findings);
  lint_groups(findings);
  lint_topology(findings);
  lint_workloads(findings);
  lint_budgets(findings);
  lint_queues(findings);
  lint_replicas(findings);
  lint_sessions(findings);
  std::map<ResourceIndex, std::int64_t> largest;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      largest[item.resource] = std::max(largest[item.resource], item.amount);
    }
  }
  if (cluster.node_count() == 0 && cluster.pod_count() > 0) {
    findings.warning({.message = "there are pods but no nodes in the input",
                      .remedy = "add them (kubectl get nodes -o yaml)"});
  }
  for (const PodIndex pod : cluster.pods_by_name()) {
    lint_pod(findings, pod);
    lint_marks(findings, pod);
    const bool pending = !cluster.pods().node[pod].exists();
    if (pending && cluster.node_count() > 0) lint_size(findings, pod, largest);
  }
  return findings.take();
}

}  // namespace makeway
