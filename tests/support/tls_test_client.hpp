// Certificates made for a test, and a client that trusts one of them. No key is kept anywhere.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "support/http_test_client.hpp"

namespace makeway::server {

struct FreeTls {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class Thing>
using TlsOwned = std::unique_ptr<Thing, FreeTls>;

inline TlsOwned<EVP_PKEY> new_test_key() { return TlsOwned<EVP_PKEY>(EVP_EC_gen("P-256")); }

/// Signed by itself, for localhost, from a minute ago for an hour.
inline void write_test_certificate(EVP_PKEY* key, const std::string& path) {
  const TlsOwned<X509> made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3'600);
  X509_set_pubkey(made.get(), key);
  std::array<unsigned char, 10> name{"localhost"};
  X509_NAME* const subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name.data(), -1, -1, 0);
  X509_set_issuer_name(made.get(), subject);
  ASSERT_GT(X509_sign(made.get(), key, EVP_sha256()), 0);
  const TlsOwned<std::FILE> file(std::fopen(path.c_str(), "wb"));
  ASSERT_EQ(PEM_write_X509(file.get(), made.get()), 1);
}

/// With a passphrase unless that is empty.
inline void write_test_key(EVP_PKEY* key, const std::string& path, std::string passphrase = {}) {
  const TlsOwned<std::FILE> file(std::fopen(path.c_str(), "wb"));
  ASSERT_EQ(
      PEM_write_PKCS8PrivateKey(file.get(), key, passphrase.empty() ? nullptr : EVP_aes_128_cbc(),
                                passphrase.empty() ? nullptr : passphrase.data(),
                                static_cast<int>(passphrase.size()), nullptr, nullptr),
      1);
}

/// An encrypted connection that trusts only the certificate in that file.
class TlsTestClient {
 public:
  TlsTestClient(std::uint16_t port, const std::string& certificate)
      : plain_(port), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_load_verify_locations(context_.get(), certificate.c_str(), nullptr);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    connection_.reset(SSL_new(context_.get()));
    SSL_set_fd(connection_.get(), plain_.descriptor());
    is_trusted_ = SSL_connect(connection_.get()) == 1;
  }

  bool is_trusted() const { return is_trusted_; }
  void send(std::string_view text) const {
    EXPECT_EQ(SSL_write(connection_.get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }
  /// Until that text, the end, or two seconds without a byte.
  std::string receive(std::string_view until = {}) {
    std::string text;
    std::array<char, 16'384> part{};
    while (until.empty() || !text.contains(until)) {
      const int got = SSL_read(connection_.get(), part.data(), static_cast<int>(part.size()));
      if (got <= 0) {
        ends_well_ = SSL_get_error(connection_.get(), got) == SSL_ERROR_ZERO_RETURN;
        break;
      }
      text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  /// The server has said that this is the end.
  bool ends_well() const { return ends_well_; }

 private:
  TestClient plain_;
  TlsOwned<SSL_CTX> context_;
  TlsOwned<SSL> connection_;
  bool is_trusted_ = false;
  bool ends_well_ = false;
};

}  // namespace makeway::server
