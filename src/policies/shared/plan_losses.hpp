// Losses: what the plan costs whom: lost work of victims, what becomes of their groups, and how
// long each ask has waited.
#pragma once

#include <set>

#include "engine/world.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The asks of one plan in their order: what one has taken is not there for the next.
class Losses {
 public:
  explicit Losses(const World& world) : world_(world), cluster_(world.cluster()) {}

  /// Fills costs, disrupted groups and the pending time of an ask whose victims are pods.
  /// `pending_since` no_time: nobody knows.
  void add(PlanAsk& ask, Time pending_since);

 private:
  PlanCost cost_of_rest(const PlanDisruptedGroup& group) const;
  PlanCost cost_of(PodIndex pod) const;
  PlanDisruptedGroup disrupted(const Group& group) const;
  bool runs(PodIndex pod) const;

  const World& world_;
  const Cluster& cluster_;
  std::set<PodIndex> gone_;  ///< Victims of asks before.
};

}  // namespace makeway
