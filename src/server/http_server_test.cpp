// The HTTP server, over real sockets on this machine.
#include "server/http_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/http_test_client.hpp"

namespace makeway::server {
namespace {

HttpReply echo_reply(const HttpRequest& request) {
  if (request.path == "/missing") return {.status = 404, .body = "no\n"};
  if (request.path == "/stream") {
    return {.content_type = "text/event-stream",
            .stream = std::make_shared<const std::string>("data: first\n\n")};
  }
  return {.body = "path " + request.path + "\n" + request.body};
}
void echo(const HttpRequest& request, const HttpAnswer& answer) {
  answer.give(echo_reply(request));
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

TEST(HttpServer, AClientThatOnlyStopsSendingGetsItsAnswer) {
  const auto server = started();
  for (int count = 0; count < 20; ++count) {
    const TestClient client(server->port());
    client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_EQ(::shutdown(client.descriptor(), SHUT_WR), 0);
    EXPECT_TRUE(client.receive().ends_with("path /a\n")) << count;
  }
}

TEST(HttpServer, OtherMethodsAreRefused) {
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

TEST(HttpServer, TheLongestIdleConnectionIsClosedFirst) {
  const auto server = started({.connections_max = 2});
  const TestClient first(server->port());
  const TestClient second(server->port());
  for (const TestClient* const client : {&first, &second}) {
    client->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(client->receive("path /\n").contains("path /\n"));
  }
  const TestClient third(server->port());
  third.send("GET /third HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(third.receive("path /third\n").contains("path /third\n"));
  EXPECT_EQ(first.receive(), "");
}

TEST(HttpServer, StreamsAreNeverClosedForNewConnections) {
  const auto server = started({.connections_max = 1});
  const TestClient viewer(server->port());
  viewer.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(viewer.receive("data: first\n\n").contains("data: first\n\n"));
  const TestClient other(server->port());
  EXPECT_EQ(other.receive(), "");
  server->publish(std::make_shared<const std::string>("data: second\n\n"));
  EXPECT_EQ(viewer.receive("second\n\n"), "data: second\n\n");
}

TEST(HttpServer, AFrameGoesToEveryStreamAndOneTooManyIsRefused) {
  const auto server = started({.streams_max = 2});
  std::vector<std::unique_ptr<TestClient>> viewers;
  for (int viewer = 0; viewer < 2; ++viewer) {
    viewers.push_back(std::make_unique<TestClient>(server->port()));
    viewers.back()->send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string head = viewers.back()->receive("first\n\n");
    EXPECT_TRUE(head.contains("Content-Type: text/event-stream\r\n")) << head;
  }
  EXPECT_EQ(server->streams(), 2U);
  const TestClient third(server->port());
  third.send("GET /stream HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(third.receive().starts_with("HTTP/1.1 503 "));
  server->publish(std::make_shared<const std::string>("data: second\n\n"));
  for (const auto& viewer : viewers) {
    EXPECT_EQ(viewer->receive("second\n\n"), "data: second\n\n");
  }
}

TEST(HttpServer, AStreamThatIsNotReadIsClosed) {
  const auto server = started({.backlog_bytes_max = 1'000'000});
  const TestClient viewer(server->port());
  viewer.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(viewer.receive("first\n\n").contains("first"));
  const auto large = std::make_shared<const std::string>(std::string(500'000, 'x'));
  // Until the buffers of the system and the backlog are full.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (server->streams() > 0 && std::chrono::steady_clock::now() < deadline) {
    server->publish(large);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(server->streams(), 0U);
  EXPECT_EQ(server->streams_cut(), 1U);
  const TestClient other(server->port());
  other.send("GET / HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(other.receive().contains("path /\n"));
}

TEST(HttpServer, ABodyIsTakenUpToItsLimit) {
  const auto server = started({.body_bytes_max = 10});
  const TestClient fits(server->port());
  fits.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n" + std::string(closing) +
            "0123456789");
  EXPECT_TRUE(fits.receive().ends_with("path /a\n0123456789"));
  const TestClient large(server->port());
  large.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n" + std::string(closing) +
             "01234567890");
  EXPECT_TRUE(large.receive().starts_with("HTTP/1.1 413 "));
}

/// The body never comes, and the answer does.
TEST(HttpServer, TheGateSeesTheHeaderBeforeTheBodyIsRead) {
  const auto server =
      HttpServer::start({}, echo, {}, [](const HttpRequest& request) -> std::optional<HttpReply> {
        if (request.path == "/open") return std::nullopt;
        return HttpReply{.status = 401, .body = "no\n"};
      });
  ASSERT_TRUE(server.has_value());
  for (const auto& [line, status] : {std::pair("POST /closed", "401"), std::pair("GET /a", "400"),
                                     std::pair("DELETE /a", "405")}) {
    const TestClient client((*server)->port());
    client.send(std::string(line) + " HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n");
    const std::string text = client.receive();
    EXPECT_TRUE(text.starts_with("HTTP/1.1 " + std::string(status))) << text;
    EXPECT_TRUE(text.contains("Connection: close\r\n")) << text;
  }
  const TestClient open((*server)->port());
  open.send("POST /open HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n" + std::string(closing) +
            "ab");
  EXPECT_TRUE(open.receive().ends_with("path /open\nab"));
}

TEST(HttpServer, AnAnswerMayComeLaterOrNever) {
  std::vector<HttpAnswer> kept;
  auto server = HttpServer::start({}, [&](const HttpRequest& request, const HttpAnswer& answer) {
    if (request.path == "/later") {
      std::thread([answer] { answer.give({.body = "late\n"}); }).detach();
    }
    if (request.path == "/after-the-end") kept.push_back(answer);
  });
  ASSERT_TRUE(server.has_value());
  const TestClient later((*server)->port());
  later.send("GET /later HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(later.receive().ends_with("late\n"));
  const TestClient never((*server)->port());
  never.send("GET /never HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(never.receive().starts_with("HTTP/1.1 503 "));
  const TestClient open((*server)->port());
  open.send("GET /after-the-end HTTP/1.1\r\nHost: h\r\n\r\n");
  const TestClient last((*server)->port());
  last.send("GET /never HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(last.receive().starts_with("HTTP/1.1 503 "));
  server->reset();
  ASSERT_EQ(kept.size(), 1U);
  kept.front().give({.body = "too late\n"});
}

TEST(HttpServer, IdleConnectionsDoNotBlockNewOnes) {
  const auto server = started({.connections_max = 64});
  std::vector<std::unique_ptr<TestClient>> idle;
  for (int client = 0; client < 400; ++client) {
    idle.push_back(std::make_unique<TestClient>(server->port()));
    if (client % 100 != 0) continue;
    const TestClient one(server->port());
    one.send("GET / HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
    EXPECT_TRUE(one.receive().contains("path /\n")) << client;
  }
  const TestClient last(server->port());
  last.send("GET / HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
  EXPECT_TRUE(last.receive().contains("path /\n"));
}

/// A probe must get through, or the kubelet restarts the scheduler.
TEST(HttpServer, ConnectionsThatDoNotReadTheirAnswerAreClosed) {
  std::vector<HttpAnswer> kept;
  std::string large;  // More than all buffers of a connection take.
  large.resize(20'000'000, 'x');
  const auto server =
      HttpServer::start({},
                        [&](const HttpRequest& request, const HttpAnswer& answer) {
                          if (request.path == "/never") return kept.push_back(answer);
                          answer.give({.body = request.path == "/large" ? large : "well\n"});
                        },
                        {.connections_max = 8});
  ASSERT_TRUE(server.has_value());
  std::vector<std::unique_ptr<TestClient>> others;
  others.reserve(24);
  for (int client = 0; client < 24; ++client) {
    others.push_back(std::make_unique<TestClient>((*server)->port()));
    others.back()->send(std::string(client < 12 ? "GET /never" : "GET /large") +
                        " HTTP/1.1\r\nHost: h\r\n\r\n");
    const TestClient probe((*server)->port());
    probe.send("GET /healthz HTTP/1.1\r\nHost: h\r\n" + std::string(closing));
    EXPECT_TRUE(probe.receive().ends_with("well\n")) << client;
  }
}

TEST(HttpServer, AnAddressInUseIsAnError) {
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
