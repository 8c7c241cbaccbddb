// HttpServer: answers GET and HEAD on one address, on a thread of its own.
//
// Rules:
//  1. Everything has an end: a request must come, and its answer be taken, within a time; a request
//     has no body and few bytes; there are few connections, and one too many is closed.
//  2. The handler is called on the server's thread, one request at a time, and does not wait: who
//     serves figures reads what others left there.
//  3. Whatever a client does, the process and the other clients go on.
//
// The one place that knows Boost.Beast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "server/listen_address.hpp"

namespace makeway::server {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpLimits {
  std::size_t connections_max = 32;
  Duration request_max{10'000};  ///< Also how long a kept connection may be silent.
  Duration answer_max{10'000};
  std::uint32_t header_bytes_max = 8'192;
};

/// By its path, without the query.
using HttpHandler = std::function<HttpReply(std::string_view path)>;

class HttpServer {
 public:
  /// It answers when this returns.
  static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address,
                                                   HttpHandler handler, HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Open connections are closed.
  ~HttpServer();

  std::uint16_t port() const;

 private:
  class Session;
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace makeway::server
