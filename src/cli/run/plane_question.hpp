// PlaneQuestion: may we write to this plane? Asked on a thread of its own, so that a plane that
// does not answer does not delay the start.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kube/connection.hpp"
#include "kube/own_rights.hpp"

namespace makeway::cli {

class PlaneQuestion {
 public:
  /// The connection makes no second attempt: its pause could not be cut short.
  explicit PlaneQuestion(std::unique_ptr<kube::Connection> connection);
  PlaneQuestion(const PlaneQuestion&) = delete;
  PlaneQuestion& operator=(const PlaneQuestion&) = delete;
  /// Gives up what is not answered, and waits until that is heard.
  ~PlaneQuestion();

  struct Answer {
    std::optional<kube::ApiError> error;  ///< Why nothing could be asked.
    std::vector<kube::Right> missing;
  };
  /// None: the server was not heard until `heard`, or the answer is not complete at `whole`.
  std::optional<Answer> await(Time heard, Time whole);
  /// It has begun to answer, or no answer will come.
  bool was_heard();
  /// Of several, the first does not keep the others waiting: call it for all before they are gone.
  void give_up();

 private:
  void run();

  std::unique_ptr<kube::Connection> connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_heard_ = false;  ///< The server, or why there is none.
  std::optional<Answer> answer_;
  std::thread thread_;  ///< Last: it uses the others.
};

}  // namespace makeway::cli
