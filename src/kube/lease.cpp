#include "kube/lease.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/json_text.hpp"
#include "codec/writer.hpp"
#include "kube/clocks.hpp"

namespace makeway::kube {
namespace {

constexpr int lease_is_missing = 404;
constexpr int lease_was_changed = 409;
constexpr std::string_view pause_annotation = "makeway.dev/pause";

std::string lease_text_at(const JsonValue& tree, std::string_view part, std::string_view key) {
  const JsonValue* const inner = tree.find(part);
  return inner == nullptr ? std::string{} : text_in(*inner, key);
}

std::int64_t spec_number(const JsonValue& tree, std::string_view key) {
  const JsonValue* const spec = tree.find("spec");
  const JsonValue* const value = spec == nullptr ? nullptr : spec->find(key);
  return value == nullptr || value->as_integer() == nullptr ? 0 : *value->as_integer();
}

WritePause pause_in(const JsonValue& tree) {
  const JsonValue* const metadata = tree.find("metadata");
  const JsonValue* const notes = metadata == nullptr ? nullptr : metadata->find("annotations");
  const std::string text = notes == nullptr ? std::string{} : text_in(*notes, pause_annotation);
  if (text.empty()) return WritePause::none;
  // An unknown value was meant to stop something.
  return text == "evictions" ? WritePause::evictions : WritePause::all;
}

JsonValue lease_value(std::string text) { return {.data = std::move(text)}; }

JsonValue& lease_member(JsonValue& tree, std::string_view key) {
  if (tree.as_object() == nullptr) tree.data = JsonValue::Object{};
  auto& members = std::get<JsonValue::Object>(tree.data);
  const auto found = std::ranges::find(members, key, &JsonMember::key);
  if (found != members.end()) return found->value;
  return members.emplace_back(JsonMember{.key = std::string(key)}).value;
}

std::string lease_time_text(Time time) {
  constexpr std::int64_t second_ms = 1'000;
  std::string text = to_text(Time{time.ms / second_ms * second_ms});
  text.pop_back();
  return fmt::format("{}.{:03}000Z", text, time.ms % second_ms);
}

/// A Lease that is not there yet, or that another one took, is none.
std::string lease_trouble(const LeaseMachine::Call& call, const ApiResult<HttpAnswer>& result) {
  if (!result) return result.error().problem.message;
  const bool is_expected = result->status < 400 || result->status == lease_was_changed ||
                           (result->status == lease_is_missing && !call.write);
  if (is_expected) return {};
  return refusal({}, result->status, result->body.view(), {}).problem.message;
}

}  // namespace

// ---- The leader ---------------------------------------------------------------------------------

std::string LeaseMachine::path() const {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases",
                     percent_encoded(name_.namespace_name));
}

std::string LeaseMachine::holder() const {
  return lease_ ? lease_text_at(*lease_, "spec", "holderIdentity") : std::string{};
}

bool LeaseMachine::is_ours() const { return lease_ && holder() == name_.identity; }

/// Another process holds it, and has renewed it lately.
bool LeaseMachine::is_taken(Time now) const {
  if (!lease_ || holder().empty() || is_ours()) return false;
  constexpr std::int64_t second_ms = 1'000;
  const Duration lasts{spec_number(*lease_, "leaseDurationSeconds") * second_ms};
  return observed_ + lasts > now;
}

std::string LeaseMachine::body(Time server_now, bool releases) const {
  JsonValue lease = lease_.value_or(JsonValue{});
  lease_member(lease, "apiVersion") = lease_value("coordination.k8s.io/v1");
  lease_member(lease, "kind") = lease_value("Lease");
  JsonValue& metadata = lease_member(lease, "metadata");
  lease_member(metadata, "name") = lease_value(name_.name);
  lease_member(metadata, "namespace") = lease_value(name_.namespace_name);
  const bool changes_hands = !is_ours();
  JsonValue& spec = lease_member(lease, "spec");
  constexpr std::int64_t second_ms = 1'000;
  const std::int64_t seconds = releases ? 1 : (times_.lease.ms + second_ms - 1) / second_ms;
  lease_member(spec, "holderIdentity") = lease_value(releases ? std::string{} : name_.identity);
  lease_member(spec, "leaseDurationSeconds").data = seconds;
  lease_member(spec, "renewTime") = lease_value(lease_time_text(server_now));
  if (changes_hands) {
    lease_member(spec, "acquireTime") = lease_value(lease_time_text(server_now));
    if (lease_) {
      lease_member(spec, "leaseTransitions").data = spec_number(*lease_, "leaseTransitions") + 1;
    }
  }
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(lease, writer);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

LeaseMachine::Call LeaseMachine::next(Time now, Time server_now) const {
  const std::string one = fmt::format("{}/{}", path(), percent_encoded(name_.name));
  const std::string query =
      fmt::format("?timeout={}&fieldManager=makeway", to_text(times_.write_timeout()));
  if (is_missing_) {
    return {.path = path() + query,
            .write = HttpWrite{"POST", "application/json", body(server_now, false)}};
  }
  if (is_stale_ || !lease_ || is_taken(now)) return {.path = one};
  return {.path = one + query,
          .write = HttpWrite{"PUT", "application/json", body(server_now, false)}};
}

std::optional<LeaseMachine::Call> LeaseMachine::release(Time server_now) const {
  if (!is_ours() || is_stale_) return std::nullopt;
  return Call{.path = fmt::format("{}/{}?timeout={}&fieldManager=makeway", path(),
                                  percent_encoded(name_.name), to_text(times_.write_timeout())),
              .write = HttpWrite{"PUT", "application/json", body(server_now, true)}};
}

void LeaseMachine::take(JsonValue lease, Time now) {
  const bool changed = !lease_ || lease_text_at(*lease_, "metadata", "resourceVersion") !=
                                      lease_text_at(lease, "metadata", "resourceVersion");
  if (changed) observed_ = now;
  lease_ = std::move(lease);
  is_missing_ = false;
  is_stale_ = false;
  pause_ = pause_in(*lease_);
}

void LeaseMachine::answered(const Call& call, const ApiResult<HttpAnswer>& result, Time sent,
                            Time now) {
  constexpr std::size_t bytes_max = 1U << 20U;
  due_ = now + times_.renews_every();
  const bool succeeded = result && result->status >= 200 && result->status < 300;
  std::optional<JsonValue> lease;
  if (succeeded && result->body.size() <= bytes_max) {
    auto tree = parse_json_value(result->body.view());
    if (tree && text_in(*tree, "kind") == "Lease") lease = std::move(*tree);
  }
  if (lease) {
    take(std::move(*lease), now);
    if (call.write && is_ours()) {
      renewed_ = sent;
      led_ = true;
    } else if (!is_taken(now)) {
      due_ = now;  // It may be had.
    }
    return;
  }
  // Whatever became of it, the lease is read next.
  is_stale_ = true;
  const bool is_gone = result && result->status == lease_is_missing && !call.write;
  is_missing_ = is_gone;
  if (is_gone) {
    lease_.reset();
    due_ = now;
  }
  const bool lost_race = call.write && result && result->status == lease_was_changed;
  // After so long without an answer there is no time left, and a new connection may get through.
  const bool was_silent = !result && result.error().failure == Failure::timeout;
  if (lost_race || was_silent) due_ = now;
}

bool LeaseMachine::leads(Time now) const {
  if (!renewed_ || now >= *renewed_ + times_.renewal_max()) return false;
  return !lease_ || is_ours();
}

std::optional<Time> LeaseMachine::fence() const {
  if (!renewed_ || (lease_ && !is_ours())) return std::nullopt;
  return *renewed_ + times_.fence();
}

// ---- The thread ---------------------------------------------------------------------------------

LeaseKeeper::LeaseKeeper(std::unique_ptr<Connection> connection, LeaseName name, LeaseTimes times,
                         WriteGate& gate, std::function<Time()> server_now,
                         std::function<void()> on_loss)
    : connection_(std::move(connection)),
      machine_(std::move(name), times),
      times_(times),
      gate_(gate),
      server_now_(std::move(server_now)),
      on_loss_(std::move(on_loss)) {
  thread_ = std::thread([this] { run(); });
}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  connection_->http().wake();
  thread_.join();
  gate_.close();
  if (const auto call = machine_.release(server_now_())) {
    [[maybe_unused]] const auto answer = send(*call);  // Without it, the lease runs out.
  }
}

ApiResult<HttpAnswer> LeaseKeeper::send(const LeaseMachine::Call& call) {
  const Asked asked{
      .request = fmt::format("{} {}{}", call.write ? call.write->method : "GET",
                             connection_->http().settings().server, call.path),
      .verb = call.write ? (call.write->method == "POST" ? "create" : "update") : "get",
      .api_group = "coordination.k8s.io",
      .resource = "leases"};
  auto request = connection_->api().request_for(call.path, asked);
  if (!request) return std::unexpected(request.error());
  request->write = call.write;
  request->whole_max = times_.write_timeout();
  auto answer = connection_->http().send(std::move(*request));
  if (answer && answer->status == 401) connection_->api().credentials().forget();
  return answer;
}

void LeaseKeeper::run() {
  for (;;) {
    const Time sent = monotonic_now();
    const LeaseMachine::Call call = machine_.next(sent, server_now_());
    const ApiResult<HttpAnswer> answer = send(call);
    const Time now = monotonic_now();
    machine_.answered(call, answer, sent, now);
    gate_.pause(machine_.pause());
    if (const auto fence = machine_.fence()) {
      gate_.open_until(*fence);
    } else {
      gate_.close();
    }
    const bool lost = machine_.was_lost(now);
    if (lost) gate_.close();
    if (lost && !lost_.exchange(true) && on_loss_) on_loss_();
    std::unique_lock lock(mutex_);
    leads_ = machine_.leads(now);
    holder_ = machine_.holder();
    trouble_ = lease_trouble(call, answer);
    changed_.notify_all();
    const Duration wait{std::max<std::int64_t>((machine_.due() - now).ms, 0)};
    changed_.wait_for(lock, std::chrono::milliseconds(wait.ms), [this] { return stops_; });
    if (stops_ || lost) return;
  }
}

bool LeaseKeeper::await_lead(Duration at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(at_most.ms), [this] {
    return leads_ || stops_;
  }) && leads_;
}

std::string LeaseKeeper::holder() const {
  const std::scoped_lock lock(mutex_);
  return holder_;
}

std::string LeaseKeeper::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

}  // namespace makeway::kube
