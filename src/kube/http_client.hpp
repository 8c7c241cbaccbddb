// HttpClient: requests to one server, many at a time over few connections (libcurl, HTTP/2).
//
// Rules:
//  1. Certificates are verified unless the settings say otherwise; redirects are not followed;
//     nothing but http and https is spoken.
//  2. Everything has an end: connecting, the whole request or the silence of a stream, the bytes of
//     an answer and of its headers. What goes beyond costs that request only.
//     A connection whose bytes are not acknowledged for `unacknowledged_max` is given up, and so is
//     one on which a request ran out of time while nothing at all was heard: a network path that
//     drops all packets would otherwise be used until TCP times out, after about 15 minutes.
//  3. It never retries: the caller knows what may be asked twice (api_client.hpp). One exception
//     is curl's own: a kept connection that turns out to be closed before a byte of the answer came
//     is replaced, so a write may arrive twice and needs a guard that makes the second one
//     harmless.
//
// One thread uses a client; only `wake` and `give_up` may be called from others. The one place that
// knows curl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "codec/source.hpp"
#include "kube/api_error.hpp"

namespace makeway::kube {

struct HttpSettings {
  std::string server;           ///< "https://host:6443", without a slash at the end.
  std::string authorities;      ///< PEM; empty: those of the system.
  std::string tls_server_name;  ///< In the certificate; empty: the host of `server`.
  std::string proxy;            ///< Empty: as the environment says.
  std::string user_agent = "makeway";
  bool verify = true;
  Duration connect_max{10'000};
  Duration unacknowledged_max{2'000};
};

/// Our identity: what a request needs to be let in.
struct Identity {
  std::string authorization;         ///< "Bearer ..."; empty: none.
  std::string certificate;           ///< PEM, with `key`; empty: none.
  std::string key;                   ///< PEM.
  std::vector<std::string> headers;  ///< "Impersonate-User: ..."
};

/// What a request changes; nothing: it only reads.
struct HttpWrite {
  std::string method;        ///< "POST", "PUT", "PATCH", "DELETE"
  std::string content_type;  ///< "application/json"
  std::string body;
};

struct HttpRequest {
  std::string path;  ///< "/api/v1/pods?limit=500"
  std::optional<HttpWrite> write = std::nullopt;
  Identity identity;
  Duration whole_max{60'000};  ///< Of a stream: how long it may be silent.
  /// So soon it must be on its way, if a connection must be made first; none: as the settings say.
  std::optional<Duration> connect_max = std::nullopt;
  std::size_t bytes_max = 0;  ///< Of the answer's body, unpacked; not of a stream.
  bool is_stream = false;     ///< Its end is not foreseen, and it is never packed.
  /// "application/json"; servers can give other forms of the same, too.
  std::string accept = "application/json";
  Asked asked;  ///< For messages.
};

struct HttpAnswer {
  int status = 0;
  PaddedText body;  ///< Empty for a stream that was accepted: its bytes were heard.
  std::optional<Duration> retry_after;
  std::optional<Time> date;  ///< The server's time.
};

/// A Date header, and when it came.
struct SeenDate {
  Time date;
  Time monotonic;
};

/// Never goes back; says nothing about the time of day.
Time monotonic_now();

/// Receives the events of one request, in `HttpClient::work`.
class HttpListener {
 public:
  HttpListener() = default;
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;
  virtual ~HttpListener() = default;

  /// Bytes of a stream that the server accepted. False: end it.
  virtual bool bytes(std::string_view chunk) = 0;
  /// The request is over, and removed before this is called, so that another may be started.
  /// Any status is an answer here.
  virtual void ended(ApiResult<HttpAnswer> result) = 0;
};

class HttpClient {
 public:
  explicit HttpClient(HttpSettings settings);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  enum class RequestId : std::uint64_t {};
  /// The listener must live until the request has ended or is cancelled.
  RequestId start(HttpRequest request, HttpListener& listener);
  /// Removes it; its listener is not called any more.
  void cancel(RequestId request);
  /// Drives all requests until something has happened, at most that long.
  void work(Duration at_most);
  /// `work` returns soon. From any thread.
  void wake();
  std::size_t running() const;
  /// From now on every request has a connection of its own, over HTTP/1.1. Over HTTP/2, curl 7.88
  /// can leave the end of an answer unread until any other byte comes: where several share a
  /// connection, until the next bookmark of a quiet watch; where none does, until the request runs
  /// out of time.
  void keep_apart();
  /// The newest one, of any answer; also of a stream that goes on. None: no server sent one.
  std::optional<SeenDate> date() const;

  /// One request from start to end; the others go on meanwhile.
  ApiResult<HttpAnswer> send(HttpRequest request);
  /// `send` does not wait any more, now and later: it ends with an error. From any thread.
  void give_up();

  const HttpSettings& settings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace makeway::kube
