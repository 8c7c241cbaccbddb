// Which pods leave one queue: its candidates in classes, and the set that is chosen.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "policies/queue/queue_candidates.hpp"

namespace makeway {

struct QueueLosers {
  std::vector<std::uint32_t> chosen;  ///< Among the queue's candidates, the least important first.
  std::string_view bound;             ///< That was reached; empty: none.
};

/// The candidates must be able to free the need.
QueueLosers choose_losers(World& world, const QueueTable& table, const QueueCandidates& candidates,
                          QueueRow row, std::span<const std::int64_t> need);

}  // namespace makeway
