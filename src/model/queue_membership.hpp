// QueueMembership: which queue a pod belongs to (SPEC section 3). The one place that decides it.
//
// The first that holds
//  1. Infrastructure is in no queue: mirror and static pods, protected system pods, pinned pods
//     that are no members of a group. Nor are units of other regimes and planes.
//  2. The queue that the group's label names, else its pods' (the first by name).
//  3. The queue that lists its namespace; the first by name if several do.
//  4. The default queue, if there is such an object.
//  5. Otherwise it is outside every queue.
// Pods belong to queues without children; a label that names no such queue counts as absent.
//
// O(queues + interned strings) to make, O(1) to ask; for a group whose label counts as absent
// O(members).
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/regime.hpp"

namespace makeway {

struct QueueTag;
/// Where a queue stands among the Queue objects, by name.
using QueueRow = Index<QueueTag>;

class QueueMembership {
 public:
  QueueMembership(const Cluster& cluster, const Configuration& configuration);

  /// None: it is outside every queue.
  QueueRow of(PodIndex pod) const;
  /// The queue that an ask of this unit counts in, were none of its pods infrastructure.
  QueueRow of(UnitIndex index) const;
  /// No queue limits it.
  bool is_infrastructure(PodIndex pod) const;
  /// Whether the unit is in the default queue only because nothing else says where it belongs.
  bool is_adopted(UnitIndex index) const;
  /// Whether what the node offers is divided among queues.
  bool counts(NodeIndex node) const {
    return cluster_.nodes().flags[node].exists && cluster_.nodes().plane[node] == StringId{0} &&
           regimes_.of(node) == Regime::pods;
  }

 private:
  QueueRow labelled(const Unit& unit) const;
  QueueRow named(StringId name) const {
    return name.value < by_name_.size() ? by_name_[name.value] : QueueRow{};
  }
  QueueRow listing(const Unit& unit) const;

  const Cluster& cluster_;
  Regimes regimes_;
  bool pinned_apart_ = false;  ///< Pinned pods are asks of a policy of their own.
  std::vector<StringId> critical_classes_;
  std::vector<QueueRow> by_name_;       ///< Leaves, by the id of their name.
  std::vector<QueueRow> by_namespace_;  ///< By the id of the namespace; empty: none is listed.
  QueueRow default_;
};

}  // namespace makeway
