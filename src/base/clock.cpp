#include "base/clock.hpp"

#include "base/check.hpp"

namespace makeway {

void ManualClock::advance(Duration step) {
  CHECK(step.ms >= 0, "time does not run backwards");
  now_ = now_ + step;
}

}  // namespace makeway
