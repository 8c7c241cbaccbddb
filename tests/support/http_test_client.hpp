// A client for tests of HTTP servers, over a real socket on this machine.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace makeway::server {

/// A connection of a client; what the server sends until it closes, or falls silent for long.
class TestClient {
 public:
  explicit TestClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is the interface
    is_open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0;
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() { ::close(socket_); }

  bool is_open() const { return is_open_; }
  int descriptor() const { return socket_; }
  void send(std::string_view text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// Until that text, the end, or a long time without a byte.
  std::string receive(std::string_view until = {}) const {
    std::string text;
    std::array<char, 4'096> part{};
    while (until.empty() || !text.contains(until)) {
      const ssize_t got = ::recv(socket_, part.data(), part.size(), 0);
      if (got <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int socket_;
  bool is_open_ = false;
};

}  // namespace makeway::server
