// TlsKeys: the certificate and the key that a server shows, from two PEM files.
//
// Rules
//  1. They are read at the start, and an error names the file and the remedy. A key with a
//     passphrase is refused: it could not be entered.
//  2. Certificates are renewed while a scheduler runs. The files are read again for a new
//     connection, a minute apart at most, and used where they changed and fit together; else the
//     old ones stay and a notice is logged.
//  3. TLS 1.2 or newer; clients cannot make us negotiate again.
//
// One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

// What connections are made with; only connection.cpp looks inside.
// NOLINTNEXTLINE(readability-identifier-naming): that is what OpenSSL calls it
struct ssl_ctx_st;

namespace makeway::server {

struct TlsFiles {
  std::string certificate;  ///< The chain, our own first. Empty: no TLS.
  std::string key;

  bool are_given() const { return !certificate.empty(); }
};

class TlsKeys {
 public:
  /// Shared with connections that were begun with it.
  using Context = std::shared_ptr<ssl_ctx_st>;
  static constexpr Duration read_again{60'000};

  static Result<TlsKeys> read(TlsFiles files);

  const Context& context() const { return context_; }
  /// Rule 2; times are of a clock that never goes back. An error: what keeps it from using new
  /// ones.
  std::optional<Error> renew(Time now);

 private:
  struct Texts {
    std::string certificate;
    std::string key;

    friend bool operator==(const Texts&, const Texts&) = default;
  };
  explicit TlsKeys(TlsFiles files) : files_(std::move(files)) {}
  Result<Texts> read_texts() const;
  Result<Context> context_of(const Texts& texts) const;

  TlsFiles files_;
  Texts texts_;
  Context context_;
  std::optional<Time> looked_;
};

}  // namespace makeway::server
