// PlaneQuestion: may we write to this plane? Asked on a thread of its own, so that a plane that
// does not answer keeps nobody from beginning.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kube/connection.hpp"
#include "kube/own_rights.hpp"

namespace makeway::cli {

class PlaneQuestion {
 public:
  /// Nobody else uses the connection until the question is gone, and nobody can ask on it then.
  explicit PlaneQuestion(kube::Connection& connection);
  PlaneQuestion(const PlaneQuestion&) = delete;
  PlaneQuestion& operator=(const PlaneQuestion&) = delete;
  /// Gives up what is not answered.
  ~PlaneQuestion();

  struct Answer {
    std::optional<kube::ApiError> error;  ///< Why nothing could be asked.
    std::vector<kube::Right> missing;
  };
  /// None: there was no answer at all until then. Whoever has begun to answer gets more time.
  std::optional<Answer> await(Time until);

 private:
  void run();

  kube::Connection& connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_heard_ = false;  ///< The server, or why there is none.
  std::optional<Answer> answer_;
  std::thread thread_;  ///< Last: it uses the others.
};

}  // namespace makeway::cli
