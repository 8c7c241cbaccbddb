#include "base/result.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return input_error("odd");
  return number / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  ASSERT_TRUE(half(4).has_value());
  EXPECT_EQ(*half(4), 2);
  ASSERT_FALSE(half(3).has_value());
  EXPECT_EQ(half(3).error(), (Error{.code = ErrorCode::fix_input, .message = "odd"}));
}

TEST(Result, EveryErrorCodeNamesAMove) {
  EXPECT_EQ(next_move(ErrorCode::fix_input), "fix the input");
  EXPECT_EQ(next_move(ErrorCode::fix_usage), "see --help");
  EXPECT_EQ(next_move(ErrorCode::retry), "try again later");
  EXPECT_EQ(next_move(ErrorCode::new_snapshot), "observe the cluster again");
}

TEST(ResultDeathTest, AnUnknownErrorCodeIsABug) {
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): the very mistake we test.
  const auto unknown = static_cast<ErrorCode>(200);
  EXPECT_DEATH(static_cast<void>(next_move(unknown)), "unknown error code");
}

}  // namespace
}  // namespace makeway
