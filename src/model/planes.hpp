// Planes as replicas see them (SPEC section 4): the plane of a node's key, else its label.
//
// A file that holds several clusters says with a label makeway.dev/plane which one a node is in;
// all its objects are at home. What came as a plane of its own has it in its key. A plane's name
// means either, so claims look in the plane first and then at home.
#pragma once

#include <optional>
#include <string_view>

#include "model/cluster.hpp"

namespace makeway {

/// `key` is the label's, if any string in the cluster is; empty: the node is in no plane.
std::optional<StringId> replica_plane(const Cluster& cluster, NodeIndex node,
                                      std::optional<StringId> key);

std::optional<NodeIndex> find_node_in_plane(const Cluster& cluster, std::string_view plane,
                                            std::string_view name);

std::optional<PodIndex> find_pod_in_plane(const Cluster& cluster, std::string_view plane,
                                          std::string_view namespace_name, std::string_view name);

/// The pod that the claim means; none: it is gone, and a new pod of the same name is another one.
std::optional<PodIndex> find_claimed_victim(const Cluster& cluster, const ReplicaClaim& claim,
                                            const ClaimedVictim& victim);

}  // namespace makeway
