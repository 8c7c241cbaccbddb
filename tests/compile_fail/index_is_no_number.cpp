// A number becomes an index only by an explicit conversion.
#include "base/index.hpp"

namespace makeway {

struct NodeTag;
using NodeIndex = Index<NodeTag>;

bool exists(NodeIndex node);

bool first_exists() {
#ifdef MUST_FAIL
  return exists(0U);
#else
  return exists(NodeIndex{0});
#endif
}

}  // namespace makeway
