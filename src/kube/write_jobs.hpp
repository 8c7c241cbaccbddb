// From a plan to writes: which calls, on which object, after which others (SPEC section 8).
//
//  1. A job is about one object; its steps go one after the other, and what is refused ends it.
//  2. An eviction needs the nominations of the ask that it is for: they are on the server first.
//  3. Nomination, reservation and the condition for autoscalers are one patch; a patch that changes
//     nothing is none. A nomination that stands is confirmed: what was seen may be older than what
//     we have written since.
//  4. A victim is marked and then deleted (or evicted, where budgets are strict).
//  5. A pod that has no place in the plan any more loses the nomination that we gave it, and a pod
//     that waits without a reservation its condition `makeway.dev/Reserved`.
//  6. A group is marked as scheduled when all its binds of the plan have succeeded; that is final.
//  7. A pod that has a claim without a volume is not bound yet: it is nominated, the claim
//     gets the node, and the bind is refused until a later plan finds the claim bound and its
//     volume there. In a gang all wait for the slowest volume. After `volume_wait_max` the room is
//     not held any more.
//  8. An ask that a brake holds back says so in its condition, unless that is over in a moment.
//     No condition or event names objects of other namespaces (tenant_text.hpp), unless
//     `names_causes`.
//  9. The statuses of queues that a plan changes are on the server before a pod is evicted for a
//     queue; where one of them is refused, none is. Nothing else relies on them.
// 10. Actions on objects that are gone, or that this version does not carry out, are refused.
// 11. Actions on sessions are left out here: session_keeper.hpp carries them out.
// 12. Scaling and force-deleting in planes, and the statuses that they rely on: replica_jobs.hpp.
//
// Pure. A bind is only planned where the room is there, so no job waits for a victim to be gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/brakes.hpp"
#include "control/port.hpp"
#include "kube/version_cache.hpp"
#include "kube/write_calls.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::kube {

struct WriteStep {
  WriteKind kind = WriteKind::bind;
  std::string node;   ///< Of a bind.
  StatusPatch patch;  ///< Of a patch.
  /// A confirmation of an existing nomination: sent only if a later write of ours removes it.
  bool confirms = false;
  std::optional<std::int64_t> grace_seconds = std::nullopt;  ///< Of a delete; none: the pod's own.
  /// Of an object of a kind of ours: a JSON text; empty: the conditions of `patch`.
  std::string status;
  std::string pod;  ///< Of a create: the whole pod as JSON.
  /// Of a scale, and of the reading before it: how many there are, and how many there should be.
  std::int64_t replicas_from = 0;
  std::int64_t replicas_to = 0;
};

enum class Urgency : std::uint8_t {
  place,      ///< Binds, nominations, evictions: the loop waits for them.
  condition,  ///< For users and autoscalers.
};

struct WriteJob {
  Urgency urgency = Urgency::place;
  ObjectRef object;
  std::optional<ObjectRef> ask;   ///< Of an eviction: the ask that needs the room.
  std::optional<ObjectRef> unit;  ///< Of an eviction: the group that leaves as one with it.
  CachedObject seen;
  std::vector<WriteStep> steps;                      ///< None: it is done already.
  std::vector<std::size_t> needs;                    ///< Jobs of the same plan, by position.
  std::optional<EventRequest> event = std::nullopt;  ///< Sent when it is done.
  bool is_eviction = false;
  bool can_wait = false;  ///< Of a status that nothing in its plan relies on.
  std::optional<ObjectRef> placed = std::nullopt;  ///< Of a bind: the ask that is placed.
  std::string waits_because;   ///< Of one that only waits: what its receipt says.
  bool awaits_volume = false;  ///< Of one that only waits: the time for its volume is not over.
};

struct PlanJobs {
  std::vector<WriteJob> jobs;
  std::vector<Receipt> refused;      ///< What is not even tried.
  std::vector<EventRequest> events;  ///< That depend on nothing.
  /// How many refused statuses of queues the loop knew of when it decided (WriteQueue, rule 13).
  std::uint64_t heard = 0;
};

/// Whether an ask's victims may be evicted now. Asked once an ask.
using EvictionBrake =
    std::function<BrakeAnswer(const PlanAsk& ask, const std::vector<const PlanAction*>& victims)>;

struct JobRules {
  BudgetMode budgets = BudgetMode::best_effort;
  bool names_causes = false;
  EvictionBrake brake;  ///< May be empty.
};

/// As long as kube-scheduler waits for a volume.
inline constexpr Duration volume_wait_max{600'000};

/// Without `planes` nothing is asked of any.
PlanJobs jobs_of(const Plan& plan, const VersionCache& cache, const JobRules& rules,
                 const PlaneCaches& planes = {});

}  // namespace makeway::kube
