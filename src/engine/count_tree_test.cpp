#include "engine/count_tree.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.hpp"

namespace makeway {
namespace {

TEST(CountTree, AnEmptyRowHasNothing) {
  const CountTree tree({});
  EXPECT_EQ(tree.least(0, 0), CountTree::nothing);
  EXPECT_EQ(tree.first_at_most(0, 0), 0U);
}

/// Against a plain row.
TEST(CountTree, SaysWhatAPlainRowSays) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed={}", seed));
    Prng prng(seed);
    std::vector<std::int64_t> row(1 + prng.below(40));
    for (std::int64_t& number : row) number = static_cast<std::int64_t>(prng.below(6)) - 1;
    CountTree tree(row);
    for (int step = 0; step < 100; ++step) {
      const std::size_t begin = prng.below(row.size() + 1);
      const std::size_t end = begin + prng.below(row.size() + 1 - begin);
      const std::int64_t amount = static_cast<std::int64_t>(prng.below(5)) - 2;
      tree.add(begin, end, amount);
      for (std::size_t at = begin; at < end; ++at) row[at] += amount;
      const std::size_t from = prng.below(row.size() + 1);
      const std::size_t to = from + prng.below(row.size() + 1 - from);
      std::int64_t least = CountTree::nothing;
      for (std::size_t at = from; at < to; ++at) least = std::min(least, row[at]);
      ASSERT_EQ(tree.least(from, to), least);
      const std::int64_t limit = static_cast<std::int64_t>(prng.below(6)) - 3;
      std::size_t first = from;
      while (first < row.size() && row[first] > limit) ++first;
      ASSERT_EQ(tree.first_at_most(limit, from), first);
    }
    for (std::size_t at = 0; at < row.size(); ++at) ASSERT_EQ(tree.at(at), row[at]);
  }
}

}  // namespace
}  // namespace makeway
