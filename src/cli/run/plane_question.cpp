#include "cli/run/plane_question.hpp"

#include <chrono>
#include <utility>

#include "kube/http_client.hpp"

namespace makeway::cli {

PlaneQuestion::PlaneQuestion(kube::Connection& connection) : connection_(connection) {
  thread_ = std::thread([this] { run(); });
}

PlaneQuestion::~PlaneQuestion() {
  connection_.http().give_up();
  thread_.join();
}

void PlaneQuestion::run() {
  Answer answer;
  const auto served = connection_.api().discover();
  // Who may not ask what is served may still scale.
  const bool is_there = served || served.error().failure == kube::Failure::forbidden;
  {
    const std::scoped_lock lock(mutex_);
    is_heard_ = true;
  }
  changed_.notify_all();
  if (is_there) {
    answer.missing = kube::missing_rights(connection_.api(), kube::plane_rights());
  } else {
    answer.error = served.error();
  }
  {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
  }
  changed_.notify_all();
}

std::optional<PlaneQuestion::Answer> PlaneQuestion::await(Time until) {
  constexpr std::chrono::seconds more_time{10};
  std::unique_lock lock(mutex_);
  const std::chrono::milliseconds wait((until - kube::monotonic_now()).ms);
  if (!changed_.wait_for(lock, wait, [this] { return is_heard_; })) return std::nullopt;
  changed_.wait_for(lock, more_time, [this] { return answer_.has_value(); });
  return answer_;
}

}  // namespace makeway::cli
