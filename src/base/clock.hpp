// Clock: the only door through which time enters the process.
//
// Edges (live runs, benchmarks) use a real clock, tests and the simulator a ManualClock. Decisions
// never see either: they take `now` as an argument.
#pragma once

#include "base/time.hpp"

namespace makeway {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual Time now() const = 0;
};

/// Moves only when it is set, and never backwards.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}

  Time now() const override { return now_; }
  void advance(Duration step);

 private:
  Time now_;
};

}  // namespace makeway
