// VersionCache: the objects as the loop was last shown them, for the writes of its plans.
//
// A plan is guarded by the versions that it was decided on. Our own patches move these: each answer
// has a number, and a state that was read before the answer to our patch counts as the
// version in that answer (SPEC section 8: the newest version whose content the decision accepted).
// Not thread-safe.
//
// PlaneCache: a plane as the loop was last shown it, for the writes of its plans.
//
// What is restored after a crash: only what our own conditions on the server say (SPEC section
// 8).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/object_state.hpp"
#include "control/plane_view.hpp"
#include "model/objects.hpp"

namespace makeway::kube {

struct CachedObject {
  ObjectState object;
  std::uint64_t answers = 0;  ///< Of our patches, when it was taken.
};

/// A PersistentVolumeClaim as a bind must know it.
struct CachedClaim {
  ObjectState object;
  bool bound = false;
  std::string volume;         ///< Of a bound one.
  std::string selected_node;  ///< Where its volume is being made; empty: nowhere yet.
};

enum class NodeState : std::uint8_t { alive, out_of_service, gone };

class VersionCache {
 public:
  /// `answers`: how many of our patches were answered until now.
  void take(const std::vector<Change>& changes, std::vector<ObjectState> objects_seen,
            std::uint64_t answers);

  /// Null: nothing is known of it.
  const CachedObject* pod(std::string_view namespace_name, std::string_view name) const;
  const CachedObject* group(std::string_view namespace_name, std::string_view name) const;
  /// Of a kind of ours.
  const CachedObject* own(ObjectKind kind, std::string_view namespace_name,
                          std::string_view name) const;
  /// All of these, by kind and name.
  std::vector<const CachedObject*> all_own() const;
  /// As the server shows it; null: there is none.
  const Queue* queue(std::string_view name) const;
  const ReplicaStatus* replica_status(std::string_view namespace_name, std::string_view name) const;
  NodeState node(std::string_view name) const;
  /// Whether the members of the group leave together or not at all.
  bool leaves_whole(std::string_view namespace_name, std::string_view name) const;
  /// The claims for volumes that a pending pod uses; names, in its own namespace.
  const std::vector<std::string>& claims_of(std::string_view namespace_name,
                                            std::string_view name) const;
  const CachedClaim* claim(std::string_view namespace_name, std::string_view name) const;
  /// Whether it is bound to a volume that was shown. Claims and volumes come by two watches, and
  /// where a volume can be used is known from the volume alone.
  bool has_volume(const CachedClaim& claim) const {
    return claim.bound && volumes_.contains(claim.volume);
  }
  /// Pods with a nomination or a reservation of ours, by namespace and name.
  std::vector<const CachedObject*> promised() const;
  /// The one of these that has this name; null: it is none of them.
  const CachedObject* promised(std::string_view namespace_name, std::string_view name) const;
  /// How many pods with a nomination of ours are not bound.
  std::size_t awaiting() const { return awaiting_.size(); }
  std::size_t size() const { return pods_.size() + groups_.size(); }

 private:
  void take_pod(const Pod& pod);
  void forget(const Removal& gone);

  using Cache = std::map<std::string, CachedObject, std::less<>>;  ///< By "namespace/name".

  Cache pods_;
  Cache groups_;
  std::map<std::string, Queue, std::less<>> queues_;                         ///< By name.
  std::map<std::string, ReplicaStatus, std::less<>> schedules_;              ///< As pods are.
  std::map<ObjectKind, Cache> own_;                                          ///< Of our kinds.
  std::map<std::string, CachedClaim, std::less<>> claims_;                   ///< By the same.
  std::map<std::string, std::vector<std::string>, std::less<>> pod_claims_;  ///< By pod.
  std::set<std::string, std::less<>> volumes_;                               ///< By name.
  std::map<std::string, NodeState, std::less<>> nodes_;
  std::set<std::string, std::less<>> promised_;
  std::set<std::string, std::less<>> awaiting_;
  std::set<std::string, std::less<>> whole_groups_;  ///< With disruption mode `all`.
};

/// Whether the pod has a nomination, and our condition for the same node.
bool has_our_nomination(const ObjectState& pod);
/// Whether the pod waits with our condition that a node is reserved for it.
bool has_our_reservation(const ObjectState& pod);

struct PlaneCache {
  bool sees = false;  ///< What is known is current: something may be asked of it.
  VersionCache objects;
  DeploymentCache deployments;
};

using PlaneCaches = std::map<std::string, PlaneCache, std::less<>>;  ///< By plane.

/// A nomination without our condition for the same node is a hint of others and holds no room;
/// a reservation is our condition, its time the time of the reservation. Notes in annotations are
/// for people: any user that may write a pod may write those.
void recall(const ObjectState& seen_object, Pod& pod);

}  // namespace makeway::kube
