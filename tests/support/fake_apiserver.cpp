#include "support/fake_apiserver.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.hpp"
#include "base/time.hpp"
#include "support/fake_json.hpp"
#include "support/fake_objects.hpp"

namespace makeway {
namespace {

using std::chrono::milliseconds;

/// A request line with its parts.
struct FakeRequest {
  std::string line;  ///< "GET /api/v1/pods?limit=2"
  std::string method;
  std::string path;
  std::map<std::string, std::string, std::less<>> query;
  std::string authorization;
  std::string accept;
  std::string body;

  bool is_write() const { return method != "GET"; }
  std::string parameter(std::string_view name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::string{} : found->second;
  }
  std::int64_t number(std::string_view name) const { return number_in(parameter(name)); }
};

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0;
    const bool escape = text[at] == '%' && at + 2 < text.size();
    if (escape) {
      std::from_chars(text.data() + at + 1, text.data() + at + 3, code, 16);
      at += 2;
    }
    plain += escape ? static_cast<char>(code) : text[at];
  }
  return plain;
}

std::string header_in(std::string_view head, std::string_view name) {
  const std::size_t at = head.find(fmt::format("\r\n{}: ", name));
  if (at == std::string_view::npos) return {};
  const std::string_view value = head.substr(at + name.size() + 4);
  return std::string(value.substr(0, value.find("\r\n")));
}

FakeRequest parse_request(std::string_view head) {
  FakeRequest request;
  const std::string_view first = head.substr(0, head.find("\r\n"));
  request.line = first.substr(0, first.rfind(' '));
  request.method = request.line.substr(0, request.line.find(' '));
  const std::string target = request.line.substr(request.line.find(' ') + 1);
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  std::string_view rest = std::string_view(target).substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request.query[std::string(pair.substr(0, equals))] =
        decoded(pair.substr(std::min(equals + 1, pair.size())));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
  request.authorization = header_in(head, "Authorization");
  request.accept = header_in(head, "Accept");
  return request;
}

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::int64_t steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

/// When the newest server began.
std::atomic<std::int64_t> begun_ms = 0;

/// A server begins on Tuesday, 17 November 2026, at 05:00:00.
Time server_now() {
  constexpr std::int64_t start_ms = 1'794'891'600'000;
  return {start_ms + steady_ms() - begun_ms};
}

/// Tests do not run into the next day.
std::string date_text() {
  const std::string text = to_text(server_now());
  return fmt::format("Tue, 17 Nov 2026 {} GMT", text.substr(11, 8));
}

std::string answer(int status, std::string_view body, std::string_view more_headers = {},
                   std::string_view type = "application/json") {
  return fmt::format(
      "HTTP/1.1 {} Fake\r\nContent-Type: {}\r\nDate: {}\r\n"
      "Content-Length: {}\r\n{}\r\n{}",
      status, type, date_text(), body.size(), more_headers, body);
}

/// With what the request asks for of its objects. A list has a form of its own.
FakeKind asked_kind(const FakeRequest& request, FakeKind kind) {
  kind.metadata_only = request.accept.contains("as=PartialObjectMetadata");
  return kind;
}

std::string chunk(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace

struct FakeApiserver::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  FakeObjects objects;
  FakeWrites fake_writes{objects};
  bool allows_writes = false;
  WriteHook hook;
  std::int64_t write_count = 0;
  std::uint64_t release_round = 0;  ///< Grows when held writes go on.
  std::vector<SeenWrite> writes;
  std::vector<ServerFault> faults;
  std::vector<std::string> forbidden;
  std::vector<std::string> requests;
  std::string token;
  std::size_t watches = 0;
  std::uint64_t watch_round = 0;  ///< Grows when all watches are to end.
  std::uint64_t bookmarks = 0;
  bool stops = false;

  int listener = -1;
  std::uint16_t port = 0;
  struct Connection {
    std::atomic<int> socket = -1;
    std::thread thread;
  };
  std::list<Connection> connections;
  std::thread accepter;

  void accept_all();
  void serve_connection(Connection& connection);
  bool serve_request(int socket, const FakeRequest& request);
  bool misbehave(int socket, const FakeRequest& request, const ServerFault& fault);
  std::optional<ServerFault> take_fault(const FakeRequest& request);
  void drip(int socket, int delay_ms);
  std::string respond(const FakeRequest& request);
  bool serve_write(int socket, const FakeRequest& request);
  std::string carry_out(const FakeRequest& request);
  bool forbids(const FakeRequest& request) const;
  std::string list(const FakeRequest& request, const FakeKind& kind);
  bool watch(int socket, const FakeRequest& request, const FakeKind& kind);
};

void FakeApiserver::State::accept_all() {
  for (;;) {
    const int socket = ::accept(listener, nullptr, nullptr);
    if (socket < 0) return;
    const std::scoped_lock lock(mutex);
    if (stops) {
      ::close(socket);
      return;
    }
    Connection& connection = connections.emplace_back();
    connection.socket = socket;
    connection.thread = std::thread([this, &connection] { serve_connection(connection); });
  }
}

void FakeApiserver::State::serve_connection(Connection& connection) {
  constexpr std::size_t head_bytes_max = 64U << 10U;
  constexpr char tls_hello = '\x16';
  const int socket = connection.socket;
  std::string received;
  std::array<char, 4'096> buffer{};
  for (bool goes_on = true; goes_on;) {
    std::size_t end = received.find("\r\n\r\n");
    while (end == std::string::npos && received.size() < head_bytes_max &&
           !received.starts_with(tls_hello)) {
      const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      received.append(buffer.data(), static_cast<std::size_t>(size));
      end = received.find("\r\n\r\n");
    }
    if (end == std::string::npos) {
      // As Go's server: a client that speaks TLS here uses the wrong port.
      if (received.starts_with(tls_hello)) send_all(socket, "HTTP/1.0 400 Bad Request\r\n\r\n");
      break;
    }
    FakeRequest request = parse_request(std::string_view(received).substr(0, end + 2));
    const auto size = static_cast<std::size_t>(
        number_in(header_in(std::string_view(received).substr(0, end + 2), "Content-Length")));
    received.erase(0, end + 4);
    while (received.size() < size) {
      const ssize_t more = ::recv(socket, buffer.data(), buffer.size(), 0);
      if (more <= 0) break;
      received.append(buffer.data(), static_cast<std::size_t>(more));
    }
    if (received.size() < size) break;
    request.body = received.substr(0, size);
    received.erase(0, size);
    goes_on = serve_request(socket, request);
  }
  const std::scoped_lock lock(mutex);
  ::close(socket);
  connection.socket = -1;
}

std::optional<ServerFault> FakeApiserver::State::take_fault(const FakeRequest& request) {
  const auto found = std::ranges::find_if(faults, [&](const ServerFault& fault) {
    return fault.times > 0 && request.path.starts_with(fault.path_prefix) &&
           (!fault.only_watches || request.parameter("watch") == "1");
  });
  if (found == faults.end()) return std::nullopt;
  --found->times;
  return *found;
}

bool FakeApiserver::State::serve_request(int socket, const FakeRequest& request) {
  std::optional<ServerFault> fault;
  const FakeKind* kind = nullptr;
  bool is_allowed = false;
  bool is_written = false;
  {
    const std::scoped_lock lock(mutex);
    requests.push_back(request.line);
    fault = take_fault(request);
    kind = objects.find_path(request.path);
    is_written = allows_writes && request.is_write();
    is_allowed = (token.empty() || request.authorization == "Bearer " + token) &&
                 (kind == nullptr || std::ranges::find(forbidden, kind->plural) == forbidden.end());
  }
  if (fault && fault->kind != ServerFault::Kind::slow) return misbehave(socket, request, *fault);
  if (fault) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, milliseconds(fault->delay_ms), [this] { return stops; });
  }
  if (is_written && is_allowed) return serve_write(socket, request);
  if (kind != nullptr && is_allowed && request.parameter("watch") == "1") {
    return watch(socket, request, asked_kind(request, *kind));
  }
  return send_all(socket, respond(request));
}

bool FakeApiserver::State::misbehave(int socket, const FakeRequest& request,
                                     const ServerFault& fault) {
  using Kind = ServerFault::Kind;
  std::string good;
  {
    const std::scoped_lock lock(mutex);
    const FakeKind* const kind = objects.find_path(request.path);
    if (kind != nullptr) good = objects.page(*kind, {}, "never-ends");
  }
  switch (fault.kind) {
    case Kind::status: {
      const std::string body = fault.body.empty() ? status_text(fault.status, "Fake") : fault.body;
      const std::string retry = fault.retry_after_s == 0
                                    ? std::string{}
                                    : fmt::format("Retry-After: {}\r\n", fault.retry_after_s);
      return send_all(socket, answer(fault.status, body, retry,
                                     fault.body.empty() ? "application/json" : "text/plain"));
    }
    case Kind::broken_json:
      return send_all(socket, answer(200, std::string_view(good).substr(0, good.size() / 2)));
    case Kind::endless_list: {
      const std::scoped_lock lock(mutex);
      const FakeKind* const kind = objects.find_path(request.path);
      if (kind == nullptr) return false;
      good = objects.page(*kind, {}, fmt::format("{}x", request.parameter("continue")));
      return send_all(socket, answer(200, good));
    }
    case Kind::same_page: return send_all(socket, answer(200, good));
    case Kind::half_answer:
      send_all(socket, fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}",
                                   good.size() * 2 + 10, good));
      return false;
    case Kind::huge_header:
      send_all(socket, fmt::format("HTTP/1.1 200 OK\r\n"));
      for (int line = 0; line < 1'000; ++line) {
        if (!send_all(socket, fmt::format("X-{}: {}\r\n", line, std::string(1'000, 'x')))) break;
      }
      send_all(socket, "Content-Length: 0\r\n\r\n");
      return false;
    case Kind::no_http: send_all(socket, "220 mail.example ESMTP\r\n"); return false;
    case Kind::drip: drip(socket, fault.delay_ms); return false;
    case Kind::cut:
    case Kind::slow: return false;
  }
  return false;
}

void FakeApiserver::State::drip(int socket, int delay_ms) {
  bool is_connected = send_all(socket, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
  std::unique_lock lock(mutex);
  while (is_connected && !stops) {
    changed.wait_for(lock, milliseconds(delay_ms), [this] { return stops; });
    lock.unlock();
    is_connected = send_all(socket, " ");
    lock.lock();
  }
}

std::string FakeApiserver::State::respond(const FakeRequest& request) {
  const std::scoped_lock lock(mutex);
  if (request.method != "GET") return answer(405, status_text(405, "MethodNotAllowed"));
  if (!token.empty() && request.authorization != "Bearer " + token) {
    return answer(401, status_text(401, "Unauthorized"));
  }
  if (const auto one = fake_writes.get(request.path)) return answer(one->status, one->body);
  if (request.path == "/apis") return answer(200, objects.group_list());
  if (const std::string found = objects.resource_list(request.path); !found.empty()) {
    return answer(200, found);
  }
  const FakeKind* const kind = objects.find_path(request.path);
  if (kind == nullptr) return answer(404, "404 page not found\n", {}, "text/plain");
  if (std::ranges::find(forbidden, kind->plural) != forbidden.end()) {
    return answer(403,
                  status_text(403, "Forbidden",
                              fmt::format("{} is forbidden: User \\\"ann\\\" cannot list resource "
                                          "\\\"{}\\\" in API group \\\"{}\\\" at the cluster scope",
                                          kind->plural, kind->plural, kind->api_group),
                              kind->plural));
  }
  const bool wants_one = request.accept.contains("as=PartialObjectMetadata;");
  if (wants_one) return answer(406, status_text(406, "NotAcceptable"));
  return list(request, asked_kind(request, *kind));
}

bool FakeApiserver::State::forbids(const FakeRequest& request) const {
  return std::ranges::any_of(forbidden, [&](const std::string& resource) {
    const std::size_t slash = resource.find('/');
    if (slash == std::string::npos) return false;
    const std::string plural = fmt::format("/{}/", resource.substr(0, slash));
    return request.path.find(plural) != std::string::npos &&
           request.path.ends_with(resource.substr(slash));
  });
}

std::string FakeApiserver::State::carry_out(const FakeRequest& request) {
  if (forbids(request)) return answer(403, status_text(403, "Forbidden"));
  const auto done = fake_writes.handle(
      {.method = request.method, .path = request.path, .body = request.body}, server_now());
  changed.notify_all();
  if (!done) return answer(404, "404 page not found\n", {}, "text/plain");
  return answer(done->status, done->body);
}

bool FakeApiserver::State::serve_write(int socket, const FakeRequest& request) {
  using Kind = WriteFault::Kind;
  std::unique_lock lock(mutex);
  writes.push_back({request.line, request.body});
  const std::int64_t number = ++write_count;
  std::optional<WriteFault> fault;
  if (hook) fault = hook(number, request.line);
  changed.notify_all();
  if (fault && fault->kind == Kind::hold) {
    const std::uint64_t round = release_round;
    changed.wait(lock, [&] { return stops || release_round != round; });
    if (stops) return false;
  }
  const bool skips =
      fault && (fault->kind == Kind::cut_before || fault->kind == Kind::status_before);
  std::string text = skips ? std::string{} : carry_out(request);
  lock.unlock();
  if (fault && (fault->kind == Kind::cut_before || fault->kind == Kind::cut_after)) return false;
  if (fault && fault->kind != Kind::hold) {
    const std::string retry = fault->retry_after_s == 0
                                  ? std::string{}
                                  : fmt::format("Retry-After: {}\r\n", fault->retry_after_s);
    text = fault->plain_text ? answer(fault->status, "Too many requests, please try again later.\n",
                                      retry, "text/plain")
                             : answer(fault->status, status_text(fault->status, "Fake"), retry);
  }
  return send_all(socket, text);
}

std::string FakeApiserver::State::list(const FakeRequest& request, const FakeKind& kind) {
  const std::string body = objects.list({.kind = kind,
                                         .selector = request.parameter("fieldSelector"),
                                         .limit = static_cast<std::size_t>(request.number("limit")),
                                         .continue_token = request.parameter("continue")});
  if (body.empty()) return answer(410, status_text(410, "Expired"));
  return answer(200, body);
}

bool FakeApiserver::State::watch(int socket, const FakeRequest& request, const FakeKind& kind) {
  if (!send_all(socket,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n")) {
    return false;
  }
  std::unique_lock lock(mutex);
  ++watches;
  changed.notify_all();
  const std::uint64_t round = watch_round;
  std::uint64_t marks = bookmarks;
  std::int64_t seen = request.number("resourceVersion");
  const std::int64_t begun = seen;
  const std::string selector = request.parameter("fieldSelector");
  const bool allows_bookmarks = request.parameter("allowWatchBookmarks") == "true";
  bool is_connected = true;
  const auto send = [&](const std::string& text) {
    if (text.empty()) return;
    lock.unlock();
    is_connected = send_all(socket, chunk(text));
    lock.lock();
  };
  if (request.parameter("sendInitialEvents") == "true") {
    const std::string initial = objects.initial_events(kind, selector);
    seen = objects.version();
    send(initial);
  }
  bool is_expired = false;
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::seconds(std::max<std::int64_t>(request.number("timeoutSeconds"), 1));
  auto last_bookmark_at = deadline - std::chrono::seconds(2);
  while (!stops && is_connected && !is_expired && round == watch_round) {
    is_expired = objects.is_compacted(seen);
    std::string text = is_expired ? error_event(410, "Expired") : std::string{};
    if (!is_expired) text = objects.events_since(kind, selector, seen);
    seen = std::max(seen, objects.version());
    const auto now = std::chrono::steady_clock::now();
    const bool ends_soon = now >= last_bookmark_at && now < deadline;
    // Two seconds before its end, unless nothing is newer than what the client had or was sent.
    const bool is_news = seen > std::max(begun, objects.last_change_of(kind));
    const bool is_last = ends_soon && is_news && !is_expired && allows_bookmarks;
    if (ends_soon) last_bookmark_at = deadline;
    if (marks != bookmarks || is_last) text += bookmark_event(kind, seen, false);
    marks = bookmarks;
    send(text);
    if (!text.empty()) continue;
    if (now >= deadline) break;
    changed.wait_until(lock, std::min(deadline, last_bookmark_at));
  }
  --watches;
  changed.notify_all();
  const bool goes_on = round == watch_round;
  lock.unlock();
  send_all(socket, "0\r\n\r\n");
  return goes_on;
}

FakeApiserver::FakeApiserver() : state_(std::make_unique<State>()) {
  begun_ms = steady_ms();
  state_->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  CHECK(state_->listener >= 0);
  CHECK(::bind(state_->listener, generic, size) == 0);
  CHECK(::listen(state_->listener, 64) == 0);
  CHECK(::getsockname(state_->listener, generic, &size) == 0);
  state_->port = ntohs(address.sin_port);
  state_->accepter = std::thread([this] { state_->accept_all(); });
}

FakeApiserver::~FakeApiserver() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stops = true;
    state_->changed.notify_all();
    ::shutdown(state_->listener, SHUT_RDWR);
    for (State::Connection& connection : state_->connections) {
      if (connection.socket >= 0) ::shutdown(connection.socket, SHUT_RDWR);
    }
  }
  state_->accepter.join();
  for (State::Connection& connection : state_->connections) connection.thread.join();
  ::close(state_->listener);
}

std::string FakeApiserver::url() const { return fmt::format("http://127.0.0.1:{}", state_->port); }

std::uint16_t FakeApiserver::port() const { return state_->port; }

void FakeApiserver::serve(std::string_view group_version, std::string_view plural,
                          std::string_view kind) {
  const std::scoped_lock lock(state_->mutex);
  state_->objects.serve(group_version, plural, kind);
}

std::int64_t FakeApiserver::put(std::string_view json) {
  const std::scoped_lock lock(state_->mutex);
  state_->changed.notify_all();
  return state_->objects.put(json);
}

void FakeApiserver::put_all(std::string_view json) {
  const std::scoped_lock lock(state_->mutex);
  state_->changed.notify_all();
  state_->objects.put_all(json);
}

void FakeApiserver::remove(std::string_view kind, std::string_view namespace_name,
                           std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  state_->changed.notify_all();
  state_->objects.remove(kind, namespace_name, name);
}

void FakeApiserver::compact() {
  const std::scoped_lock lock(state_->mutex);
  state_->changed.notify_all();
  state_->objects.compact();
}

void FakeApiserver::bookmark() {
  const std::scoped_lock lock(state_->mutex);
  ++state_->bookmarks;
  state_->changed.notify_all();
}

void FakeApiserver::end_watches() {
  const std::scoped_lock lock(state_->mutex);
  ++state_->watch_round;
  state_->changed.notify_all();
}

void FakeApiserver::fail(ServerFault fault) {
  const std::scoped_lock lock(state_->mutex);
  state_->faults.push_back(std::move(fault));
}

void FakeApiserver::mend() {
  const std::scoped_lock lock(state_->mutex);
  state_->faults.clear();
}

void FakeApiserver::allow_writes(WriteHook hook) {
  const std::scoped_lock lock(state_->mutex);
  state_->allows_writes = true;
  state_->hook = std::move(hook);
  state_->write_count = 0;
}

void FakeApiserver::release_held() {
  const std::scoped_lock lock(state_->mutex);
  ++state_->release_round;
  state_->changed.notify_all();
}

void FakeApiserver::set_kubelet(bool runs, bool lets_go) {
  const std::scoped_lock lock(state_->mutex);
  state_->fake_writes.set_kubelet(runs, lets_go);
}

std::size_t FakeApiserver::let_go() {
  const std::scoped_lock lock(state_->mutex);
  state_->changed.notify_all();
  return state_->fake_writes.let_go();
}

std::vector<FakeDeed> FakeApiserver::deeds() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->fake_writes.deeds();
}

bool FakeApiserver::await(const Until& until) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::seconds(120), [&] {
    return until(state_->objects, state_->fake_writes.deeds());
  });
}

std::vector<FakeApiserver::SeenWrite> FakeApiserver::writes() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->writes;
}

std::string FakeApiserver::object(std::string_view kind, std::string_view namespace_name,
                                  std::string_view name) const {
  const std::scoped_lock lock(state_->mutex);
  const JsonValue* const found = state_->objects.find(kind, namespace_name, name);
  return found == nullptr ? std::string{} : fake::text_of(*found);
}

void FakeApiserver::forbid(std::string_view plural) {
  const std::scoped_lock lock(state_->mutex);
  state_->forbidden.emplace_back(plural);
}

void FakeApiserver::require_token(std::string_view token) {
  const std::scoped_lock lock(state_->mutex);
  state_->token = token;
}

std::string FakeApiserver::dump() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->objects.dump();
}

std::vector<std::string> FakeApiserver::requests() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->requests;
}

bool FakeApiserver::await_watches(std::size_t count) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::seconds(60),
                                  [&] { return state_->watches == count; });
}

}  // namespace makeway
