// Desk: one thread for questions whose answers take long, such as reading a journal. One at a time;
// who comes when too many wait is sent away. A bug in a question costs that question.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "server/attempt.hpp"

namespace makeway::server {

class Desk {
 public:
  /// Whoever takes long looks now and then whether its end is wanted.
  using Question = std::function<void(const std::stop_token& ending)>;

  explicit Desk(Containment containment = {}, std::size_t waiting_max = 16)
      : containment_(containment), waiting_max_(waiting_max) {}
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() { stop(); }

  /// False: too many wait, or it is closed.
  bool ask(Question question);
  /// What is under way is told to end, the others are dropped.
  void stop();

 private:
  void run();

  const Containment containment_;
  const std::size_t waiting_max_;
  std::stop_source ending_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Question> questions_;
  bool is_closed_ = false;
  std::thread thread_;  ///< Begins with the first question.
};

}  // namespace makeway::server
