#include "base/check.hpp"

#include <gtest/gtest.h>

#include <string>

namespace makeway {
namespace {

TEST(Check, ATrueConditionDoesNothing) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  CHECK(++evaluated == 2, "with a note");
  EXPECT_EQ(evaluated, 2);
}

TEST(Check, IsOneStatement) {
  // Without its own scope the macro would take the else.
  const bool truth = true;
  if (truth)
    CHECK(truth);
  else
    FAIL();
}

TEST(Check, TheNoteIsOnlyMadeWhenNeeded) {
  const auto explode = [] {
    ADD_FAILURE() << "the note of a true condition was computed";
    return "";
  };
  CHECK(true, explode());
}

TEST(CheckDeathTest, NamesConditionPlaceAndNote) {
  const std::string place = R"(src/base/check_test.cpp:[0-9]+: CHECK\(1 \+ 1 == 3\) failed)";
  EXPECT_DEATH(CHECK(1 + 1 == 3, "arithmetic"), place + ": arithmetic\n");
  EXPECT_DEATH(CHECK(1 + 1 == 3), place + "\n");
  EXPECT_DEATH(CHECK(1 + 1 == 3), "bug in makeway, not in your input");
}

TEST(Check, ThrowsInsideAContainment) {
  std::string text;
  try {
    const CheckContainment outer;
    {
      const CheckContainment inner;
    }
    CHECK(1 + 1 == 3, "arithmetic");
  } catch (const CheckFailed& failed) {
    text = failed.what();
  }
  EXPECT_TRUE(text.starts_with("src/base/check_test.cpp:")) << text;
  EXPECT_TRUE(text.ends_with(": CHECK(1 + 1 == 3) failed: arithmetic")) << text;
}

TEST(CheckDeathTest, StopsTheProcessAgainAfterAContainment) {
  {
    const CheckContainment over;
  }
  EXPECT_DEATH(CHECK(1 + 1 == 3), "internal error");
}

}  // namespace
}  // namespace makeway
