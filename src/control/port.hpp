// Port: the one seam between the loop and a world that carries out plans.
//
// The simulator and Kubernetes implement it, so both are driven by the very same loop. What comes
// in are changes of objects, as a watch shows them; what goes out are plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/object_ref.hpp"
#include "model/objects.hpp"
#include "model/plan.hpp"

namespace makeway {

/// An action that was not carried out.
struct Receipt {
  std::string plan;  ///< The plan's id.
  ObjectRef object;
  std::string reason;  ///< "the node has no room for it", "it is gone", ...
  std::optional<ObjectRef> ask = std::nullopt;  ///< Of an eviction: the ask that needs the room.
  bool uncertain = false;                       ///< It may have been carried out all the same.
  bool awaits_volume = false;                   ///< Of a bind: a volume is not made yet.
  /// From then on the same is not refused for this reason any more; none: that is not known.
  std::optional<Time> again_at = std::nullopt;

  /// A brake, or a volume that is being made: not a refusal of the cluster.
  bool ends_by_itself() const { return again_at.has_value() || awaits_volume; }
  /// The ask that has to be tried again: of a bind it is the pod itself.
  const ObjectRef& concerned() const { return ask ? *ask : object; }

  friend bool operator==(const Receipt&, const Receipt&) = default;
};

/// A DaemonSet that exists or was removed. The store does not keep DaemonSets; the trust rules need
/// them.
struct DaemonSetUpdate {
  std::string namespace_name;
  std::string name;
  bool exists = true;

  friend bool operator==(const DaemonSetUpdate&, const DaemonSetUpdate&) = default;
};

/// A kubelet did not run a pod that was bound to its node (SPEC section 8).
struct KubeletRefusal {
  std::string pod;    ///< "default/web-1"
  std::string owner;  ///< The uid of its controller; empty: it has none.
  std::string node;
  std::string reason;  ///< "OutOfcpu"

  friend bool operator==(const KubeletRefusal&, const KubeletRefusal&) = default;
};

/// What a live cluster reports besides its objects.
struct LiveUpdates {
  std::vector<DaemonSetUpdate> daemon_sets;
  std::vector<KubeletRefusal> kubelet_refusals;
};

/// Everything that is new since the last poll.
struct Batch {
  Time now;  ///< Never goes back.
  std::vector<Change> changes;
  std::vector<Receipt> receipts;
  /// Plans of that time or later may have actions that are not answered yet; none: all are.
  std::optional<Time> sending_since = std::nullopt;
  bool ended = false;  ///< Nothing will ever happen any more, unless a plan makes it happen.
  /// What was shown may be old (SPEC section 8, stale or missing watches), or too much of what was
  /// decided is still unsent: nothing may be decided on it.
  bool blind = false;
};

class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  Port(Port&&) = delete;
  Port& operator=(Port&&) = delete;
  virtual ~Port() = default;

  /// Returns when something has changed, at the latest at the deadline.
  virtual Batch poll(Time deadline) = 0;
  virtual void submit(const Plan& plan) = 0;
};

}  // namespace makeway
