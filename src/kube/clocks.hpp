// The clock of the machine, for code that takes a Clock and must know when credentials expire.
//
// ServerTime: what the API server's clock says, from its Date headers and our monotonic clock.
//
// A Date is cut to whole seconds and was true when the answer was written, so the server's time is
// never earlier than the latest that any header says. One that is much earlier means that the
// server's clock was set back. One thread notes, any may ask.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.hpp"
#include "base/time.hpp"

namespace makeway::kube {

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

class ServerTime {
 public:
  /// Headers may be on their way for so long before the clock is taken to be set back.
  static constexpr Duration late_max{5'000};

  void note(Time date, Time monotonic);
  /// None: no Date came yet. It may go back, by whatever the server's clock was set back.
  std::optional<Time> at(Time monotonic) const;

 private:
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> offset_ms_ = unknown;
};

}  // namespace makeway::kube
