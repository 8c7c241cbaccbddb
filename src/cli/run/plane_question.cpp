#include "cli/run/plane_question.hpp"

#include <chrono>
#include <utility>

#include "base/check.hpp"
#include "kube/http_client.hpp"

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
  // Without the right to ask what is served we may still scale.
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

}  // namespace makeway::cli
