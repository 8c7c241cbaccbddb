// A node's slot is no pod's slot: neither assignment nor comparison crosses kinds.
#include "base/index.hpp"

namespace makeway {

struct NodeTag;
struct PodTag;
using NodeIndex = Index<NodeTag>;
using PodIndex = Index<PodTag>;

bool same(NodeIndex node, PodIndex pod) {
#ifdef MUST_FAIL
  return node == pod;
#else
  return node.value == pod.value;
#endif
}

}  // namespace makeway
