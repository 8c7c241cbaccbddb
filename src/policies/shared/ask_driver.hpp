// drive_ask: the one order in which every ask is answered. The first step that works is the answer.
//
//   refused   no room could help, or an equal ask of this cycle has been answered already
//   now       it fits now, and also in what will be (law 1); a valid nomination is tried first
//   soon      it fits once pods that leave soon, or victims of earlier asks, are gone (laws 6, 7)
//   held      preempted pods that are leaving hold its nomination (`nomination_held_by`)
//   preempt   pods must leave for it, or nothing is found
//   late      nothing was found; it fits once pods that leave late are gone (law 6)
//
// An ask waits (Outcome::waits) after
//   now       its queue has room only once pods of it are gone, or its gang's minimum is not bound
//   soon      its node has room only then, or it may not start before a promised pod
//             (World::may_bind), or a session's or gang's nomination holds and is not free yet
//   held      as said
//   preempt   its delay has not passed, or a bounded search found room that is not free yet
//   late      as said
//
// A strategy says where the ask may go and which pods may leave for it: one node of all for a pod,
// a domain for a gang, the required node for a pinned pod, a resource group for a session. Late
// pods that were evicted for the ask's own nomination are credited from the beginning, if that
// nomination holds.
#pragma once

#include <vector>

#include "engine/world.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The steps of one ask. A step that returns true has written the answer into `answer()`.
class AskStrategy {
 public:
  AskStrategy() = default;
  AskStrategy(const AskStrategy&) = delete;
  AskStrategy& operator=(const AskStrategy&) = delete;
  virtual ~AskStrategy() = default;

  /// The ask's entry in the plan.
  virtual PlanAsk& answer() = 0;

  virtual bool is_refused() { return false; }
  virtual bool fits_now() = 0;
  virtual bool fits_soon() = 0;
  virtual bool is_held() { return false; }
  /// Answers in any case: victims, or why there are none.
  virtual void preempt() = 0;

  // ---- Late pods; sessions never wait for them ------------------------------------------------
  /// Nodes that the ask is nominated to, each once.
  virtual std::vector<NodeIndex> nominated_nodes() const { return {}; }
  /// Whether its nominations come true in `after` as it is.
  virtual bool nomination_holds() { return false; }
  /// Late pods whose room is worth a try; none: the ask cannot use any.
  virtual std::vector<PodIndex> useful_late_pods() { return {}; }
  /// Whether the ask fits soon in `after`, which is without the useful late pods, and waits for at
  /// least one of them. The entry is as it was before the first step.
  virtual bool fits_late() { return false; }
};

/// Ends with the world as it was, apart from what the steps nominated or bound.
void drive_ask(World& world, AskStrategy& strategy);

/// Whether one of the pods that the ask waits for leaves late.
bool waits_for_late(const World& world, const PlanAsk& ask);

/// Whether the pod could use what a late pod leaves behind: room on its node, or a claim of both.
bool could_use_late(World& world, PodIndex pod, PodIndex late);

}  // namespace makeway
