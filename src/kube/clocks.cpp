#include "kube/clocks.hpp"

#include <chrono>

namespace makeway::kube {

Time SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

void ServerTime::note(Time date, Time monotonic) {
  const std::int64_t offset_ms = date.ms - monotonic.ms;
  const std::int64_t known_ms = offset_ms_.load();
  const bool is_later = known_ms == unknown || offset_ms > known_ms;
  if (is_later || offset_ms < known_ms - late_max.ms) offset_ms_.store(offset_ms);
}

std::optional<Time> ServerTime::at(Time monotonic) const {
  const std::int64_t offset_ms = offset_ms_.load();
  if (offset_ms == unknown) return std::nullopt;
  return monotonic + Duration{offset_ms};
}

}  // namespace makeway::kube
