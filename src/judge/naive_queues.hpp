// NaiveQueues: the queue stage as docs/decisions/0008-queues.md tells it, once more and naively.
// The judge's own idea of who deserves, gives and receives what; shares no code with the policy.
//
// Rules
//  1. Division: levels are tried, not filled: among all levels at which some share meets a bound,
//     the first one at which the shares reach the total; exact, in 128 bits.
//  2. The preemption stage is the text of the decision page, line by line, one resource at a time.
//  3. Who can leave a queue is asked of EvictionRules. Under strict budgets the text leaves open
//     how budgets meet (`exact` is false then): numbers that depend on it are only bounded.
//
// O(queues x resources x log queues + pods) time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan_queue.hpp"

namespace makeway {

/// Who takes part in a division: min(max(weight x level, floor), cap).
struct NaiveClaimant {
  static constexpr std::int64_t no_cap = INT64_MAX;

  std::int64_t weight = 1;
  std::int64_t floor = 0;
  std::int64_t cap = no_cap;  ///< Not below the floor.
};

struct NaivePortion {
  std::int64_t amount = 0;
  bool rounded = false;  ///< What it would get is no whole number.
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
  std::int64_t pending = 0;
  std::int64_t recent = 0;    ///< Of that, of pods that may not make others leave yet.
  std::int64_t recorded = 0;  ///< Preempting as the cycle found it.
  std::int64_t preempting = 0;
  std::int64_t movable = 0;   ///< Held by pods that may be made to leave.
  std::int64_t governed = 0;  ///< Of these, what strict budgets may keep.
  bool rounded = false;

  std::int64_t demand() const { return used + pending; }
  /// What is still used when everybody has left who is leaving or may be made to.
  std::int64_t stays() const { return used - leaving - movable; }
  /// Deserved for nobody but recent pods: what older ones and running ones leave of the share.
  std::int64_t for_recent() const {
    const std::int64_t older = used + pending - recent;
    return deserved <= older ? 0 : std::min(recent, deserved - older);
  }
  /// What must leave; not positive: nothing.
  std::int64_t need() const { return used - leaving - allocated; }
  std::int64_t over_before() const { return used - leaving - before; }
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
  std::size_t queue_of(PodIndex pod) const;
  /// Bound to a node that is not there.
  bool is_lost(PodIndex pod) const;
  /// What the pod asks for of each divided resource; nothing if it is lost.
  std::vector<std::int64_t> requests(PodIndex pod) const;
  /// How much of a difference counts as rounding.
  std::int64_t tolerance(std::size_t queue, std::size_t column) const;

  std::vector<ResourceIndex> resources;  ///< Divided; by name.
  std::vector<std::int64_t> totals;
  std::vector<NaiveQueue> queues;          ///< By name.
  std::vector<PlanQueueMove> moves;        ///< In no order that means anything.
  std::vector<NaiveCandidate> candidates;  ///< In no order that means anything.
  bool exact = true;

 private:
  void find_resources();
  void find_queues();
  bool fits_some_node(PodIndex pod) const;
  void count_pods(Time now);
  void find_candidates(Time now);
  void recall_default();
  std::string_view queue_name(PodIndex pod) const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  std::vector<std::size_t> by_name_;  ///< By the id of the name; that of no name: the default.
};

}  // namespace makeway
