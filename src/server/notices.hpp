// Notices: messages of other threads than the loop's for the log, without writing to it.
//
// Rules
//  1. Any thread reports; the run's own thread takes and logs them (RunLog has one writer).
//  2. Of each kind one is kept per `apart`: the first. Those like it are counted, and the next one
//     has their number. So a client cannot fill the log by repeating the same failure.
//  3. Kinds are fixed texts, and few.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/time.hpp"

namespace makeway::server {

struct Notice {
  std::string kind;
  std::string text;
  std::uint64_t kept_back = 0;  ///< Like it, since the last report.

  friend bool operator==(const Notice&, const Notice&) = default;
};

class Notices {
 public:
  static constexpr Duration apart{600'000};

  /// For tests: a clock that never goes back.
  explicit Notices(std::function<Time()> now = steady_now) : now_(std::move(now)) {}

  void report(std::string_view kind, std::string_view text) {
    const std::scoped_lock lock(mutex_);
    const Time now = now_();
    const auto [at, is_new] = kinds_.try_emplace(std::string(kind));
    Kind& of = at->second;
    if (!is_new && now - of.reported < apart) {
      ++of.kept_back;
      return;
    }
    news_.push_back({.kind = std::string(kind),
                     .text = std::string(text),
                     .kept_back = std::exchange(of.kept_back, 0)});
    of.reported = now;
    has_news_ = true;
  }

  /// Oldest first. Costs nothing where there are none.
  std::vector<Notice> take() {
    if (!has_news_) return {};
    const std::scoped_lock lock(mutex_);
    has_news_ = false;
    return std::exchange(news_, {});
  }

 private:
  struct Kind {
    Time reported;
    std::uint64_t kept_back = 0;
  };
  static Time steady_now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
  }

  std::function<Time()> now_;
  std::mutex mutex_;
  std::map<std::string, Kind> kinds_;
  std::vector<Notice> news_;
  std::atomic<bool> has_news_ = false;
};

// attempt: what viewers ask for never costs the scheduler its life (law 14).

struct Containment {
  /// False: bugs stop the process, so that tests hide none.
  bool contains_bugs = false;
  Notices* notices = nullptr;  ///< Gets what was contained; null: it is not reported.
};

/// False: it failed, by a bug of ours or for want of memory, and what it was working on cannot be
/// trusted. `kind` says at what, for the log.
template <class Work>
bool attempt(const Containment& containment, std::string_view kind, const Work& work) {
  if (!containment.contains_bugs) {
    work();
    return true;
  }
  try {
    const CheckContainment contained;
    work();
    return true;
  } catch (const std::exception& failure) {
    if (containment.notices != nullptr) containment.notices->report(kind, failure.what());
    return false;
  }
}

}  // namespace makeway::server
