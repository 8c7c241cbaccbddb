// Cycle: what one run of `decide` shares between its asks.
//
// Two worlds. `now` is what is there: everything bound, and what this cycle binds. `after` is what
// will be there: also what this cycle nominates, without pods that are leaving and whose room is
// credited, and without the victims of this cycle. An ask that fits in both is bound at once; one
// that fits in `after` only waits; otherwise it may make others leave, and that is tried in
// `after`. Nominations of pods that were not decided yet hold their room in `after`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/budgets.hpp"
#include "engine/fit.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"
#include "engine/victims.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

class QueueRoom;

struct PodOnNode {
  PodIndex pod;
  NodeIndex node;
};

struct Cycle {
  Cycle(const Cluster& cluster, const Configuration& configuration, Time now_time);
  ~Cycle();
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  const Cluster& cluster;
  const Configuration& configuration;
  Survey survey;
  VictimRules rules;
  Budgets budgets;
  Scratch now;
  Scratch after;
  bool worlds_differ = false;
  std::vector<PodIndex> gone;  ///< In `now`, but not in `after`.
  /// Nodes that something came to, left, or is no longer kept for, as it happened.
  std::vector<NodeIndex> changed_nodes;
  DecidedPods decided;
  /// Nominated asks whose place depends on others being there: affinity or spread.
  std::vector<PodOnNode> promises;
  /// Pending with a nomination from before, and with constraints that look at others.
  std::vector<PodOnNode> nominated_before;
  /// Of pods in the two lists above, made when first asked for. They stay, since building one may
  /// cost a look at every pod.
  std::map<PodIndex, std::unique_ptr<PodFit>> promise_fits;
  /// Nominated where they do not fit yet: they wait for preempted pods (`nominationHeldBy`).
  std::vector<PodIndex> hopeful;
  bool explain = true;                ///< See PlanRequest.
  std::unique_ptr<QueueRoom> queues;  ///< Null: there are none, or they are not read.

  /// Whether what happens on one node can matter to who is promised another.
  bool anybody_promised() const { return !promises.empty() || !nominated_before.empty(); }
  Plan plan;
};

std::string pod_text(const Cluster& cluster, PodIndex pod);  ///< "Pod default/web"
std::string unit_text(const Cluster& cluster, UnitIndex unit);
std::string node_name(const Cluster& cluster, NodeIndex node);
PodPlacement placement_of(const Cluster& cluster, PodIndex pod, NodeIndex node);

/// An entry for the pod with its names and priority filled in.
PlanAsk start_pod_ask(const Cluster& cluster, PodIndex pod);

/// Whether everybody who was promised a place still fits there in `after` when these victims leave
/// and these pods come (law 3), and also before they come; both may have happened already. The same
/// for nominations from before that are not of lower priority and not decided yet (law 7). What
/// takes room is checked when it comes; this is about those whose place depends on others.
bool keeps_promises(Cycle& cycle, std::span<const PodOnNode> coming,
                    std::span<const PodIndex> victims);
bool keeps_promises(Cycle& cycle, PodIndex ask, NodeIndex node, std::span<const PodIndex> victims);
/// Whether the ask, with these victims gone, fits on the node only thanks to somebody who is
/// nominated where there is no room yet, and may never come.
bool leans_on_hopeful(Cycle& cycle, PodFit& fit, NodeIndex node, std::span<const PodIndex> victims);

/// The pod's turn is over: its nomination, if it had one, holds no room any more.
void settle_decided(Cycle& cycle, PodIndex pod);
/// The pod is bound to the node now.
void settle_bound(Cycle& cycle, PodIndex pod, NodeIndex node);
/// The pod will go to the node once these pods are gone; they may be none.
void settle_nominated(Cycle& cycle, PodIndex pod, NodeIndex node,
                      std::span<const PodIndex> victims);

/// These pods leave, whoever comes.
void settle_leaving(Cycle& cycle, std::span<const PodIndex> victims);

/// The pod's room on the node is kept for it, although there is not enough of it yet.
void settle_reserved(Cycle& cycle, PodIndex pod, NodeIndex node);

}  // namespace makeway
