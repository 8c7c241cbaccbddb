// Which pods can run on one node only (SPEC section 5: pinned).
//
// A pod is pinned by the annotation `makeway.dev/required-node`, or as the DaemonSet controller
// does it: every term of its required node affinity has the field metadata.name In [one name], the
// same one. Terms that select nothing do not count. Where both say something, the annotation names
// the node, and the affinity still has to match. A member of a group is never pinned: its group
// asks for it. A caller that needs the pods which stay where they are adds those of DaemonSets.
#pragma once

#include <span>
#include <string_view>

#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// The only node that the pod itself allows; empty: there are several. O(its node affinity terms).
std::string_view required_node_of(const Cluster& cluster, PodIndex pod);

/// Whether it is pinned to whatever node; the same in a few loads for ordinary pods.
inline bool is_pinned(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  if (pods.shape[pod] == ShapeId{0} && pods.notes[pod] == NotesId{0}) return false;
  return cluster.units()[pods.unit[pod]].kind == UnitKind::pod &&
         !required_node_of(cluster, pod).empty();
}

/// Whether it is pinned in one of these ways.
bool is_pinned_by(const Cluster& cluster, PodIndex pod, std::span<const PinnedBy> ways);

}  // namespace makeway
