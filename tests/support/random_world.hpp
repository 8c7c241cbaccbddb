// Random small clusters in which all kinds meet: pods, gangs and budgets, queues, pinned pods,
// sessions in resource groups, replicas in planes. Messy on purpose: nodes that sessions and planes
// both claim, leaving and nominated pods, names of what does not exist, pods on nodes that are
// gone.
//
// The parts come from the generators of each kind. They are laid over the same nodes: a node that
// several parts share has what all of them offer together, and some nodes are cut down to little
// more than what is used. Then marks are spread over the pods.
//
// A seed is a world. Swarm style: in every world some features are off, so that a failure is small
// enough to look at.
//
//   Prng random(seed);
//   const RandomWorldCase item = random_world_case(random);
//   const Cluster cluster = cluster_of(item.objects);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"
#include "support/random_fleet.hpp"
#include "support/random_planning.hpp"
#include "support/random_queues.hpp"
#include "support/random_sessions.hpp"

namespace makeway {

struct RandomWorld {
  // Which parts there are.
  bool pods = true;
  bool sessions = false;
  bool replicas = false;
  bool queues = false;
  // How they meet.
  std::uint64_t shared_percent = 50;  ///< Nodes of sessions and planes that are others' nodes too.
  bool tight = false;                 ///< Some nodes have hardly more than what is used.
  bool overfull = false;              ///< Some have less.
  // What is spread over all pods.
  bool pinned = false;   ///< By annotation, affinity or a DaemonSet; members of groups as well.
  bool grouped = false;  ///< More pods join groups, replicas too.
  bool marks = false;    ///< Opted out, protected, owners, costs.
  bool leaving = false;  ///< More pods leave, long since or for a long time.
  bool nominations = false;
  bool dangling = false;    ///< Names of what does not exist.
  bool classes = false;     ///< Priorities by class, one of them the default.
  bool schedulers = false;  ///< Pods of other schedulers.
  bool pending_replicas = false;
  bool queued_at_random = false;  ///< Any label of a queue, whatever the group says.

  RandomPlanning planning;
  RandomSessions session;
  RandomFleet fleet;
  RandomQueues queue;
};

/// Each feature on in some of the worlds.
RandomWorld random_world_options(Prng& random);

/// Objects in any order, normalized.
std::vector<Change> random_world(Prng& random, const RandomWorld& options);

struct RandomWorldCase {
  RandomWorld options;
  std::vector<Change> objects;
  std::string preset;
  std::uint64_t seed = 0;  ///< For the judge.
};

/// A world and one of the presets that are built in.
RandomWorldCase random_world_case(Prng& random);

/// Which features are on: "pods sessions pinned".
std::string world_text(const RandomWorld& options);

}  // namespace makeway
