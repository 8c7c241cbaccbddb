// NaiveFit: does this pod fit on that node, in a what-if world? The judge's own answer.
//
// The filters of kube-scheduler in their order: what is not supported, unschedulable, taints, node
// selector and affinity, claims (naive_claims.hpp), the regime of the node (SPEC section 1), host
// ports, resources, volumes, spread, inter-pod affinity both ways. Straight from the objects, one
// node at a time, no classes of nodes, no running sums, no undo log.
//
//   NaiveWorld world(cluster);
//   NaiveFit fit(world, ask);
//   fit.remove(victim);
//   fit.refusal(node);   // std::nullopt: it fits
//   fit.put_back(victim);
//
// While a NaiveFit lives, the world is changed through it only, so that its counts follow.
// O(1) to make unless the ask or some other pod cares about other pods; then O(pods).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "judge/naive_claims.hpp"
#include "judge/naive_topology.hpp"
#include "judge/naive_world.hpp"
#include "model/regime.hpp"

namespace makeway {

class NaiveFit {
 public:
  NaiveFit(NaiveWorld& world, PodIndex ask);

  PodIndex ask() const { return ask_; }
  const NaiveWorld& world() const { return world_; }
  MaybeRefusal refusal(NodeIndex node) const;
  /// The same without the reason, cheapest filter first.
  bool fits(NodeIndex node) const;
  /// What the node says however empty it is, its size apart.
  MaybeRefusal static_refusal(NodeIndex node) const;
  /// Whether the node would take it, were it empty.
  bool fits_when_empty(NodeIndex node) const;
  /// A refusal that stays whichever pods leave the node.
  MaybeRefusal lasting_refusal(NodeIndex node) const;

  /// So much of each resource, by column, is kept for others on the node in question.
  void keep_free(std::vector<std::int64_t> amounts) { kept_free_ = std::move(amounts); }

  void remove(PodIndex pod);
  void place(PodIndex pod, NodeIndex node);
  /// Back to where it is bound.
  void put_back(PodIndex pod) { place(pod, world_.cluster().pods().node[pod]); }

 private:
  /// A requirement on a node's label, its key looked up once; none: no object has that key.
  struct NodeRequirement {
    Requirement requirement;
    std::optional<StringId> key;
  };
  struct NodeTerm {
    std::vector<NodeRequirement> labels;
    const std::vector<Requirement>* fields = nullptr;
  };

  static NodeRequirement read(const Cluster& cluster, Requirement requirement);
  static std::vector<NodeRequirement> read_selector(const Cluster& cluster, const PodShape& shape);
  static std::vector<NodeTerm> read_terms(const Cluster& cluster, const PodShape& shape);
  bool holds(const NodeRequirement& requirement, NodeIndex node) const;
  bool holds(const NodeTerm& term, NodeIndex node) const;
  bool affinity_matches(NodeIndex node) const;
  bool taints_tolerated(NodeIndex node) const;
  bool of_its_regime(NodeIndex node) const;
  bool takes_port(PodIndex pod) const;
  void count_ports(PodIndex pod, NodeIndex node, int delta);
  MaybeRefusal port_refusal(NodeIndex node) const;
  MaybeRefusal resource_refusal(NodeIndex node) const;
  std::int64_t allocatable(NodeIndex node, ResourceIndex resource) const;

  NaiveWorld& world_;
  const Cluster& cluster_;
  PodIndex ask_;
  const PodShape& shape_;
  RequestRow requests_;
  std::vector<NodeRequirement> node_selector_;
  std::vector<NodeTerm> node_terms_;
  std::optional<Regime> regime_;  ///< Its own; none: they do not matter.
  bool crosses_ = false;
  std::vector<std::int64_t> kept_free_;
  /// Pods with a port that the ask wants, on the nodes that were asked about.
  mutable std::map<NodeIndex, std::int64_t> port_takers_;
  NaiveClaims claims_;
  NaiveTopology topology_;  ///< Last: inclusion policies read the node terms.
};

}  // namespace makeway
