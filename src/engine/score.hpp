// Score: how bad it is that these victims leave. Lexicographic, smaller is better.
//
// One number for each of `workload.scoreKeys`, in that order:
//  members-not-placed    of the ask; 0 for a pod
//  budget-violations     pods evicted against a budget
//  highest-priority      of the victims' units; with scorePriority `pod`, as kube-scheduler: the
//                        own priority of the first pod of the most important victim
//  secondary-victims     pods that the recreated victims would make leave in turn
//  stopped-pods          victims, and the pods that stay in stopped gangs: those that have their
//                        minimum and lack it once the victims are gone; and those of loss units
//                        that the victims stop (loss_units.hpp)
//  victims               pods
//  priority-sum          over pods, of their units' priorities
//  raw-priority-sum      over pods, priority + 2^31: kube-scheduler's criterion
//  lost-work             seconds, over pods; of what stops all that run
//  groups-below-minimum  groups that keep fewer pods than their minimum
//  disrupted-groups      groups that lose a pod
//  oldest-victim         milliseconds that the oldest victim of the highest priority has run
//  grouped-victims       victims that belong to groups
//  largest-victim        pods of the largest unit that leaves
//  victims-age           milliseconds that all of them have run
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "engine/budgets.hpp"
#include "engine/victims.hpp"
#include "model/plan.hpp"

namespace makeway {

struct ScoreInput {
  const Scratch& scratch;  ///< The victims have left it.
  const VictimList& list;
  std::span<const VictimUnit> victims;  ///< Most important first.
  std::int64_t budget_violations = 0;
  std::int64_t members_not_placed = 0;
};

/// What runs of a gang in a world, and what is lost if it stops.
struct GangStanding {
  std::int64_t running = 0;  ///< Bound pods that are there and not leaving.
  std::int64_t lost_work_seconds = 0;
};
GangStanding gang_standing(const Cluster& cluster, const VictimRules& rules, const Scratch& scratch,
                           UnitIndex gang);

ScoreTerms score_of(const Survey& survey, const VictimRules& rules, const ScoreInput& input);

/// Negative when `a` is better, positive when `b` is, 0 when they are equal.
int compare(const ScoreTerms& a, const ScoreTerms& b);

/// What the highest priority among the victims alone says about a score: every key before it is
/// known to be no less than 0, or it says nothing.
class ScoreFloor {
 public:
  static constexpr std::int64_t anything = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max() - 1;

  explicit ScoreFloor(const WorkloadSettings& settings);

  /// Victims of a higher priority than this make a score worse than `score`.
  std::int64_t highest_allowed(const ScoreTerms& score) const;
  /// The least that key number `key` can be when the highest priority is at least `highest`.
  std::int64_t value(std::size_t key, std::int64_t highest) const {
    if (!useful_ || key > highest_at_) return anything;
    return key < highest_at_ ? 0 : highest;
  }

 private:
  bool useful_ = false;
  std::size_t highest_at_ = 0;  ///< Position of the key `highest-priority`.
};

}  // namespace makeway
