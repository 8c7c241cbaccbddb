#include "base/plain_vector.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prng.hpp"

namespace makeway {
namespace {

/// Three words, so that no page border is a border of items.
struct ThreeWords {
  std::uint64_t a = 1;
  std::uint64_t b = 2;
  std::uint64_t c = 3;

  friend bool operator==(const ThreeWords&, const ThreeWords&) = default;
};

std::vector<ThreeWords> copy_of(const PlainVector<ThreeWords>& rows) {
  return {rows.begin(), rows.end()};
}

TEST(PlainVector, GrowsFromNothingIntoMappedMemoryAndBack) {
  constexpr std::size_t count = 4 * plain_memory::mapped_from / sizeof(ThreeWords);
  PlainVector<ThreeWords> rows;
  for (std::uint64_t i = 0; i < count; ++i) rows.push_back({.a = i, .b = i * 2, .c = i * 3});
  ASSERT_EQ(rows.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(rows[i].c, i * 3);
  rows.resize(3);
  rows.shrink_to_fit();
  EXPECT_EQ(rows.capacity(), 3U);
  EXPECT_EQ(rows[2], (ThreeWords{.a = 2, .b = 4, .c = 6}));
  rows.resize(0);
  rows.shrink_to_fit();
  EXPECT_EQ(rows.capacity(), 0U);
  rows.push_back({});
  EXPECT_EQ(rows[0], ThreeWords{});
}

TEST(PlainVector, ZerosAreZeroSmallAndLarge) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{300'000}}) {
    const auto zeros = PlainVector<ThreeWords>::zeros(size);
    ASSERT_EQ(zeros.size(), size);
    for (const ThreeWords& row : zeros) ASSERT_EQ(row, (ThreeWords{.a = 0, .b = 0, .c = 0}));
  }
}

TEST(PlainVector, AppendsAndAssigns) {
  PlainVector<char> text;
  text.append(std::array{'a', 'b'});
  text.append({});
  text.append(std::array{'c'});
  EXPECT_EQ(std::string_view(text.data(), text.size()), "abc");
  text.assign(2, 'x');
  EXPECT_EQ(std::string_view(text.data(), text.size()), "xx");
}

TEST(PlainVector, DoesWhatAVectorDoesWhateverTheOrder) {
  Prng random(7);
  PlainVector<ThreeWords> rows;
  std::vector<ThreeWords> model;
  for (int round = 0; round < 2'000; ++round) {
    const std::uint64_t what = random.below(10);
    const ThreeWords row{.a = random.next()};
    if (what < 4) {
      rows.push_back(row);
      model.push_back(row);
    } else if (what < 8) {
      const std::size_t size = random.chance(5) ? random.below(200'000) : random.below(100);
      rows.resize(size, row);
      model.resize(size, row);
    } else if (what == 8) {
      rows.shrink_to_fit();
    } else {
      PlainVector<ThreeWords> copy = rows;
      PlainVector<ThreeWords> moved = std::move(copy);
      rows = moved;
      EXPECT_EQ(moved.size(), model.size());
    }
    ASSERT_EQ(rows.size(), model.size());
    if (round % 50 != 0) continue;
    ASSERT_EQ(copy_of(rows), model) << "round " << round;
  }
}

}  // namespace
}  // namespace makeway
