// ChangeMailbox: where readers leave changes for the loop, and never wait for it.
//
// By kind, namespace and name; of several changes of one object the newest wins, so that it holds
// at most twice what the cluster holds, however late it is read. A removal and a new object of the
// same name are kept as both. So are the mark of a preemption and the removal of its pod: a shadow
// must know why the pod went. Any thread may put and take.
//
// LiveFeed: the watches of a whole cluster on a thread of their own, and their changes in a
// mailbox.
//
// The thread never waits for the reader of the changes. It lists first, so the first changes are
// the whole cluster; `sees_all` says whether what was shown is current (SPEC 8: while it is not,
// nothing may be decided). A server that may be unreachable is first asked which kinds it serves,
// until it answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "codec/object_state.hpp"
#include "control/plane_view.hpp"
#include "control/port.hpp"
#include "kube/clocks.hpp"
#include "kube/connection.hpp"
#include "kube/resource_watch.hpp"
#include "kube/watched_objects.hpp"
#include "model/object_at.hpp"

namespace makeway::kube {

class ChangeMailbox {
 public:
  /// With what a write must know of that very version of the object, if there will be writes.
  void put(Change change, std::optional<ObjectState> seen_object = std::nullopt);
  void put(DaemonSetUpdate update);
  void put(KubeletRefusal refusal);
  void put(DeploymentUpdate update);
  void put(AutoscalerUpdate update);
  /// Everything that is there, by kind, namespace and name.
  std::vector<Change> take() { return take_all().changes; }
  struct Taken {
    std::vector<Change> changes;
    std::vector<ObjectState> objects_seen;  ///< Of objects among them.
    LiveUpdates updates;                    ///< Refusals in the order in which they came.
    PlaneUpdates plane_updates;             ///< By namespace and name.
  };
  /// The object states are of the same moment as the changes.
  Taken take_all();
  /// Until there is something, at most that long. False: there is nothing.
  bool wait(Duration at_most);
  /// Until `wake`, whatever is there, at most that long.
  void wait_for_wake(Duration at_most);
  /// Ends the wait of another thread without a change; its next wait ends at once.
  void wake();
  /// Of a plane: the reader waits elsewhere, and is called from then on whenever this one is
  /// woken; after `forward_changes`, also whenever something is put.
  void forward(std::function<void()> call);
  void forward_changes() { forwards_changes_ = true; }

 private:
  struct Entry {
    Change newest;
    std::optional<ObjectState> seen_object = std::nullopt;  ///< Of the newest.
    bool was_removed = false;                               ///< Before that.
    /// Marked as preempted, before it was removed; comes first.
    std::optional<Pod> marked = std::nullopt;
  };
  /// Of refusals that are not taken only so many are kept: they save work, and no more.
  static constexpr std::size_t refusals_max = 10'000;

  bool is_empty() const {
    return entries_.empty() && daemon_sets_.empty() && kubelet_refusals_.empty() &&
           deployments_.empty() && autoscalers_.empty();
  }
  void changed();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ChangeKey, Entry> entries_;
  std::map<std::pair<std::string, std::string>, bool> daemon_sets_;  ///< Whether they exist.
  std::vector<KubeletRefusal> kubelet_refusals_;
  std::map<std::pair<std::string, std::string>, DeploymentUpdate> deployments_;
  std::map<std::pair<std::string, std::string>, AutoscalerUpdate> autoscalers_;
  std::function<void()> forward_;  ///< May be empty.
  std::atomic<bool> forwards_changes_ = false;
  bool is_woken_ = false;
};

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

/// After the first request for every kind: whether a kind cannot be watched, and whether a retry
/// may succeed.
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
