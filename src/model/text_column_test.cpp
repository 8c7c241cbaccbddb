#include "model/text_column.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace makeway {
namespace {

TEST(TextColumn, SlotsStartEmptyAndHoldWhatIsSet) {
  TextColumn column;
  column.resize(3);
  EXPECT_EQ(column[2], "");
  column.set(0, "alpha");
  column.set(2, "gamma");
  EXPECT_EQ(column[0], "alpha");
  EXPECT_EQ(column[1], "");
  EXPECT_EQ(column[2], "gamma");
}

TEST(TextColumn, ReplacingNeverTouchesTheNeighbours) {
  TextColumn column;
  column.resize(3);
  column.set(0, "one");
  column.set(1, "two");
  column.set(2, "three");
  column.set(1, "a");  // Shorter: in place.
  EXPECT_EQ(column[1], "a");
  column.set(1, "far longer than before");  // Longer: elsewhere.
  EXPECT_EQ(column[1], "far longer than before");
  column.set(1, "");
  EXPECT_EQ(column[0], "one");
  EXPECT_EQ(column[1], "");
  EXPECT_EQ(column[2], "three");
}

TEST(TextColumn, HoldsAnyBytes) {
  TextColumn column;
  column.resize(1);
  const std::string bytes("a\0b\xff", 4);
  column.set(0, bytes);
  EXPECT_EQ(column[0], bytes);
}

TEST(TextColumn, GarbageIsUsedAgain) {
  TextColumn column;
  column.resize(10);
  // Each round replaces every text by a longer one, then by nothing: 25 MB go through the column,
  // at most 10 * 1,000 bytes are alive at once.
  for (std::size_t round = 0; round < 50; ++round) {
    for (std::size_t length = 1; length <= 1000; length += 111) {
      for (std::size_t slot = 0; slot < 10; ++slot) {
        column.set(slot, std::string(length, static_cast<char>('a' + slot)));
      }
    }
    for (std::size_t slot = 0; slot < 10; ++slot) {
      EXPECT_EQ(column[slot], std::string(1000, static_cast<char>('a' + slot)));
      column.set(slot, "");
    }
  }
  EXPECT_LT(column.bytes(), 100'000U);
}

TEST(TextColumn, PackingKeepsEveryText) {
  TextColumn column;
  column.resize(100);
  for (std::size_t slot = 0; slot < 100; ++slot) column.set(slot, std::string(100, 'x'));
  for (std::size_t slot = 0; slot < 100; ++slot) {
    column.set(slot, slot % 2 == 0 ? "" : std::to_string(slot));
  }
  column.shrink_to_fit();
  for (std::size_t slot = 0; slot < 100; ++slot) {
    EXPECT_EQ(column[slot], slot % 2 == 0 ? "" : std::to_string(slot));
  }
  // 50 texts of one or two digits, which take 8 bytes each, as entries do.
  EXPECT_EQ(column.bytes(), 50U * 8 + 100 * 8);
}

TEST(TextColumnDeathTest, AbsurdlyLongTextsAreABug) {
  TextColumn column;
  column.resize(1);
  const std::string longest((1U << 24U) - 1, 'x');
  column.set(0, longest);
  EXPECT_EQ(column[0].size(), longest.size());
  EXPECT_DEATH(column.set(0, longest + "x"), "too long");
}

}  // namespace
}  // namespace makeway
