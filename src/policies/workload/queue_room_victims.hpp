// Victims that an ask of section 2 needs not for its nodes but for its queue (decision 0008).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/score.hpp"
#include "engine/world.hpp"
#include "model/reason.hpp"

namespace makeway {

/// Victims so far, and what they cost.
struct VictimsAndScore {
  VictimList& victims;  ///< Most important first.
  std::int64_t& budget_violations;
  ScoreTerms& score;
};

enum class QueueVerdict : std::uint8_t {
  has_room,    ///< Once the victims are gone.
  too_little,  ///< Not enough of the queue may leave.
  spoils,      ///< Pods that could leave are needed for the places (spread, affinity).
};

/// Whether those that come have their places in `after` as it is then, without these pods, and
/// none loses one that was promised.
using FitsWithout = std::function<bool(std::span<const PodIndex> gone)>;

/// Adds the pods of the ask's queue that must leave too, so that others may run in it, and puts
/// back those that need not leave any more. Nothing has changed unless there is room.
QueueVerdict add_queue_victims(World& world, std::span<const PodIndex> coming,
                               std::int32_t priority, const FitsWithout& fits_without,
                               VictimsAndScore result);

/// Why its queue has no room for it.
Reason queue_full_reason(const World& world, std::span<const PodIndex> coming, QueueVerdict verdict,
                         bool never_preempts);
/// There is room on nodes, and its queue ("queue team-a") waits for some.
Reason queue_waits_reason(const PlanAsk& ask, Reason queue);

}  // namespace makeway
