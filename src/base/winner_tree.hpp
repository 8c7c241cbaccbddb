// WinnerTree: which of n players comes first, when players change one at a time.
//
// A tournament: each inner node keeps the winner of its two children, so the first player is read
// at once, and a change replays one path (log n comparisons). `Before` orders players strictly and
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
  WinnerTree(std::size_t players, Before before)
      : before_(std::move(before)), players_(players), winners_(players) {
    CHECK(players > 0, "a tournament without players");
    rebuild();
  }

  std::uint32_t first() const { return players_ == 1 ? 0 : winners_[1]; }

  /// What the player is compared by has changed.
  void changed(std::uint32_t player) {
    for (std::size_t at = (player + players_) / 2; at > 0; at /= 2) play(at);
  }

  /// Everything may have changed.
  void rebuild() {
    for (std::size_t at = players_; at-- > 1;) play(at);
  }

 private:
  /// Children of `at`: those at or beyond `players_` are the players themselves.
  std::uint32_t winner(std::size_t at) const {
    return at >= players_ ? static_cast<std::uint32_t>(at - players_) : winners_[at];
  }
  void play(std::size_t at) {
    const std::uint32_t left = winner(2 * at);
    const std::uint32_t right = winner(2 * at + 1);
    winners_[at] = before_(right, left) ? right : left;
  }

  Before before_;
  std::size_t players_;
  std::vector<std::uint32_t> winners_;  ///< Entry 0 is not used.
};

}  // namespace makeway
