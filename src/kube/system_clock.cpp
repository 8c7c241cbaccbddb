#include "kube/system_clock.hpp"

#include <chrono>

namespace makeway::kube {

Time SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

}  // namespace makeway::kube
