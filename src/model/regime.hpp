// Which policy schedules a node, and which units belong to it (SPEC section 1).
//
// A node has one regime: `sessions` if a ResourceGroup lists it, else `replicas` if it carries a
// plane label or came as a node of another plane, else `pods`. A claim counts only while its policy
// is enabled. Kernels are of `sessions`, pods of a ReplicaSchedule of `replicas`, all others of
// `pods`. An ask goes to nodes of its regime and evicts units of its regime there; all else there
// is usage. Only a pinned pod (required_node.hpp) crosses; members of groups never do.
//
// The claims are a column of the store (NodeColumns::claims); this reads them under one
// configuration. Making it costs O(ReplicaSchedules), an answer a few loads; for pods of clusters
// with schedules O(their labels).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

enum class Regime : std::uint8_t { pods, sessions, replicas };
template <>
inline constexpr std::array<std::string_view, 3> choice_names<Regime> = {"pods", "sessions",
                                                                         "replicas"};

class Regimes {
 public:
  Regimes(const Cluster& cluster, const Configuration& configuration);

  /// Whether some node may be of another regime than `pods`.
  bool mixed() const { return mixed_; }
  Regime of(NodeIndex node) const {
    if (!mixed_) return Regime::pods;
    const NodeClaims claims = cluster_.nodes().claims[node];
    if (claims.sessions && sessions_) return Regime::sessions;
    return claims.replicas && replicas_ ? Regime::replicas : Regime::pods;
  }
  /// Whether two policies would schedule the node.
  bool claimed_twice(NodeIndex node) const {
    const NodeClaims claims = cluster_.nodes().claims[node];
    return claims.sessions && sessions_ && claims.replicas && replicas_;
  }
  Regime of(PodIndex pod) const {
    if (cluster_.pods().flags[pod].kernel) return Regime::sessions;
    return schedule_of(pod) == nullptr ? Regime::pods : Regime::replicas;
  }
  /// Whether it goes to its node whatever the regime.
  bool crosses(PodIndex pod) const;
  /// Whether the pod may be placed there: a nomination to another node is void.
  bool may_go(PodIndex pod, NodeIndex node) const { return of(pod) == of(node) || crosses(pod); }

  /// The schedule that the pod belongs to, by its namespace and label; null: none.
  const ReplicaSchedule* schedule_of(PodIndex pod) const {
    return deployment_key_ == StringId{0} ? nullptr : find_schedule(pod);
  }
  /// Whether some pods belong to schedules.
  bool any_schedules() const { return !schedules_.empty(); }

 private:
  const ReplicaSchedule* find_schedule(PodIndex pod) const;

  const Cluster& cluster_;
  bool sessions_ = false;  ///< Their policy is enabled; the same for the others.
  bool replicas_ = false;
  bool required_node_ = false;
  bool mixed_ = false;
  StringId deployment_key_{0};  ///< 0: there is nothing to find.
  std::map<std::pair<StringId, StringId>, const ReplicaSchedule*> schedules_;
};

}  // namespace makeway
