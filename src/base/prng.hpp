// Prng: small, fast, seeded; the same seed gives the same numbers on every machine.
//
// xoshiro256** (Blackman, Vigna) seeded by splitmix64. For tests, generators and the simulator;
// never for decisions, and never for secrets.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace makeway {

/// A well-mixed 64-bit value of `value`; also our hash finaliser.
constexpr std::uint64_t mix64(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

class Prng {
 public:
  explicit Prng(std::uint64_t seed);

  std::uint64_t next();

  /// Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);

  /// Uniform in [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high);

  /// True in `percent` of 100 cases.
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    CHECK(!from.empty());
    return from[below(from.size())];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace makeway
