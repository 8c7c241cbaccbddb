#include "server/question_thread.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/thread_name.hpp"

namespace makeway::server {

bool QuestionThread::ask(Question question, IsOver has_left) {
  std::deque<Asked> dropped;  // Destroyed after the lock is released.
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_) return false;
    if (questions_.size() >= waiting_max_) {
      const auto left = std::ranges::stable_partition(
          questions_, [](const Asked& each) { return !each.has_left(); });
      std::ranges::move(left, std::back_inserter(dropped));
      questions_.erase(left.begin(), left.end());
    }
    if (questions_.size() >= waiting_max_) return false;
    questions_.push_back({std::move(question), std::move(has_left)});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  wakes_.notify_one();
  return true;
}

void QuestionThread::stop() {
  std::deque<Asked> dropped;
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    ending_.request_stop();
    std::swap(dropped, questions_);
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void QuestionThread::run() {
  name_thread("makeway-answers");
  while (true) {
    Asked asked;
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [this] { return is_closed_ || !questions_.empty(); });
      if (is_closed_) return;
      asked = std::move(questions_.front());
      questions_.pop_front();
    }
    const IsOver is_over = [&] { return ending_.stop_requested() || asked.has_left(); };
    if (is_over()) continue;
    attempt(containment_, "a question to the journal", [&] { asked.question(is_over); });
  }
}

}  // namespace makeway::server
