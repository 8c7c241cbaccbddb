#include "cli/run/plane_runs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/check.hpp"
#include "kube/http_client.hpp"
#include "kube/resources.hpp"

namespace makeway::cli {
namespace {

std::chrono::milliseconds time_until(Time end) {
  return std::chrono::milliseconds((end - kube::monotonic_now()).ms);
}

}  // namespace

PlaneQuestion::PlaneQuestion(std::unique_ptr<kube::Connection> connection)
    : connection_(std::move(connection)) {
  CHECK(connection_->api().limits().attempts_max == 1);
  thread_ = std::thread([this] { run(); });
}

PlaneQuestion::~PlaneQuestion() {
  give_up();
  thread_.join();
}

void PlaneQuestion::give_up() { connection_->http().give_up(); }

bool PlaneQuestion::was_heard() {
  const std::scoped_lock lock(mutex_);
  return is_heard_;
}

void PlaneQuestion::run() {
  Answer answer;
  const auto served = connection_->api().discover();
  // A user without the right to discovery may still have the right to scale.
  const bool is_there = served || served.error().failure == kube::Failure::forbidden;
  {
    const std::scoped_lock lock(mutex_);
    is_heard_ = true;
  }
  changed_.notify_all();
  if (is_there) {
    answer.missing = kube::missing_rights(connection_->api(), kube::plane_rights());
  } else {
    answer.error = served.error();
  }
  {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
  }
  changed_.notify_all();
}

std::optional<PlaneQuestion::Answer> PlaneQuestion::await(Time heard, Time whole) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, time_until(heard), [this] { return is_heard_; })) {
    return std::nullopt;
  }
  changed_.wait_for(lock, time_until(whole), [this] { return answer_.has_value(); });
  return answer_;
}

namespace {

std::vector<std::string> names_of(const std::vector<PlaneParts>& planes) {
  std::vector<std::string> names;
  names.reserve(planes.size());
  for (const PlaneParts& plane : planes) names.push_back(plane.name);
  return names;
}

kube::ConnectionTools asked_once() {
  kube::ConnectionTools tools = kube::real_connection_tools();
  tools.limits.attempts_max = 1;
  return tools;
}

}  // namespace

PlaneRuns::PlaneRuns(std::vector<PlaneParts> planes, const Configuration& configuration,
                     RunLog& log, PlanePatience patience)
    : log_(log),
      patience_(patience),
      view_(names_of(planes), configuration.trust.mode == TrustMode::cluster) {
  for (PlaneParts& each : planes) {
    planes_.push_back(
        {.name = std::move(each.name), .connection = std::move(each.connection), .feed = {}});
  }
}

void PlaneRuns::log_plane_problem(std::string_view event, LogLevel level, const std::string& plane,
                                  const Problem& problem) {
  log_.write(level, event,
             {{"plane", plane},
              {"object", problem.object},
              {"field", problem.field},
              {"value", problem.value},
              {"reason", problem.message},
              {"remedy", problem.remedy}});
}

bool PlaneRuns::may_begin(bool writes) {
  for (const Plane& plane : planes_) {
    log_.write(LogLevel::info, "plane",
               {{"plane", plane.name}, {"server", plane.connection->http().settings().server}});
  }
  if (!writes) return true;
  std::vector<std::unique_ptr<PlaneQuestion>> questions;
  questions.reserve(planes_.size());
  for (const Plane& plane : planes_) {
    auto connection = connect(plane, asked_once());
    if (connection == nullptr) return false;
    questions.push_back(std::make_unique<PlaneQuestion>(std::move(connection)));
  }
  const Time begun = kube::monotonic_now();
  bool may = true;
  for (std::size_t at = 0; at < planes_.size(); ++at) {
    may = may_write(planes_[at], *questions[at], begun) && may;
  }
  for (const auto& question : questions) question->give_up();
  return may;
}

/// A plane without an answer does not delay the start.
bool PlaneRuns::may_write(Plane& plane, PlaneQuestion& question, Time begun) {
  const auto answer = question.await(begun + patience_.heard, begun + patience_.whole);
  if (!answer || answer->error) {
    const Problem silent{
        .object = plane.connection->http().settings().server,
        .message = fmt::format("no answer within {}; the run begins without this plane, and asks "
                               "until it answers",
                               to_text(question.was_heard() ? patience_.whole : patience_.heard)),
        .remedy = "is the API server running; is `server` right?"};
    log_plane_problem("plane-not-seen", LogLevel::warning, plane.name,
                      answer ? answer->error->problem : silent);
    plane.missing_logged = kube::monotonic_now();
    return true;
  }
  for (const kube::Right& right : answer->missing) {
    log_.write(LogLevel::error, "right-missing",
               {{"plane", plane.name},
                {"verb", right.verb},
                {"resource", right.resource},
                {"remedy", fmt::format("add the rule {} to a role of this user in that cluster "
                                       "(deploy/rbac-plane.yaml has all of them)",
                                       kube::rule_for(right))}});
  }
  return answer->missing.empty();
}

std::unique_ptr<kube::Connection> PlaneRuns::connect(const Plane& plane,
                                                     const kube::ConnectionTools& tools) {
  auto opened = kube::Connection::open(plane.connection->target(), tools);
  if (opened) return std::move(*opened);
  for (const Problem& problem : opened.error()) {
    log_plane_problem("no-connection", LogLevel::error, plane.name, problem);
  }
  return nullptr;
}

bool PlaneRuns::begin() {
  // The feed makes the pauses, and hears a stop meanwhile.
  const kube::ConnectionTools tools = asked_once();
  for (Plane& plane : planes_) {
    auto connection = connect(plane, tools);
    if (connection == nullptr) return false;
    plane.feed = std::make_unique<kube::LiveFeed>(std::move(connection), kube::plane_resources,
                                                  tools.jitter_seed, kube::WatchLimits{},
                                                  kube::FeedUse::to_schedule, plane.name);
  }
  return true;
}

kube::PlaneConnections PlaneRuns::connections() {
  kube::PlaneConnections all;
  for (const Plane& plane : planes_) {
    auto connection = connect(plane, kube::real_connection_tools());
    if (connection == nullptr) return {};
    all.emplace(plane.name, std::move(connection));
  }
  return all;
}

void PlaneRuns::join(kube::LivePort& port) {
  port.show_planes(view_);
  for (const Plane& plane : planes_) port.add_plane(plane.name, *plane.feed);
}

/// Each right that is missing; of everything else that is the same for all kinds, the first.
void PlaneRuns::log_missing(Plane& plane) {
  plane.missing_logged = kube::monotonic_now();
  bool was_logged = false;
  for (const kube::MissingWatch& each : plane.feed->missing()) {
    if (each.error.failure != kube::Failure::forbidden && std::exchange(was_logged, true)) continue;
    log_plane_problem("plane-not-seen", LogLevel::warning, plane.name, each.error.problem);
  }
}

void PlaneRuns::log_states() {
  bool is_listing = false;  // For the first time: what is not seen yet will be in a moment.
  for (Plane& plane : planes_) {
    const bool sees = plane.feed->sees_all();
    if (sees != plane.sees) {
      plane.sees = sees;
      if (sees) {
        log_.write(LogLevel::info, "plane-sight", {{"plane", plane.name}});
      } else {
        log_missing(plane);
        log_.write(LogLevel::warning, "plane-lost",
                   {{"plane", plane.name},
                    {"reason",
                     "nothing is written to it and its replicas are kept until it is "
                     "watched again"}});
      }
    }
    // Why a plane is not seen may be another reason by now.
    constexpr Duration repeated_after{60'000};
    const bool is_due = plane.missing_logged
                            ? kube::monotonic_now() >= *plane.missing_logged + repeated_after
                            : plane.feed->trouble() != kube::WatchTrouble::none;
    if (!sees && is_due) log_missing(plane);
    is_listing = is_listing || (!sees && !plane.missing_logged);
  }
  if (is_listing || view_.notes() == logged_notes_) return;
  for (const auto& [schedule, note] : view_.notes()) {
    const auto before = logged_notes_.find(schedule);
    if (before != logged_notes_.end() && before->second == note) continue;
    log_.write(LogLevel::warning, "schedule", {{"schedule", schedule}, {"reason", note.text}});
  }
  logged_notes_ = view_.notes();
}

void PlaneRuns::end() {
  for (Plane& plane : planes_) plane.feed.reset();
}

}  // namespace makeway::cli
