#include "kube/plane_sender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kube/system_clock.hpp"
#include "model/kinds.hpp"

namespace makeway::kube {
namespace {

constexpr int unauthorized_status = 401;

std::string verb_of(const Sending& sending) {
  const std::string& method = sending.call.write.method;
  if (sending.reads || method.empty()) return "get";
  if (method == "POST") return "create";
  return method == "PATCH" ? "patch" : "delete";
}

std::string resource_of(const WriteCall& call) {
  switch (call.kind) {
    case WriteKind::bind: return "pods/binding";
    case WriteKind::patch_pod: return "pods/status";
    case WriteKind::evict: return "pods/eviction";
    case WriteKind::patch_group: return "podgroups/status";
    case WriteKind::event: return "events";
    case WriteKind::select_node: return "persistentvolumeclaims";
    case WriteKind::patch_own: return call.own_resource;
    case WriteKind::read_scale:
    case WriteKind::scale: return "deployments/scale";
    case WriteKind::create_pod:
    case WriteKind::erase:
    case WriteKind::await: break;
  }
  return "pods";
}

std::string_view group_of(const WriteCall& call) {
  if (call.kind == WriteKind::read_scale || call.kind == WriteKind::scale) return "apps";
  return call.own_resource.empty() ? std::string_view{} : own_api_group;
}

}  // namespace

ApiResult<HttpRequest> write_request(Connection& connection, const Sending& sending,
                                     Duration timeout, const WriteGate& gate) {
  const bool writes = !sending.reads && !sending.call.write.method.empty();
  if (writes && !gate.is_open(monotonic_now())) {
    return std::unexpected(
        ApiError{.failure = Failure::refused, .problem = {.message = "the gate has closed"}});
  }
  const std::string& path = sending.reads ? sending.call.read_path : sending.call.path;
  const Asked asked{.request = fmt::format("{} {}{}", writes ? sending.call.write.method : "GET",
                                           connection.http().settings().server, path),
                    .verb = verb_of(sending),
                    .api_group = std::string(group_of(sending.call)),
                    .resource = resource_of(sending.call)};
  ApiResult<HttpRequest> request = connection.api().request_for(path, asked);
  if (!request) return request;
  // The server ends at its deadline; its answer may take a little longer.
  request->whole_max = Duration{timeout.ms * 3 / 2};
  if (!writes) return request;
  request->write = sending.call.write;
  // Connecting counts: nothing leaves for the server when the gate has closed meanwhile.
  request->connect_max = std::min(timeout, gate.open_for(monotonic_now()));
  return request;
}

class PlaneSender::Answer final : public HttpListener {
 public:
  Answer(PlaneSender& sender, std::uint64_t job) : sender_(sender), job_(job) {}

  bool bytes(std::string_view /*chunk*/) override { return false; }
  void ended(ApiResult<HttpAnswer> result) override { sender_.ended(job_, std::move(result)); }

 private:
  PlaneSender& sender_;
  std::uint64_t job_;
};

PlaneSender::PlaneSender(std::unique_ptr<Connection> connection, Duration timeout,
                         const WriteGate& gate, Ended ended)
    : connection_(std::move(connection)), timeout_(timeout), gate_(gate), ended_(std::move(ended)) {
  thread_ = std::thread([this] { run(); });
}

PlaneSender::~PlaneSender() {
  stops_ = true;
  connection_->http().wake();
  thread_.join();
}

void PlaneSender::send(Sending sending) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.push_back(std::move(sending));
  }
  connection_->http().wake();
}

void PlaneSender::run() {
  constexpr Duration step{1'000};
  while (!stops_) {
    std::vector<Sending> orders;
    {
      const std::scoped_lock lock(mutex_);
      orders.swap(orders_);
    }
    for (const Sending& sending : orders) start(sending);
    connection_->http().work(step);
    finished_.clear();
  }
}

void PlaneSender::start(const Sending& sending) {
  ApiResult<HttpRequest> request = write_request(*connection_, sending, timeout_, gate_);
  if (!request) return ended_(sending.job, std::unexpected(request.error()));
  auto answer = std::make_unique<Answer>(*this, sending.job);
  connection_->http().start(std::move(*request), *answer);
  running_.emplace(sending.job, std::move(answer));
}

void PlaneSender::ended(std::uint64_t job, ApiResult<HttpAnswer> result) {
  const auto found = running_.find(job);
  finished_.push_back(std::move(found->second));
  running_.erase(found);
  const bool is_stranger = result && result->status == unauthorized_status;
  if (is_stranger) connection_->api().credentials().forget();
  ended_(job, std::move(result));
}

}  // namespace makeway::kube
