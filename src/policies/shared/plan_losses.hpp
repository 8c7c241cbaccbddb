// Losses: what the plan costs: lost work of victims, what becomes of their groups, and how
// long each ask has waited.
#pragma once

#include <set>
#include <vector>

#include "engine/world.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The asks of one plan in their order: victims of an earlier ask are not counted again.
class Losses {
 public:
  explicit Losses(const World& world) : world_(world), cluster_(world.cluster()) {}

  /// Fills costs, disrupted groups and the pending time of an ask whose victims are pods.
  /// `pending_since` no_time: unknown.
  void add(PlanAsk& ask, Time pending_since);
  /// After the last one: how many pods each of them stops besides all victims. The asks must be
  /// where they were.
  void close();
  /// Of all pods that were lost so far; a pod stopped for one ask that leaves for another is lost
  /// once.
  const PlanCost& total() const { return total_; }

 private:
  PlanCost cost_of_rest(const PlanDisruptedGroup& group, std::set<PodIndex>& stopped) const;
  void add_stopped_units(PlanAsk& ask, std::vector<PodIndex> victims, std::set<PodIndex>& stopped);
  void count(PodIndex pod);
  PlanCost cost_of(PodIndex pod) const;
  PlanDisruptedGroup disrupted(const Group& group) const;
  bool runs(PodIndex pod) const;

  const World& world_;
  const Cluster& cluster_;
  std::set<PodIndex> gone_;  ///< Victims of asks before.
  std::set<PodIndex> lost_;  ///< The same, and pods that stop with them.
  PlanCost total_;
  struct Stop {
    PlanAsk* ask = nullptr;
    std::vector<PodIndex> pods;  ///< That no ask before it has stopped.
  };
  std::vector<Stop> stops_;
  std::set<PodIndex> stopped_in_units_;
};

}  // namespace makeway
