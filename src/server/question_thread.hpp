// QuestionThread: one thread for questions whose answers take long, such as reading a journal. One
// at a time; a question is refused when too many wait. A bug in a question costs that question.
// Questions of connections that were closed are dropped: before they begin, and when they check, on
// the way.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "server/notices.hpp"

namespace makeway::server {

class QuestionThread {
 public:
  /// A long question checks now and then whether it is over: the connection was closed, or `stop`
  /// was called.
  using IsOver = std::function<bool()>;
  using Question = std::function<void(const IsOver& is_over)>;

  explicit QuestionThread(Containment containment = {}, std::size_t waiting_max = 16)
      : containment_(containment), waiting_max_(waiting_max) {}
  QuestionThread(const QuestionThread&) = delete;
  QuestionThread& operator=(const QuestionThread&) = delete;
  ~QuestionThread() { stop(); }

  /// False: too many wait, or it is closed. `has_left`: the connection was closed; from any thread.
  bool ask(Question question, IsOver has_left = never);
  /// The current question is asked to end, the others are dropped.
  void stop();

 private:
  struct Asked {
    Question question;
    IsOver has_left;
  };
  static bool never() { return false; }
  void run();

  const Containment containment_;
  const std::size_t waiting_max_;
  std::stop_source ending_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Asked> questions_;
  bool is_closed_ = false;
  std::thread thread_;  ///< Begins with the first question.
};

}  // namespace makeway::server
