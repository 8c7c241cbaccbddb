// Random clusters on which planning is interesting: few nodes, nearly full, few distinct priorities
// and sizes, and one to five pending pods that want in.
//
// All numbers come from the Prng that is passed in: a seed is a cluster. Objects come out
// normalized, and refer only to what is there.
//
//   Prng random(seed);
//   const RandomPlanning options = random_planning_options(random);  // Swarm: some features off.
//   for (const Change& object : random_planning(random, options)) cluster.apply(object);
#pragma once

#include <cstddef>
#include <vector>

#include "base/prng.hpp"
#include "base/time.hpp"
#include "model/cluster.hpp"
#include "model/objects.hpp"

namespace makeway {

/// The moment for which these clusters are made: 2026-01-01T00:00:00Z.
inline constexpr Time planning_now{1'767'225'600'000};

struct RandomPlanning {
  std::size_t nodes = 4;
  std::size_t asks = 1;
  std::size_t gangs = 0;  ///< None of whose members runs, besides `pending_members`.
  std::size_t namespaces = 1;
  std::size_t priorities = 3;  ///< Distinct ones among the bound pods.
  // Nodes.
  bool taints = false;
  bool cordons = false;
  bool labels_missing = false;  ///< Some nodes lack hostname or zone.
  bool tight_pod_counts = false;
  bool overcommitted = false;
  // Resources.
  bool memory = false;
  bool gpus = false;
  // What pods demand of their place.
  bool node_affinity = false;
  bool ports = false;
  bool affinity = false;
  bool anti_affinity = false;
  bool spread = false;
  bool preferences = false;  ///< Preferred affinity, ScheduleAnyway; never on by itself.
  bool volumes = false;      ///< Claims of volumes and devices, shared and limited.
  bool unsupported = false;
  // Kinds of pods.
  bool groups = false;
  bool pending_members = false;
  bool budgets = false;
  bool leaving = false;
  bool nominations = false;
  bool never_preempting = false;
  bool critical = false;  ///< Mirror pods and system-critical ones.
  bool equal_starts = false;
  bool missing_starts = false;
  /// Off: none of the cases that kube-scheduler answers in one way when it counts all pods and in
  /// another when it follows a removal or a nomination. See random_planning.cpp.
  bool peer_quirks = true;
  bool own_marks = false;  ///< What only Makeway reads: opt-outs, costs, preemption priorities.
};

/// Each feature on in half of the cases; in a quarter of the cases all are off.
RandomPlanning random_planning_options(Prng& random);

/// The same with what kube-scheduler knows only: one ask, named default/ask.
RandomPlanning random_peer_options(Prng& random);

/// Every object once, what others refer to first.
std::vector<Change> random_planning(Prng& random, const RandomPlanning& options);

/// Some of the groups leave whole when they fall below their minimum.
void let_groups_leave_whole(Prng& random, std::vector<Change>& objects);

/// The objects in one cluster, applied in bulk or one by one.
Cluster cluster_of(const std::vector<Change>& objects, bool bulk = true);

}  // namespace makeway
