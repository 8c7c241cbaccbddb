// The HTTP server, over real sockets on this machine.
#include "server/http_server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace makeway::server {
namespace {

/// A connection of a client; what the server sends until it closes, or for two seconds.
class TestClient {
 public:
  explicit TestClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 2, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is the interface
    is_open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0;
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() { ::close(socket_); }

  bool is_open() const { return is_open_; }
  void send(std::string_view text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// Until that text, the end, or two seconds without a byte.
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

HttpReply echo(std::string_view path) {
  if (path == "/missing") return {.status = 404, .body = "no\n"};
  return {.body = "path " + std::string(path) + "\n"};
}

std::unique_ptr<HttpServer> started(HttpLimits limits = {}) {
  auto server = HttpServer::start({}, echo, limits);
  EXPECT_TRUE(server.has_value());
  return std::move(*server);
}

constexpr std::string_view closing = "Connection: close\r\n\r\n";

TEST(HttpServer, AnswersByThePathWithoutTheQuery) {
  const auto server = started();
  const TestClient client(server->port());
  client.send("GET /metrics?x=1 HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  const std::string text = client.receive();
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n")) << text;
  EXPECT_TRUE(text.contains("Content-Length: 14\r\n")) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\npath /metrics\n")) << text;
}

TEST(HttpServer, KeepsAConnectionForSeveralRequests) {
  const auto server = started();
  const TestClient client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(client.receive("path /a\n").ends_with("path /a\n"));
  client.send("GET /missing HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(client.receive("no\n").starts_with("HTTP/1.1 404 "));
  client.send("HEAD /b HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  const std::string head = client.receive();
  EXPECT_TRUE(head.contains("Content-Length: 8\r\n")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST(HttpServer, OnlyReads) {
  const auto server = started();
  const TestClient client(server->port());
  client.send("DELETE /a HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(client.receive().starts_with("HTTP/1.1 405 "));
}

TEST(HttpServer, WhatIsNoRequestIsClosedAndTheOthersGoOn) {
  const auto server = started({.header_bytes_max = 512});
  for (const std::string& nonsense :
       {std::string("\x16\x03\x01 hello\r\n\r\n"), "GET / HTTP/1.1\r\nA: " + std::string(600, 'a'),
        std::string("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\nx")}) {
    const TestClient client(server->port());
    client.send(nonsense);
    EXPECT_FALSE(client.receive().contains(" 200 ")) << nonsense;
  }
  const TestClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(client.receive().contains("path /\n"));
}

TEST(HttpServer, SilenceEndsAConnection) {
  const auto server = started({.request_max = Duration{50}});
  const TestClient client(server->port());
  client.send("GET /half");
  EXPECT_EQ(client.receive(), "");
}

TEST(HttpServer, OneConnectionTooManyIsClosed) {
  const auto server = started({.connections_max = 2});
  const TestClient first(server->port());
  const TestClient second(server->port());
  for (const TestClient* const client : {&first, &second}) {
    client->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(client->receive("path /\n").contains("path /\n"));
  }
  const TestClient third(server->port());
  EXPECT_EQ(third.receive(), "");
}

TEST(HttpServer, AnAddressThatIsTakenIsTold) {
  const auto server = started();
  const auto second = HttpServer::start({.host = "127.0.0.1", .port = server->port()}, echo);
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(second.error().message.starts_with("cannot listen on 127.0.0.1:"))
      << second.error().message;
}

TEST(HttpServer, ManyAtOnce) {
  std::atomic<int> answered = 0;
  const auto server = started();
  std::vector<std::thread> clients;
  clients.reserve(8);
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) {
        const TestClient one(server->port());
        one.send("GET / HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
        if (one.receive().contains("path /\n")) ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 160);
}

}  // namespace
}  // namespace makeway::server
