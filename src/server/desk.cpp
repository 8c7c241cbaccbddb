#include "server/desk.hpp"

#include <utility>

#include "server/thread_name.hpp"

namespace makeway::server {

bool Desk::ask(Question question) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_ || questions_.size() >= waiting_max_) return false;
    questions_.push_back(std::move(question));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  wakes_.notify_one();
  return true;
}

void Desk::stop() {
  std::deque<Question> dropped;
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    ending_.request_stop();
    std::swap(dropped, questions_);
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Desk::run() {
  name_thread("makeway-desk");
  while (true) {
    Question question;
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [this] { return is_closed_ || !questions_.empty(); });
      if (is_closed_) return;
      question = std::move(questions_.front());
      questions_.pop_front();
    }
    attempt(containment_, "a question to the journal", [&] { question(ending_.get_token()); });
  }
}

}  // namespace makeway::server
