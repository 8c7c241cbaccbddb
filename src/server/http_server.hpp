// HttpServer: answers GET, HEAD and POST on one address, on a thread of its own, and keeps streams
// of server-sent events open.
//
// Rules:
//  1. Everything is bounded: the time of a handshake, of a request and of reading an answer, the
//     bytes of a request, and the number of connections. One too many replaces the connection that
//     has been idle for longest; else the one that has been reading its answer for longest; else
//     the one that has waited for one for longest. Streams are never replaced, and there are fewer
//     of them than connections: so there is always room for a probe. Only a POST has a body, and it
//     is read after the gate has seen the header.
//  2. The handler is called on the server's thread, one request at a time, and does not wait: it
//     answers at once, or keeps the HttpAnswer for another thread. An answer that is dropped sends
//     503. A client that disconnects while its answer is awaited is noticed: its connection is free
//     again, and the answer knows that it is unwanted.
//  3. Whatever a client does, the process and the other clients continue.
//  4. A frame is one text for all streams. A stream that does not read frames as fast as they come
//     is closed; a browser reconnects.
//  5. With TLS everything is encrypted, and a client that speaks plain HTTP gets an error.
//
// One thread that polls; `request_parser` reads what arrives and `connection` moves bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "server/listen_address.hpp"
#include "server/notices.hpp"
#include "server/tls_keys.hpp"

namespace makeway::server {

struct HttpRequest {
  bool is_post = false;  ///< Else GET, or HEAD, which is a GET whose body is not sent.
  std::string path;      ///< As it was written, without the query.
  std::string query;     ///< Without the question mark.
  std::string body;
  // Headers; empty: there is none.
  std::string host;
  std::string origin;
  std::string fetch_site;
  std::string authorization;
  std::string content_type;
  std::string if_none_match;
};

/// Shared by all its streams: a frame for 200 viewers is one text.
using HttpFrame = std::shared_ptr<const std::string>;

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  ///< Further ones.
  /// Set: the connection becomes a stream, this is its first frame, and there is no body.
  HttpFrame stream;
};

/// The answer to one request, to be given once, from any thread. Copies are the same answer.
class HttpAnswer {
 public:
  /// Set when the client has disconnected.
  using Left = std::shared_ptr<const std::atomic<bool>>;

  explicit HttpAnswer(std::function<void(HttpReply)> deliver, Left left = nullptr);
  /// Only the first counts.
  void give(HttpReply reply) const;
  /// The client has closed the connection, or the connection was replaced.
  /// Known within a second or so.
  bool is_unwanted() const { return left_ != nullptr && left_->load(); }

 private:
  struct Once;
  std::shared_ptr<Once> once_;  ///< Shared by its copies; the last one may have to give a 503.
  Left left_;                   ///< Shared with the connection, which may end before it.
};

struct HttpLimits {
  std::size_t connections_max = 512;
  std::size_t streams_max = 256;
  /// Of a handshake, a header, a body; also how long a kept connection may be silent.
  Duration request_max{10'000};
  Duration answer_max{10'000};
  std::uint32_t header_bytes_max = 8'192;
  std::uint64_t body_bytes_max = 1'048'576;
  std::size_t backlog_bytes_max = 8'388'608;  ///< Of a stream, behind the frame that is being sent.
};

struct HttpExtras {
  std::optional<TlsKeys> tls;  ///< None: plain HTTP.
  Notices* notices = nullptr;  ///< Outlives the server; null: failures are not reported.
};

using HttpHandler = std::function<void(const HttpRequest& request, const HttpAnswer& answer)>;

/// Sees a request with a body before that is read. None: it may be read; else the answer.
using HttpGate = std::function<std::optional<HttpReply>(const HttpRequest& request)>;

class HttpServer {
 public:
  /// It answers when this returns. Without a gate every body is read.
  static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address,
                                                   HttpHandler handler, HttpLimits limits = {},
                                                   HttpGate gate = {}, HttpExtras extras = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Open connections are closed; answers that come later go nowhere.
  ~HttpServer();

  std::uint16_t port() const;

  /// From any thread: to every stream whose answer was given before.
  void publish(const HttpFrame& frame);
  std::size_t streams() const;
  /// Streams that were cut because they were too slow.
  std::uint64_t streams_cut() const;

 private:
  class Session;
  struct State;
  explicit HttpServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  ///< Answers that are still under way know it weakly.
};

}  // namespace makeway::server
