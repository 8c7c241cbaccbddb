// What must leave a node so that a pod fits there (SPEC section 2, the algorithm on one node).
//
//  1. Potential victims on the node leave, all of them. If the ask still does not fit, the node is
//     out, and the reason is what stays unmet.
//  2. Some of them come back. `workload.victimChoice` put-back: most important first, where the ask
//     fits beside them; those whose loss would violate a disruption budget before all others; once
//     or until nothing changes (`workload.putBack`). best: the set with the best score is looked
//     for (victim_choice.hpp).
//  3. What did not come back is a victim. The score compares nodes.
//
// With put-back and strict budgets, of the units under an exhausted budget only the least important
// ones that the budget still allows are potential victims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/fit.hpp"
#include "engine/score.hpp"
#include "engine/world.hpp"
#include "policies/workload/victim_choice.hpp"

namespace makeway {

class Cascades;

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
  /// `fit` is over the world `after`. `cascades` may be null: then none is followed, and
  /// secondary victims count as 0.
  VictimSearch(World& world, PodFit& fit, VictimChoiceRule rule, Cascades* cascades);
  /// Under rules other than the cycle's, and with those of at least this priority staying.
  struct Scope {
    VictimRules& rules;
    std::int32_t priority = 0;
    VictimChoiceRule choice = VictimChoiceRule::best;
  };
  VictimSearch(World& world, PodFit& fit, const Scope& scope, Cascades* cascades);

  /// A candidate, or nothing; then `refused` says what stays unmet, unless the node is only worse
  /// than `not_worse_than`.
  std::optional<Candidate> on_node(NodeIndex node, const ScoreTerms* not_worse_than = nullptr);
  const Refused& refused() const { return refused_; }
  /// Whether there is certainly no candidate, which costs a look at what this plan has placed
  /// there.
  bool infeasible(NodeIndex node);

  /// Another unit on the candidate's node that could have left alone, the least important one, and
  /// what that would cost.
  struct Instead {
    PodIndex pod;
    ScoreTerms score;
  };
  std::optional<Instead> instead_of(const Candidate& chosen);

  /// Whether some refusal proves nothing: a victim that was removed may be needed for affinity,
  /// strict budgets kept a pod that could have left instead, gangs that leave whole took what the
  /// ask needs, or the bound was reached.
  bool unproven() const { return unproven_; }

  /// Removals, put-backs and branches have reached `engine.victimStepsMax`, or the plan's bound.
  bool out_of_steps() const { return bound_reached_ || steps_.out(); }
  std::string_view bound() const { return steps_.bound(); }

 private:
  bool worth_trying(const Refused& before);
  std::optional<Candidate> choose_put_back(NodeIndex node, const std::optional<Refused>& still);
  std::optional<Candidate> choose_best(NodeIndex node, const std::optional<Refused>& still,
                                       const ScoreTerms* not_worse_than);
  bool within_strict_budgets();
  void put_back_where_possible(NodeIndex node);
  bool put_back(const VictimUnit& unit, NodeIndex node);
  void remove(const VictimUnit& unit);
  /// Nothing: gangs that leave whole with these victims take from the ask what it needs.
  std::optional<Candidate> candidate_of(NodeIndex node, const VictimChoice::Evicted& evicted,
                                        std::int64_t& steps);
  std::optional<Candidate> counted_candidate(NodeIndex node, const VictimChoice::Evicted& evicted);
  /// Scores of other sets and nodes; null: there is none.
  struct Rivals {
    const ScoreTerms* to_beat = nullptr;
    const ScoreTerms* not_worse_than = nullptr;
  };
  std::optional<Candidate> scored_set(NodeIndex node, const VictimChoice::Evicted& evicted,
                                      const Rivals& rivals, std::int64_t& steps);
  void follow(Candidate& candidate, const Rivals& rivals);

  World& world_;
  VictimRules& rules_;
  PodFit& fit_;
  VictimChoiceRule rule_;
  Cascades* cascades_;
  VictimChoice choice_;
  std::int32_t priority_;
  Refused refused_;
  bool unproven_ = false;
  bool bound_reached_ = false;
  StepMeter steps_;
  bool budgets_kept_some_ = false;
  VictimList list_;
  VictimChoice::Evicted evicted_;  ///< By position in `list_.units`.
};

}  // namespace makeway
