#include "base/winner_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/prng.hpp"

namespace makeway {
namespace {

TEST(WinnerTree, KnowsTheFirstOfAnyNumberThroughChanges) {
  Prng random(7);
  for (std::size_t players = 1; players < 40; ++players) {
    std::vector<std::uint64_t> keys(players);
    for (std::uint64_t& key : keys) key = random.below(5);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(keys[a], a) < std::tie(keys[b], b);
    };
    WinnerTree tree(players, before);
    for (int change = 0; change < 50; ++change) {
      const auto naive = std::ranges::min_element(keys) - keys.begin();
      ASSERT_EQ(tree.first(), naive) << players << " players, change " << change;
      const auto player = static_cast<std::uint32_t>(random.below(players));
      keys[player] = random.below(5);
      tree.changed(player);
    }
  }
}

TEST(WinnerTree, RebuildSeesEveryChange) {
  std::vector<int> keys = {3, 1, 2};
  WinnerTree tree(3, [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  EXPECT_EQ(tree.first(), 1U);
  keys = {3, 5, 4};
  tree.rebuild();
  EXPECT_EQ(tree.first(), 0U);
}

}  // namespace
}  // namespace makeway
