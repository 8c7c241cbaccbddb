// InterruptedGangBinds: gangs of which only a part could be bound (SPEC section 8, Gangs).
//
// All binds of a gang are sent together, but each is a call of its own, and a bind cannot be
// undone. Where some are refused, the next plan finishes the gang, and no more is needed with
// `live.gangRollback: none`. With `delete`, the members that were bound for a gang that still lacks
// its minimum after `live.gangBindTimeout` are deleted: half a gang only holds room.
//
// Only gangs whose binding this process began are watched, and none any more once its minimum was
// seen running: a gang that loses members later is degraded, not half bound. After a crash no gang
// is rolled back; it is finished. A member that could not be deleted (a brake, a pause, a budget)
// is deleted later: as long as a pod that we bound is there and the minimum is not, it is tried
// once a `live.gangBindTimeout`.
//
// InterruptedGangEvictions: gangs of which an earlier process evicted only a part (SPEC section
// 8, Gangs).
//
// A group whose disruption mode is `all` leaves as one, but each of its pods is a call of its own.
// A process that is killed between two of them leaves a rest behind that only holds room, and the
// next plan may choose other victims: then two gangs are stopped. So the cluster as it is first
// shown is searched for such groups, and their rest is evicted before anything else is decided.
//
// A group has begun to leave if one of its pods is leaving with the mark of a preemption, or if one
// that stays has that mark and the minimum is not there any more (its others may be gone already).
// A mark alone does not count: no pod has left, and the mark is removed after two minutes. Only
// groups of our own pods count. A member that could not be evicted (a brake, a pause, a budget) is
// tried later, until `engine.leaveTimeout` after the start; then the gang is treated as any other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/in_flight.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

class InterruptedGangBinds {
 public:
  explicit InterruptedGangBinds(const LiveSettings& settings) : settings_(settings) {}

  /// The cluster is the one that the plan was made for.
  void sent(const Plan& plan, const Cluster& cluster, Time now);
  /// The evictions that are due, as a plan without an id. To be called after every batch.
  std::optional<Plan> due(const Cluster& cluster, const InFlight& in_flight, Time now);
  /// When an eviction may be due; none: no gang is watched.
  std::optional<Time> next_due() const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace and name.
  struct StartedBind {
    Time since;                  ///< Of the last try, to bind or to take back.
    std::set<std::string> uids;  ///< Pods that we bound, or tried to.
    bool was_rolled_back = false;
  };
  /// Its minimum runs, and nothing of it is only assumed.
  static bool is_whole(const Cluster& cluster, const InFlight& in_flight, GroupIndex group);
  /// Whether there is a member to delete.
  static bool add_members(const Cluster& cluster, GroupIndex group, const StartedBind& begun,
                          Plan& plan);

  LiveSettings settings_;
  std::map<Name, StartedBind> started_binds_;
};

/// What the plan of a rollback says of the gang, and the condition of its victims.
inline constexpr std::string_view rollback_reason = "the rest of its gang could not be bound";

class InterruptedGangEvictions {
 public:
  /// How long the rest may take to leave.
  explicit InterruptedGangEvictions(Duration leave_timeout) : leave_timeout_(leave_timeout) {}

  /// As the cluster is first shown. Pods of these schedulers are ours; none: all are.
  void find(const Cluster& cluster, const std::vector<std::string>& schedulers, Time now);
  /// The evictions that are due, as a plan without an id. To be called after every batch.
  std::optional<Plan> due(const Cluster& cluster, const InFlight& in_flight, Time now);
  /// When an eviction may be tried once more; none: no gang is watched.
  std::optional<Time> next_due() const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace and name.
  static constexpr Duration again{1'000};

  Duration leave_timeout_;
  std::set<Name> gangs_;
  Time until_;
  Time next_;
};

/// What the plan says of such a gang, and the condition of its victims.
inline constexpr std::string_view interrupted_eviction_reason =
    "the others of its gang had to leave";

}  // namespace makeway
