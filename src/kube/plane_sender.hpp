// PlaneSender: sends what is written to one plane, on a thread and a connection of its own, so that
// a plane that does not answer keeps no other write waiting.
//
// What is sent next and what an answer means is decided elsewhere (write_queue.hpp). A stop gives
// up what is under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kube/connection.hpp"
#include "kube/write_gate.hpp"
#include "kube/write_queue.hpp"

namespace makeway::kube {

/// How to ask for it: nothing is sent when the gate has closed meanwhile.
ApiResult<HttpRequest> write_request(Connection& connection, const Sending& sending,
                                     Duration timeout, const WriteGate& gate);

class PlaneSender {
 public:
  /// Called from its thread.
  using Ended = std::function<void(std::uint64_t job, ApiResult<HttpAnswer> result)>;

  /// The connection belongs to its thread from now on; the gate outlives it. `timeout` is the
  /// server's for a write.
  PlaneSender(std::unique_ptr<Connection> connection, Duration timeout, const WriteGate& gate,
              Ended ended);
  PlaneSender(const PlaneSender&) = delete;
  PlaneSender& operator=(const PlaneSender&) = delete;
  ~PlaneSender();

  void send(Sending sending);

 private:
  class Answer;

  void run();
  void start(const Sending& sending);
  void ended(std::uint64_t job, ApiResult<HttpAnswer> result);

  std::unique_ptr<Connection> connection_;
  const Duration timeout_;
  const WriteGate& gate_;
  const Ended ended_;
  std::map<std::uint64_t, std::unique_ptr<Answer>> running_;
  std::vector<std::unique_ptr<Answer>> finished_;  ///< Freed outside of their own calls.

  std::mutex mutex_;
  std::vector<Sending> orders_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;  ///< Last: it uses the others.
};

}  // namespace makeway::kube
