// Where a server listens: "127.0.0.1:10260", "[::1]:10260", ":10260" (this machine only).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace makeway::server {

struct ListenAddress {
  std::string host = "127.0.0.1";  ///< A number, never a name.
  std::uint16_t port = 0;          ///< 0: any that is free.

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// Without a host: this machine only. An error says what was expected.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace makeway::server
