#include "kube/http_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "control/allowance.hpp"

namespace makeway::kube {
namespace {

constexpr std::size_t header_bytes_max = 256U << 10U;
constexpr std::size_t refusal_bytes_max = 64U << 10U;  ///< What a refused stream may say.
constexpr std::size_t first_body_bytes = 16U << 10U;
constexpr std::int64_t looks_at_once = 20;
constexpr Duration looks_period{100};

struct FreeHeaders {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

/// "https://host:6443/prefix" in parts.
struct ServerParts {
  std::string_view scheme;
  std::string_view host;  ///< An IPv6 address with its brackets.
  std::string_view port;  ///< "6443", or the scheme's.
  std::string_view prefix;
};

ServerParts parts_of(std::string_view server) {
  ServerParts parts;
  parts.scheme = server.substr(0, server.find("://"));
  std::string_view rest = server.substr(std::min(parts.scheme.size() + 3, server.size()));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  parts.prefix = rest.substr(slash);
  rest = rest.substr(0, slash);
  const std::size_t bracket = rest.find(']');
  const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  parts.host = rest.substr(0, colon);
  parts.port = colon == std::string_view::npos ? (parts.scheme == "http" ? "80" : "443")
                                               : rest.substr(colon + 1);
  return parts;
}

enum class Stopped : std::uint8_t { no, body_too_large, headers_too_large, by_listener };

struct Transfer {
  HttpRequest request;
  HttpListener* listener = nullptr;
  std::unique_ptr<curl_slist, FreeHeaders> headers;
  std::unique_ptr<curl_slist, FreeHeaders> way;  ///< Where the server of the URL really is.
  std::string url;
  std::array<char, CURL_ERROR_SIZE> error_text{};
  PaddedText body;
  std::size_t header_bytes = 0;
  Stopped stopped = Stopped::no;
  std::optional<SeenDate>* seen_date = nullptr;  ///< The client's.
  Time* heard = nullptr;                         ///< The client's: when the last byte came.
  std::size_t* taken = nullptr;                  ///< The client's: bytes of its newest look.
  Time started;
  std::unique_ptr<CURL, FreeEasy> easy;  ///< Last: the others outlive it.

  int status() const {
    long code = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &code);
    return static_cast<int>(code);
  }
  bool streams() const { return request.is_stream && status() == 200; }
  bool take(std::string_view chunk);
};

bool Transfer::take(std::string_view chunk) {
  if (streams()) {
    if (listener->bytes(chunk)) return true;
    stopped = Stopped::by_listener;
    return false;
  }
  const std::size_t bytes_max = request.is_stream ? refusal_bytes_max : request.bytes_max;
  if (chunk.size() > bytes_max - std::min(body.size(), bytes_max)) {
    stopped = Stopped::body_too_large;
    return false;
  }
  if (body.readable_size() == 0) body.reserve(std::max(first_body_bytes, chunk.size()));
  if (body.room().size() < chunk.size()) body.reserve(body.size() * 2 + chunk.size());
  std::ranges::copy(chunk, body.room().begin());
  body.grow_by(chunk.size());
  return true;
}

std::size_t on_bytes(char* bytes, std::size_t one, std::size_t count, void* transfer) {
  const std::size_t size = one * count;
  auto* const taker = static_cast<Transfer*>(transfer);
  *taker->heard = monotonic_now();
  *taker->taken += size;
  return taker->take({bytes, size}) ? size : CURL_WRITEFUNC_ERROR;
}

std::optional<Time> date_in(std::string_view header) {
  constexpr std::string_view name = "date:";
  const auto is_same = [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a + 32 == b);
  };
  if (!std::ranges::equal(header.substr(0, name.size()), name, is_same)) return std::nullopt;
  const std::int64_t at = curl_getdate(std::string(header.substr(name.size())).c_str(), nullptr);
  return at > 0 ? std::optional(Time{at * 1'000}) : std::nullopt;
}

std::size_t on_header(char* bytes, std::size_t one, std::size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  const std::size_t size = one * count;
  transfer->header_bytes += size;
  *transfer->heard = monotonic_now();
  if (const auto date = date_in({bytes, size})) {
    *transfer->seen_date = SeenDate{.date = *date, .monotonic = monotonic_now()};
  }
  if (transfer->header_bytes <= header_bytes_max) return size;
  transfer->stopped = Stopped::headers_too_large;
  return CURL_WRITEFUNC_ERROR;
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  CHECK(code == CURLE_OK, "an option that this curl does not know");
}

/// Curl copies it; an empty one is none.
void set_blob(CURL* easy, CURLoption option, const std::string& bytes) {
  if (bytes.empty()) return;
  curl_blob blob{.data = const_cast<char*>(bytes.data()),  // NOLINT(*-const-cast): C has no const
                 .len = bytes.size(),
                 .flags = CURL_BLOB_COPY};
  set(easy, option, &blob);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

void set_server(Transfer& transfer, const HttpSettings& settings) {
  CURL* const easy = transfer.easy.get();
  const ServerParts parts = parts_of(settings.server);
  transfer.url = settings.server + transfer.request.path;
  if (!settings.tls_server_name.empty()) {
    // Curl takes the name in the certificate from the URL, so the way to it is given separately.
    transfer.url = fmt::format("{}://{}:{}{}{}", parts.scheme, settings.tls_server_name, parts.port,
                               parts.prefix, transfer.request.path);
    const std::string way =
        fmt::format("{}:{}:{}:{}", settings.tls_server_name, parts.port, parts.host, parts.port);
    transfer.way.reset(curl_slist_append(nullptr, way.c_str()));
    set(easy, CURLOPT_CONNECT_TO, transfer.way.get());
  }
  set(easy, CURLOPT_URL, transfer.url.c_str());
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  if (!settings.proxy.empty()) {
    set(easy, CURLOPT_PROXY, settings.proxy.c_str());
  } else if (is_loopback(parts.host)) {
    set(easy, CURLOPT_PROXY, "");  // As Go's client: no proxy of the environment leads there.
  }
}

void set_tls(Transfer& transfer, const HttpSettings& settings) {
  CURL* const easy = transfer.easy.get();
  set(easy, CURLOPT_SSL_VERIFYPEER, settings.verify ? 1L : 0L);
  set(easy, CURLOPT_SSL_VERIFYHOST, settings.verify ? 2L : 0L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!settings.authorities.empty()) {
    set_blob(easy, CURLOPT_CAINFO_BLOB, settings.authorities);
    // Only these: the system's folder would be looked into as well.
    set(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  set_blob(easy, CURLOPT_SSLCERT_BLOB, transfer.request.identity.certificate);
  set_blob(easy, CURLOPT_SSLKEY_BLOB, transfer.request.identity.key);
}

void set_headers(Transfer& transfer, const HttpSettings& settings) {
  const auto add = [&](const std::string& line) {
    curl_slist* const longer = curl_slist_append(transfer.headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    // The list has grown at its end: its beginning is ours already.
    if (transfer.headers == nullptr) transfer.headers.reset(longer);
  };
  add("Accept: " + transfer.request.accept);
  if (transfer.request.write) {
    add("Content-Type: " + transfer.request.write->content_type);
    add("Expect:");  // The body is small: the server is not asked first.
  }
  const Identity& identity = transfer.request.identity;
  if (!identity.authorization.empty()) add("Authorization: " + identity.authorization);
  for (const std::string& line : identity.headers) add(line);
  if (!settings.tls_server_name.empty()) {
    const ServerParts parts = parts_of(settings.server);
    add(fmt::format("Host: {}:{}", parts.host, parts.port));
  }
  set(transfer.easy.get(), CURLOPT_HTTPHEADER, transfer.headers.get());
  set(transfer.easy.get(), CURLOPT_USERAGENT, settings.user_agent.c_str());
}

void set_write(Transfer& transfer) {
  if (!transfer.request.write) return;
  CURL* const easy = transfer.easy.get();
  const HttpWrite& write = *transfer.request.write;
  set(easy, CURLOPT_CUSTOMREQUEST, write.method.c_str());
  set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(write.body.size()));
  set(easy, CURLOPT_POSTFIELDS, write.body.data());  // Not copied: the transfer keeps it.
}

/// What is sent and not acknowledged is not sent again for minutes: it would arrive when no caller
/// expects it any more. Without the option (another system) curl's own limits remain.
int on_socket(void* user, curl_socket_t socket, curlsocktype /*purpose*/) {
  const auto limit_ms =
      static_cast<unsigned int>(static_cast<const HttpSettings*>(user)->unacknowledged_max.ms);
  [[maybe_unused]] const int code =
      ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
  return CURL_SOCKOPT_OK;
}

void set_limits(Transfer& transfer, HttpSettings& settings) {
  CURL* const easy = transfer.easy.get();
  set(easy, CURLOPT_NOSIGNAL, 1L);
  const Duration connect_max =
      std::min(settings.connect_max, transfer.request.connect_max.value_or(settings.connect_max));
  // Curl takes 0 for its own default.
  set(easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::max<std::int64_t>(connect_max.ms, 1)));
  set(easy, CURLOPT_SOCKOPTFUNCTION, &on_socket);
  set(easy, CURLOPT_SOCKOPTDATA, &settings);
  const std::int64_t limit_ms = transfer.request.whole_max.ms;
  if (transfer.request.is_stream) {
    constexpr std::int64_t second_ms = 1'000;
    set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(easy, CURLOPT_LOW_SPEED_TIME,
        static_cast<long>(std::max<std::int64_t>(limit_ms / second_ms, 1)));
  } else {
    set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limit_ms));
  }
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  // No CURLOPT_PIPEWAIT: of requests that wait for a connection that breaks, curl 7.88 wakes one
  // for each request that ends, and watches do not end.
}

struct Meaning {
  CURLcode code;
  Failure failure;
  std::string_view message;
  std::string_view remedy;
};

constexpr std::string_view check_server = "look at `server` in the kubeconfig file";
constexpr std::string_view check_authority =
    "give certificate-authority of that server in the kubeconfig file";
constexpr std::array meanings = {
    Meaning{CURLE_COULDNT_RESOLVE_HOST, Failure::dns, "there is no such host", check_server},
    Meaning{CURLE_COULDNT_RESOLVE_PROXY, Failure::proxy, "there is no such proxy",
            "look at proxy-url in the kubeconfig file, or HTTPS_PROXY"},
    Meaning{CURLE_COULDNT_CONNECT, Failure::refused, "connection refused",
            "is the API server running, and is `server` in the kubeconfig file its address?"},
    Meaning{CURLE_PEER_FAILED_VERIFICATION, Failure::tls, "the server's certificate is not valid",
            check_authority},
    Meaning{CURLE_SSL_CACERT_BADFILE, Failure::tls, "the certificate authority cannot be read",
            "certificate-authority must be a PEM file"},
    Meaning{CURLE_SSL_CERTPROBLEM, Failure::tls, "our certificate or its key cannot be used",
            "client-certificate and client-key must be PEM files that belong together"},
    Meaning{CURLE_SSL_CONNECT_ERROR, Failure::tls, "the TLS handshake failed",
            "does that port speak TLS? look at `server` in the kubeconfig file"},
    Meaning{CURLE_OPERATION_TIMEDOUT, Failure::timeout, "no answer in time", "try again"},
    Meaning{CURLE_GOT_NOTHING, Failure::cut, "the connection ended without an answer", "try again"},
    Meaning{CURLE_PARTIAL_FILE, Failure::cut, "the answer ended half way", "try again"},
    Meaning{CURLE_RECV_ERROR, Failure::cut, "connection lost", "try again"},
    Meaning{CURLE_SEND_ERROR, Failure::cut, "connection lost", "try again"},
    Meaning{CURLE_HTTP2, Failure::cut, "connection lost", "try again"},
    Meaning{CURLE_HTTP2_STREAM, Failure::cut, "connection lost", "try again"},
    Meaning{CURLE_PROXY, Failure::proxy, "the proxy refused the connection", "look at proxy-url"},
    Meaning{CURLE_UNSUPPORTED_PROTOCOL, Failure::malformed, "it does not speak HTTP", check_server},
    Meaning{CURLE_WEIRD_SERVER_REPLY, Failure::malformed, "it does not speak HTTP", check_server},
    Meaning{CURLE_OUT_OF_MEMORY, Failure::malformed, "its answer cannot be read", check_server},
};
/// Not a byte of the request had left.
constexpr Meaning never_connected{CURLE_OPERATION_TIMEDOUT, Failure::refused,
                                  "connecting timed out",
                                  "is the API server running, and is it reachable from here?"};
constexpr Meaning other_meaning{CURLE_OK, Failure::cut, "connection lost", "try again"};

ApiError error_of(const Transfer& transfer, CURLcode code, const HttpSettings& settings) {
  const auto* const found = std::ranges::find(meanings, code, &Meaning::code);
  Meaning meaning = found == meanings.end() ? other_meaning : *found;
  curl_off_t sending_since = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_PRETRANSFER_TIME_T, &sending_since);
  if (code == CURLE_OPERATION_TIMEDOUT && sending_since == 0) meaning = never_connected;
  long connect_status = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_HTTP_CONNECTCODE, &connect_status);
  constexpr long refused_from = 300;
  const bool proxy_is_gone = meaning.failure == Failure::refused && !settings.proxy.empty();
  if (connect_status >= refused_from || proxy_is_gone) {
    meaning = {code, Failure::proxy, "the proxy refused the connection or is not reachable",
               "look at proxy-url in the kubeconfig file, or HTTPS_PROXY"};
  }
  std::string message(meaning.message);
  if (transfer.stopped == Stopped::body_too_large) {
    meaning.failure = Failure::too_large;
    meaning.remedy = check_server;
    message = fmt::format("the answer has more than {} bytes", transfer.request.bytes_max);
  } else if (transfer.stopped == Stopped::headers_too_large) {
    meaning.failure = Failure::too_large;
    meaning.remedy = check_server;
    message = fmt::format("the headers of the answer have more than {} bytes", header_bytes_max);
  } else if (transfer.error_text.front() != '\0') {
    message += fmt::format(" ({})", shorten(transfer.error_text.data(), 200));
  }
  return {.failure = meaning.failure,
          .status = transfer.status(),
          .problem = {.object = transfer.request.asked.request,
                      .message = std::move(message),
                      .remedy = std::string(meaning.remedy)}};
}

HttpAnswer answer_of(Transfer& transfer) {
  HttpAnswer answer{.status = transfer.status()};
  transfer.body.finish();
  answer.body = std::move(transfer.body);
  curl_off_t seconds = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_RETRY_AFTER, &seconds);
  constexpr curl_off_t seconds_max = 3'600;
  if (seconds > 0) answer.retry_after = Duration{std::min(seconds, seconds_max) * 1'000};
  curl_header* date = nullptr;
  if (curl_easy_header(transfer.easy.get(), "date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK) {
    const std::int64_t at = curl_getdate(date->value, nullptr);
    if (at > 0) answer.date = Time{at * 1'000};
  }
  return answer;
}

/// Once for the process, before the first use.
void initialize_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(code == CURLE_OK);
}

}  // namespace

struct HttpClient::State {
  HttpSettings settings;
  std::unique_ptr<CURLM, FreeMulti> multi;
  std::map<RequestId, std::unique_ptr<Transfer>> transfers;
  std::uint64_t last_id = 0;
  std::optional<SeenDate> date;
  Time heard = monotonic_now();
  bool keeps_apart = false;
  bool has_changed = false;  ///< Requests came or were ended since curl has looked at them.
  std::size_t taken = 0;     ///< Bytes of bodies, by the last look.
  Allowance looks{looks_at_once, looks_period, Allowance::Start::full, monotonic_now()};
  std::atomic<bool> is_given_up = false;

  void let_more_come();
  void give_up_silent(const Transfer& transfer) const;
  std::unique_ptr<Transfer> remove(RequestId request);
  void hand_out_ended();
};

HttpClient::HttpClient(HttpSettings settings) : state_(std::make_unique<State>()) {
  initialize_curl();
  state_->settings = std::move(settings);
  state_->multi.reset(curl_multi_init());
  CHECK(state_->multi != nullptr);
}

HttpClient::~HttpClient() {
  while (!state_->transfers.empty()) cancel(state_->transfers.begin()->first);
}

HttpClient::RequestId HttpClient::start(HttpRequest request, HttpListener& listener) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->listener = &listener;
  transfer->seen_date = &state_->date;
  transfer->heard = &state_->heard;
  transfer->taken = &state_->taken;
  transfer->started = monotonic_now();
  transfer->easy.reset(curl_easy_init());
  if (transfer->easy == nullptr) throw std::bad_alloc();
  CURL* const easy = transfer->easy.get();
  set_server(*transfer, state_->settings);
  set_tls(*transfer, state_->settings);
  set_headers(*transfer, state_->settings);
  set_limits(*transfer, state_->settings);
  const auto version = state_->keeps_apart ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS;
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(version));
  set_write(*transfer);
  set(easy, CURLOPT_ERRORBUFFER, transfer->error_text.data());
  set(easy, CURLOPT_WRITEFUNCTION, &on_bytes);
  set(easy, CURLOPT_WRITEDATA, transfer.get());
  set(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set(easy, CURLOPT_HEADERDATA, transfer.get());
  set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // A proxy's clock is not the server's.
  const CURLMcode code = curl_multi_add_handle(state_->multi.get(), easy);
  CHECK(code == CURLM_OK);
  const RequestId request_id{++state_->last_id};
  state_->transfers.emplace(request_id, std::move(transfer));
  state_->has_changed = true;
  return request_id;
}

std::unique_ptr<Transfer> HttpClient::State::remove(RequestId request) {
  const auto found = transfers.find(request);
  if (found == transfers.end()) return nullptr;
  std::unique_ptr<Transfer> transfer = std::move(found->second);
  transfers.erase(found);
  curl_multi_remove_handle(multi.get(), transfer->easy.get());
  return transfer;
}

void HttpClient::cancel(RequestId request) {
  state_->remove(request);
  state_->has_changed = true;
}

/// The connection of a request that ran out of time, unless something was heard meanwhile: then the
/// server is slow, and others on the same connection need not suffer. Over HTTP/2 curl ends only
/// the request and sends the next ones the same way. Where connections are apart there are no
/// others, and what was heard came over another one.
void HttpClient::State::give_up_silent(const Transfer& transfer) const {
  if (!keeps_apart && !transfer.request.is_stream && heard >= transfer.started) return;
  curl_socket_t socket = CURL_SOCKET_BAD;
  const CURLcode code = curl_easy_getinfo(transfer.easy.get(), CURLINFO_ACTIVESOCKET, &socket);
  // Curl notices as if the other side had hung up, and closes it.
  if (code == CURLE_OK && socket != CURL_SOCKET_BAD) ::shutdown(socket, SHUT_RDWR);
}

void HttpClient::State::hand_out_ended() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    const auto found = std::ranges::find_if(transfers, [&](const auto& each) {
      return each.second->easy.get() == message->easy_handle;
    });
    CHECK(found != transfers.end());
    if (code == CURLE_OPERATION_TIMEDOUT) give_up_silent(*found->second);
    const std::unique_ptr<Transfer> transfer = remove(found->first);
    // A stream that its listener has ended is an answer.
    if (code == CURLE_OK || transfer->stopped == Stopped::by_listener) {
      transfer->listener->ended(answer_of(*transfer));
    } else {
      transfer->listener->ended(std::unexpected(error_of(*transfer, code, settings)));
    }
  }
}

/// Curl asks the system about every request at each look, so that a burst in which each answer is
/// looked at by itself costs more than the answers do: where many are under way, looks are five
/// milliseconds apart after the first twenty. Long answers are taken as fast as they come.
void HttpClient::State::let_more_come() {
  constexpr std::size_t requests_many = 8;
  constexpr std::size_t taken_much = 64U << 10U;
  const bool is_long = std::exchange(taken, 0) >= taken_much;
  if (is_long || transfers.size() < requests_many) return;
  const Time now = monotonic_now();
  const Duration wait = looks.wait(1, now);
  looks.spend(1, now);
  if (wait.ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(wait.ms));
}

void HttpClient::work(Duration at_most) {
  int running = static_cast<int>(state_->transfers.size());
  CURLMcode code = CURLM_OK;
  // It examines every request, so only when needed: with many watches each event costs that.
  if (std::exchange(state_->has_changed, false)) {
    code = curl_multi_perform(state_->multi.get(), &running);
  }
  const auto before = static_cast<std::size_t>(running);
  if (code == CURLM_OK && before == state_->transfers.size()) {
    int ready = 0;
    code = curl_multi_poll(state_->multi.get(), nullptr, 0, static_cast<int>(at_most.ms), &ready);
    if (ready > 0) state_->let_more_come();
    if (code == CURLM_OK) code = curl_multi_perform(state_->multi.get(), &running);
  }
  CHECK(code == CURLM_OK, "curl was used in a wrong way");
  state_->hand_out_ended();
}

void HttpClient::wake() { curl_multi_wakeup(state_->multi.get()); }

void HttpClient::keep_apart() {
  state_->keeps_apart = true;
  curl_multi_setopt(state_->multi.get(), CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
}

std::size_t HttpClient::running() const { return state_->transfers.size(); }

std::optional<SeenDate> HttpClient::date() const { return state_->date; }

Time monotonic_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

const HttpSettings& HttpClient::settings() const { return state_->settings; }

namespace {

class OneAnswer final : public HttpListener {
 public:
  bool bytes(std::string_view /*chunk*/) override { return true; }
  void ended(ApiResult<HttpAnswer> result) override { result_ = std::move(result); }

  std::optional<ApiResult<HttpAnswer>>& result() { return result_; }

 private:
  std::optional<ApiResult<HttpAnswer>> result_;
};

}  // namespace

ApiResult<HttpAnswer> HttpClient::send(HttpRequest request) {
  constexpr Duration step{1'000};
  OneAnswer answer;
  const Asked asked = request.asked;
  const RequestId sent = start(std::move(request), answer);
  while (!answer.result()) {
    if (state_->is_given_up) {
      cancel(sent);
      return std::unexpected(
          ApiError{.failure = Failure::refused,
                   .problem = {.object = asked.request, .message = "the request was given up"}});
    }
    work(step);
  }
  return std::move(*answer.result());
}

void HttpClient::give_up() {
  state_->is_given_up = true;
  wake();
}

}  // namespace makeway::kube
