// LiveFeed: the watches of a whole cluster on a thread of their own, and their changes in a
// mailbox.
//
// The thread never waits for the reader of the changes. It lists first, so the first changes are
// the whole cluster; `sees_all` says whether what was shown is current (SPEC 8: while it is not,
// nothing may be decided). A server that may be unreachable is first asked which kinds it serves,
// until it answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/change_mailbox.hpp"
#include "kube/connection.hpp"
#include "kube/resource_watch.hpp"
#include "kube/server_time.hpp"
#include "kube/watched_objects.hpp"

namespace makeway::kube {

struct FeedStatistics {
  std::uint64_t lists = 0;
  std::uint64_t failures = 0;
  std::uint64_t refused = 0;  ///< Objects with errors.
  std::size_t kinds = 0;
  std::size_t kinds_seen = 0;  ///< Of these, what is shown is current.
};

/// A kind that is not seen, and why.
struct MissingWatch {
  std::string_view resource;  ///< "pods"
  ApiError error;
};

/// Once every kind was asked for: whether one cannot be seen, and whether patience may help.
enum class WatchTrouble : std::uint8_t { none, passing, permanent };

class LiveFeed {
 public:
  /// The connection belongs to the feed's thread from now on. Objects are of that plane; empty:
  /// home.
  LiveFeed(std::unique_ptr<Connection> connection, const std::vector<ServedResource>& served,
           std::uint64_t jitter_seed, const WatchLimits& limits = {},
           FeedUse use = FeedUse::to_look, std::string plane = {});
  /// What to watch, of what is served; of nothing where that may not be asked.
  using Choose =
      std::function<std::vector<ServedResource>(const std::vector<ServedResource>& served)>;
  /// The server was not asked yet.
  LiveFeed(std::unique_ptr<Connection> connection, Choose choose, std::uint64_t jitter_seed,
           const WatchLimits& limits, FeedUse use, std::string plane);
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;
  ~LiveFeed();

  /// It is woken whenever a watch is lost or recovers.
  ChangeMailbox& mailbox() { return mailbox_; }
  bool sees_all() const { return sees_all_.load(); }
  /// By resource. A kind that was never asked for yet is not among them.
  std::vector<MissingWatch> missing() const;
  /// Permanent: a right or credentials are missing.
  WatchTrouble trouble() const;
  const ServerTime& server_time() const { return server_time_; }
  FeedStatistics statistics() const;

 private:
  /// Without watches and without a thread.
  LiveFeed(std::unique_ptr<Connection> connection, std::uint64_t jitter_seed,
           const WatchLimits& limits, FeedUse use, std::string plane);

  void run();
  void ask_what_is_served();
  void watch(const std::vector<ServedResource>& served);
  void look();

  std::unique_ptr<Connection> connection_;
  const std::uint64_t jitter_seed_;
  const WatchLimits limits_;
  const FeedUse use_;
  Choose choose_;  ///< Empty: they are chosen already.
  ChangeMailbox mailbox_;
  ServerTime server_time_;
  mutable std::mutex missing_mutex_;
  std::map<std::string_view, ApiError> missing_;  ///< By resource.
  WatchedObjects objects_;
  std::vector<std::unique_ptr<ResourceWatch>> watches_;
  std::atomic<bool> stops_ = false;
  std::atomic<bool> sees_all_ = false;
  std::atomic<std::uint64_t> lists_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::size_t> kinds_ = 0;  ///< 0: what is served is not known yet.
  std::atomic<std::size_t> kinds_seen_ = 0;
  std::thread thread_;  ///< Last: it uses the others.
};

}  // namespace makeway::kube
