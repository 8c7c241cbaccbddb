#include "server/follower.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "server/thread_name.hpp"

namespace makeway::server {
namespace {

bool begins_anew(const std::deque<Seen>& mail) {
  return !mail.empty() && std::holds_alternative<SeenStart>(mail.front());
}

}  // namespace

Follower::Follower(std::vector<std::string> schedulers, Question turned, FollowerLimits limits,
                   Containment containment)
    : turned_(std::move(turned)),
      limits_(limits),
      containment_(containment),
      board_(std::move(schedulers)) {
  thread_ = std::thread([this] { run(); });
}

Follower::~Follower() { stop(); }

void Follower::stop() {
  std::deque<Question> dropped;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    std::swap(dropped, questions_);
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// ---- The loop's thread --------------------------------------------------------------------------

/// With the mutex held. The rules of a start are sent once; a base does not have them.
void Follower::lose_mail(std::deque<Seen>& thrown_away) {
  has_lost_ = true;
  ++overflows_;
  weight_ = 0;
  std::swap(mail_, thrown_away);
  if (!begins_anew(thrown_away)) return;
  mail_.push_back(std::move(thrown_away.front()));
  thrown_away.pop_front();
}

void Follower::put(Seen seen, std::size_t weight) {
  std::deque<Seen> thrown_away;  // Destroyed after the lock is released.
  const std::scoped_lock lock(mutex_);
  if (has_lost_) return;
  if (weight_ > 0 && weight_ + weight > limits_.changes_max) return lose_mail(thrown_away);
  weight_ += weight;
  mail_.push_back(std::move(seen));
}

void Follower::start(const LoopStart& start) {
  std::deque<Seen> thrown_away;  // The loop is shown everything anew, and so is this.
  const std::scoped_lock lock(mutex_);
  std::swap(mail_, thrown_away);
  weight_ = 0;
  is_first_ = true;
  has_lost_ = false;
  wants_base_ = false;
  mail_.emplace_back(SeenStart{.configuration = start.configuration,
                               .preset = std::string(start.preset),
                               .carries_out = start.carries_out});
}

void Follower::batch(const AppliedBatch& batch, const Cluster& cluster) {
  bool takes_base = false;
  bool is_first = false;
  {
    const std::scoped_lock lock(mutex_);
    takes_base = std::exchange(wants_base_, false);
    is_first = std::exchange(is_first_, false);
  }
  if (takes_base) {
    SeenBase base{.now = batch.now, .cluster = cluster.compacted()};
    const std::scoped_lock lock(mutex_);
    has_lost_ = false;
    wants_base_ = false;  // The thread may have asked again while it was copied.
    mail_.emplace_back(std::move(base));
    return;
  }
  const std::size_t count = batch.changes.size() + batch.effects.size();
  SeenBatch seen{.now = batch.now};
  seen.changes.reserve(count);
  seen.changes.insert(seen.changes.end(), batch.changes.begin(), batch.changes.end());
  seen.changes.insert(seen.changes.end(), batch.effects.begin(), batch.effects.end());
  // The first batch may be larger than any bound: it is everything, and copied once.
  put(std::move(seen), is_first ? 0 : 1 + count);
}

void Follower::cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) {
  SeenCycle seen = seen_cycle(cycle);
  const std::size_t weight = 1 + seen.answers.size();
  put(std::move(seen), weight);
}

// ---- Any thread ---------------------------------------------------------------------------------

bool Follower::ask(Question question) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_ending_ || questions_.size() >= limits_.questions_max) return false;
    questions_.push_back(std::move(question));
  }
  wakes_.notify_one();
  return true;
}

std::uint64_t Follower::overflows() const {
  const std::scoped_lock lock(mutex_);
  return overflows_;
}

// ---- Its own thread -----------------------------------------------------------------------------

/// False: it failed. Then everything is thrown away and taken anew, unless the loop began anew
/// itself in the meantime.
bool Follower::take(std::deque<Seen> mail) {
  const bool is_taken = attempt(containment_, "an event of the loop", [&] {
    for (Seen& seen : mail) {
      if (is_ending_) return;
      board_.take(std::move(seen));
    }
  });
  if (is_taken) return true;
  board_.invalidate();
  std::deque<Seen> thrown_away;
  const std::scoped_lock lock(mutex_);
  if (!begins_anew(mail_)) lose_mail(thrown_away);
  return false;
}

/// A question that is dropped gets its answer (503) from the destructor of HttpAnswer.
void Follower::answer(std::deque<Question> questions) {
  while (!questions.empty() && !is_ending_) {
    attempt(containment_, "a question to the board", [&] { questions.front()(board_); });
    questions.pop_front();
  }
}

void Follower::run() {
  name_thread("makeway-follow");
  const std::chrono::milliseconds turn(limits_.turn.ms);
  auto next_turn = std::chrono::steady_clock::now() + turn;
  std::int64_t turns_behind = 0;
  while (true) {
    std::deque<Seen> mail;
    std::deque<Question> questions;
    bool is_behind = false;
    {
      std::unique_lock lock(mutex_);
      wakes_.wait_until(lock, next_turn, [this] { return is_ending_ || !questions_.empty(); });
      if (is_ending_) return;
      std::swap(mail, mail_);
      std::swap(questions, questions_);
      weight_ = 0;
      is_behind = has_lost_;
      if (!is_behind) turns_behind = 0;
      wants_base_ = turns_behind >= limits_.turns_until_base;
    }
    if (!take(std::move(mail))) is_behind = true;
    if (is_behind) board_.fall_behind();
    answer(std::move(questions));
    const auto now = std::chrono::steady_clock::now();
    if (now < next_turn) continue;
    turns_behind += is_behind ? 1 : 0;
    attempt(containment_, "a frame", [this] { turned_(board_); });
    // A turn that takes long is followed by a longer rest: viewers cost a tenth of a core at most.
    const auto took = std::chrono::steady_clock::now() - now;
    next_turn = std::chrono::steady_clock::now() + std::max<decltype(took)>(turn, 9 * took);
  }
}

}  // namespace makeway::server
