// What queues say that is legal and probably not meant.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/checked_math.hpp"
#include "model/queue_findings.hpp"
#include "model/queue_membership.hpp"
#include "model/queue_tree.hpp"
#include "model/validation/queues.hpp"

namespace makeway {
namespace {

using Totals = std::map<std::string, std::int64_t, std::less<>>;

Totals cluster_totals(const Cluster& cluster) {
  Totals totals;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      std::int64_t& sum = totals[std::string(cluster.resources().name(item.resource))];
      sum = saturated_add(sum, item.amount);
    }
  }
  return totals;
}

/// What the children of each queue are promised together; the last entry is the cluster's.
std::vector<Totals> promised_below(const QueueTree& tree) {
  std::vector<Totals> promised(tree.size() + 1);
  for (const std::size_t position : tree.children_first()) {
    const Queue& queue = tree.queue(position);
    const std::size_t up =
        tree.parent(position) == QueueTree::no_position ? tree.size() : tree.parent(position);
    Totals floors = promised[position];
    for (const Amount& floor : queue.guarantee) {
      floors[floor.resource] = std::max(floors[floor.resource], floor.amount);
    }
    for (const auto& [resource, floor] : floors) {
      const std::int64_t cap = quota_in(queue.limit, resource).value_or(floor);
      promised[up][resource] = saturated_add(promised[up][resource], std::min(floor, cap));
    }
  }
  return promised;
}

void lint_guarantees(Findings& findings, const QueueTree& tree) {
  const Cluster& cluster = findings.cluster();
  const std::vector<Totals> promised = promised_below(tree);
  const Totals totals = cluster_totals(cluster);
  for (const auto& [resource, sum] : promised.back()) {
    const auto found = totals.find(resource);
    const std::int64_t total = found == totals.end() ? 0 : found->second;
    if (cluster.node_count() == 0 || sum <= total) continue;
    findings.warning({.object = "Queue",
                      .field = fmt::format("spec.guarantee[{}]", resource),
                      .value = human_amount(resource, sum),
                      .message = fmt::format("together the queues are guaranteed more than the "
                                             "cluster has, {}; they share that in proportion",
                                             human_amount(resource, total)),
                      .remedy = "lower the guarantees"});
  }
  for (std::size_t position = 0; position < tree.size(); ++position) {
    const Queue& queue = tree.queue(position);
    for (const auto& [resource, sum] : promised[position]) {
      const std::optional<std::int64_t> cap = quota_in(queue.limit, resource);
      if (!cap || sum <= *cap) continue;
      findings.warning({.object = queue_text(queue.name),
                        .field = fmt::format("spec.limit[{}]", resource),
                        .value = human_amount(resource, *cap),
                        .message = fmt::format("its children are guaranteed more, {}; they share "
                                               "the limit in proportion",
                                               human_amount(resource, sum)),
                        .remedy = "raise the limit or lower the guarantees"});
    }
  }
}

/// Bounds of resources that are not divided: a mistyped limit is none.
void lint_resources(Findings& findings, const QueueTree& tree) {
  if (findings.cluster().node_count() == 0) return;
  const Totals totals = cluster_totals(findings.cluster());
  const auto lint = [&](const Queue& queue, std::string_view field, const Amounts& amounts) {
    for (const Amount& bound : amounts) {
      const bool counted = bound.resource == pods_name;
      if (!counted && totals.contains(bound.resource)) continue;
      findings.warning({.object = queue_text(queue.name),
                        .field = fmt::format("spec.{}[{}]", field, bound.resource),
                        .value = human_amount(bound.resource, bound.amount),
                        .message = counted
                                       ? "the number of pods is not divided, so this has no effect"
                                       : "no node has this resource, so this has no effect",
                        .remedy = counted ? "bound cpu, memory or a device" : "correct the name"});
    }
  };
  for (std::size_t position = 0; position < tree.size(); ++position) {
    lint(tree.queue(position), "guarantee", tree.queue(position).guarantee);
    lint(tree.queue(position), "limit", tree.queue(position).limit);
  }
}

/// The queue, itself or above the one at `position`, that lets nothing of the resource run.
const Queue* forbidding(const QueueTree& tree, std::size_t position, std::string_view resource) {
  for (; position != QueueTree::no_position; position = tree.parent(position)) {
    if (quota_in(tree.queue(position).limit, resource) == 0) return &tree.queue(position);
  }
  return nullptr;
}

/// What the pods of each queue ask for, and how many there are.
struct QueuePods {
  std::size_t count = 0;
  std::map<ResourceIndex, std::size_t> asking;
};

std::vector<QueuePods> pods_of(const Cluster& cluster, const QueueTree& tree) {
  std::vector<QueuePods> result(tree.size());
  const QueueMembership membership(cluster, Configuration{});
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    const QueueRow row = membership.of(pod);
    if (!row.exists()) continue;
    QueuePods& own = result[row.value];
    ++own.count;
    for (const ResourceAmount& item : cluster.requests(pods.requests[pod])) {
      ++own.asking[item.resource];
    }
  }
  return result;
}

void lint_members(Findings& findings, const QueueTree& tree) {
  const Cluster& cluster = findings.cluster();
  const std::vector<QueuePods> pods = pods_of(cluster, tree);
  for (std::size_t position = 0; position < tree.size(); ++position) {
    const Queue& queue = tree.queue(position);
    std::map<std::string_view, std::size_t> asking;
    for (const auto& [resource, count] : pods[position].asking) {
      asking[cluster.resources().name(resource)] = count;
    }
    for (const auto& [resource, count] : asking) {
      const Queue* const strict = forbidding(tree, position, resource);
      if (strict == nullptr || resource == pods_name) continue;
      findings.warning({.object = queue_text(strict->name),
                        .field = fmt::format("spec.limit[{}]", resource),
                        .value = "0",
                        .message = fmt::format("{} of queue {} {} for it, and none may run",
                                               count == 1 ? "a pod" : fmt::format("{} pods", count),
                                               queue.name, count == 1 ? "asks" : "ask")});
    }
    if (tree.has_children(position) || queue.guarantee.empty() || pods[position].count > 0)
      continue;
    findings.warning(
        {.object = queue_text(queue.name),
         .field = "spec.guarantee",
         .message = "no pod belongs to the queue, so what it is guaranteed lies idle"});
  }
}

/// Pods that name another queue than their group's.
void lint_strays(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.pods_by_name()) {
    const StringId counts = cluster.units()[pods.unit[pod]].queue;
    if (pods.queue[pod] == StringId{0} || pods.queue[pod] == counts) continue;
    findings.warning({.object = "Pod " + cluster.pod_key(pod),
                      .field = queue_field(cluster, pod),
                      .value = shorten(cluster.text(pods.queue[pod])),
                      .message = fmt::format("its group belongs to queue {}, and that counts",
                                             cluster.text(counts)),
                      .remedy = "name the same queue in both"});
  }
}

}  // namespace

void lint_queue_bounds(Findings& findings) {
  if (findings.cluster().own<Queue>().empty()) return;
  const QueueTree tree(findings.cluster());
  lint_guarantees(findings, tree);
  lint_resources(findings, tree);
}

void lint_queues(Findings& findings) {
  if (findings.cluster().own<Queue>().empty()) return;
  lint_queue_bounds(findings);
  lint_members(findings, QueueTree(findings.cluster()));
  lint_strays(findings);
}

}  // namespace makeway
