#include "server/listen_address.hpp"

#include <gtest/gtest.h>

namespace makeway::server {
namespace {

TEST(ListenAddress, WithoutAHostItIsThisMachineOnly) {
  EXPECT_EQ(*parse_listen_address(":10260"), (ListenAddress{.host = "127.0.0.1", .port = 10'260}));
  EXPECT_EQ(*parse_listen_address("0.0.0.0:1"), (ListenAddress{.host = "0.0.0.0", .port = 1}));
  EXPECT_EQ(*parse_listen_address("[::1]:0"), (ListenAddress{.host = "::1", .port = 0}));
}

TEST(ListenAddress, AnInvalidAddressIsAnError) {
  for (const char* const text : {"", "10260", "localhost:1", ":", ":x", ":65536", ":-1", "::1:9",
                                 "[]:1", "[::1:1", "1.2.3.4:1 "}) {
    const auto address = parse_listen_address(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_TRUE(address.error().message.contains("expected ADDRESS:PORT")) << text;
  }
}

}  // namespace
}  // namespace makeway::server
