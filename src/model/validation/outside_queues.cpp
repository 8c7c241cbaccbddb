#include "model/validation/outside_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/object_text.hpp"
#include "model/queue_membership.hpp"

namespace makeway {
namespace {

/// What nodes that queues share have left.
class FreeRoom {
 public:
  FreeRoom(const Cluster& cluster, const QueueMembership& membership) : cluster_(cluster) {
    for (const NodeIndex node : cluster.nodes_by_name()) {
      if (!membership.counts(node) || cluster.nodes().flags[node].unschedulable) continue;
      Row free(cluster.resources().size());
      for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
        free[item.resource.value] = item.amount;
      }
      const std::span<const std::int64_t> used = cluster.order().used(node);
      for (std::size_t column = 0; column < used.size(); ++column) free[column] -= used[column];
      rows_.emplace(node, std::move(free));
    }
  }

  void take(NodeIndex node, PodIndex pod) {
    const auto row = rows_.find(node);
    if (row == rows_.end()) return;
    for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[pod])) {
      row->second[item.resource.value] -= item.amount;
    }
  }
  /// Once all is taken: each request is looked for once.
  bool has_room_for(PodIndex pod) {
    const RequestId request = cluster_.pods().requests[pod];
    const auto [known, is_new] = answers_.try_emplace(request);
    if (is_new) {
      const RequestRow requests = cluster_.requests(request);
      known->second = std::ranges::any_of(rows_, [&](const auto& row) {
        return std::ranges::all_of(requests, [&](const ResourceAmount& item) {
          return item.amount <= row.second[item.resource.value];
        });
      });
    }
    return known->second;
  }

 private:
  using Row = std::vector<std::int64_t>;

  const Cluster& cluster_;
  std::map<NodeIndex, Row> rows_;
  std::map<RequestId, bool> answers_;
};

/// Of an ask for pods: the pod itself, or the pending members of the group.
std::vector<PodIndex> pods_of_ask(const Cluster& cluster, const PlanAsk& ask) {
  if (ask.kind == AskKind::pod) {
    const auto pod = cluster.find_pod(ask.namespace_name, ask.name, ask.plane);
    return pod ? std::vector{*pod} : std::vector<PodIndex>{};
  }
  std::vector<PodIndex> pods;
  if (ask.kind != AskKind::pod_group) return pods;
  const auto group = cluster.find_group(ask.namespace_name, ask.name);
  if (!group) return pods;
  std::ranges::copy_if(cluster.groups()[*group].members, std::back_inserter(pods),
                       [&](PodIndex pod) { return cluster.pending_pods().contains(pod); });
  return pods;
}

/// Those that may wait for it: all pending pods, or those of asks without a place.
std::vector<PodIndex> waiting_pods(const Cluster& cluster, const Plan* plan, FreeRoom& room) {
  if (plan == nullptr) return {cluster.pending_pods().begin(), cluster.pending_pods().end()};
  std::vector<PodIndex> waiting;
  for (const PlanAsk& ask : plan->asks) {
    for (const PodPlacement& place : ask.placements) {
      const auto pod = cluster.find_pod(place.namespace_name, place.name, place.plane);
      const auto node = cluster.find_node(place.node, place.plane);
      if (pod && node) room.take(*node, *pod);
    }
    const bool waits = ask.placements.empty() && !ask.waits_until;
    const std::vector<PodIndex> pods = pods_of_ask(cluster, ask);
    if (waits) waiting.insert(waiting.end(), pods.begin(), pods.end());
  }
  return waiting;
}

}  // namespace

Problems find_pods_outside_queues(const Cluster& cluster, const Configuration& configuration,
                                  const Plan* plan) {
  Problems problems;
  if (cluster.own<Queue>().empty() || !configuration.queue.enabled) return problems;
  const QueueMembership membership(cluster, configuration);
  const Regimes regimes(cluster, configuration);
  FreeRoom room(cluster, membership);
  std::vector<std::string> names;
  for (const PodIndex pod : waiting_pods(cluster, plan, room)) {
    const bool outside = !membership.of(pod).exists() && !membership.is_infrastructure(pod) &&
                         regimes.of(pod) == Regime::pods;
    const bool can_run = cluster.shape(cluster.pods().shape[pod]).unsupported.empty();
    if (outside && can_run && room.has_room_for(pod)) names.push_back(cluster.pod_key(pod));
  }
  if (names.empty()) return problems;
  const bool one = names.size() == 1;
  problems.push_back(
      {.severity = Severity::warning,
       .object = one ? "Pod " + names.front() : fmt::format("{} pods", names.size()),
       .value = one ? std::string() : few_names(std::move(names)),
       .message = fmt::format("{} in no queue, so whatever the priority only room that no queue is "
                              "promised is used{}",
                              one ? "it is" : "they are",
                              plan == nullptr ? "" : ", although a node has room"),
       .remedy = "name a queue (label makeway.dev/queue), list the namespace in a Queue, or add a "
                 "Queue named default"});
  return problems;
}

}  // namespace makeway
