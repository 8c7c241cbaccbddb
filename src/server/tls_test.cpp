// TLS over real sockets, with certificates that are made here.
#include <gtest/gtest.h>
#include <openssl/rsa.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "server/http_server.hpp"
#include "server/tls_keys.hpp"
#include "support/temporary_folder.hpp"
#include "support/tls_test_client.hpp"

namespace makeway::server {
namespace {

constexpr std::string_view tls_request =
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

class Tls : public testing::Test {
 protected:
  Tls() {
    const TlsOwned<EVP_PKEY> key = new_test_key();
    write_test_certificate(key.get(), files.certificate);
    write_test_key(key.get(), files.key);
  }
  void start(HttpLimits limits = {}) {
    auto keys = TlsKeys::read(files);
    ASSERT_TRUE(keys.has_value()) << keys.error().message;
    auto started = HttpServer::start(
        {},
        [](const HttpRequest& request, const HttpAnswer& answer) {
          if (request.path != "/stream") return answer.give({.body = "path " + request.path});
          answer.give({.content_type = "text/event-stream",
                       .stream = std::make_shared<const std::string>("data: first\n\n")});
        },
        limits, {}, {.tls = *std::move(keys)});
    ASSERT_TRUE(started.has_value());
    server = *std::move(started);
  }
  std::string error_of_files() const {
    const auto keys = TlsKeys::read(files);
    return keys ? "" : keys.error().message;
  }
  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  TemporaryFolder folder;
  TlsFiles files{.certificate = folder.file("tls.crt"), .key = folder.file("tls.key")};
  std::unique_ptr<HttpServer> server;
};

TEST_F(Tls, AnswersTrustingClientsAndClosesTheSession) {
  start();
  TlsTestClient client(server->port(), files.certificate);
  ASSERT_TRUE(client.is_trusted());
  client.send(tls_request);
  const std::string text = client.receive();
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n")) << text;
  EXPECT_TRUE(text.ends_with("path /metrics")) << text;
  EXPECT_TRUE(client.ends_well());
}

TEST_F(Tls, KeepsAConnectionAndStreamsLargeFrames) {
  start();
  TlsTestClient client(server->port(), files.certificate);
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(client.receive("path /a").ends_with("path /a"));
  client.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(client.receive("data: first\n\n").contains("data: first\n\n"));
  std::string large(1'000'000, 'x');
  large += "end";
  server->publish(std::make_shared<const std::string>(large));
  EXPECT_EQ(client.receive("end"), large);
}

TEST_F(Tls, PlainHttpGetsAnErrorAnswer) {
  start();
  const TestClient client(server->port());
  client.send(tls_request);
  const std::string text = client.receive();
  EXPECT_TRUE(text.starts_with("HTTP/1.1 400 Bad Request\r\n")) << text;
  EXPECT_TRUE(text.ends_with("this port is encrypted: ask with https:// instead of http://\n"))
      << text;
}

TEST_F(Tls, ASlowHandshakeIsCut) {
  start({.request_max = Duration{2'000}});  // The other one must be through by then.
  const TestClient slow(server->port());
  slow.send("\x16\x03\x01");
  EXPECT_EQ(slow.receive(), "");
  TlsTestClient client(server->port(), files.certificate);
  client.send(tls_request);
  EXPECT_TRUE(client.receive().ends_with("path /metrics"));
}

TEST_F(Tls, HandshakesCountAsConnectionsAndDoNotBlockOthers) {
  start({.connections_max = 8});
  std::vector<std::unique_ptr<TestClient>> silent;
  silent.reserve(50);
  for (int client = 0; client < 50; ++client) {
    silent.push_back(std::make_unique<TestClient>(server->port()));
  }
  TlsTestClient client(server->port(), files.certificate);
  ASSERT_TRUE(client.is_trusted());
  client.send(tls_request);
  EXPECT_TRUE(client.receive().ends_with("path /metrics"));
}

TEST_F(Tls, NonsenseEndsItsConnectionOnly) {
  start();
  for (int client = 0; client < 20; ++client) {
    const TestClient nonsense(server->port());
    nonsense.send(std::string(static_cast<std::size_t>(client) + 6, '\xff'));
    nonsense.receive();
  }
  TlsTestClient client(server->port(), files.certificate);
  client.send(tls_request);
  EXPECT_TRUE(client.receive().ends_with("path /metrics"));
}

TEST_F(Tls, WhatIsWrongWithTheFilesIsSaidWithTheRemedy) {
  EXPECT_EQ(error_of_files(), "");
  const TlsFiles good = files;
  files.certificate = folder.file("missing.crt");
  EXPECT_TRUE(error_of_files().contains("--tls-cert " + files.certificate)) << error_of_files();
  files.certificate = good.key;
  EXPECT_TRUE(error_of_files().contains("-----BEGIN CERTIFICATE-----")) << error_of_files();
  files.certificate = good.certificate;
  write(files.key, "no key\n");
  EXPECT_TRUE(error_of_files().contains("--tls-key " + files.key)) << error_of_files();
  EXPECT_TRUE(error_of_files().contains("-----BEGIN PRIVATE KEY-----")) << error_of_files();
  const TlsOwned<EVP_PKEY> other = new_test_key();
  write_test_key(other.get(), files.key);
  EXPECT_TRUE(error_of_files().contains("it is not the key of the certificate in "))
      << error_of_files();
  write_test_certificate(other.get(), files.certificate);
  EXPECT_EQ(error_of_files(), "");
  write_test_key(other.get(), files.key, "secret");
  EXPECT_TRUE(error_of_files().contains("without a passphrase")) << error_of_files();
}

TEST_F(Tls, AKeyOfAnotherTypeIsNotTheKeyOfTheCertificate) {
  const TlsOwned<EVP_PKEY> rsa(EVP_RSA_gen(2048));
  write_test_key(rsa.get(), files.key);
  EXPECT_TRUE(error_of_files().contains("it is not the key of the certificate in "))
      << error_of_files();
}

TEST_F(Tls, RenewedFilesAreUsedWhereTheyFitTogether) {
  auto keys = TlsKeys::read(files);
  ASSERT_TRUE(keys.has_value());
  const TlsKeys::Context first = keys->context();
  EXPECT_FALSE(keys->renew(Time{0}).has_value());
  EXPECT_EQ(keys->context(), first);  // Nothing changed.
  const TlsOwned<EVP_PKEY> other = new_test_key();
  write_test_certificate(other.get(), files.certificate);
  EXPECT_FALSE(keys->renew(Time{59'999}).has_value());  // Not read again yet.
  const auto half = keys->renew(Time{60'000});
  ASSERT_TRUE(half.has_value());
  EXPECT_TRUE(half->message.contains("it is not the key")) << half->message;
  EXPECT_EQ(keys->context(), first);
  write_test_key(other.get(), files.key);
  EXPECT_FALSE(keys->renew(Time{120'000}).has_value());
  EXPECT_NE(keys->context(), first);
}

}  // namespace
}  // namespace makeway::server
