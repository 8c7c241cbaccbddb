#include "policies/workload/lost_nominations.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

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
    for (const PodPlacement& place : each.placements) first_on_.try_emplace(place.node, &each);
  }
}

const PlanAsk* LostNominations::taker_of(std::string_view node, const PlanAsk& ask) {
  read_places();
  const auto found = first_on_.find(node);
  return found == first_on_.end() || found->second == &ask ? nullptr : found->second;
}

void LostNominations::report(PlanAsk& ask) {
  const Cluster& cluster = draft_.world.cluster();
  if (ask.outcome == Outcome::fits || cluster.nominated_pods().empty()) return;
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> losers = pods_of(cluster, ask);
  std::erase_if(losers, [&](PodIndex pod) {
    const NodeIndex node = pods.nominated[pod];
    // By its own ask or by that of its group it may go there all the same.
    return !node.exists() || !cluster.pending_pods().contains(pod) ||
           draft_.world.after().node_of(pod) == node;
  });
  if (losers.empty()) return;
  const PodIndex first =
      *std::ranges::min_element(losers, {}, [&](PodIndex pod) { return pods.name[pod.value]; });
  const std::string node = node_name(cluster, pods.nominated[first]);
  const PlanAsk* const taker = taker_of(node, ask);
  add_reason(cluster, ask, {.code = ReasonCode::nomination_ends, .arguments = {first, node}});
  if (taker != nullptr) {
    add_reason(cluster, ask,
               {.code = ReasonCode::nomination_ends_for, .arguments = {object_of(*taker)}});
  }
  if (losers.size() > 1) {
    add_reason(cluster, ask, {.code = ReasonCode::nominations_end, .arguments = {losers.size()}});
  }
}

}  // namespace makeway
