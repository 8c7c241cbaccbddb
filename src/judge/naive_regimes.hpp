// NaiveRegimes: the judge's own reading of SPEC section 1, "Regime of a node".
//
// Straight from the objects: every ResourceGroup is asked about every node. It reads neither the
// store's column of claims nor model's Regimes, so that a mistake there is found here.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/regime.hpp"

namespace makeway {

class NaiveWorld;

/// Whether the pod belongs to a ReplicaSchedule, while those count.
bool of_schedule(const Cluster& cluster, const Configuration& configuration, PodIndex pod);

class NaiveRegimes {
 public:
  NaiveRegimes(const Cluster& cluster, const Configuration& configuration);

  Regime of_node(NodeIndex node) const { return nodes_[node]; }
  Regime of_pod(PodIndex pod) const;
  /// A pod of its own that is pinned goes wherever its node is.
  bool crosses(PodIndex pod) const;
  bool may_go(PodIndex pod, NodeIndex node) const {
    return of_pod(pod) == of_node(node) || crosses(pod);
  }

 private:
  const Cluster& cluster_;
  const Configuration& configuration_;
  IndexedVector<NodeIndex, Regime> nodes_;
};

/// What claims of replicas hold on the node, by resource column, beside those of their victims that
/// are still on it in that world. Nothing of a claim that is void: beyond what is unmet, in another
/// plane, on a node that is cordoned or not of regime `replicas`.
std::vector<std::int64_t> held_by_claims(const NaiveWorld& world, const NaiveRegimes& regimes,
                                         NodeIndex node);

}  // namespace makeway
