#include "base/prng.hpp"

#include <bit>

namespace makeway {

Prng::Prng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    word = mix64(seed);
    seed += 0x9E3779B97F4A7C15U;
  }
}

std::uint64_t Prng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Prng::below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Numbers under 2^64 mod bound would favour small results: draw again.
  const std::uint64_t biased_below = (0 - bound) % bound;
  std::uint64_t drawn = next();
  while (drawn < biased_below) drawn = next();
  return drawn % bound;
}

std::int64_t Prng::between(std::int64_t low, std::int64_t high) {
  CHECK(low <= high);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t offset = span == UINT64_MAX ? next() : below(span + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

}  // namespace makeway
