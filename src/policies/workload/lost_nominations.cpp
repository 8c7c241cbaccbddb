#include "policies/workload/lost_nominations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

std::vector<PodIndex> pods_of(const Cluster& cluster, const PlanAsk& ask) {
  if (ask.kind == AskKind::pod) {
    return {*cluster.find_pod(ask.namespace_name, ask.name, ask.plane)};
  }
  return cluster.groups()[*cluster.find_group(ask.namespace_name, ask.name, ask.plane)].members;
}

}  // namespace

void LostNominations::read_places() {
  if (std::exchange(read_, true)) return;
  for (const PlanAsk& each : draft_.plan.asks) {
    for (const PodPlacement& place : each.placements) {
      first_on_.try_emplace(place.node, &each);
      node_of_.try_emplace(fmt::format("{}/{}", place.namespace_name, place.name), place.node);
    }
  }
}

/// By its own ask or by that of its group.
bool LostNominations::keeps(PodIndex pod) const {
  const Cluster& cluster = draft_.world.cluster();
  const auto found = node_of_.find(cluster.pod_key(pod));
  return found != node_of_.end() &&
         found->second == node_name(cluster, cluster.pods().nominated[pod]);
}

const PlanAsk* LostNominations::taker_of(std::string_view node, const PlanAsk& ask) const {
  const auto found = first_on_.find(node);
  return found == first_on_.end() || found->second == &ask ? nullptr : found->second;
}

void LostNominations::tell(PlanAsk& ask) {
  if (ask.outcome == Outcome::fits) return;
  const Cluster& cluster = draft_.world.cluster();
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> losers = pods_of(cluster, ask);
  std::erase_if(losers, [&](PodIndex pod) {
    const NodeIndex node = pods.nominated[pod];
    return !node.exists() || !cluster.pending_pods().contains(pod);
  });
  if (losers.empty()) return;
  read_places();
  std::erase_if(losers, [this](PodIndex pod) { return keeps(pod); });
  if (losers.empty()) return;
  const PodIndex first =
      *std::ranges::min_element(losers, {}, [&](PodIndex pod) { return pods.name[pod.value]; });
  const std::string node = node_name(cluster, pods.nominated[first]);
  const PlanAsk* const taker = taker_of(node, ask);
  ask.reason += fmt::format("; {} is no longer nominated to {}", pods.name[first.value], node);
  if (taker != nullptr) ask.reason += fmt::format(", where {} goes", ask_text(*taker));
  if (losers.size() > 1) {
    ask.reason += fmt::format("; in all, {} of its pods lose their nomination", losers.size());
  }
}

}  // namespace makeway
