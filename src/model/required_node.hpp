// Which pods can run on one node only (SPEC section 5: pinned).
//
// A pod is pinned by the annotation `makeway.dev/required-node`, or as the DaemonSet controller
// does it: every term of its required node affinity has the field metadata.name In [one name], the
// same one. Terms that select nothing do not count. Where both say something, the annotation names
// the node, and the affinity still has to match.
#pragma once

#include <string_view>

#include "model/cluster.hpp"

namespace makeway {

/// The name of the node; empty when the pod is not pinned. O(its node affinity terms).
std::string_view required_node_of(const Cluster& cluster, PodIndex pod);

/// Whether it is pinned to whatever node; the same in a few loads for ordinary pods.
inline bool is_pinned(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  if (pods.shape[pod] == ShapeId{0} && pods.notes[pod] == NotesId{0}) return false;
  return !required_node_of(cluster, pod).empty();
}

}  // namespace makeway
