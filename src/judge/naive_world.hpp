// NaiveWorld: which pod is where, in what-if form. Half of the judge's own idea of feasibility.
//
// Dense columns copied from the cluster, two ways to change them, no history: the caller that
// removes a pod puts it back. Used by check_plan only; neither it nor the search includes the
// other, so that a mistake in one is not a mistake in both.
//
// Rules
//  1. At first every bound pod is where it is bound, leaving ones included; pending pods are
//  nowhere.
//  2. A node whose Node object is missing holds pods, but has no labels: it is in no domain.
//  3. Usage never wraps. A node whose usage does not fit into 64 bits is added up anew each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/index.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

class NaiveRegimes;

/// Why a node is refused; the detail is a resource, a taint's key or a topology key.
struct NaiveRefusal {
  RefusalReason reason = RefusalReason::resource;
  std::string_view detail;

  friend bool operator==(const NaiveRefusal&, const NaiveRefusal&) = default;
};
using MaybeRefusal = std::optional<NaiveRefusal>;

/// The nodes by the value of one label. Numbers of domains mean nothing.
struct NodeDomains {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  IndexedVector<NodeIndex, std::uint32_t> of;  ///< none: the node lacks the label.
  std::uint32_t count = 0;
};

class NaiveWorld {
 public:
  /// Without regimes every pod may go to every node.
  explicit NaiveWorld(const Cluster& cluster, const NaiveRegimes* regimes = nullptr);

  const Cluster& cluster() const { return cluster_; }
  const NaiveRegimes* regimes() const { return regimes_; }
  /// None: pending, or removed.
  NodeIndex where(PodIndex pod) const { return where_[pod]; }
  /// Existing nodes, in no order that means anything.
  const std::vector<NodeIndex>& nodes() const { return nodes_; }
  /// Pods that repel others by required anti-affinity, wherever they are.
  const std::vector<PodIndex>& repelling() const { return repelling_; }
  std::int64_t used(NodeIndex node, ResourceIndex resource) const;
  std::vector<PodIndex> pods_on(NodeIndex node) const;
  const NodeDomains& domains(std::string_view label);
  std::optional<StringId> node_label(NodeIndex node, StringId key) const;

  void remove(PodIndex pod);
  void place(PodIndex pod, NodeIndex node);
  /// How often a pod was placed or removed: what was read from it holds until this changes.
  std::uint64_t changes() const { return changes_; }

 private:
  void find_repelling();

  const Cluster& cluster_;
  const NaiveRegimes* regimes_;
  std::size_t columns_ = 0;
  std::uint64_t changes_ = 0;
  IndexedVector<PodIndex, NodeIndex> where_;
  IndexedVector<NodeIndex, bool> saturated_;
  std::vector<std::int64_t> used_;  ///< Node by node, `columns_` each.
  std::vector<NodeIndex> nodes_;
  std::vector<PodIndex> repelling_;
  std::map<NodeIndex, std::vector<PodIndex>> placed_;  ///< Pods that are not bound where they are.
  std::map<std::string_view, NodeDomains> domains_;
};

}  // namespace makeway
