#include "kube/resource_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/api_text.hpp"
#include "codec/json_value.hpp"

namespace makeway::kube {

// ---- Lines --------------------------------------------------------------------------------------

WatchLines::Verdict WatchLines::take(std::string_view bytes, const Visit& visit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (part.size() > line_bytes_max_ - rest_.size()) {
      return refuse(
          {.message = fmt::format("an event of a watch has more than {} bytes", line_bytes_max_)});
    }
    if (end == std::string_view::npos) {
      rest_ += part;
      return Verdict::go_on;
    }
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      if (line(part, visit) == Verdict::stop) return Verdict::stop;
      continue;
    }
    rest_ += part;
    const std::string whole = std::exchange(rest_, {});
    if (line(whole, visit) == Verdict::stop) return Verdict::stop;
  }
  return Verdict::go_on;
}

WatchLines::Verdict WatchLines::line(std::string_view text, const Visit& visit) {
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return Verdict::go_on;
  const PaddedText padded(text);
  const auto event = read_watch_event(padded);
  if (!event) return refuse(event.error());
  return visit(*event) ? Verdict::go_on : Verdict::stop;
}

WatchLines::Verdict WatchLines::refuse(Problem problem) {
  problem_ = std::move(problem);
  rest_.clear();
  return Verdict::stop;
}

void WatchLines::clear() {
  rest_.clear();
  problem_.reset();
}

// ---- The watch ----------------------------------------------------------------------------------

namespace {

constexpr int status_ok = 200;
constexpr std::string_view list_verb = "list";
constexpr std::string_view watch_verb = "watch";

/// The code of a Status object; 0: there is none.
int code_of(std::string_view status_json) {
  const auto tree = parse_json_value(status_json);
  if (!tree) return 0;
  const JsonValue* const code = tree->find("code");
  constexpr std::int64_t code_max = 599;
  if (code == nullptr || code->as_integer() == nullptr) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(*code->as_integer(), 0, code_max));
}

std::string with_selector(std::string path, const Resource& resource) {
  if (!resource.selector.empty()) path += "&fieldSelector=" + percent_encoded(resource.selector);
  return path;
}

}  // namespace

ResourceWatch::ResourceWatch(ApiClient& client, ServedResource served, WatchListener& listener,
                             Prng jitter, WatchLimits limits)
    : client_(client),
      served_(std::move(served)),
      listener_(listener),
      jitter_(jitter),
      limits_(limits),
      asked_(asked_for(client.http().settings(), served_, watch_verb)),
      lines_(limits.line_bytes_max) {}

ResourceWatch::~ResourceWatch() {
  if (request_) client_.http().cancel(*request_);
  if (sync_read_.request) client_.http().cancel(*sync_read_.request);
}

std::optional<Time> ResourceWatch::due_at() const {
  return step_ == Step::pausing ? std::optional(resumes_at_) : std::nullopt;
}

void ResourceWatch::tick(Time now) {
  now_ = now;
  if (step_ == Step::watching && now > heard_at_ + limits_.silence_max) return cut_silence();
  if (step_ == Step::watching) return read_one_object();
  if (step_ == Step::pausing && now >= resumes_at_) begin_list();
}

ApiResult<HttpRequest> ResourceWatch::request_for(const std::string& path,
                                                  std::string_view verb) const {
  ApiResult<HttpRequest> request =
      client_.request_for(path, asked_for(client_.http().settings(), served_, verb));
  if (request) request->accept = served_.resource->accept(verb == list_verb);
  return request;
}

void ResourceWatch::start(const std::string& path, std::string_view verb, bool is_stream) {
  asked_ = asked_for(client_.http().settings(), served_, verb);
  ApiResult<HttpRequest> request = request_for(path, verb);
  if (!request) return fail(request.error());
  request->is_stream = is_stream;
  if (is_stream) request->whole_max = limits_.silence_max;
  request_ = client_.http().start(std::move(*request), *this);
}

std::string ResourceWatch::page_path(std::size_t objects) const {
  return with_selector(fmt::format("{}?limit={}", served_.path(), objects), *served_.resource);
}

/// Rule 4.
void ResourceWatch::read_one_object() {
  const Time quiet_since = std::max(heard_at_, sync_read_.sent_at);
  if (sync_read_.request || now_ < quiet_since + limits_.read_after) return;
  sync_read_.sent_at = now_;
  ApiResult<HttpRequest> request = request_for(page_path(1), list_verb);
  if (request) sync_read_.request = client_.http().start(std::move(*request), sync_read_);
}

void ResourceWatch::begin_list() {
  pages_ = {};
  continue_token_.clear();
  ++lists_;
  begin_page();
}

void ResourceWatch::begin_page() {
  step_ = Step::listing;
  std::string path = page_path(client_.limits().page_objects);
  if (!continue_token_.empty()) path += "&continue=" + percent_encoded(continue_token_);
  start(path, list_verb, false);
}

void ResourceWatch::begin_watch() {
  step_ = Step::watching;
  heard_ = false;
  heard_at_ = now_;
  watch_error_.reset();
  lines_.clear();
  // Watches of many clients do not end together; one that is to prove something ends soon.
  constexpr std::int64_t proof_seconds = 3;
  const std::int64_t seconds = sees_ ? jitter_.between(300, 600) : proof_seconds;
  start(with_selector(
            fmt::format("{}?watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                        served_.path(), percent_encoded(version_), seconds),
            *served_.resource),
        watch_verb, true);
}

bool ResourceWatch::bytes(std::string_view chunk) {
  return lines_.take(chunk, [this](const WatchEvent& event) { return take_event(event); }) ==
         WatchLines::Verdict::go_on;
}

bool ResourceWatch::take_event(const WatchEvent& event) {
  if (event.type == WatchEventType::error) {
    watch_error_ = refusal(asked_, code_of(event.object), event.object, {});
    return false;
  }
  if (event.kind != served_.resource->answered_kind()) {
    watch_error_ = malformed(asked_, {.field = "object.kind",
                                      .value = shorten(event.kind),
                                      .message = "an event of another kind"});
    return false;
  }
  heard_ = true;
  heard_at_ = now_;
  failures_ = 0;
  if (event.type == WatchEventType::bookmark) {
    prove();
  } else {
    listener_.happened(served_, event);  // After a gap it is the oldest that was missed: rule 5.
  }
  if (!event.resource_version.empty()) version_ = event.resource_version;
  if (version_ == page_version_) prove();
  return true;
}

void ResourceWatch::ended(ApiResult<HttpAnswer> result) {
  request_.reset();
  if (!result) return fail(result.error());
  if (result->status != status_ok) {
    return fail(refusal(asked_, result->status, result->body.view(), result->retry_after));
  }
  if (step_ == Step::listing) return page_came(std::move(*result));
  watch_ended();
}

void ResourceWatch::page_came(HttpAnswer answer) {
  const auto page = read_list_page(answer.body);
  const ApiLimits& limits = client_.limits();
  const auto unexpected_answer = [&](Problem problem) {
    fail(malformed(asked_, std::move(problem)));
  };
  if (!page) return unexpected_answer(page.error());
  const std::string_view kind = served_.resource->answered_kind();
  if (page->kind != fmt::format("{}List", kind)) {
    return unexpected_answer(
        {.field = "kind", .value = shorten(page->kind), .message = "another kind"});
  }
  if (!page->holds_only(kind)) {
    return unexpected_answer({.field = "items", .message = "it holds objects of another kind"});
  }
  const bool repeats = !page->continue_token.empty() && page->continue_token == continue_token_;
  pages_.bytes += answer.body.size();
  if (repeats || pages_.bytes > limits.list_bytes_max || pages_.pages.size() >= limits.pages_max) {
    return unexpected_answer({.field = "metadata.continue", .message = "the list does not end"});
  }
  if (pages_.pages.empty()) pages_.resource_version = page->resource_version;
  pages_.pages.push_back(std::move(answer.body));
  continue_token_ = page->continue_token;
  if (pages_.resource_version.empty()) {
    return unexpected_answer(
        {.field = "metadata.resourceVersion", .message = "a list without a version"});
  }
  if (continue_token_.empty()) return list_came();
  const bool is_same = pages_.resource_version == version_;
  if (version_.empty() || (proofs_ >= limits_.proofs_max && !is_same)) return begin_page();
  ++proofs_;
  page_version_ = pages_.resource_version;
  pages_ = {};
  if (is_same) prove();
  begin_watch();
}

void ResourceWatch::list_came() {
  version_ = pages_.resource_version;
  listener_.listed(served_, pages_);
  pages_ = {};
  prove();
  begin_watch();
}

void ResourceWatch::prove() {
  sees_ = true;
  proofs_ = 0;
  page_version_.clear();
}

void ResourceWatch::watch_ended() {
  if (lines_.problem()) return fail(malformed(asked_, *lines_.problem()));
  if (watch_error_) return fail(*watch_error_);
  // The server ends watches now and then; one that ends at once is not asked again at once, and
  // without a watch nothing is seen.
  constexpr Duration at_once{5'000};
  const bool has_worked = heard_ || now_ >= heard_at_ + at_once;
  if (has_worked) return sees_ ? begin_watch() : begin_list();
  sees_ = false;
  ++failures_;
  pause_for(next_pause({}));
}

/// Bytes may drip in, but no event comes of them.
void ResourceWatch::cut_silence() {
  if (request_) client_.http().cancel(*request_);
  request_.reset();
  fail(
      {.failure = Failure::timeout,
       .status = 0,
       .problem = {
           .object = asked_.request,
           .message =
               fmt::format("no event and no bookmark came for {}", to_text(limits_.silence_max)),
           .remedy = "it is retried; check proxies and firewalls between Makeway and the server"}});
}

void ResourceWatch::fail(const ApiError& error) {
  const bool was_listing = step_ == Step::listing;
  const bool was_proving = !was_listing && !std::exchange(page_version_, {}).empty();
  const bool begins_anew = error.failure == Failure::expired || error.failure == Failure::malformed;
  if (error.failure == Failure::unauthorized) client_.credentials().forget();
  if (begins_anew) version_.clear();
  sees_ = false;
  ++failures_;
  listener_.failed(served_, error);
  // That a server has forgotten a version is ordinary, also after a time in which it could not be
  // asked; that it does so at once and again is not.
  const bool is_ordinary =
      error.failure == Failure::expired && !was_listing && (failures_ == 1 || was_proving);
  pause_for(is_ordinary ? Duration{0} : next_pause(error.retry_after));
}

void ResourceWatch::pause_for(Duration pause) {
  step_ = Step::pausing;
  resumes_at_ = now_ + pause;
}

Duration ResourceWatch::next_pause(const std::optional<Duration>& retry_after) {
  const std::int64_t pause_ms = limits_.pause.after(failures_).ms;
  const std::int64_t varied_ms = jitter_.between(pause_ms / 2, pause_ms);
  return Duration{retry_after ? std::max(retry_after->ms, varied_ms) : varied_ms};
}

}  // namespace makeway::kube
