#include "base/sparse_column.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/index.hpp"

namespace makeway {
namespace {

struct ThingTag;
using ThingIndex = Index<ThingTag>;

TEST(SparseColumn, ReadsDefaultsWhereNothingWasWritten) {
  const SparseColumn<ThingIndex, std::int32_t> column(100'000);
  EXPECT_EQ(column[ThingIndex{0}], 0);
  EXPECT_EQ(column[ThingIndex{99'999}], 0);
}

TEST(SparseColumn, KeepsWhatWasWrittenAndNothingElse) {
  SparseColumn<ThingIndex, std::int32_t> column(1'025);
  column.writable(ThingIndex{511}) = 7;
  column.writable(ThingIndex{1'024}) = 9;
  EXPECT_EQ(column[ThingIndex{510}], 0);
  EXPECT_EQ(column[ThingIndex{511}], 7);
  EXPECT_EQ(column[ThingIndex{512}], 0);
  EXPECT_EQ(column[ThingIndex{1'024}], 9);
}

TEST(SparseColumnDeathTest, ChecksBounds) {
  const SparseColumn<ThingIndex, std::int32_t> column(10);
  EXPECT_DEATH(static_cast<void>(column[ThingIndex{10}]), "index out of range");
}

}  // namespace
}  // namespace makeway
