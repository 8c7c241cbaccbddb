#include "server/connection.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

namespace makeway::server {

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

void Connection::CloseTls::operator()(ssl_st* tls) const { SSL_free(tls); }

Connection::Connection(Descriptor socket, TlsKeys::Context keys)
    : socket_(std::move(socket)), keys_(std::move(keys)) {
  if (keys_ == nullptr) return;
  tls_.reset(SSL_new(keys_.get()));
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), socket_.get()) != 1) throw std::bad_alloc();
  SSL_set_mode(tls_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
  SSL_set_accept_state(tls_.get());
}

/// Of an operation that OpenSSL could not complete.
Connection::Outcome Connection::tls_outcome(int result) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ: awaited_ = POLLIN; return Outcome::later;
    case SSL_ERROR_WANT_WRITE: awaited_ = POLLOUT; return Outcome::later;
    default: tls_error_ = ERR_peek_error(); return Outcome::failed;
  }
}

Connection::Outcome Connection::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  return result == 1 ? Outcome::done : tls_outcome(result);
}

bool Connection::turned_out_plain() {
  if (ERR_GET_LIB(tls_error_) != ERR_LIB_SSL) return false;
  if (ERR_GET_REASON(tls_error_) != SSL_R_HTTP_REQUEST) return false;
  tls_.reset();
  // What is unread when a socket is closed makes the other side lose our answer.
  std::string rest;
  read(rest, 65'536);
  return true;
}

Connection::Outcome Connection::read(std::string& input, std::size_t bytes_max) {
  std::array<char, 16'384> bytes;
  const std::size_t wanted = std::min(bytes.size(), bytes_max);
  if (tls_ != nullptr) {
    ERR_clear_error();
    const int count = SSL_read(tls_.get(), bytes.data(), static_cast<int>(wanted));
    if (count <= 0) return tls_outcome(count);
    input.append(bytes.data(), static_cast<std::size_t>(count));
    return Outcome::done;
  }
  ssize_t count = 0;
  do {
    count = recv(socket_.get(), bytes.data(), wanted, 0);
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    input.append(bytes.data(), static_cast<std::size_t>(count));
    return Outcome::done;
  }
  awaited_ = POLLIN;
  const bool may_come = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return may_come ? Outcome::later : Outcome::failed;
}

Connection::Outcome Connection::write(std::string_view& text) {
  constexpr std::size_t bytes_max = 1'048'576;
  const std::size_t wanted = std::min(text.size(), bytes_max);
  if (wanted == 0) return Outcome::done;
  if (tls_ != nullptr) {
    ERR_clear_error();
    const int count = SSL_write(tls_.get(), text.data(), static_cast<int>(wanted));
    if (count <= 0) return tls_outcome(count);
    text.remove_prefix(static_cast<std::size_t>(count));
    return Outcome::done;
  }
  ssize_t count = 0;
  do {
    count = send(socket_.get(), text.data(), wanted, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count >= 0) {
    text.remove_prefix(static_cast<std::size_t>(count));
    return Outcome::done;
  }
  awaited_ = POLLOUT;
  return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::later : Outcome::failed;
}

Connection::Outcome Connection::send_tls_close() {
  if (tls_ == nullptr) return Outcome::done;
  ERR_clear_error();
  int result = SSL_shutdown(tls_.get());
  // Ours is sent; now theirs.
  if (result == 0) result = SSL_shutdown(tls_.get());
  return result == 1 ? Outcome::done : tls_outcome(result);
}

void Connection::end_sending() { shutdown(socket_.get(), SHUT_WR); }

}  // namespace makeway::server
