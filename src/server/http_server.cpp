#include "server/http_server.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "server/connection.hpp"
#include "server/request_parser.hpp"
#include "server/thread_name.hpp"

namespace makeway::server {
namespace {

using Clock = std::chrono::steady_clock;
using Moved = Connection::Outcome;
using Method = RequestParser::Method;

constexpr Duration discard_max{1'000};
/// A client that has stopped sending is taken for gone when its answer takes longer.
constexpr Duration left_after{500};
constexpr std::chrono::milliseconds accept_again{100};
constexpr std::size_t read_bytes = 16'384;
/// What one connection may do before it is the turn of the others.
constexpr int steps_a_turn = 16;
/// Ends with the connection, so it needs no length.
constexpr std::string_view plain_refused =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Connection: close\r\n\r\nthis port is encrypted: ask with https:// instead of http://\n";

std::chrono::milliseconds milliseconds(Duration duration) {
  return std::chrono::milliseconds(duration.ms);
}

Error listen_error(const ListenAddress& address, int number) {
  return {.code = ErrorCode::retry,
          .message = fmt::format("cannot listen on {}:{}: {}", address.host, address.port,
                                 std::generic_category().message(number))};
}

/// The header of an answer and its body.
std::string answer_text(const HttpReply& reply, bool is_1_0, bool keeps_alive, bool is_head) {
  std::string text =
      fmt::format("HTTP/1.{} {} {}\r\n", is_1_0 ? 0 : 1, reply.status, status_text(reply.status));
  if (keeps_alive == is_1_0) {
    text += keeps_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  }
  const auto is_given = [&](std::string_view field) {
    return std::ranges::any_of(reply.headers,
                               [&](const auto& each) { return each.first == field; });
  };
  text += fmt::format("Content-Type: {}\r\n", reply.content_type);
  if (!is_given("Cache-Control")) text += "Cache-Control: no-store\r\n";
  text += "X-Content-Type-Options: nosniff\r\n";
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += fmt::format("Content-Length: {}\r\n\r\n", reply.body.size());
  if (!is_head) text += reply.body;
  return text;
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

/// One connection. It does one thing at a time, as far as that is possible without waiting, and the
/// rest when its socket is ready. It does nothing while its answer is awaited, and while a stream
/// has nothing to send.
class HttpServer::Session {
 public:
  Session(State& state, std::uint64_t id, Descriptor socket, TlsKeys::Context keys);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void go_on();
  /// Its socket is ready for what it waits for, or was closed by the other side. `events`: of poll.
  void on_event(short events);
  void reply(HttpReply reply);
  void push(HttpFrame frame);
  bool is_stream() const { return is_stream_; }
  /// To be removed: it is over, or it took longer than it may.
  bool is_over(Clock::time_point now) const { return step_ == Step::ended || deadline_ <= now; }
  Clock::time_point deadline() const { return deadline_; }
  /// The other connections had their turn: it has more to do.
  bool is_ready() const { return is_ready_; }
  pollfd polled() const;
  /// The connection with the smallest value is closed first: idle, then reading its answer, then
  /// waiting for one; of these the longest in that state.
  std::pair<int, std::uint64_t> eviction_rank() const;

 private:
  enum class Step {
    nothing,
    handshake,
    header,
    body,
    discard,
    tls_close,
    refusal,
    answer,
    frame,
    ended
  };
  void begin(Step step, Duration time_max);
  Moved step();
  Moved read_some(std::size_t bytes_max);
  Moved read_request();
  void after(Step done);
  void after_failure(Step failed);
  void read();
  void take_header();
  void hand_over();
  void after_answer();
  void begin_stream(const HttpReply& reply);
  void send_next();

  State& state_;
  std::uint64_t id_;
  std::uint64_t since_ = 0;  ///< When it began to do what it does, in steps of the server.
  Connection connection_;
  Step step_ = Step::nothing;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool is_ready_ = false;
  std::string input_;  ///< What was received and not taken yet.
  bool has_stopped_sending_ = false;
  std::optional<RequestParser> parser_;
  bool is_too_long_ = false;
  std::string answer_;
  bool keeps_alive_ = false;
  std::string_view output_;  ///< What is left of the answer or the frame that is being sent.
  bool is_stream_ = false;
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
  TlsKeys::Context keys_now();
  bool make_room();
  void run();
  void turn();
  int wait_ms(Clock::time_point now) const;
  void go_on(std::uint64_t id, short events = 0);
  void sweep();
  void run_tasks();
  void report(std::string_view kind, std::string_view text) const;
  HttpAnswer answer_of(std::uint64_t id, HttpAnswer::Left left);
  /// From any thread: the server's thread does it.
  void post(std::function<void()> task);

  HttpHandler handler;
  HttpLimits limits;
  HttpGate gate;
  HttpExtras extras;
  Descriptor acceptor;
  Descriptor wake;
  Clock::time_point accept_from;  ///< No descriptor was left, or the like: not before.
  std::atomic<std::size_t> streams = 0;
  std::atomic<std::uint64_t> streams_cut = 0;
  std::map<std::uint64_t, std::unique_ptr<Session>> sessions;
  std::uint64_t last_id = 0;
  std::uint64_t steps = 0;
  std::uint16_t port = 0;
  std::atomic<bool> is_stopped = false;
  std::mutex tasks_lock;
  std::vector<std::function<void()>> tasks;
  std::thread thread;
};

// ---- Sessions -----------------------------------------------------------------------------------

HttpServer::Session::Session(State& state, std::uint64_t id, Descriptor socket,
                             TlsKeys::Context keys)
    : state_(state), id_(id), connection_(std::move(socket), std::move(keys)) {
  since_ = ++state_.steps;
  if (connection_.is_secure()) {
    begin(Step::handshake, state_.limits.request_max);
  } else {
    read();
  }
}

HttpServer::Session::~Session() {
  if (left_ != nullptr) left_->store(true);
  if (is_stream_) --state_.streams;
}

void HttpServer::Session::begin(Step step, Duration time_max) {
  step_ = step;
  deadline_ = Clock::now() + milliseconds(time_max);
}

void HttpServer::Session::go_on() {
  is_ready_ = false;
  for (int count = 0; step_ != Step::nothing && step_ != Step::ended; ++count) {
    if (count == steps_a_turn) {
      is_ready_ = true;
      return;
    }
    const Step now = step_;
    const Moved outcome = step();
    if (outcome == Moved::later) return;
    if (outcome == Moved::failed) {
      after_failure(now);
    } else {
      after(now);
    }
  }
}

/// A client that only stopped sending may still read: an answer that comes soon reaches it.
void HttpServer::Session::on_event(short events) {
  if (step_ != Step::nothing) return go_on();
  if ((events & (POLLERR | POLLHUP)) != 0) {
    step_ = Step::ended;
  } else if (!has_stopped_sending_) {
    has_stopped_sending_ = true;
    deadline_ = Clock::now() + milliseconds(left_after);
  }
}

/// Done: a part of what is to be done, or all of it.
Moved HttpServer::Session::step() {
  switch (step_) {
    case Step::handshake: return connection_.handshake();
    case Step::header:
    case Step::body: return read_request();
    case Step::discard: input_.clear(); return read_some(read_bytes);
    case Step::tls_close: return connection_.send_tls_close();
    case Step::refusal:
    case Step::answer:
    case Step::frame: return connection_.write(output_);
    case Step::nothing:
    case Step::ended: break;
  }
  return Moved::later;
}

/// Goes on with what follows once `done` is complete.
void HttpServer::Session::after(Step done) {
  const bool is_sending = done == Step::refusal || done == Step::answer || done == Step::frame;
  if (is_sending && !output_.empty()) return;
  switch (done) {
    case Step::handshake: return read();
    case Step::header:
      if (is_too_long_ || parser_->is_header_done()) take_header();
      return;
    case Step::body:
      if (is_too_long_ || parser_->is_done()) hand_over();
      return;
    case Step::answer: return after_answer();
    case Step::frame: backlog_.pop_front(); return send_next();
    case Step::tls_close:
    case Step::refusal: step_ = Step::ended; return;
    case Step::discard:
    case Step::nothing:
    case Step::ended: return;
  }
}

void HttpServer::Session::after_failure(Step failed) {
  step_ = Step::ended;
  if (failed == Step::handshake && connection_.turned_out_plain()) {
    output_ = plain_refused;
    begin(Step::refusal, state_.limits.answer_max);
  }
}

Moved HttpServer::Session::read_some(std::size_t bytes_max) {
  return connection_.read(input_, std::min(bytes_max, read_bytes));
}

/// What was received before comes first.
Moved HttpServer::Session::read_request() {
  const std::size_t input_max = std::size_t{2} * state_.limits.header_bytes_max;
  const auto progress =
      step_ == Step::header ? parser_->take_header(input_) : parser_->take_body(input_);
  switch (progress) {
    case RequestParser::Progress::done: return Moved::done;
    case RequestParser::Progress::too_long: is_too_long_ = true; return Moved::done;
    case RequestParser::Progress::wrong: return Moved::failed;
    case RequestParser::Progress::later: break;
  }
  if (input_.size() >= input_max) return Moved::failed;
  return read_some(input_max - input_.size());
}

void HttpServer::Session::read() {
  parser_.emplace(state_.limits.header_bytes_max, state_.limits.body_bytes_max);
  is_too_long_ = false;
  since_ = ++state_.steps;
  begin(Step::header, state_.limits.request_max);
}

void HttpServer::Session::take_header() {
  if (is_too_long_) return hand_over();
  if (parser_->method() == Method::other) {
    return reply({.status = 405,
                  .body = "only GET, HEAD and POST\n",
                  .headers = {{"Allow", "GET, HEAD, POST"}}});
  }
  if (parser_->is_done()) return hand_over();
  if (parser_->method() != Method::post) {
    return reply({.status = 400, .body = "only POST has a body\n"});
  }
  if (state_.gate) {
    if (auto refused = state_.gate(parser_->request())) return reply(*std::move(refused));
  }
  // A kept connection may have been silent for most of the first time.
  begin(Step::body, state_.limits.request_max);
}

void HttpServer::Session::hand_over() {
  if (is_too_long_) {
    return reply(
        {.status = 413,
         .body = fmt::format("a request may have {} bytes\n", state_.limits.body_bytes_max)});
  }
  since_ = ++state_.steps;
  left_ = std::make_shared<std::atomic<bool>>(false);
  step_ = Step::nothing;
  deadline_ = Clock::time_point::max();
  state_.handler(parser_->request(), state_.answer_of(id_, left_));
}

void HttpServer::Session::reply(HttpReply reply) {
  const bool is_head = parser_->method() == Method::head;
  if (reply.stream != nullptr && !is_head) {
    if (state_.streams.load() < state_.limits.streams_max) return begin_stream(reply);
    reply = {.status = 503, .body = "too many viewers; close one and try again\n"};
  }
  // What is left of a request that was too long would be taken for the next one.
  keeps_alive_ = parser_->keeps_alive() && parser_->is_done();
  answer_ = answer_text(reply, parser_->is_http_1_0(), keeps_alive_, is_head);
  output_ = answer_;
  since_ = ++state_.steps;
  begin(Step::answer, state_.limits.answer_max);
}

void HttpServer::Session::after_answer() {
  answer_ = {};
  if (!parser_->is_done()) {
    // For a moment: a client that is still sending would lose the answer with the connection.
    if (!connection_.is_secure()) connection_.end_sending();
    return begin(Step::discard, discard_max);
  }
  if (!keeps_alive_) return begin(Step::tls_close, discard_max);
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
  if (step_ == Step::ended) return;
  backlog_bytes_ += step_ == Step::frame ? frame->size() : 0;
  if (backlog_bytes_ > state_.limits.backlog_bytes_max) {
    ++state_.streams_cut;
    step_ = Step::ended;
    return;
  }
  backlog_.push_back(std::move(frame));
  if (step_ != Step::frame) send_next();
  go_on();
}

void HttpServer::Session::send_next() {
  if (backlog_.empty()) {
    backlog_bytes_ = 0;
    step_ = Step::nothing;
    deadline_ = Clock::time_point::max();
    return;
  }
  if (step_ == Step::frame) {
    backlog_bytes_ -= std::min(backlog_bytes_, backlog_.front()->size());
  }
  output_ = *backlog_.front();
  begin(Step::frame, state_.limits.answer_max);
}

pollfd HttpServer::Session::polled() const {
  const bool is_busy = step_ != Step::nothing;
  // An idle stream is asked nothing, and of a client that waits only whether it has left.
  const short waiting = has_stopped_sending_ ? short{0} : short{POLLRDHUP};
  const short events = is_busy ? connection_.awaited() : waiting;
  return {.fd = is_stream_ && !is_busy ? -1 : connection_.socket(), .events = events, .revents = 0};
}

std::pair<int, std::uint64_t> HttpServer::Session::eviction_rank() const {
  switch (step_) {
    case Step::refusal:
    case Step::answer:
    case Step::frame: return {1, since_};
    case Step::nothing: return {2, since_};
    default: return {0, since_};
  }
}

// ---- The server ---------------------------------------------------------------------------------

Result<std::uint16_t> HttpServer::State::listen(const ListenAddress& address) {
  const addrinfo hints{.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                       .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const std::string service = fmt::format("{}", address.port);
  if (getaddrinfo(address.host.c_str(), service.c_str(), &hints, &found) != 0) {
    return std::unexpected(listen_error(address, EINVAL));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> where(found, freeaddrinfo);
  wake = Descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (wake.get() < 0) return std::unexpected(listen_error(address, errno));
  acceptor =
      Descriptor(socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  const int on = 1;
  const bool listens = acceptor.get() >= 0 &&
                       setsockopt(acceptor.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                       bind(acceptor.get(), where->ai_addr, where->ai_addrlen) == 0 &&
                       ::listen(acceptor.get(), static_cast<int>(limits.connections_max)) == 0;
  if (!listens) return std::unexpected(listen_error(address, errno));
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  std::array<char, NI_MAXSERV> digits{};
  auto* const name = reinterpret_cast<sockaddr*>(&bound);
  if (getsockname(acceptor.get(), name, &length) != 0 ||
      getnameinfo(name, length, nullptr, 0, digits.data(), digits.size(), NI_NUMERICSERV) != 0) {
    return std::unexpected(listen_error(address, EINVAL));
  }
  return static_cast<std::uint16_t>(std::atoi(digits.data()));
}

void HttpServer::State::accept() {
  for (int count = 0; count < steps_a_turn; ++count) {
    Descriptor socket(accept4(acceptor.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return;
      if (errno == ECONNABORTED) continue;
      // No descriptor is left, or the like: a moment later there may be one.
      accept_from = Clock::now() + accept_again;
      return;
    }
    try {
      if (!make_room()) continue;  // Closed with the socket.
      const std::uint64_t id = ++last_id;
      sessions.emplace(id, std::make_unique<Session>(*this, id, std::move(socket), keys_now()));
      go_on(id);
    } catch (const std::exception& trouble) {
      // Rule 3: out of memory for one connection, which is closed by now, or by its deadline.
      report("a connection", trouble.what());
    }
  }
}

/// Rule 1: a new connection finds room, unless all are streams.
bool HttpServer::State::make_room() {
  if (sessions.size() < limits.connections_max) return true;
  auto first = sessions.end();
  for (auto each = sessions.begin(); each != sessions.end(); ++each) {
    if (each->second->is_stream()) continue;
    if (first == sessions.end() || each->second->eviction_rank() < first->second->eviction_rank()) {
      first = each;
    }
  }
  if (first == sessions.end()) return false;
  sessions.erase(first);
  return true;
}

void HttpServer::State::report(std::string_view kind, std::string_view text) const {
  if (extras.notices != nullptr) extras.notices->report(kind, text);
}

/// Null: plain HTTP.
TlsKeys::Context HttpServer::State::keys_now() {
  if (!extras.tls) return nullptr;
  const auto since = Clock::now().time_since_epoch();
  const Time now{std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
  if (const std::optional<Error> error = extras.tls->renew(now)) {
    report("new certificate", error->message + "; the previous one stays in use");
  }
  return extras.tls->context();
}

/// Rule 3: what is thrown costs the connection.
void HttpServer::State::go_on(std::uint64_t id, short events) {
  const auto found = sessions.find(id);
  if (found == sessions.end()) return;
  try {
    found->second->on_event(events);
  } catch (const std::exception& trouble) {
    report("a request", trouble.what());
    sessions.erase(id);
  }
}

void HttpServer::State::sweep() {
  const Clock::time_point now = Clock::now();
  std::erase_if(sessions, [now](const auto& each) { return each.second->is_over(now); });
}

/// Until the next deadline; -1: until something happens.
int HttpServer::State::wait_ms(Clock::time_point now) const {
  Clock::time_point next = accept_from > now ? accept_from : Clock::time_point::max();
  for (const auto& [id, session] : sessions) {
    if (session->is_ready()) return 0;
    next = std::min(next, session->deadline());
  }
  if (next == Clock::time_point::max()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::max<std::int64_t>(wait, 0));
}

void HttpServer::State::turn() {
  const Clock::time_point now = Clock::now();
  const bool accepts = accept_from <= now;
  std::vector<pollfd> polled = {
      {.fd = wake.get(), .events = POLLIN, .revents = 0},
      {.fd = accepts ? acceptor.get() : -1, .events = POLLIN, .revents = 0}};
  std::vector<std::uint64_t> ids = {0, 0};
  for (const auto& [id, session] : sessions) {
    polled.push_back(session->polled());
    ids.push_back(id);
  }
  if (poll(polled.data(), polled.size(), wait_ms(now)) < 0) return;
  for (std::size_t at = 2; at < polled.size(); ++at) {
    const auto found = sessions.find(ids[at]);
    if (found == sessions.end()) continue;
    if (polled[at].revents != 0 || found->second->is_ready()) go_on(ids[at], polled[at].revents);
  }
  sweep();
  if (polled[1].revents != 0) accept();
  if (polled[0].revents != 0) run_tasks();
  sweep();
}

void HttpServer::State::run_tasks() {
  eventfd_t count = 0;
  eventfd_read(wake.get(), &count);
  std::vector<std::function<void()>> now;
  {
    const std::scoped_lock lock(tasks_lock);
    now.swap(tasks);
  }
  for (const std::function<void()>& task : now) {
    try {
      task();
    } catch (const std::exception& trouble) {
      report("a connection", trouble.what());  // The tasks behind it are of other connections.
    }
  }
}

void HttpServer::State::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(tasks_lock);
    tasks.push_back(std::move(task));
  }
  eventfd_write(wake.get(), 1);
}

/// It comes back to the server's thread, and finds the connection by its id: that may be gone.
HttpAnswer HttpServer::State::answer_of(std::uint64_t id, HttpAnswer::Left left) {
  const auto deliver = [id, weak = weak_from_this()](HttpReply reply) {
    const std::shared_ptr<State> state = weak.lock();
    if (state == nullptr) return;
    // A task is copied with what it holds: not with a long answer.
    const auto given = std::make_shared<HttpReply>(std::move(reply));
    state->post([id, raw = state.get(), given] {
      const auto found = raw->sessions.find(id);
      if (found == raw->sessions.end()) return;
      try {
        found->second->reply(std::move(*given));
        found->second->go_on();
      } catch (const std::exception& trouble) {
        raw->report("an answer", trouble.what());
        raw->sessions.erase(id);  // Rule 3.
      }
    });
  };
  return HttpAnswer(deliver, std::move(left));
}

HttpServer::HttpServer(std::shared_ptr<State> state) : state_(std::move(state)) {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

/// Rule 3: whatever is thrown costs the one whose turn it was.
void HttpServer::State::run() {
  name_thread("makeway-http");
  // OpenSSL writes to sockets that the other side may have closed.
  sigset_t closed_pipe;
  sigemptyset(&closed_pipe);
  sigaddset(&closed_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &closed_pipe, nullptr);
  while (!is_stopped.load()) {
    try {
      turn();
    } catch (const std::exception& trouble) {
      report("a connection", trouble.what());
    }
  }
}

HttpServer::~HttpServer() {
  state_->is_stopped.store(true);
  eventfd_write(state_->wake.get(), 1);
  state_->thread.join();
  state_->sessions.clear();
}

std::uint16_t HttpServer::port() const { return state_->port; }
std::size_t HttpServer::streams() const { return state_->streams.load(); }
std::uint64_t HttpServer::streams_cut() const { return state_->streams_cut.load(); }

void HttpServer::publish(const HttpFrame& frame) {
  state_->post([state = state_.get(), frame] {
    for (const auto& [id, session] : state->sessions) {
      if (session->is_stream()) session->push(frame);
    }
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
