#include "policies/workload/cascades.hpp"

#include <algorithm>

#include "engine/node_scan.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/workload/pod/node_choice.hpp"
#include "policies/workload/pod/node_floor.hpp"

namespace makeway {

bool cascades_count(const Configuration& configuration) {
  const std::vector<ScoreKey>& keys = configuration.workload.score_keys;
  return configuration.engine.cascade_depth > 0 &&
         std::ranges::find(keys, ScoreKey::secondary_victims) != keys.end();
}

bool recreated_by_controller(const Cluster& cluster, PodIndex pod) {
  return std::ranges::any_of(cluster.owners(cluster.pods().owners[pod]),
                             &OwnerReference::controller);
}

std::int64_t Cascades::follow(std::span<const PodIndex> victims, std::span<const PodOnNode> coming,
                              std::vector<PlanCascade>& chain, std::int64_t enough) {
  const Scratch::Checkpoint before = scratch_.checkpoint();
  for (const PodIndex victim : victims) {
    if (scratch_.node_of(victim).exists()) scratch_.remove(victim);
  }
  for (const PodOnNode& place : coming) scratch_.place(place.pod, place.node);
  chain.clear();
  enough_ = enough;
  const std::int64_t count =
      follow_pods(victims, world_.configuration().engine.cascade_depth, chain);
  scratch_.rollback(before);
  return count;
}

std::int64_t Cascades::follow_pods(std::span<const PodIndex> recreated, std::int64_t depth,
                                   std::vector<PlanCascade>& chain) {
  const Cluster& cluster = world_.cluster();
  std::int64_t count = 0;
  for (const PodIndex pod : recreated) {
    if (count > enough_) return count;
    if (!recreated_by_controller(cluster, pod)) continue;
    if (steps_.out()) {
      bound_reached_ = true;
      return count;
    }
    std::optional<Candidate> taken;
    {
      PodFit fit(world_.survey(), scratch_, pod, world_.holds());
      steps_.count(static_cast<std::int64_t>(world_.survey().nodes().size()));
      const NodeChoice choice = choose_node(world_, fit, nullptr, world_.survey().nodes());
      if (choice.now) {
        fit.scratch().place(pod, *choice.now);
        continue;
      }
      if (cluster.units()[cluster.pods().unit[pod]].never_preempts) continue;
      taken = preempt_for(fit);
    }
    if (!taken) continue;
    PlanCascade& link = chain.emplace_back();
    link.pod = pod_text(cluster, pod);
    for (const PodIndex victim : taken->victims.pods) {
      link.victims.push_back(pod_text(cluster, victim));
    }
    count += static_cast<std::int64_t>(taken->victims.pods.size());
    if (depth > 1) count += follow_pods(taken->victims.pods, depth - 1, chain);
  }
  return count;
}

std::optional<Candidate> Cascades::preempt_for(PodFit& fit) {
  VictimSearch search(world_, fit, VictimChoiceRule::put_back, nullptr);
  const NodeScan scan(fit, world_.rules());
  const ScoreFloor floor(world_.configuration().workload);
  NodeFloor pods_floor(world_, fit);
  std::optional<Candidate> best;
  for (const NodeIndex node : world_.survey().nodes()) {
    steps_.count(1);
    const std::int64_t limit = best ? floor.highest_allowed(best->score) : ScoreFloor::no_limit;
    if (fit.refused_by_node(node)) continue;
    const std::int64_t bound = scan.lowest_priority(node, limit);
    if (bound > limit) continue;
    // Most nodes tie by their highest priority; a search of each of them would be dear.
    const bool by_pods = best && bound != NodeScan::room && pods_floor.useful();
    if (by_pods && pods_floor.compare(node, bound, best->score) >= 0) continue;
    std::optional<Candidate> candidate = search.on_node(node);
    if (!candidate) continue;
    if (!best || compare(candidate->score, best->score) < 0) best = std::move(candidate);
  }
  if (!best) return std::nullopt;
  fit.scratch().remove(best->victims.pods);
  fit.scratch().place(fit.ask(), best->node);
  return best;
}

}  // namespace makeway
