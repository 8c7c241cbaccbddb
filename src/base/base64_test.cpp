#include "base/base64.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace makeway {
namespace {

TEST(Base64, DecodesWhatFilesHold) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9v\nYmFy\n"), "foobar");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "Z===", "Zg==Zg==", "Zm9v!", "-_=="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

TEST(Base64, ComesBackAsItWas) {
  Prng prng(7);
  for (std::size_t size = 0; size < 100; ++size) {
    std::string bytes;
    for (std::size_t at = 0; at < size; ++at) bytes += static_cast<char>(prng.below(256));
    EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
  }
}

}  // namespace
}  // namespace makeway
