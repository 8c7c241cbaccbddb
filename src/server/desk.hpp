// Desk: one thread for questions whose answers take long, such as reading a journal. One at a time;
// who comes when too many wait is sent away.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace makeway::server {

class Desk {
 public:
  explicit Desk(std::size_t waiting_max = 16) : waiting_max_(waiting_max) {}
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() { stop(); }

  /// False: too many wait, or it is closed.
  bool ask(std::function<void()> question);
  /// What is under way is finished, the others are dropped.
  void stop();

 private:
  void run();

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<std::function<void()>> questions_;
  bool is_closed_ = false;
  std::thread thread_;  ///< Begins with the first question.
};

}  // namespace makeway::server
