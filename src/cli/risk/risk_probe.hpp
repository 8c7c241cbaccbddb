// What is asked about a running pod: plans for questions, the asks that would evict it, what would
// protect it, and the units that stop with it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/plan/plan_maker.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

// PlanQuestions: plans for questions. Every answer went through the judge like any other plan; a
// plan that shows a bug of ours, or cannot be made, ends the questions.

class PlanQuestions {
 public:
  PlanQuestions(Time now, std::span<const WorkloadPods> workloads, const PlanTools& tools)
      : now_(now), workloads_(workloads), tools_(tools) {}

  /// For everything that is pending. None: `failure` says why.
  std::optional<Plan> today(const Cluster& cluster, const ConfigurationDocument& configuration,
                            bool explain = false);

  /// For one pod, whatever else is pending; to its node if one is given. With queues their claims
  /// are in the plan.
  std::optional<Plan> for_pod(const Cluster& cluster, const ConfigurationDocument& configuration,
                              const PodPlacement& place);

  /// The same, what it says of the pod.
  std::optional<PlanAsk> for_pod_on(const Cluster& cluster,
                                    const ConfigurationDocument& configuration,
                                    const PodPlacement& place);

  Time now() const { return now_; }
  std::int64_t asked() const { return asked_; }
  bool shows_bug() const { return shows_bug_; }
  /// Lines for standard error.
  const std::string& bug() const { return bug_; }
  const Problems& problems() const { return problems_; }

 private:
  std::optional<Plan> make(const PlanCase& item);

  Time now_;
  std::span<const WorkloadPods> workloads_;
  const PlanTools& tools_;
  PlanTiming timing_;
  BugFiles bug_files_;
  std::int64_t asked_ = 0;
  bool shows_bug_ = false;
  std::string bug_;
  Problems problems_;
};

// EvictionProbe: which asks would evict one running pod? It repeatedly puts a made-up ask on the
// pod's node and reads the victims from the plan.
//
// The ask names one resource besides `pods`: of those that the pod holds, the one of which it has
// the largest part of its node. It tolerates every taint, is in the pod's queue and has waited for
// as long as `engine.preemptionDelay` wants.
//
//  1. The most that an ask of priority P gets there is found by bisection. Such an ask evicts every
//     pod that may leave for P and holds the resource, so it shows whether the pod is among them.
//  2. The lowest P is one above the pod's own preemption priority; if that is not enough, it is
//     one above the priority of some other pod or group there.
//  3. The victims of an ask change only where one more set of pods is too small for it. So the
//     smallest ask lies just above what is free with some of the pods gone; all these sums are
//     tried, the smallest first. If there are too many of them, the sums of the pods before this
//     one in the eviction order are tried, and then bisection: victims need not grow with the ask,
//     so that is only the smallest that was found.
//  4. Queues take from each other whatever the priorities, and not on one node. So an ask for as
//     much as the whole node has, and one for as much as the pod holds, is tried in each of the
//     other queues, as far as there are not too many.
// At most some hundred plans for one ask on one node.

/// An ask that evicts the pod.
struct EvictingAsk {
  std::int32_t priority = 0;
  std::int64_t amount = 0;  ///< Of the probe's resource.
  PlanAsk answer;
  bool is_smallest = false;  ///< No smaller one of that priority evicts it.
};

/// An ask in another queue.
struct QueueTrial {
  std::string queue;
  std::int64_t amount = 0;  ///< Of the probe's resource.
  bool takes = false;       ///< The pod leaves, for that ask or for its queue.
};

struct QueueTrials {
  std::vector<QueueTrial> tried;  ///< By name; of a queue that takes nothing, the larger ask.
  std::size_t not_tried = 0;      ///< More queues than these.
};

class EvictionProbe {
 public:
  /// All of them must outlive it. The cluster has one more pod while a question is asked.
  EvictionProbe(Cluster& cluster, PodIndex pod, const ConfigurationDocument& configuration,
                PlanQuestions& questions);

  /// Empty: the pod holds nothing that an ask could want.
  const std::string& resource() const { return resource_; }
  std::int64_t held() const { return held_; }          ///< Of the resource, by the pod.
  const std::string& queue() const { return queue_; }  ///< Empty: the pod is in none.

  /// The node has as many pods as it may.
  bool has_no_place() const { return has_no_place_; }
  /// What an ask gets there, now or soon, without evictions.
  std::int64_t free();
  /// The ask of the lowest priority that evicts the pod; none: no ask does.
  std::optional<EvictingAsk> lowest_priority();
  /// The lowest priority of a pod that can run on this node only (SPEC section 5) and evicts it:
  /// `any_priority`, or the pod's own; none: neither.
  std::optional<std::int32_t> lowest_pinned_priority();
  static constexpr std::int32_t any_priority = std::numeric_limits<std::int32_t>::min();
  /// The smallest of that priority.
  EvictingAsk smallest(const EvictingAsk& known);

  /// What asks in other queues do; nothing where the pod is in none.
  QueueTrials other_queues();

  /// What the ask would do under another configuration, or after the cluster has changed.
  std::optional<PlanAsk> ask_again(const EvictingAsk& known,
                                   const ConfigurationDocument& configuration);
  bool evicts(const PlanAsk& answer) const;
  /// Why not even the highest priority evicts it, as a plan says it; empty: no plan does.
  std::string why_it_stays();

 private:
  std::optional<PlanAsk> ask(std::int32_t priority, std::int64_t amount) {
    return ask(priority, amount, configuration_);
  }
  std::optional<PlanAsk> ask(std::int32_t priority, std::int64_t amount,
                             const ConfigurationDocument& configuration);
  Pod made_up(std::int32_t priority, std::int64_t amount) const;
  bool taken_by_queue(const std::string& queue, std::int64_t amount);
  /// At once, or soon.
  bool finds_place(const PlanAsk& answer) const;
  /// The largest ask of this priority that finds a place.
  std::int64_t largest(std::int32_t priority);
  std::optional<EvictingAsk> evicting(std::int32_t priority);
  std::vector<std::int32_t> priorities_above(std::int32_t priority) const;
  std::optional<std::vector<std::int64_t>> sums_below(std::int64_t limit) const;
  std::vector<std::int64_t> sums_in_line() const;
  EvictingAsk smallest_found(const EvictingAsk& known);

  Cluster& cluster_;
  const ConfigurationDocument& configuration_;
  PlanQuestions& questions_;
  PodIndex pod_;
  std::string namespace_name_;
  std::string name_;
  std::string node_;
  std::string queue_;
  std::string resource_;
  std::int64_t held_ = 0;
  std::int64_t allocatable_ = 0;
  std::int64_t unrequested_ = 0;  ///< Of the resource on the node, whatever else is short.
  bool has_no_place_ = false;
  std::optional<std::int64_t> free_;
  bool pinned_ = false;  ///< The made-up ask can run on this node only.
};

// What would protect a pod? Changes one thing at a time, asks the engine again, and changes it
// back.
//
// Asked is today's plan where there is a taker, else the made-up ask.

struct ProtectionTrial {
  std::string change;  ///< "annotation makeway.dev/allow-preemption: \"false\""
  bool protects = false;
  std::string result;      ///< "stays; shop/other leaves instead"
  std::string stops_with;  ///< It is not evicted and stops with this unit; empty: it runs on.
};

/// What the trials are made with; `today` is the plan of the unchanged cluster.
struct TrialSettings {
  Cluster& cluster;
  PodIndex pod;
  const ConfigurationDocument& configuration;
  const Plan& today;
  const PlanAsk* taker =
      nullptr;  ///< Of `today`, the ask that evicts or stops it; null: none does.
  const EvictingAsk* smallest = nullptr;  ///< Counts where there is no taker; null: none evicts.
};

/// None of them is tried if no ask evicts the pod.
std::vector<ProtectionTrial> try_protections(const TrialSettings& settings, EvictionProbe& probe,
                                             PlanQuestions& questions);

// What becomes of a running pod when others of its JobSet, its gang, its group of a
// LeaderWorkerSet,
// ... leave: it may stay where it is and still be of no use (SPEC section 7). A gang below its
// minimum runs on degraded, or leaves if its PodGroup says so (section 2).

enum class UnitFate : std::uint8_t { stops, leaves, degraded };

/// A unit that several of its pods cannot leave without consequences for the others.
struct StoppingUnit {
  std::string unit;  ///< "JobSet shop/train", "PodGroup shop/gang"
  UnitFate fate = UnitFate::stops;
  std::int64_t losses = 1;  ///< Where so many of its pods are evicted, that happens to the others.
  std::vector<std::string> nodes;  ///< Of the others whose loss counts; sorted, each once.
};

/// Units that concern the pod when others of them are evicted; by name.
std::vector<StoppingUnit> stopping_units(const Cluster& cluster, PodIndex pod);

/// The unit with which the pod stops when the ask's victims leave; empty: it does not stop, or is
/// evicted itself.
std::string stops_with(const PlanAsk& ask, const Cluster& cluster, PodIndex pod);

/// Its gang, where the ask's victims leave too few of it and the pod stays; null: it is not so.
const PlanDisruptedGroup* degraded_gang(const PlanAsk& ask, const Cluster& cluster, PodIndex pod);
/// "PodGroup shop/gang loses 1 of 3 pods and runs degraded, with 2 of its minimum 3"
std::string degraded_text(const PlanDisruptedGroup& gang);

}  // namespace makeway::cli
