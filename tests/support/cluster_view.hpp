// ClusterView: everything a store knows, by name, in plain values with ==.
//
// A Cluster and the ReferenceStore both give one, so comparing stores is comparing views. Slot
// numbers, interned ids and the order of changes leave no trace in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/columns.hpp"
#include "model/objects.hpp"

namespace makeway {

struct PodView {
  std::string key;  ///< "namespace/name", as everywhere here.
  Pod object;
  std::string unit;           ///< Key of its UnitView.
  std::int32_t priority = 0;  ///< Its own scheduling priority.

  friend bool operator==(const PodView&, const PodView&) = default;
};

struct UnitView {
  std::string key;  ///< "Pod namespace/name" or "PodGroup namespace/name"
  UnitKind kind = UnitKind::none;
  DisruptionMode mode = DisruptionMode::single;
  bool defined = false;
  bool gang = false;
  bool never_preempts = false;
  std::int32_t scheduling_priority = 0;
  std::int32_t preemption_priority = 0;
  std::int32_t minimum = 1;
  std::int32_t size = 0;
  std::string queue;
  std::vector<std::string> members;  ///< Sorted.
  std::optional<PodGroup> object;

  friend bool operator==(const UnitView&, const UnitView&) = default;
};

/// Also of nodes that pods merely name: those have no object.
struct NodeView {
  std::string name;
  std::optional<Node> object;
  std::string class_of;  ///< The first node, by name, of its class.
  NodeClaims claims;
  std::vector<std::string> pods;  ///< Most important first.
  std::vector<std::int32_t> priorities;
  std::vector<Amounts> used_by_first;  ///< Row k: what the k most important use; no zeros.
  std::uint32_t pod_count = 0;
  std::uint32_t leaving = 0;
  std::vector<std::string> nominated;  ///< Sorted.

  friend bool operator==(const NodeView&, const NodeView&) = default;
};

/// All lists are sorted by key or name.
struct ClusterView {
  std::vector<PodView> pods;
  std::vector<UnitView> units;
  std::vector<NodeView> nodes;
  std::vector<PriorityClass> priority_classes;
  std::vector<DisruptionBudget> budgets;
  std::vector<Workload> workloads;
  std::vector<Namespace> namespaces;
  std::vector<Change> own;  ///< Makeway's own kinds, kind by kind.

  friend bool operator==(const ClusterView&, const ClusterView&) = default;
};

ClusterView view_of(const Cluster& cluster);

/// Empty when equal, else the first difference in words.
std::string difference(const ClusterView& expected, const ClusterView& actual);

}  // namespace makeway
