// Who must leave a node so that a pod fits there (SPEC section 2, the algorithm on one node).
//
//  1. Potential victims on the node leave, all of them. If the ask still does not fit, the node is
//     out, and the reason is what stays unmet.
//  2. They come back where the ask fits beside them, most important first; those whose loss would
//     violate a disruption budget before all others. `workload.putBack`: once, or until nothing
//     changes.
//  3. Who could not come back is a victim. The score compares nodes.
//
// With strict budgets, of the units under an exhausted budget only the least important ones that
// the budget still allows are potential victims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/fit.hpp"
#include "engine/score.hpp"
#include "policies/cycle.hpp"

namespace makeway {

/// A node where the ask fits once the victims are gone.
struct Candidate {
  NodeIndex node;
  VictimList victims;  ///< Most important first.
  std::vector<VictimUnit> spared;
  std::int64_t budget_violations = 0;
  ScoreTerms score;
  std::vector<PlanCascade> cascades;
};

class VictimSearch {
 public:
  /// `fit` is over the world `after`.
  VictimSearch(Cycle& cycle, PodFit& fit);

  /// A candidate, or nothing; then `refused` says what stays unmet.
  std::optional<Candidate> on_node(NodeIndex node);
  const Refused& refused() const { return refused_; }

  /// Whether some refusal proves nothing, because a victim that was removed may be needed for
  /// affinity, or because strict budgets kept somebody who could have left instead.
  bool unproven() const { return unproven_; }

  /// Removals and put-backs so far; see `engine.victimStepsMax`.
  std::int64_t steps() const { return steps_; }

 private:
  void keep_within_budgets();
  void mark_violations();
  bool fits_without_all(NodeIndex node);
  void put_back_where_possible(NodeIndex node);
  bool put_back(VictimUnit& unit, NodeIndex node);
  void remove(const VictimUnit& unit);
  Candidate finish(NodeIndex node);

  Cycle& cycle_;
  PodFit& fit_;
  std::int32_t priority_ = 0;
  Refused refused_;
  bool unproven_ = false;
  std::int64_t steps_ = 0;
  bool budgets_kept_some_ = false;
  VictimList list_;
  std::vector<std::uint8_t> is_victim_;  ///< By place in `list_.units`.
  std::vector<VictimUnit> victims_;
};

}  // namespace makeway
