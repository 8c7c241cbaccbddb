// WinnerTree: which of n places comes first, when places change one at a time.
//
// A tournament: each inner node keeps the winner of its two children, so the first place is read at
// once, and a change replays one path (log n comparisons). `Before` orders places strictly and
// totally; it looks up whatever it compares them by.
//
//   WinnerTree tree(n, [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
//   key[tree.first()] = 7;
//   tree.changed(tree.first());
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace makeway {

template <class Before>
class WinnerTree {
 public:
  WinnerTree(std::size_t places, Before before)
      : before_(std::move(before)), places_(places), winners_(places) {
    CHECK(places > 0, "a tournament of nobody");
    rebuild();
  }

  std::uint32_t first() const { return places_ == 1 ? 0 : winners_[1]; }

  /// What the place is compared by has changed.
  void changed(std::uint32_t place) {
    for (std::size_t at = (place + places_) / 2; at > 0; at /= 2) play(at);
  }

  /// Everything may have changed.
  void rebuild() {
    for (std::size_t at = places_; at-- > 1;) play(at);
  }

 private:
  /// Children of `at`: those at or beyond `places_` are the places themselves.
  std::uint32_t winner(std::size_t at) const {
    return at >= places_ ? static_cast<std::uint32_t>(at - places_) : winners_[at];
  }
  void play(std::size_t at) {
    const std::uint32_t left = winner(2 * at);
    const std::uint32_t right = winner(2 * at + 1);
    winners_[at] = before_(right, left) ? right : left;
  }

  Before before_;
  std::size_t places_;
  std::vector<std::uint32_t> winners_;  ///< Entry 0 is not used.
};

}  // namespace makeway
