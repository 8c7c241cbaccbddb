// Random queues over a random cluster: trees, weights, guarantees, limits, and statuses of the past
// that are missing, right, stale or more than there is.
//
// Pods and groups of the cluster get a leaf each, or none. The cluster itself
// comes from random_planning: groups of both modes, budgets, protected and leaving pods, several
// resources.
//
//   Prng random(seed);
//   RandomQueueCase item = random_queue_case(random);
//   Cluster cluster = cluster_of(item.objects);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"
#include "support/random_planning.hpp"

namespace makeway {

struct RandomQueues {
  std::size_t leaves = 3;
  bool parents = false;
  bool strays = false;         ///< Some pods name no queue, or none that is there.
  bool default_queue = false;  ///< There is a queue of that name for them.
  bool namespaces = false;     ///< Queues list some.
  bool priorities = false;
  bool guarantees = false;
  bool limits = false;
  bool keepers = false;  ///< Queues that are not reclaimable.
  bool statuses = false;
  bool consistent = false;  ///< Statuses that a cycle may have left: never more than there is.
};

/// Each feature on in half of the cases.
RandomQueues random_queue_options(Prng& random);

/// Adds the queues, and puts every pod into one.
void add_random_queues(Prng& random, const RandomQueues& options, std::vector<Change>& objects);

/// The pod or group in that queue, whatever it said before.
void put_into_queue(Pod& pod, const std::string& queue);

struct RandomQueueCase {
  RandomPlanning planning;
  RandomQueues queues;
  std::vector<Change> objects;
};

/// With asks that section 2 decides about, of one to three pods and now and then a gang.
RandomQueueCase random_queue_case(Prng& random);

/// What makes promises in a queue that need not be kept: pinned pods, which take its room when they
/// come.
enum class QueueQuirks : std::uint8_t { with, without };

/// The same with room as the only constraint: no pod looks at others, at labels or at ports.
RandomQueueCase random_plain_queue_case(Prng& random, QueueQuirks quirks = QueueQuirks::with);

}  // namespace makeway
