// AskLimits: what an ask may use beyond what nodes have room for, as the world knows it.
//
// Queues are such a limit (SPEC section 3): an ask fits only while its queue may use as much, and
// its victims come from its queue. Policies that decide asks see them through this; what
// counts is another policy's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/victims.hpp"
#include "model/reason.hpp"

namespace makeway {

class AskLimits : public VictimScope {
 public:
  /// The unit asks now, or one member of it for itself; none: an ask that is not limited. While it
  /// is its turn, `contains` keeps victims to those that it may take.
  virtual void turn_to(UnitIndex ask, PodIndex member) = 0;

  /// Whether pods of the ask may all start at once.
  virtual bool has_room_now(std::span<const PodIndex> coming) const = 0;
  /// The same in the world `after`, as that is at the moment.
  virtual bool has_room_later(std::span<const PodIndex> coming) const = 0;
  /// Which pods of lower priority must also leave `after` so that these may come; none when that
  /// cannot be: then `has_room_later` stays false.
  virtual std::vector<PodIndex> find_victims(std::span<const PodIndex> coming,
                                             std::int32_t priority) const = 0;
  /// Pods that are leaving and hold what these are short of now.
  virtual std::vector<PodIndex> awaited(std::span<const PodIndex> coming) const = 0;

  /// "queue team-a is full: it may use cpu 4, holds 4, and 2 more is asked for"
  virtual Reason full_reason(std::span<const PodIndex> coming) const = 0;
  /// "queue team-a"
  virtual Reason title() const = 0;
  /// What it may take, after `full_reason`: "its pods of lower priority".
  virtual Reason own_pods() const = 0;
};

}  // namespace makeway
