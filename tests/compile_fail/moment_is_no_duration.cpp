// A moment is not accepted where a length is meant.
#include "base/clock.hpp"

namespace makeway {

void wait(ManualClock& clock, Time until) {
#ifdef MUST_FAIL
  clock.advance(until);
#else
  clock.advance(until - clock.now());
#endif
}

}  // namespace makeway
