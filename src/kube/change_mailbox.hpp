// ChangeMailbox: where readers leave changes for the loop, and never wait for it.
//
// By kind, namespace and name; of several changes of one object the newest wins, so that it holds
// at most twice what the cluster holds, however late it is read. A removal and a new object of the
// same name are kept as both. So are the mark of a preemption and the removal of its pod: a shadow
// must know why the pod went. Any thread may put and take.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "codec/object_state.hpp"
#include "control/plane_view.hpp"
#include "control/port.hpp"
#include "model/object_at.hpp"

namespace makeway::kube {

class ChangeMailbox {
 public:
  /// With what a write must know of that very version of the object, if there will be writes.
  void put(Change change, std::optional<ObjectState> seen_object = std::nullopt);
  void put(DaemonSetNews news);
  void put(KubeletRefusal refusal);
  void put(DeploymentNews news);
  void put(AutoscalerNews news);
  /// Everything that is there, by kind, namespace and name.
  std::vector<Change> take() { return take_all().changes; }
  struct Taken {
    std::vector<Change> changes;
    std::vector<ObjectState> objects_seen;  ///< Of objects among them.
    LiveNews news;                          ///< Refusals in the order in which they came.
    PlaneNews plane_news;                   ///< By namespace and name.
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
  std::map<std::pair<std::string, std::string>, DeploymentNews> deployments_;
  std::map<std::pair<std::string, std::string>, AutoscalerNews> autoscalers_;
  std::function<void()> forward_;  ///< May be empty.
  std::atomic<bool> forwards_changes_ = false;
  bool is_woken_ = false;
};

}  // namespace makeway::kube
