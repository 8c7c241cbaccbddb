#include "server/tls_keys.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>

#include <memory>
#include <new>
#include <utility>

#include "base/printable.hpp"
#include "codec/source.hpp"

namespace makeway::server {
namespace {

std::unexpected<Error> tls_error(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

struct FreeOpenSsl {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeOpenSsl>;

/// No question at a terminal: a key with a passphrase cannot be used.
int no_passphrase(char*, int, int, void*) { return 0; }

Owned<BIO> readable(const std::string& text) {
  Owned<BIO> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (bio == nullptr) throw std::bad_alloc();
  return bio;
}

/// Ours first, then its issuers.
bool use_chain(SSL_CTX* context, const std::string& text) {
  ERR_clear_error();
  const Owned<BIO> bio = readable(text);
  const Owned<X509> own(PEM_read_bio_X509_AUX(bio.get(), nullptr, no_passphrase, nullptr));
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return false;
  while (Owned<X509> issuer{PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) return false;
  }
  // That is how the end looks.
  const unsigned long last = ERR_peek_last_error();
  return ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
}

bool use_key(SSL_CTX* context, const std::string& text) {
  ERR_clear_error();
  const Owned<BIO> bio = readable(text);
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) return false;
  // The next call compares keys of one type only: an EC key beside an RSA certificate passes it.
  if (X509_check_private_key(SSL_CTX_get0_certificate(context), key.get()) != 1) return false;
  return SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

/// "no start line (PEM routines)"
std::string reason_of(unsigned long failure) {
  const char* const reason = ERR_reason_error_string(failure);
  const char* const library = ERR_lib_error_string(failure);
  std::string text = reason != nullptr ? reason : "unknown";
  if (library != nullptr) text += fmt::format(" ({})", library);
  return text;
}

bool is_mismatch(unsigned long failure) {
  const int reason = ERR_GET_REASON(failure);
  return ERR_GET_LIB(failure) == ERR_LIB_X509 &&
         (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
}

Result<std::string> read_tls_file(const std::string& path, std::string_view flag) {
  const Result<SourceText> read = read_source({.path = path});
  if (read) return std::string(read->text.view());
  return tls_error(fmt::format("{} {}: {}", flag, printable(path), read.error().message));
}

/// Rule 3.
void make_strict(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

}  // namespace

Result<TlsKeys> TlsKeys::read(TlsFiles files) {
  TlsKeys keys(std::move(files));
  Result<Texts> texts = keys.read_texts();
  if (!texts) return std::unexpected(texts.error());
  Result<Context> context = keys.context_of(*texts);
  if (!context) return std::unexpected(context.error());
  keys.texts_ = *std::move(texts);
  keys.context_ = *std::move(context);
  return keys;
}

Result<TlsKeys::Texts> TlsKeys::read_texts() const {
  Result<std::string> certificate = read_tls_file(files_.certificate, "--tls-cert");
  if (!certificate) return std::unexpected(certificate.error());
  Result<std::string> key = read_tls_file(files_.key, "--tls-key");
  if (!key) return std::unexpected(key.error());
  return Texts{.certificate = *std::move(certificate), .key = *std::move(key)};
}

Result<TlsKeys::Context> TlsKeys::context_of(const Texts& texts) const {
  Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  make_strict(context.get());
  if (!use_chain(context.get(), texts.certificate)) {
    return tls_error(fmt::format(
        "--tls-cert {}: there is no certificate that can be used in it ({}); give a PEM file "
        "that begins with -----BEGIN CERTIFICATE-----, ours first and then its issuers",
        printable(files_.certificate), reason_of(ERR_get_error())));
  }
  if (use_key(context.get(), texts.key)) return context;
  const unsigned long last = ERR_peek_last_error();
  const unsigned long failure = ERR_get_error();
  if (is_mismatch(last)) {
    return tls_error(
        fmt::format("--tls-key {}: it is not the key of the certificate in {}; give the two files "
                    "that were made together",
                    printable(files_.key), printable(files_.certificate)));
  }
  return tls_error(
      fmt::format("--tls-key {}: there is no key that can be used in it ({}); give a PEM file that "
                  "begins with -----BEGIN PRIVATE KEY-----, without a passphrase",
                  printable(files_.key), reason_of(failure)));
}

std::optional<Error> TlsKeys::renew(Time now) {
  if (looked_ && now - *looked_ < read_again) return std::nullopt;
  looked_ = now;
  Result<Texts> texts = read_texts();
  if (!texts) return texts.error();
  if (*texts == texts_) return std::nullopt;
  Result<Context> context = context_of(*texts);
  if (!context) return context.error();
  texts_ = *std::move(texts);
  context_ = *std::move(context);
  return std::nullopt;
}

}  // namespace makeway::server
