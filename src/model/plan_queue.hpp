// The queue stage of a plan: what each queue deserves, may use and uses, and what moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/amounts.hpp"

namespace makeway {

/// One resource of a queue. Of a queue with children: the sums over them, and its own share.
struct PlanQueueShare {
  std::string resource;
  std::int64_t deserved = 0;
  std::int64_t allocated_before = 0;  ///< As the cycle found it.
  std::int64_t allocated = 0;         ///< What may run in it from now on.
  std::int64_t used = 0;        ///< Requests of bound pods, leaving ones and victims included.
  std::int64_t leaving = 0;     ///< Of these, on their way out before this cycle.
  std::int64_t demand = 0;      ///< Used and pending.
  std::int64_t preempting = 0;  ///< Becomes allocated once the pods that hold it are gone.

  friend bool operator==(const PlanQueueShare&, const PlanQueueShare&) = default;
};

struct PlanQueue {
  std::string name;
  std::string parent;
  std::int64_t weight = 1;
  bool leaf = true;
  std::vector<PlanQueueShare> shares;  ///< By resource.
  /// Of a default queue without a status: pods that are its own because nothing else says where
  /// they belong, and how many of these this plan evicts.
  std::int64_t adopts = 0;
  std::int64_t adopted_leave = 0;

  friend bool operator==(const PlanQueue&, const PlanQueue&) = default;
};

/// The next status of a Queue object: what the next cycle reads, and what people look at.
struct PlanQueueStatus {
  std::string name;
  std::string uid;
  Quotas deserved;
  Quotas allocated;
  Quotas used;
  Quotas preempting;

  friend bool operator==(const PlanQueueStatus&, const PlanQueueStatus&) = default;
};

/// An amount of a resource that changes hands.
struct PlanQueueMove {
  std::string resource;
  std::string from;  ///< A queue; empty: room that no queue holds.
  std::string to;    ///< A queue; empty: no queue holds it any more.
  std::int64_t amount = 0;
  bool at_once = true;  ///< False: it is in use and comes when the pods there are gone.

  friend bool operator==(const PlanQueueMove&, const PlanQueueMove&) = default;
};

}  // namespace makeway
