// WriteGate: whether anything may be written now. The lease opens and closes it, the writer checks
// it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "base/time.hpp"

namespace makeway::kube {

/// `makeway.dev/pause` on the Lease.
enum class WritePause : std::uint8_t { none, evictions, all };

/// Any thread may use it. Times are of a clock that never goes back.
class WriteGate {
 public:
  void open_until(Time end) { end_ms_ = end.ms; }
  void open_forever() { end_ms_ = std::numeric_limits<std::int64_t>::max(); }
  void close() { end_ms_ = closed; }
  bool is_open(Time now) const { return now.ms < end_ms_.load(); }
  /// Zero: it is closed.
  Duration open_for(Time now) const {
    const std::int64_t end_ms = end_ms_.load();
    return {end_ms > now.ms ? end_ms - std::max<std::int64_t>(now.ms, 0) : 0};
  }

  void pause(WritePause pause) { pause_ = pause; }
  WritePause paused() const { return pause_.load(); }

 private:
  static constexpr std::int64_t closed = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> end_ms_ = closed;
  std::atomic<WritePause> pause_ = WritePause::none;
};

}  // namespace makeway::kube
