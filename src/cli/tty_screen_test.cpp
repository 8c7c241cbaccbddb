#include "cli/tty_screen.hpp"

#include <gtest/gtest.h>

namespace makeway::cli {
namespace {

TEST(DecodedKeys, LettersAndArrows) {
  EXPECT_EQ(decoded_keys("p +q"), "p +q");
  EXPECT_EQ(decoded_keys("\x1b[A\x1b[B\x1bOA"), std::string({key_up, key_down, key_up}));
  EXPECT_EQ(decoded_keys("\x1b[5~\x1b[6~j"), std::string({key_page_up, key_page_down, 'j'}));
}

TEST(DecodedKeys, UnknownKeysAreLeftOut) {
  EXPECT_EQ(decoded_keys("\x1b"), "");
  EXPECT_EQ(decoded_keys("\x1b["), "");
  EXPECT_EQ(decoded_keys("\x1b[1;5Cq"), "q");  // Ctrl and an arrow.
  EXPECT_EQ(decoded_keys("\x1b[200~"), "");
  // Bytes that stand for our own names of keys, and letters that are no ASCII.
  EXPECT_EQ(decoded_keys("\x01\x02\x03\x04\xc3\xa4\x7f"), "");
}

}  // namespace
}  // namespace makeway::cli
