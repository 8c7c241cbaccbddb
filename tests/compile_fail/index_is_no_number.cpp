// A number becomes an index only where somebody says so.
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
