#include "server/http_server.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace makeway::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;

std::chrono::milliseconds milliseconds(Duration duration) {
  return std::chrono::milliseconds(duration.ms);
}

Error listen_error(const ListenAddress& address, const Failure& failure) {
  return {.code = ErrorCode::retry,
          .message = fmt::format("cannot listen on {}:{}: {}", address.host, address.port,
                                 failure.message())};
}

}  // namespace

/// One connection. At any time exactly one operation of it is under way, and what ends that may
/// forget the session.
class HttpServer::Session {
 public:
  Session(State& state, std::uint64_t id, tcp::socket socket);
  void read();

 private:
  void answer();
  void forget();

  State& state_;
  std::uint64_t id_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

struct HttpServer::State {
  State(HttpHandler handler_in, HttpLimits limits_in)
      : handler(std::move(handler_in)), limits(limits_in) {}

  Result<std::uint16_t> listen(const ListenAddress& address);
  void accept();
  void take(tcp::socket socket);

  HttpHandler handler;
  HttpLimits limits;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::map<std::uint64_t, std::unique_ptr<Session>> sessions;
  std::uint64_t last_id = 0;
  std::uint16_t port = 0;
  std::thread thread;
};

// ---- Sessions -----------------------------------------------------------------------------------

HttpServer::Session::Session(State& state, std::uint64_t id, tcp::socket socket)
    : state_(state),
      id_(id),
      stream_(std::move(socket)),
      buffer_(std::size_t{2} * state.limits.header_bytes_max) {}

void HttpServer::Session::read() {
  parser_.emplace();
  parser_->header_limit(state_.limits.header_bytes_max);
  stream_.expires_after(milliseconds(state_.limits.request_max));
  http::async_read(stream_, buffer_, *parser_, [this](const Failure& failure, std::size_t) {
    if (failure) return forget();
    try {
      answer();
    } catch (const std::exception&) {
      forget();  // Rule 3: out of memory for one answer.
    }
  });
}

void HttpServer::Session::answer() {
  const auto& request = parser_->get();
  const bool is_read = request.method() == http::verb::get || request.method() == http::verb::head;
  const std::string target(request.target());
  HttpReply reply = is_read ? state_.handler(std::string_view(target).substr(0, target.find('?')))
                            : HttpReply{.status = 405, .body = "only GET and HEAD\n"};
  response_ = {};
  response_.version(request.version());
  response_.result(static_cast<unsigned>(reply.status));
  response_.keep_alive(request.keep_alive());
  response_.set(http::field::content_type, reply.content_type);
  response_.set(http::field::cache_control, "no-store");
  response_.set("X-Content-Type-Options", "nosniff");
  if (!is_read) response_.set(http::field::allow, "GET, HEAD");
  response_.body() = std::move(reply.body);
  response_.prepare_payload();
  if (request.method() == http::verb::head) response_.body().clear();
  stream_.expires_after(milliseconds(state_.limits.answer_max));
  http::async_write(stream_, response_, [this](const Failure& failure, std::size_t) {
    if (failure || !response_.keep_alive()) return forget();
    read();
  });
}

void HttpServer::Session::forget() {
  Failure ignored;
  ignored = stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
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
      } catch (const std::exception&) {
        return accept();  // Rule 3: out of memory for one connection, which is closed by now.
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

void HttpServer::State::take(tcp::socket socket) {
  if (sessions.size() >= limits.connections_max) return;  // Closed with the socket.
  const std::uint64_t id = ++last_id;
  const auto [at, is_new] =
      sessions.emplace(id, std::make_unique<Session>(*this, id, std::move(socket)));
  at->second->read();
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->accept();
  state_->thread = std::thread([state = state_.get()] { state->context.run(); });
}

HttpServer::~HttpServer() {
  state_->context.stop();
  state_->thread.join();
}

std::uint16_t HttpServer::port() const { return state_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address,
                                                      HttpHandler handler, HttpLimits limits) {
  auto state = std::make_unique<State>(std::move(handler), limits);
  const Result<std::uint16_t> port = state->listen(address);
  if (!port) return std::unexpected(port.error());
  state->port = *port;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

}  // namespace makeway::server
