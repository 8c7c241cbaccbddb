// Sharing out one resource among siblings (decision 0008, "Division").
//
// There is one level L at which the shares min(max(weight x L, floor), cap) add up to the total, or
// to the sum of the caps if that is less. Shares at neither bound are rounded down, and what is
// left goes to the largest fractions, then to the first in the list: callers list siblings by name.
// Floors that do not fit share the total in proportion to themselves. The exact share, rounded
// down, is given too: it is what pods of others may be evicted for.
#pragma once

#include <cstdint>
#include <span>

namespace makeway {

struct Claimant {
  std::int64_t weight = 1;  ///< At least 1.
  std::int64_t floor = 0;
  std::int64_t cap = 0;  ///< Not below the floor.
};

struct Share {
  std::int64_t amount = 0;
  std::int64_t certain = 0;  ///< The exact share, rounded down.

  friend bool operator==(const Share&, const Share&) = default;
};

/// `shares` has a place for each claimant.
void divide(std::int64_t total, std::span<const Claimant> claimants, std::span<Share> shares);

}  // namespace makeway
