// Allowance: so many in a period, filling evenly with time. Whole numbers only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace makeway {

class Allowance {
 public:
  enum class Start : std::uint8_t { empty, full };

  /// At most `amount` are saved up.
  Allowance(std::int64_t amount, Duration period, Start start, Time now)
      : amount_(amount),
        period_(period),
        credit_(start == Start::full ? amount * period.ms : 0),
        filled_(now) {}

  bool has(std::int64_t count, Time now) {
    fill(now);
    return credit_ >= count * period_.ms;
  }
  void spend(std::int64_t count, Time now) {
    fill(now);
    credit_ -= count * period_.ms;
  }
  /// What was spent and not used after all.
  void give_back(std::int64_t count) {
    credit_ = std::min(credit_ + count * period_.ms, amount_ * period_.ms);
  }
  /// How long until there are so many; 0: there are.
  Duration wait(std::int64_t count, Time now) {
    fill(now);
    const std::int64_t lacking = count * period_.ms - credit_;
    if (lacking <= 0) return {0};
    if (amount_ <= 0) return period_;
    return {(lacking + amount_ - 1) / amount_};
  }

 private:
  void fill(Time now) {
    if (now <= filled_) return;
    const std::int64_t full = amount_ * period_.ms;
    const std::int64_t elapsed_ms = (now - filled_).ms;
    // No product that could overflow, however long ago the last call was.
    const bool fills = amount_ > 0 && elapsed_ms > (full - credit_) / amount_;
    credit_ =
        fills ? full : std::min(credit_ + elapsed_ms * std::max<std::int64_t>(amount_, 0), full);
    filled_ = now;
  }

  std::int64_t amount_;
  Duration period_;
  std::int64_t credit_;  ///< In `period` parts of one.
  Time filled_;
};

}  // namespace makeway
