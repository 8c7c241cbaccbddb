#include "policies/workload/pod/equal_nodes.hpp"

#include <algorithm>

#include "policies/workload/cascades.hpp"

namespace makeway {

EqualNodes::EqualNodes(World& world, std::int32_t ask_priority)
    : world_(world),
      ask_priority_(ask_priority),
      cascades_count_(cascades_count(world.configuration())) {}

bool EqualNodes::local(const PodFit& fit, NodeIndex node) {
  if (!fit.only_resources(node) || world_.has_promises()) return false;
  return lone(node, world_.cluster().order().pods(node).subspan(staying(node)));
}

/// The pods have no ties to others elsewhere.
bool EqualNodes::lone(NodeIndex node, std::span<const PodIndex> pods) {
  const Cluster& cluster = world_.cluster();
  if (cluster.order().lowest_guarded(node) < ask_priority_) return false;
  if (!world_.configuration().workload.honour_preemption_priority) return false;
  if (world_.survey().loss_units().any()) {
    const auto shares = [&](PodIndex pod) {
      return !cluster.notes(cluster.pods().notes[pod]).loss_units.empty();
    };
    if (std::ranges::any_of(pods, shares)) return false;
  }
  if (!cascades_count_ && !world_.budgets().any()) return true;
  const OwnersId* const owners = cluster.pods().owners.data();
  const bool owned = cascades_count_ && std::ranges::any_of(pods, [&](PodIndex pod) {
                       return owners[pod.value] != OwnersId{0};
                     });
  return !owned && (!world_.budgets().any() || std::ranges::all_of(pods, [&](PodIndex pod) {
    return !world_.budgets().governed(pod);
  }));
}

std::optional<std::size_t> EqualNodes::kind_of(const PodFit& fit, NodeIndex node) {
  if (fit.touched(node) || !local(fit, node)) return std::nullopt;
  const auto leaving = world_.cluster().order().pods(node).subspan(staying(node));
  std::vector<Known>& candidates = known_[hash(node, leaving)];
  const auto found =
      std::ranges::find_if(candidates, [&](const Known& known) { return equal(known.node, node); });
  if (found != candidates.end()) return found->kind;
  candidates.push_back({.node = node, .kind = kinds_});
  return kinds_++;
}

/// Of what differs between most nodes; `equal` looks at the rest.
std::uint64_t EqualNodes::hash(NodeIndex node, std::span<const PodIndex> leaving) const {
  const PodColumns& pods = world_.cluster().pods();
  std::uint64_t hash =
      hash_combine(world_.cluster().nodes().allocatable[node].value, leaving.size());
  for (const std::int64_t used : world_.cluster().order().used(node)) {
    hash = hash_combine(hash, static_cast<std::uint64_t>(used));
  }
  if (leaving.empty()) return hash;
  for (const PodIndex pod : {leaving.front(), leaving.back()}) {
    hash = hash_combine(hash, pods.requests[pod].value);
    hash = hash_combine(hash, static_cast<std::uint64_t>(pods.started[pod].ms));
  }
  return hash;
}

/// In everything that protection, importance and score read of lone pods, names aside.
bool EqualNodes::equal(NodeIndex a, NodeIndex b) const {
  const Cluster& cluster = world_.cluster();
  const NodeOrder& order = cluster.order();
  const PodColumns& pods = cluster.pods();
  const std::size_t stay_a = staying(a);
  const std::size_t stay_b = staying(b);
  const auto leaving_a = order.pods(a).subspan(stay_a);
  const auto leaving_b = order.pods(b).subspan(stay_b);
  const auto same = [&](const auto& column) {
    const auto* const values = column.data();
    return std::ranges::equal(leaving_a, leaving_b, [&](PodIndex one, PodIndex other) {
      return values[one.value] == values[other.value];
    });
  };
  const AskLimits* const limits = world_.limits();
  return cluster.nodes().allocatable[a] == cluster.nodes().allocatable[b] &&
         std::ranges::equal(order.used_by_first(a, stay_a), order.used_by_first(b, stay_b)) &&
         std::ranges::equal(order.priorities(a).subspan(stay_a),
                            order.priorities(b).subspan(stay_b)) &&
         same(pods.requests) && same(pods.started) && same(pods.notes) &&
         same(pods.namespace_name) && same(pods.priority) &&
         (!world_.rules().labels_protect() || same(pods.labels)) &&
         (limits == nullptr ||
          std::ranges::equal(leaving_a, leaving_b, [&](PodIndex one, PodIndex other) {
            return limits->contains(one) == limits->contains(other);
          }));
}

}  // namespace makeway
