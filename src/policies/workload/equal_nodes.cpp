#include "policies/workload/equal_nodes.hpp"

#include <algorithm>

namespace makeway {

std::int64_t EqualNodes::seen(NodeIndex node) {
  if (!comparable(node)) return 0;
  std::vector<Known>& candidates = known_[hash(node)];
  const auto found =
      std::ranges::find_if(candidates, [&](const Known& known) { return equal(known.node, node); });
  if (found != candidates.end()) return found->count++;
  candidates.push_back({.node = node, .count = 1});
  return 0;
}

bool EqualNodes::comparable(NodeIndex node) const {
  const Cluster& cluster = cycle_.cluster;
  if (fit_.scratch().touched(node) || !fit_.only_resources(node)) return false;
  return std::ranges::none_of(cluster.order().pods(node), [&](PodIndex pod) {
    return cluster.units()[cluster.pods().unit[pod]].kind != UnitKind::pod ||
           cluster.pods().owners[pod] != OwnersId{0} ||
           (cycle_.budgets.any() && !cycle_.budgets.governing(pod).empty());
  });
}

std::uint64_t EqualNodes::hash(NodeIndex node) const {
  const PodColumns& pods = cycle_.cluster.pods();
  std::uint64_t hash = cycle_.cluster.nodes().allocatable[node].value;
  for (const PodIndex pod : cycle_.cluster.order().pods(node)) {
    hash = hash_combine(hash, pods.requests[pod].value);
    hash = hash_combine(hash, static_cast<std::uint64_t>(pods.started[pod].ms));
  }
  return hash;
}

bool EqualNodes::equal(NodeIndex a, NodeIndex b) const {
  const NodeColumns& nodes = cycle_.cluster.nodes();
  if (nodes.allocatable[a] != nodes.allocatable[b]) return false;
  return std::ranges::equal(cycle_.cluster.order().pods(a), cycle_.cluster.order().pods(b),
                            [&](PodIndex one, PodIndex other) { return alike(one, other); });
}

/// In everything that protection, importance and score read of a lone pod, names aside.
bool EqualNodes::alike(PodIndex a, PodIndex b) const {
  const PodColumns& pods = cycle_.cluster.pods();
  const Unit& one = cycle_.cluster.units()[pods.unit[a]];
  const Unit& other = cycle_.cluster.units()[pods.unit[b]];
  const PodFlags a_flags = pods.flags[a];
  const PodFlags b_flags = pods.flags[b];
  return pods.requests[a] == pods.requests[b] && pods.started[a] == pods.started[b] &&
         pods.deletion[a] == pods.deletion[b] && pods.notes[a] == pods.notes[b] &&
         pods.namespace_name[a] == pods.namespace_name[b] &&
         pods.priority_class[a] == pods.priority_class[b] && pods.priority[a] == pods.priority[b] &&
         one.preemption_priority == other.preemption_priority &&
         one.scheduling_priority == other.scheduling_priority && a_flags.mirror == b_flags.mirror &&
         a_flags.opted_out == b_flags.opted_out && a_flags.is_protected == b_flags.is_protected;
}

}  // namespace makeway
