// There is one clock; a copy would stand still.
#include "base/clock.hpp"

namespace makeway {

Time read(const ManualClock& clock) {
#ifdef MUST_FAIL
  const ManualClock copy = clock;
#else
  const Clock& copy = clock;
#endif
  return copy.now();
}

}  // namespace makeway
