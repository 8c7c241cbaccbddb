// The preemption stage: what moves between queues, resource by resource (decision 0008).
//
// Changes `allocated` and `preempting` of the table's leaves and lists the moves.
#pragma once

#include <cstdint>
#include <vector>

#include "policies/queue/queue_candidates.hpp"
#include "policies/queue/queue_table.hpp"

namespace makeway {

struct QueueMove {
  std::size_t column = 0;
  QueueRow from;  ///< None: room that no queue holds.
  QueueRow to;    ///< None: no queue holds it any more.
  std::int64_t amount = 0;
  bool at_once = true;
  QueueRow served = {};  ///< The queue that pods of `from` leave for; none: no pod need leave.
};

std::vector<QueueMove> move_room(QueueTable& table, const QueueCandidates& candidates,
                                 const QueueSettings& settings);

}  // namespace makeway
