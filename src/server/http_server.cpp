#include "server/http_server.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "server/thread_name.hpp"

namespace makeway::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using RequestParser = http::request_parser<http::string_body>;
/// Over the plain one, which has the deadlines.
using SecureStream = asio::ssl::stream<beast::tcp_stream&>;

constexpr std::chrono::seconds discard_max{1};
constexpr std::chrono::milliseconds watch_every{500};
/// Ends with the connection, so it needs no length.
constexpr std::string_view plain_refused =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Connection: close\r\n\r\nthis port is encrypted: ask with https:// instead of http://\n";

std::chrono::milliseconds milliseconds(Duration duration) {
  return std::chrono::milliseconds(duration.ms);
}

Error listen_error(const ListenAddress& address, const Failure& failure) {
  return {.code = ErrorCode::retry,
          .message = fmt::format("cannot listen on {}:{}: {}", address.host, address.port,
                                 failure.message())};
}

HttpRequest request_of(const RequestParser::value_type& from) {
  const std::string target(from.target());
  const std::size_t mark = target.find('?');
  return {.is_post = from.method() == http::verb::post,
          .path = target.substr(0, mark),
          .query = mark == std::string::npos ? std::string() : target.substr(mark + 1),
          .body = from.body(),
          .host = std::string(from[http::field::host]),
          .origin = std::string(from[http::field::origin]),
          .fetch_site = std::string(from["Sec-Fetch-Site"]),
          .authorization = std::string(from[http::field::authorization]),
          .content_type = std::string(from[http::field::content_type]),
          .if_none_match = std::string(from[http::field::if_none_match])};
}

/// The client sent a request instead of a handshake.
bool is_plain_http(const Failure& failure) {
  return failure.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(failure.value())) == SSL_R_HTTP_REQUEST;
}

bool is_served(http::verb method) {
  return method == http::verb::get || method == http::verb::head || method == http::verb::post;
}

}  // namespace

// ---- Answers ------------------------------------------------------------------------------------

struct HttpAnswer::Once {
  explicit Once(std::function<void(HttpReply)> deliver_in) : deliver(std::move(deliver_in)) {}
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;
  ~Once() {
    if (!is_given) deliver({.status = 503, .body = "no answer; try again\n"});
  }

  std::function<void(HttpReply)> deliver;
  std::atomic<bool> is_given = false;
};

HttpAnswer::HttpAnswer(std::function<void(HttpReply)> deliver, Left left)
    : once_(std::make_shared<Once>(std::move(deliver))), left_(std::move(left)) {}

void HttpAnswer::give(HttpReply reply) const {
  if (!once_->is_given.exchange(true)) once_->deliver(std::move(reply));
}

/// One connection. At any time at most one operation of it is under way, and what ends that may
/// forget the session. None is while its answer is awaited, and while a stream has nothing to send.
class HttpServer::Session {
 public:
  Session(State& state, std::uint64_t id, tcp::socket socket, TlsKeys::Context keys);
  void begin();
  void reply(HttpReply reply);
  void push(HttpFrame frame);
  /// Ends it, now or when what is under way has heard of it.
  void cut();
  bool is_stream() const { return is_stream_; }
  bool is_cut() const { return is_cut_; }
  /// It waits for its answer, and nothing of it is under way.
  bool is_waiting() const { return !is_stream_ && !is_reading_ && !is_sending_; }
  bool has_left();
  void forget();
  /// The connection with the smallest value is closed first: idle, then reading its answer, then
  /// waiting for one; of these the longest in that state.
  std::pair<int, std::uint64_t> patience() const {
    return {is_reading_ ? 0 : is_sending_ ? 1 : 2, since_};
  }

 private:
  /// `operation` with the stream that requests come from and answers go to.
  template <class Operation>
  void on_stream(const Operation& operation) {
    if (secure_) {
      operation(*secure_);
    } else {
      operation(stream_);
    }
  }
  void read();
  void shake_hands();
  void refuse_plain();
  void take_header();
  void take_body();
  bool is_readable(const Failure& failure);
  void hand_over();
  void discard_rest();
  void after_answer(const Failure& failure);
  void begin_stream(const HttpReply& reply);
  void send_next();
  void after_frame(const Failure& failure);
  void say_goodbye();

  State& state_;
  std::uint64_t id_;
  std::uint64_t since_ = 0;  ///< When it began to do what it does, in steps of the server.
  beast::tcp_stream stream_;
  TlsKeys::Context keys_;  ///< As they were when it began; null: plain.
  std::optional<SecureStream> secure_;
  beast::flat_buffer buffer_;
  std::optional<RequestParser> parser_;
  http::response<http::string_body> response_;
  bool is_reading_ = false;  ///< Or it is shaking hands.
  bool is_stream_ = false;
  bool is_sending_ = false;
  bool is_cut_ = false;            ///< And what is under way has not heard of it yet.
  std::deque<HttpFrame> backlog_;  ///< The first one is being sent.
  std::size_t backlog_bytes_ = 0;  ///< Without the first one.
  /// Of the answer that is awaited, or was last; shared with it, since it may outlive the session.
  std::shared_ptr<std::atomic<bool>> left_;
};

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(HttpHandler handler_in, HttpLimits limits_in, HttpGate gate_in, HttpExtras extras_in)
      : handler(std::move(handler_in)),
        limits(limits_in),
        gate(std::move(gate_in)),
        extras(std::move(extras_in)) {}

  Result<std::uint16_t> listen(const ListenAddress& address);
  void accept();
  void take(tcp::socket socket);
  TlsKeys::Context keys_now();
  bool make_room();
  void run();
  void report(std::string_view kind, std::string_view text) const;
  HttpAnswer answer_of(std::uint64_t id, HttpAnswer::Left left);
  void watch_waiting();

  HttpHandler handler;
  HttpLimits limits;
  HttpGate gate;
  HttpExtras extras;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  asio::steady_timer watch{context};
  bool is_watching = false;
  std::map<std::uint64_t, std::unique_ptr<Session>> sessions;
  std::uint64_t last_id = 0;
  std::uint64_t steps = 0;
  std::uint16_t port = 0;
  std::atomic<std::size_t> streams = 0;
  std::atomic<std::uint64_t> streams_cut = 0;
  std::thread thread;
};

// ---- Sessions -----------------------------------------------------------------------------------

HttpServer::Session::Session(State& state, std::uint64_t id, tcp::socket socket,
                             TlsKeys::Context keys)
    : state_(state),
      id_(id),
      stream_(std::move(socket)),
      keys_(std::move(keys)),
      buffer_(std::size_t{2} * state.limits.header_bytes_max) {
  if (keys_ != nullptr) secure_.emplace(stream_, *keys_);
}

void HttpServer::Session::begin() {
  since_ = ++state_.steps;
  if (secure_) return shake_hands();
  read();
}

/// Nothing blocks on it: it is one more operation with a deadline.
void HttpServer::Session::shake_hands() {
  stream_.expires_after(milliseconds(state_.limits.request_max));
  secure_->async_handshake(SecureStream::server, [this](const Failure& failure) {
    is_reading_ = false;
    if (!failure) return read();
    if (is_plain_http(failure)) return refuse_plain();
    forget();
  });
  is_reading_ = true;
}

void HttpServer::Session::refuse_plain() {
  stream_.expires_after(milliseconds(state_.limits.answer_max));
  asio::async_write(stream_, asio::buffer(plain_refused),
                    [this](const Failure&, std::size_t) { forget(); });
  is_sending_ = true;
}

void HttpServer::Session::read() {
  parser_.emplace();
  parser_->header_limit(state_.limits.header_bytes_max);
  parser_->body_limit(state_.limits.body_bytes_max);
  stream_.expires_after(milliseconds(state_.limits.request_max));
  since_ = ++state_.steps;
  on_stream([this](auto& stream) {
    http::async_read_header(stream, buffer_, *parser_, [this](const Failure& failure, std::size_t) {
      if (!is_readable(failure)) return;
      try {
        take_header();
      } catch (const std::exception& trouble) {
        state_.report("a request", trouble.what());
        forget();  // Rule 3: out of memory for one answer.
      }
    });
  });
  is_reading_ = true;
}

/// False: it is answered, or forgotten.
bool HttpServer::Session::is_readable(const Failure& failure) {
  is_reading_ = false;
  if (!failure) return true;
  if (failure == http::error::body_limit) {
    reply({.status = 413,
           .body = fmt::format("a request may have {} bytes\n", state_.limits.body_bytes_max)});
  } else {
    forget();
  }
  return false;
}

void HttpServer::Session::take_header() {
  const http::verb method = parser_->get().method();
  if (!is_served(method)) {
    return reply({.status = 405,
                  .body = "only GET, HEAD and POST\n",
                  .headers = {{"Allow", "GET, HEAD, POST"}}});
  }
  if (parser_->is_done()) return hand_over();
  if (method != http::verb::post) return reply({.status = 400, .body = "only POST has a body\n"});
  if (state_.gate) {
    if (auto refused = state_.gate(request_of(parser_->get()))) return reply(*std::move(refused));
  }
  take_body();
}

void HttpServer::Session::take_body() {
  // A kept connection may have been silent for most of the first time.
  stream_.expires_after(milliseconds(state_.limits.request_max));
  on_stream([this](auto& stream) {
    http::async_read(stream, buffer_, *parser_, [this](const Failure& failure, std::size_t) {
      if (!is_readable(failure)) return;
      try {
        hand_over();
      } catch (const std::exception& trouble) {
        state_.report("a request", trouble.what());
        forget();  // Rule 3.
      }
    });
  });
  is_reading_ = true;
}

void HttpServer::Session::hand_over() {
  since_ = ++state_.steps;
  left_ = std::make_shared<std::atomic<bool>>(false);
  state_.watch_waiting();
  state_.handler(request_of(parser_->get()), state_.answer_of(id_, left_));
}

/// The other side has closed. Nothing is read: what it sent behind its question is for later.
bool HttpServer::Session::has_left() {
  pollfd asked{.fd = stream_.socket().native_handle(), .events = POLLRDHUP, .revents = 0};
  return poll(&asked, 1, 0) > 0 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// For a moment: a client that is still sending would lose the answer with the connection.
void HttpServer::Session::discard_rest() {
  buffer_.clear();
  on_stream([this](auto& stream) {
    stream.async_read_some(buffer_.prepare(state_.limits.header_bytes_max),
                           [this](const Failure& failure, std::size_t) {
                             is_reading_ = false;
                             if (failure) return forget();
                             discard_rest();
                           });
  });
  is_reading_ = true;
}

void HttpServer::Session::reply(HttpReply reply) {
  const auto& request = parser_->get();
  const bool is_head = request.method() == http::verb::head;
  if (reply.stream != nullptr && !is_head) {
    if (state_.streams.load() < state_.limits.streams_max) return begin_stream(reply);
    reply = {.status = 503, .body = "too many viewers; close one and try again\n"};
  }
  response_ = {};
  response_.version(request.version());
  response_.result(static_cast<unsigned>(reply.status));
  // What is left of a request that was too long would be taken for the next one.
  response_.keep_alive(request.keep_alive() && parser_->is_done());
  response_.set(http::field::content_type, reply.content_type);
  response_.set(http::field::cache_control, "no-store");
  response_.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : reply.headers) response_.set(name, value);
  response_.body() = std::move(reply.body);
  response_.prepare_payload();
  if (is_head) response_.body().clear();
  stream_.expires_after(milliseconds(state_.limits.answer_max));
  since_ = ++state_.steps;
  on_stream([this](auto& stream) {
    http::async_write(stream, response_,
                      [this](const Failure& failure, std::size_t) { after_answer(failure); });
  });
  is_sending_ = true;
}

void HttpServer::Session::after_answer(const Failure& failure) {
  is_sending_ = false;
  if (failure || is_cut_) return forget();
  if (!parser_->is_done()) {
    Failure ignored;
    if (!secure_) ignored = stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(discard_max);
    return discard_rest();
  }
  if (!response_.keep_alive()) return say_goodbye();
  read();
}

void HttpServer::Session::begin_stream(const HttpReply& reply) {
  is_stream_ = true;
  ++state_.streams;
  backlog_.push_back(std::make_shared<const std::string>(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-store\r\n"
                  "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
                  reply.content_type)));
  backlog_.push_back(reply.stream);
  send_next();
}

void HttpServer::Session::push(HttpFrame frame) {
  if (is_cut_) return;
  backlog_bytes_ += is_sending_ ? frame->size() : 0;
  if (backlog_bytes_ > state_.limits.backlog_bytes_max) {
    ++state_.streams_cut;
    return cut();
  }
  backlog_.push_back(std::move(frame));
  if (!is_sending_) send_next();
}

void HttpServer::Session::send_next() {
  stream_.expires_after(milliseconds(state_.limits.answer_max));
  on_stream([this](auto& stream) {
    asio::async_write(stream, asio::buffer(*backlog_.front()),
                      [this](const Failure& failure, std::size_t) { after_frame(failure); });
  });
  is_sending_ = true;
}

void HttpServer::Session::after_frame(const Failure& failure) {
  is_sending_ = false;
  if (failure || is_cut_) return forget();
  backlog_.pop_front();
  if (backlog_.empty()) {
    backlog_bytes_ = 0;
    return;
  }
  backlog_bytes_ -= std::min(backlog_bytes_, backlog_.front()->size());
  send_next();
}

void HttpServer::Session::cut() {
  if (!is_reading_ && !is_sending_) return forget();
  is_cut_ = true;
  stream_.close();  // What is under way ends with a failure, and that forgets it.
}

/// With TLS a close is announced, so that the client can distinguish it from a truncation attack.
void HttpServer::Session::say_goodbye() {
  if (!secure_) return forget();
  stream_.expires_after(discard_max);
  secure_->async_shutdown([this](const Failure&) { forget(); });
  is_reading_ = true;
}

void HttpServer::Session::forget() {
  Failure ignored;
  if (left_ != nullptr) left_->store(true);
  ignored = stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  if (is_stream_) --state_.streams;
  state_.sessions.erase(id_);  // The last thing that it does.
}

// ---- The server ---------------------------------------------------------------------------------

Result<std::uint16_t> HttpServer::State::listen(const ListenAddress& address) {
  Failure failure;
  const asio::ip::address host = asio::ip::make_address(address.host, failure);
  const tcp::endpoint where(host, address.port);
  if (!failure) failure = acceptor.open(where.protocol(), failure);
  if (!failure) failure = acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure) failure = acceptor.bind(where, failure);
  if (!failure) failure = acceptor.listen(static_cast<int>(limits.connections_max), failure);
  if (failure) return std::unexpected(listen_error(address, failure));
  const tcp::endpoint bound = acceptor.local_endpoint(failure);
  if (failure) return std::unexpected(listen_error(address, failure));
  return bound.port();
}

void HttpServer::State::accept() {
  acceptor.async_accept([this](const Failure& failure, tcp::socket socket) {
    if (!failure) {
      try {
        take(std::move(socket));
      } catch (const std::exception& trouble) {
        // Rule 3: out of memory for one connection, which is closed by now, or by its deadline.
        report("a connection", trouble.what());
      }
      return accept();
    }
    // No descriptor is left, or the like: a moment later there may be one.
    constexpr std::chrono::milliseconds again{100};
    pause.expires_after(again);
    pause.async_wait([this](const Failure& ended) {
      if (!ended) accept();
    });
  });
}

/// Rule 1: a new connection finds room, unless all are streams.
bool HttpServer::State::make_room() {
  if (sessions.size() < limits.connections_max) return true;
  // One above the limit while the connection that is being closed is still there, and no more.
  if (sessions.size() > limits.connections_max) return false;
  Session* first = nullptr;
  for (const auto& [id, session] : sessions) {
    if (session->is_stream() || session->is_cut()) continue;
    if (first == nullptr || session->patience() < first->patience()) first = session.get();
  }
  if (first == nullptr) return false;
  first->cut();
  return true;
}

void HttpServer::State::report(std::string_view kind, std::string_view text) const {
  if (extras.notices != nullptr) extras.notices->report(kind, text);
}

/// Null: plain HTTP.
TlsKeys::Context HttpServer::State::keys_now() {
  if (!extras.tls) return nullptr;
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  const Time now{std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
  if (const std::optional<Error> error = extras.tls->renew(now)) {
    report("new certificate", error->message + "; the previous one stays in use");
  }
  return extras.tls->context();
}

void HttpServer::State::take(tcp::socket socket) {
  if (!make_room()) return;  // Closed with the socket.
  const std::uint64_t id = ++last_id;
  const auto [at, is_new] =
      sessions.emplace(id, std::make_unique<Session>(*this, id, std::move(socket), keys_now()));
  at->second->begin();
}

/// As long as a connection waits for an answer.
void HttpServer::State::watch_waiting() {
  if (is_watching) return;
  is_watching = true;
  watch.expires_after(watch_every);
  watch.async_wait([this](const Failure& ended) {
    is_watching = false;
    if (ended) return;
    std::vector<Session*> waiting;
    for (const auto& [id, session] : sessions) {
      if (session->is_waiting()) waiting.push_back(session.get());
    }
    for (Session* const session : waiting) {
      if (session->has_left()) session->forget();
    }
    if (!waiting.empty()) watch_waiting();
  });
}

/// It comes back to the server's thread, and finds the connection by its id: that may be gone.
HttpAnswer HttpServer::State::answer_of(std::uint64_t id, HttpAnswer::Left left) {
  const auto deliver = [id, weak = weak_from_this()](HttpReply reply) {
    const std::shared_ptr<State> state = weak.lock();
    if (state == nullptr) return;
    asio::post(state->context, [id, raw = state.get(), given = std::move(reply)]() mutable {
      const auto found = raw->sessions.find(id);
      if (found == raw->sessions.end()) return;
      Session& session = *found->second;
      try {
        session.reply(std::move(given));
      } catch (const std::exception& trouble) {
        raw->report("an answer", trouble.what());
        session.cut();  // Rule 3.
      }
    });
  };
  return HttpAnswer(deliver, std::move(left));
}

HttpServer::HttpServer(std::shared_ptr<State> state) : state_(std::move(state)) {
  state_->accept();
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

/// Rule 3: whatever is thrown costs the one whose turn it was; it gives way when room is needed.
void HttpServer::State::run() {
  name_thread("makeway-http");
  while (!context.stopped()) {
    try {
      context.run();
    } catch (const std::exception& trouble) {
      report("a connection", trouble.what());
    }
  }
}

HttpServer::~HttpServer() {
  state_->context.stop();
  state_->thread.join();
}

std::uint16_t HttpServer::port() const { return state_->port; }
std::size_t HttpServer::streams() const { return state_->streams.load(); }
std::uint64_t HttpServer::streams_cut() const { return state_->streams_cut.load(); }

void HttpServer::publish(const HttpFrame& frame) {
  asio::post(state_->context, [state = state_.get(), frame] {
    std::vector<Session*> viewers;
    for (const auto& [id, session] : state->sessions) {
      if (session->is_stream()) viewers.push_back(session.get());
    }
    for (Session* const viewer : viewers) viewer->push(frame);
  });
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address,
                                                      HttpHandler handler, HttpLimits limits,
                                                      HttpGate gate, HttpExtras extras) {
  auto state =
      std::make_shared<State>(std::move(handler), limits, std::move(gate), std::move(extras));
  const Result<std::uint16_t> port = state->listen(address);
  if (!port) return std::unexpected(port.error());
  state->port = *port;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

}  // namespace makeway::server
