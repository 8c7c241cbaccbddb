// Follower: observes the loop and keeps a Board up to date on a thread of its own.
//
// Rules
//  1. The loop never waits for it: events of the loop are copied into a bounded mailbox. If the
//     follower cannot keep up, the mailbox is emptied, the board says that it is behind, and
//     after a while the next batch brings a copy of everything.
//  2. The thread wakes every `turn`, takes what came, and calls `turned`; a question
//     (`ask`) wakes it at once. Questions are bounded, too.
//  3. A copy costs the loop time linear in the changes. Only the copy of everything costs more, and
//     it is made after an overflow only, not more often than every few seconds.
//  4. A bug in a question costs that question; one in an event is handled like an overflow. Both
//     are reported at a limited rate (notices.hpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "control/loop_watcher.hpp"
#include "server/board.hpp"
#include "server/notices.hpp"

namespace makeway::server {

struct FollowerLimits {
  Duration turn{500};
  std::size_t changes_max = 200'000;  ///< Of objects, and asks of cycles, in the mailbox.
  std::size_t questions_max = 256;
  std::int64_t turns_until_base = 10;  ///< After an overflow.
};

class Follower final : public LoopWatcher {
 public:
  using Question = std::function<void(Board&)>;

  /// `turned` is called on the follower's thread.
  Follower(std::vector<std::string> schedulers, Question turned, FollowerLimits limits = {},
           Containment containment = {});
  ~Follower() override;

  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  /// Asked on the follower's thread, after what came before it was taken. False: too many wait.
  bool ask(Question question);
  std::uint64_t overflows() const;
  /// Ends its thread; later questions are refused.
  void stop();

 private:
  void put(Seen seen, std::size_t weight);
  void lose_mail(std::deque<Seen>& thrown_away);
  void run();
  bool take(std::deque<Seen> mail);
  void answer(std::deque<Question> questions);

  const Question turned_;
  const FollowerLimits limits_;
  const Containment containment_;
  Board board_;  ///< Of the follower's thread.

  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  // Behind the mutex:
  std::deque<Seen> mail_;
  std::size_t weight_ = 0;
  std::deque<Question> questions_;
  std::atomic<bool> is_ending_ = false;  ///< Also looked at between two questions.
  bool is_first_ = false;                ///< The next batch is the first since the start.
  bool has_lost_ = false;                ///< Mail was thrown away, and no base was taken since.
  bool wants_base_ = false;              ///< The next batch is to bring everything.
  std::uint64_t overflows_ = 0;

  std::thread thread_;
};

}  // namespace makeway::server
