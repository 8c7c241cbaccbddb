// NaiveQueues: the queue stage as docs/decisions/0008-queues.md describes it, once more and
// naively. The judge's own computation of what each queue deserves, gives and receives; shares no
// code with the policy.
//
// Rules
//  1. Division: levels are tried, not filled: among all levels at which some share meets a bound,
//     the first one at which the shares reach the total; exact, in 128 bits.
//  2. The preemption stage is the text of the decision page, line by line, one resource at a time.
//  3. Where a pod belongs is read off the objects by name, pod by pod.
//  4. Which pods can leave a queue is up to EvictionRules. Under strict budgets the text leaves
//     open how budgets interact (`exact` is false then): numbers that depend on it are only
//     bounded.
//
// O(queues x resources x log queues + pods) time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/naive_regimes.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan_queue.hpp"

namespace makeway {

class NaiveWorld;

/// One participant of a division: min(max(weight x level, floor), cap).
struct NaiveClaimant {
  static constexpr std::int64_t no_cap = INT64_MAX;

  std::int64_t weight = 1;
  std::int64_t floor = 0;
  std::int64_t cap = no_cap;  ///< Not below the floor.
};

struct NaivePortion {
  std::int64_t amount = 0;
  std::int64_t down = 0;  ///< What it would get if nothing was rounded up.
};

/// The claimants come by name, and so do their portions.
std::vector<NaivePortion> naive_division(std::int64_t total,
                                         const std::vector<NaiveClaimant>& claimants);

/// One resource of a queue; see PlanQueueShare.
struct NaiveShare {
  std::int64_t deserved = 0;
  std::int64_t limit = NaiveClaimant::no_cap;
  std::int64_t before = 0;  ///< Allocated as the cycle found it.
  std::int64_t kept = 0;    ///< Of that, when it was given back and cut; claims begin there.
  std::int64_t allocated = 0;
  std::int64_t used = 0;
  std::int64_t leaving = 0;
  std::int64_t stuck = 0;  ///< Of that, what only its own queue counts as gone.
  std::int64_t pending = 0;
  std::int64_t recent = 0;    ///< Of that, of pods that may not evict others yet.
  std::int64_t recorded = 0;  ///< Preempting as the cycle found it.
  std::int64_t preempting = 0;
  std::int64_t movable = 0;   ///< Held by pods that may be evicted.
  std::int64_t governed = 0;  ///< Of these, what strict budgets may keep.
  std::int64_t sure = 0;      ///< Of what it deserves, that for which others may have to leave.

  std::int64_t demand() const { return used + pending; }
  /// Used by pods that are not leaving.
  std::int64_t healthy() const { return used - leaving; }
  /// What is still used when every pod has left that is leaving or may be evicted.
  std::int64_t stays() const { return healthy() - movable + stuck; }
  /// At least so much is allocated, where `least` was: a pod that cannot be evicted keeps its room,
  /// and a stuck pod takes no other's.
  std::int64_t in_fact(std::int64_t least, std::int64_t held) const {
    const std::int64_t own = std::max(least, healthy() - held);
    return std::max(own, std::min(healthy(), own) + stuck);
  }
  /// What others may have to leave for, and no queue has given yet.
  std::int64_t unserved(std::int64_t has) const { return sure - has; }
  /// Deserved only for recent pods: what older ones and running ones leave of the share.
  std::int64_t for_recent() const {
    const std::int64_t older = used + pending - recent;
    return deserved <= older ? 0 : std::min(recent, deserved - older);
  }
  /// What must leave; not positive: nothing.
  std::int64_t need() const { return healthy() + stuck - allocated; }
  std::int64_t over_before() const { return healthy() - before; }
};

struct NaiveQueue {
  std::string name;
  std::string parent;
  std::int64_t weight = 1;
  std::int32_t priority = 0;
  bool reclaimable = true;
  bool leaf = true;
  std::vector<std::size_t> children;  ///< By name.
  std::vector<PodIndex> bound;        ///< Its pods that are bound; in no order that means anything.
  std::vector<NaiveShare> shares;     ///< By divided resource.
};

/// What leaves a queue as one: a pod, or all pods of a group of mode `all`.
struct NaiveCandidate {
  std::size_t queue = 0;
  std::vector<PodIndex> pods;  ///< In no order that means anything.
};

struct NaiveQueues {
  static constexpr std::size_t none = SIZE_MAX;

  NaiveQueues(const Cluster& cluster, const Configuration& configuration, Time now);

  /// False: there are no queues, or they are not read.
  bool on() const { return !queues.empty(); }
  std::size_t find(std::string_view name) const;
  /// None: it is outside every queue.
  std::size_t queue_of(PodIndex pod) const;
  /// Infrastructure: no queue limits it.
  bool apart(PodIndex pod) const;
  /// Whether what the node has is divided.
  bool divided(NodeIndex node) const {
    return cluster_.nodes().flags[node].exists && cluster_.nodes().plane[node] == StringId{0} &&
           regimes_.of_node(node) == Regime::pods;
  }
  /// Bound to a node that is not divided.
  bool is_lost(PodIndex pod) const;
  /// What the pod asks for of each divided resource; nothing if it is lost.
  std::vector<std::int64_t> requests(PodIndex pod) const;
  std::vector<std::int64_t> sum(const std::vector<PodIndex>& pods) const;

  std::vector<ResourceIndex> resources;  ///< Divided; by name.
  std::vector<std::int64_t> totals;
  std::vector<NaiveQueue> queues;          ///< By name.
  std::vector<PlanQueueMove> moves;        ///< In no order that means anything.
  std::vector<NaiveCandidate> candidates;  ///< In no order that means anything.
  std::vector<PodIndex> outside;           ///< Bound pods of no queue; the same.
  std::vector<std::int64_t> outside_held;  ///< By resource: by them, or nominated to such pods.
  std::int64_t adopted = 0;                ///< Pods that nothing but the default queue takes.
  bool exact = true;

 private:
  void find_resources();
  void find_queues();
  std::size_t leaf(std::string_view name) const;
  std::size_t stated_queue(PodIndex pod) const;
  void find_homes();
  void find_totals();
  bool fits_some_node(NaiveWorld& world, PodIndex pod) const;
  void count_pods(Time now);
  void find_candidates(Time now);

  const Cluster& cluster_;
  const Configuration& configuration_;
  NaiveRegimes regimes_;
  std::vector<std::size_t> home_;  ///< By slot of the pod.
};

}  // namespace makeway
