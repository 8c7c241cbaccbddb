#include "base/index.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace makeway {
namespace {

struct RowTag;
struct SeatTag;
using Row = Index<RowTag>;
using Seat = Index<SeatTag>;

static_assert(!std::is_convertible_v<Row, Seat>);
static_assert(!std::is_convertible_v<int, Row>);
static_assert(!std::is_convertible_v<Row, std::uint32_t>);
static_assert(sizeof(Row) == 4);

TEST(Index, TheDefaultPointsNowhere) {
  EXPECT_FALSE(Row{}.exists());
  EXPECT_TRUE(Row{0}.exists());
  EXPECT_EQ(Row::from(7).value, 7U);
}

TEST(Index, OrderedByNumber) {
  EXPECT_LT(Row{1}, Row{2});
  EXPECT_EQ(Row{3}, Row::from(3));
  EXPECT_LT(Row{2}, Row{});  // Nowhere sorts last.
}

TEST(IndexDeathTest, TooManySlotsAreABug) {
  EXPECT_EQ(Row::from(0xFFFFFFFEU).value, 0xFFFFFFFEU);
  EXPECT_DEATH(static_cast<void>(Row::from(0xFFFFFFFFU)), "more than 2\\^32 - 1 slots");
  EXPECT_DEATH(static_cast<void>(Row::from(std::numeric_limits<std::size_t>::max())), "slots");
}

TEST(IndexedVector, GrowsAndIsReadByItsOwnIndex) {
  IndexedVector<Row, std::string> names;
  EXPECT_TRUE(names.empty());
  const Row first = names.push_back("first");
  const Row second = names.push_back("second");
  EXPECT_EQ(first, Row{0});
  EXPECT_EQ(second, Row{1});
  names[first] += "!";
  EXPECT_EQ(std::as_const(names)[first], "first!");
  EXPECT_EQ(names.size(), 2U);

  std::string all;
  for (const std::string& name : names) all += name;
  EXPECT_EQ(all, "first!second");

  names.resize(3);
  EXPECT_EQ(names[Row{2}], "");
  names.clear();
  EXPECT_TRUE(names.empty());
}

TEST(IndexedVector, StartsWithASizeAndAValue) {
  const IndexedVector<Row, int> numbers(3, 8);
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers[Row{2}], 8);
}

TEST(IndexedVector, HoldsWhatCannotBeCopied) {
  IndexedVector<Row, std::unique_ptr<int>> pointers;
  const Row row = pointers.push_back(std::make_unique<int>(5));
  EXPECT_EQ(*pointers[row], 5);
}

TEST(IndexedVectorDeathTest, BoundsAreAlwaysChecked) {
  IndexedVector<Row, int> numbers(2);
  EXPECT_DEATH(static_cast<void>(numbers[Row{2}]), "index out of range");
  EXPECT_DEATH(static_cast<void>(std::as_const(numbers)[Row{}]), "index out of range");
}

}  // namespace
}  // namespace makeway
