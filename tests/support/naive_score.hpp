// NaiveScore: the whole score of SPEC section 2 for a given set of victims, from the objects.
//
// Code of its own: it shares nothing with src/engine/score.cpp, victims.cpp or budgets.cpp, so that
// a mistake there is not a mistake here. Slow and plain; for small clusters and single asks.
//
// Rules
//  1. Victims are pods in any order. Those of one group whose mode is `all` count as one unit.
//  2. Cascades are not followed: secondary-victims is 0, so `engine.cascadeDepth` must be 0.
//  3. Budgets are charged over the final victims, most important first; a pod charges the budgets
//     that govern it by name, up to the first one that is exhausted, and violates that one.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

class NaiveScore {
 public:
  NaiveScore(const Cluster& cluster, const Configuration& configuration, Time now);

  /// In the order of `workload.scoreKeys`.
  ScoreTerms score(const std::vector<PodIndex>& victims) const;
  /// No budget loses more pods than it allows: what `budgets: strict` demands.
  bool within_budgets(const std::vector<PodIndex>& victims) const;

 private:
  /// What leaves as one.
  struct Leaver {
    std::vector<PodIndex> pods;  ///< By name.
    bool group = false;          ///< A group, or a member that leaves alone.
    std::int64_t priority = 0;
    std::int64_t age_ms = 0;  ///< Of its oldest pod.
    std::int64_t lost_work = 0;
  };

  std::vector<Leaver> by_importance(const std::vector<PodIndex>& victims) const;
  bool more_important(const Leaver& a, const Leaver& b) const;
  std::int64_t value(ScoreKey key, const std::vector<Leaver>& leavers) const;
  std::int64_t budget_violations(const std::vector<Leaver>& leavers) const;
  std::int64_t highest_priority(const std::vector<Leaver>& leavers) const;
  std::int64_t oldest_victim(const std::vector<Leaver>& leavers) const;
  std::int64_t groups(const std::vector<Leaver>& leavers, bool only_below_minimum) const;
  bool below_minimum(UnitIndex index, const std::vector<Leaver>& leavers) const;
  std::set<PodIndex> stopped_beside(const std::vector<Leaver>& leavers) const;
  std::set<PodIndex> stopped_in_units(const std::vector<Leaver>& leavers) const;

  const Unit& unit_of(PodIndex pod) const;
  const PodGroup* group_object(PodIndex pod) const;
  const Workload* workload_object(PodIndex pod) const;
  std::int64_t unit_priority(PodIndex pod) const;
  std::int64_t scored_priority(PodIndex pod) const;
  std::int64_t age_ms(PodIndex pod) const;
  std::int64_t lost_work(PodIndex pod) const;
  bool governed(PodIndex pod, const DisruptionBudget& budget) const;
  /// Leaving, and its room is credited: it is not there any more.
  bool credited(PodIndex pod) const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  Time now_;
  std::vector<const DisruptionBudget*> budgets_;  ///< By namespace and name.
};

/// Negative: the first is better. Of the same keys.
int compared(const ScoreTerms& a, const ScoreTerms& b);

}  // namespace makeway
