// A plain number is no subscript either, not even a constant.
#include <cstdint>

#include "base/index.hpp"

namespace makeway {

struct NodeTag;
using NodeIndex = Index<NodeTag>;

std::int64_t first(const IndexedVector<NodeIndex, std::int64_t>& free) {
#ifdef MUST_FAIL
  return free[0];
#else
  return free[NodeIndex{0}];
#endif
}

}  // namespace makeway
