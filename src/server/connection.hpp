// Connection: a socket that never blocks, with TLS or without.
//
// Every operation does what it can at once. `later`: try the same again when the socket is ready
// for `awaited()`. `failed`: the other side has closed it, or speaks nonsense; nothing more will
// work.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/tls_keys.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): that is what OpenSSL calls it
struct ssl_st;

namespace makeway::server {

/// Closes what it owns.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int get() const { return number_; }

 private:
  int number_;
};

class Connection {
 public:
  enum class Outcome { done, later, failed };

  /// Keys may be null: then it is plain.
  Connection(Descriptor socket, TlsKeys::Context keys);

  bool is_secure() const { return tls_ != nullptr; }
  Outcome handshake();
  /// After a handshake that failed: the client sent a request instead. From now on it is plain.
  bool turned_out_plain();
  /// Appends at most `bytes_max` to `input`.
  Outcome read(std::string& input, std::size_t bytes_max);
  /// Takes what was sent off the front of `text`.
  Outcome write(std::string_view& text);
  /// TLS announces a close, so that the client can distinguish it from a truncation attack.
  Outcome send_tls_close();
  void end_sending();

  /// POLLIN or POLLOUT.
  short awaited() const { return awaited_; }
  int socket() const { return socket_.get(); }

 private:
  struct CloseTls {
    void operator()(ssl_st* tls) const;
  };
  Outcome tls_outcome(int result);

  Descriptor socket_;
  TlsKeys::Context keys_;  ///< As they were when it began.
  std::unique_ptr<ssl_st, CloseTls> tls_;
  unsigned long tls_error_ = 0;
  short awaited_ = 0;
};

}  // namespace makeway::server
