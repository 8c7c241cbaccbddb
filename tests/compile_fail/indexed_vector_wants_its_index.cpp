// A column of nodes is not read with a pod's slot.
#include "base/index.hpp"

#include <cstdint>

namespace makeway {

struct NodeTag;
struct PodTag;
using NodeIndex = Index<NodeTag>;
using PodIndex = Index<PodTag>;

std::int64_t free_of(const IndexedVector<NodeIndex, std::int64_t>& free, NodeIndex node,
                     PodIndex pod) {
#ifdef MUST_FAIL
  return free[node] + free[pod];
#else
  return free[node] + pod.value;
#endif
}

}  // namespace makeway
