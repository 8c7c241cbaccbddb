#include "server/tls_keys.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "base/printable.hpp"
#include "codec/source.hpp"

namespace makeway::server {
namespace {

namespace ssl = boost::asio::ssl;
using TlsFailure = boost::system::error_code;

std::unexpected<Error> tls_error(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

bool is_mismatch(const TlsFailure& failure) {
  const auto code = static_cast<unsigned long>(failure.value());
  const int reason = ERR_GET_REASON(code);
  return ERR_GET_LIB(code) == ERR_LIB_X509 &&
         (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
}

Result<std::string> read_tls_file(const std::string& path, std::string_view flag) {
  const Result<SourceText> read = read_source({.path = path});
  if (read) return std::string(read->text.view());
  return tls_error(fmt::format("{} {}: {}", flag, printable(path), read.error().message));
}

/// Rule 3, and no question at a terminal for a passphrase.
void make_strict(ssl::context& context) {
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  context.set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string(); });
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
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  make_strict(*context);
  TlsFailure failure;
  failure = context->use_certificate_chain(
      boost::asio::const_buffer(texts.certificate.data(), texts.certificate.size()), failure);
  if (failure) {
    return tls_error(fmt::format(
        "--tls-cert {}: there is no certificate that can be used in it ({}); give a PEM file "
        "that begins with -----BEGIN CERTIFICATE-----, ours first and then its issuers",
        printable(files_.certificate), failure.message()));
  }
  failure = context->use_private_key(boost::asio::const_buffer(texts.key.data(), texts.key.size()),
                                     ssl::context::pem, failure);
  if (!failure) return context;
  if (is_mismatch(failure)) {
    return tls_error(
        fmt::format("--tls-key {}: it is not the key of the certificate in {}; give the two files "
                    "that were made together",
                    printable(files_.key), printable(files_.certificate)));
  }
  return tls_error(
      fmt::format("--tls-key {}: there is no key that can be used in it ({}); give a PEM file that "
                  "begins with -----BEGIN PRIVATE KEY-----, without a passphrase",
                  printable(files_.key), failure.message()));
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
