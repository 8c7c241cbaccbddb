// What is said about pods, units and nodes of a cluster: in reasons, and as parts of a plan.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

std::string pod_text(const Cluster& cluster, PodIndex pod);  ///< "Pod default/web"
std::string unit_text(const Cluster& cluster, UnitIndex unit);
std::string node_name(const Cluster& cluster, NodeIndex node);
PodPlacement placement_of(const Cluster& cluster, PodIndex pod, NodeIndex node);
/// Where the cluster has them; by namespace and name, each once.
std::vector<PodPlacement> placements_of(const Cluster& cluster, std::span<const PodIndex> pods);

/// An entry for the pod with its names and priority filled in.
PlanAsk start_pod_ask(const Cluster& cluster, PodIndex pod);

}  // namespace makeway
