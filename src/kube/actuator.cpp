#include "kube/actuator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kube/clocks.hpp"
#include "model/kinds.hpp"
#include "model/object_text.hpp"
#include "model/request.hpp"

namespace makeway::kube {

// ---- Planes -------------------------------------------------------------------------------------

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

/// How to ask for it: nothing is sent when the gate has closed meanwhile.
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

}  // namespace

/// What is on its way over one connection. One thread.
class WriteRequests {
 public:
  using Ended = std::function<void(std::uint64_t job, ApiResult<HttpAnswer> result)>;

  /// All outlive it. `timeout` is the server's for a write.
  WriteRequests(Connection& connection, Duration timeout, const WriteGate& gate, Ended ended)
      : connection_(connection), timeout_(timeout), gate_(gate), ended_(std::move(ended)) {}

  std::size_t size() const { return running_.size(); }
  /// Where the gate has closed meanwhile, that is the answer.
  void start(const Sending& sending) {
    ApiResult<HttpRequest> request = write_request(connection_, sending, timeout_, gate_);
    if (!request) return ended_(sending.job, std::unexpected(request.error()));
    auto answer = std::make_unique<Answer>(*this, sending.job);
    connection_.http().start(std::move(*request), *answer);
    running_.emplace(sending.job, std::move(answer));
  }
  void work(Duration at_most) {
    connection_.http().work(at_most);
    finished_.clear();
  }

 private:
  class Answer final : public HttpListener {
   public:
    Answer(WriteRequests& requests, std::uint64_t job) : requests_(requests), job_(job) {}

    bool bytes(std::string_view /*chunk*/) override { return false; }
    void ended(ApiResult<HttpAnswer> result) override { requests_.end(job_, std::move(result)); }

   private:
    WriteRequests& requests_;
    std::uint64_t job_;
  };

  void end(std::uint64_t job, ApiResult<HttpAnswer> result) {
    const auto found = running_.find(job);
    finished_.push_back(std::move(found->second));
    running_.erase(found);
    const bool is_stranger = result && result->status == unauthorized_status;
    if (is_stranger) connection_.api().credentials().forget();
    ended_(job, std::move(result));
  }

  Connection& connection_;
  const Duration timeout_;
  const WriteGate& gate_;
  const Ended ended_;
  std::map<std::uint64_t, std::unique_ptr<Answer>> running_;
  std::vector<std::unique_ptr<Answer>> finished_;  ///< Freed outside of their own calls.
};

/// Sends what is written to one plane, on a thread and a connection of its own, so that a plane
/// that does not answer keeps no other write waiting. A stop gives up what is under way.
class PlaneSender {
 public:
  /// The connection belongs to its thread from now on, which calls `ended`; the gate outlives it.
  PlaneSender(std::unique_ptr<Connection> connection, Duration timeout, const WriteGate& gate,
              WriteRequests::Ended ended)
      : connection_(std::move(connection)),
        requests_(*connection_, timeout, gate, std::move(ended)),
        thread_([this] { run(); }) {}
  PlaneSender(const PlaneSender&) = delete;
  PlaneSender& operator=(const PlaneSender&) = delete;
  ~PlaneSender() {
    stops_ = true;
    connection_->http().wake();
    thread_.join();
  }

  void send(Sending sending) {
    {
      const std::scoped_lock lock(mutex_);
      orders_.push_back(std::move(sending));
    }
    connection_->http().wake();
  }

 private:
  void run() {
    constexpr Duration step{1'000};
    while (!stops_) {
      std::vector<Sending> orders;
      {
        const std::scoped_lock lock(mutex_);
        orders.swap(orders_);
      }
      for (const Sending& sending : orders) requests_.start(sending);
      requests_.work(step);
    }
  }

  std::unique_ptr<Connection> connection_;
  WriteRequests requests_;
  std::mutex mutex_;
  std::vector<Sending> orders_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;  ///< Last: it uses the others.
};

// ---- The actuator -------------------------------------------------------------------------------

namespace {

/// What goes to planes is not waited for.
std::size_t steps_in(const PlanJobs& jobs) {
  return static_cast<std::size_t>(std::ranges::count_if(jobs.jobs, [](const WriteJob& job) {
    return job.urgency == Urgency::place && !job.steps.empty() && job.object.plane.empty();
  }));
}

}  // namespace

Actuator::Actuator(std::unique_ptr<Connection> connection, ActuatorSettings settings,
                   const WriteGate& gate, ActuatorTools tools, PlaneConnections planes)
    : connection_(std::move(connection)),
      settings_(std::move(settings)),
      gate_(gate),
      tools_(std::move(tools)),
      queue_(settings_.options, settings_.limits),
      requests_(std::make_unique<WriteRequests>(
          *connection_, settings_.options.timeout, gate_,
          [this](std::uint64_t job, const ApiResult<HttpAnswer>& result) {
            queue_.answered(job, result, monotonic_now());
          })),
      lost_(settings_.brakes ? settings_.brakes->capacity_grace : Duration{}),
      sessions_(settings_.sessions) {
  for (auto& [plane, connection_of_plane] : planes) {
    senders_.emplace(plane, std::make_unique<PlaneSender>(
                                std::move(connection_of_plane), settings_.options.timeout, gate_,
                                [this](std::uint64_t job, ApiResult<HttpAnswer> result) {
                                  {
                                    const std::scoped_lock lock(mutex_);
                                    plane_answers_.emplace_back(job, std::move(result));
                                  }
                                  connection_->http().wake();
                                }));
  }
  thread_ = std::thread([this] { run(); });
}

Actuator::~Actuator() {
  stops_ = true;
  connection_->http().wake();
  thread_.join();
}

// ---- The thread that calls ----------------------------------------------------------------------

void Actuator::saw(const std::vector<Change>& changes, std::vector<ObjectState>&& objects_seen) {
  std::uint64_t answers = 0;
  {
    const std::scoped_lock lock(mutex_);
    answers = answers_;
  }
  // They fill from when there is something to decide on, not from the first plan that evicts.
  if (settings_.brakes && !brakes_ && !changes.empty()) {
    brakes_.emplace(*settings_.brakes, tools_.server_now());
  }
  if (settings_.brakes) lost_.note(changes, tools_.server_now());
  const auto is_ours = [](const ObjectState& seen_object) {
    return is_own(row_of_kind(seen_object.kind));
  };
  if (std::ranges::any_of(objects_seen, is_ours)) is_stated_ = false;
  sessions_.saw(changes, objects_seen);
  cache_.take(changes, std::move(objects_seen), answers);
}

void Actuator::saw_plane(const PlaneState& seen_object, std::vector<ObjectState>&& objects_seen) {
  std::uint64_t answers = 0;
  {
    const std::scoped_lock lock(mutex_);
    answers = answers_;
    if (seen_object.sees) {
      blind_planes_.erase(seen_object.plane);
    } else {
      blind_planes_.insert(seen_object.plane);
    }
  }
  PlaneCache& plane = planes_[seen_object.plane];
  plane.sees = seen_object.sees;
  plane.objects.take(seen_object.changes, std::move(objects_seen), answers);
  plane.deployments.take(seen_object.updates);
}

void Actuator::reconcile(Time now) {
  PlanJobs jobs = sessions_.repairs(cache_, now);
  if (!jobs.jobs.empty()) order({.plan_now = now, .jobs = std::move(jobs)});
}

void Actuator::carry_out(const Plan& plan) {
  JobRules rules{.budgets = settings_.budgets, .names_causes = settings_.options.names_causes};
  if (settings_.brakes) {
    if (!brakes_) brakes_.emplace(*settings_.brakes, plan.now);
    rules.brake = [&](const PlanAsk& ask, const std::vector<const PlanAction*>& victims) {
      return brake(request_of(ask, victims), plan);
    };
  }
  PlanJobs jobs = jobs_of(plan, cache_, rules, planes_);
  sessions_.add_jobs(plan, cache_, rules.brake, jobs);
  if (!jobs.refused.empty()) {
    // At once: the loop must not decide meanwhile as if it had been sent.
    {
      const std::scoped_lock lock(mutex_);
      std::ranges::move(std::exchange(jobs.refused, {}), std::back_inserter(receipts_));
    }
    if (tools_.wake) tools_.wake();
  }
  if (jobs.jobs.empty()) return;
  jobs.heard = heard_;
  order({.plan = plan.id, .plan_now = plan.now, .jobs = std::move(jobs)});
}

void Actuator::order(Order order) {
  {
    const std::scoped_lock lock(mutex_);
    // Before its thread has looked: it must not seem forgotten.
    const std::size_t steps = steps_in(order.jobs);
    unsent_ += steps;
    if (steps > 0 && (!sending_since_ || order.plan_now < *sending_since_)) {
      sending_since_ = order.plan_now;
    }
    orders_.push_back(std::move(order));
    is_idle_ = false;
  }
  connection_->http().wake();
}

void Actuator::report_marks(const std::vector<MarkNotice>& notices) {
  PlanJobs jobs;
  for (const MarkNotice& notice : notices) {
    const bool is_group = notice.kind == ObjectKind::pod_group;
    const CachedObject* const seen = is_group ? cache_.group(notice.namespace_name, notice.name)
                                              : cache_.pod(notice.namespace_name, notice.name);
    if (seen == nullptr) continue;
    jobs.events.push_back({.regarding = seen->object,
                           .regarding_kind = is_group ? "PodGroup" : "Pod",
                           .is_warning = true,
                           .reason = "MarkNotHonoured",
                           .action = "Deciding",
                           .note = notice.note});
  }
  if (!jobs.events.empty()) order({.jobs = std::move(jobs)});
}

/// What was wrong before and is not any more is reported, too; of all others nothing.
void Actuator::report_findings(const OwnFindings& wrong) {
  if (is_stated_ && wrong == wrong_) return;
  wrong_ = wrong;
  is_stated_ = true;
  PlanJobs jobs;
  for (const CachedObject* const seen : cache_.all_own()) {
    const ObjectState& seen_object = seen->object;
    const std::optional<RefKind> kind = ref_kind(seen_object.kind);
    if (!kind) continue;
    ObjectRef object{
        .kind = *kind, .namespace_name = seen_object.namespace_name, .name = seen_object.name};
    const auto found = wrong.find(ref_text(object));
    if (found == wrong.end() && seen_object.condition(accepted_condition) == nullptr) continue;
    StatusPatch patch = acceptance(found == wrong.end() ? nullptr : &found->second);
    if (!changes(patch, seen_object)) continue;
    is_stated_ = false;  // Until a watch shows it.
    jobs.jobs.push_back({.urgency = Urgency::condition,
                         .object = std::move(object),
                         .seen = *seen,
                         .steps = {{.kind = WriteKind::patch_own, .patch = std::move(patch)}}});
  }
  if (!jobs.jobs.empty()) order({.jobs = std::move(jobs)});
}

EvictionRequest Actuator::request_of(const PlanAsk& ask,
                                     const std::vector<const PlanAction*>& victims) const {
  EvictionRequest request{.ask = ref_of(ask)};
  const CachedObject* asking = cache_.pod(ask.namespace_name, ask.name);
  if (ask.kind == AskKind::pod_group && !ask.placements.empty()) {
    asking = cache_.pod(ask.placements.front().namespace_name, ask.placements.front().name);
  }
  if (asking != nullptr) request.profile = asking->object.scheduler;
  // A queue has no scheduler of its own: its victims' counts.
  request.is_claim = ask.kind == AskKind::queue;
  if (ask.kind == AskKind::replica_schedule)
    return schedule_request_of(std::move(request), victims);
  if (request.is_claim && !victims.empty()) {
    asking = cache_.pod(victims.front()->namespace_name, victims.front()->name);
    if (asking != nullptr) request.profile = asking->object.scheduler;
  }
  request.rolls_back = ask.kind == AskKind::pod_group;
  request.victims.reserve(victims.size());
  for (const PlanAction* const victim : victims) {
    if (ask.kind == AskKind::session) {
      request.victims.push_back({.namespace_name = victim->namespace_name,
                                 .owner = victim->uid,
                                 .object = {.kind = RefKind::session,
                                            .namespace_name = victim->namespace_name,
                                            .name = victim->name}});
      continue;
    }
    const CachedObject* const seen = cache_.pod(victim->namespace_name, victim->name);
    const bool is_member = seen != nullptr && seen->object.group == ask.name &&
                           victim->namespace_name == ask.namespace_name;
    request.rolls_back = request.rolls_back && is_member;
    if (seen != nullptr && seen->object.leaving) continue;  // Nothing is sent for it.
    request.victims.push_back({.namespace_name = victim->namespace_name,
                               .owner = seen == nullptr ? std::string() : seen->object.owner_uid,
                               .object = pod_ref(victim->namespace_name, victim->name)});
  }
  return request;
}

/// Each step takes a pod of one Deployment in one plane; which one is not known yet.
EvictionRequest Actuator::schedule_request_of(EvictionRequest request,
                                              const std::vector<const PlanAction*>& steps) const {
  request.profile = {};     // No scheduler's: the configuration itself counts.
  request.is_claim = true;  // It may want more from one moment to the next.
  for (const PlanAction* const step : steps) {
    const std::string& plane = step->scale->plane;
    request.victims.push_back(
        {.namespace_name = step->namespace_name,
         .owner = fmt::format("{} {}/{}", plane, step->namespace_name, step->name),
         .object = {.kind = RefKind::deployment,
                    .namespace_name = step->namespace_name,
                    .name = step->name,
                    .plane = plane}});
  }
  return request;
}

BrakeAnswer Actuator::brake(EvictionRequest request, const Plan& plan) {
  request.plan = plan.id;
  const bool is_of_queue = request.is_claim && request.ask.kind == RefKind::queue;
  if (const auto lost = lost_.newest(plan.now); lost && is_of_queue) {
    return {.why = fmt::format("brake: node {} lost {} {} ago; no pod leaves for a queue within {} "
                               "of that, unless it comes back",
                               lost->node, lost->resource, to_text(plan.now - lost->since),
                               to_text(lost->until - lost->since)),
            .until = lost->until};
  }
  BrakeAnswer answer = brakes_->admit(request, plan.now);
  brake_alarms_ = brakes_->alarms();
  return answer;
}

std::vector<Receipt> Actuator::take_receipts() {
  std::vector<Receipt> receipts;
  {
    const std::scoped_lock lock(mutex_);
    receipts = std::exchange(receipts_, {});
    heard_ = statuses_refused_;
  }
  for (const Receipt& receipt : receipts) sessions_.refused(receipt);
  if (!brakes_) return receipts;
  for (const Receipt& receipt : receipts) brakes_->refused(receipt);
  return receipts;
}

std::optional<Time> Actuator::sending_since() const {
  const std::scoped_lock lock(mutex_);
  return sending_since_;
}

std::size_t Actuator::unsent() const {
  const std::scoped_lock lock(mutex_);
  return unsent_;
}

QueueStatistics Actuator::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

bool Actuator::await_idle(Duration at_most) {
  std::unique_lock lock(mutex_);
  return idle_changed_.wait_for(lock, std::chrono::milliseconds(at_most.ms),
                                [this] { return is_idle_; });
}

// ---- The thread ---------------------------------------------------------------------------------

void Actuator::run() {
  constexpr std::int64_t step_ms = 1'000;
  std::optional<Time> ends_at;
  for (;;) {
    const Time now = monotonic_now();
    if (stops_ && !ends_at) ends_at = now + settings_.stop_max;
    take_orders();
    take_plane_answers();
    if (stops_) queue_.drop(WriteQueue::Which::all, "it stops");
    obey_gate();
    if (ends_at && ((requests_->size() == 0 && away_.empty()) || now >= *ends_at)) break;
    send_what_is_due();
    publish();
    std::int64_t wait_ms = step_ms;
    if (const auto due = queue_.next_due(now)) wait_ms = std::min(wait_ms, (*due - now).ms);
    requests_->work(Duration{std::max<std::int64_t>(wait_ms, 0)});
  }
  publish();
}

void Actuator::take_orders() {
  std::vector<Order> orders;
  {
    const std::scoped_lock lock(mutex_);
    orders.swap(orders_);
  }
  const Time now = monotonic_now();
  for (Order& order : orders) queue_.add(order.plan, order.plan_now, std::move(order.jobs), now);
}

void Actuator::obey_gate() {
  if (!gate_.is_open(monotonic_now())) {
    return queue_.drop(WriteQueue::Which::all, "this process does not lead now");
  }
  const WritePause pause = gate_.paused();
  if (pause == WritePause::none) return;
  queue_.drop(pause == WritePause::all ? WriteQueue::Which::all : WriteQueue::Which::evictions,
              "makeway.dev/pause on the Lease says so");
}

void Actuator::send_what_is_due() {
  // What is on its way to planes does not count: a plane that does not answer holds up nothing
  // else.
  while (requests_->size() < settings_.sent_at_once) {
    const Time now = monotonic_now();
    const std::optional<Sending> sending = queue_.next(now, tools_.server_now());
    if (!sending) return;
    start(*sending);
  }
}

void Actuator::start(const Sending& sending) {
  if (!sending.plane.empty()) {
    away_.insert(sending.job);
    return senders_.at(sending.plane)->send(sending);
  }
  // Where the gate has closed since `obey_gate` it goes back, and is dropped there.
  requests_->start(sending);
}

void Actuator::take_plane_answers() {
  std::vector<std::pair<std::uint64_t, ApiResult<HttpAnswer>>> answers;
  std::set<std::string> blind;
  {
    const std::scoped_lock lock(mutex_);
    answers.swap(plane_answers_);
    blind = blind_planes_;
  }
  for (const auto& [job, result] : answers) {
    away_.erase(job);
    queue_.answered(job, result, monotonic_now());
  }
  for (const std::string& plane : blind) queue_.drop_plane(plane, "the plane is not seen");
}

void Actuator::publish() {
  std::vector<Receipt> receipts = queue_.take_receipts();
  const bool has_receipts = !receipts.empty();
  {
    const std::scoped_lock lock(mutex_);
    std::ranges::move(receipts, std::back_inserter(receipts_));
    statuses_refused_ = queue_.statuses_refused();
    answers_ = queue_.answers();
    statistics_ = queue_.statistics();
    sending_since_ = queue_.sending_since();
    unsent_ = queue_.unsent();
    for (const Order& order : orders_) {  // That came meanwhile.
      const std::size_t steps = steps_in(order.jobs);
      unsent_ += steps;
      if (steps > 0 && (!sending_since_ || order.plan_now < *sending_since_)) {
        sending_since_ = order.plan_now;
      }
    }
    is_idle_ = orders_.empty() && queue_.is_idle() && requests_->size() == 0 && away_.empty();
    if (is_idle_) idle_changed_.notify_all();
  }
  if (has_receipts && tools_.wake) tools_.wake();
}

}  // namespace makeway::kube
