#include "policies/workload/victim_search.hpp"

#include <algorithm>

#include "engine/victim_lists.hpp"
#include "policies/shared/fallen_gangs.hpp"
#include "policies/workload/cascades.hpp"

namespace makeway {

VictimSearch::VictimSearch(World& world, PodFit& fit, VictimChoiceRule rule, Cascades* cascades)
    : VictimSearch(world, fit, {.rules = world.rules(), .priority = fit.priority(), .choice = rule},
                   cascades) {}

VictimSearch::VictimSearch(World& world, PodFit& fit, const Scope& scope, Cascades* cascades)
    : world_(world),
      rules_(scope.rules),
      fit_(fit),
      rule_(scope.choice),
      cascades_(cascades),
      choice_(world, scope.rules, fit),
      priority_(scope.priority),
      steps_(world.steps(), scope.rules.configuration().engine.victim_steps_max,
             "engine.victimStepsMax") {}

std::optional<Candidate> VictimSearch::on_node(NodeIndex node, const ScoreTerms* not_worse_than) {
  const std::optional<Refused> before = fit_.check(node);
  if (!before) {  // It fits, but not without breaking a promise to another pod.
    unproven_ = true;
    refused_ = Refused{.reason = RefusalReason::promised};
    return std::nullopt;
  }
  refused_ = *before;
  if (!worth_trying(*before)) return std::nullopt;
  list_.clear();
  rules_.collect(fit_.scratch(), node, priority_, list_);
  std::ranges::sort(list_.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return rules_.more_important(a, b);
  });
  if (rule_ == VictimChoiceRule::put_back) {
    mark_violations(world_.budgets(), list_, ChargeOrder::most_important_first);
    budgets_kept_some_ = rules_.configuration().budgets.mode == BudgetMode::strict &&
                         keep_within_budgets(world_.budgets(), list_);
  }
  if (list_.units.empty()) {
    unproven_ = unproven_ || budgets_kept_some_;
    return std::nullopt;
  }
  const Scratch::Checkpoint start = fit_.scratch().checkpoint();
  for (const VictimUnit& unit : list_.units) remove(unit);
  const std::optional<Refused> still = fit_.check(node);
  if (still) refused_ = *still;
  std::optional<Candidate> candidate = rule_ == VictimChoiceRule::put_back
                                           ? choose_put_back(node, still)
                                           : choose_best(node, still, not_worse_than);
  fit_.scratch().rollback(start);
  if (candidate && (!world_.keeps_promises(fit_.ask(), node, candidate->victims.pods) ||
                    world_.needs_uncertain_arrival(fit_, node, candidate->victims.pods))) {
    unproven_ = true;  // Others might leave instead.
    refused_ = Refused{.reason = RefusalReason::promised};
    return std::nullopt;
  }
  return candidate;
}

bool VictimSearch::infeasible(NodeIndex node) {
  return rule_ == VictimChoiceRule::best && fit_.constraints().closed_by_placed(node);
}

std::optional<VictimSearch::Instead> VictimSearch::instead_of(const Candidate& chosen) {
  Scratch& scratch = fit_.scratch();
  list_.clear();
  rules_.collect(scratch, chosen.node, priority_, list_);
  std::ranges::sort(list_.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return rules_.more_important(b, a);
  });
  std::vector<PodIndex> leaving = chosen.victims.pods;
  std::ranges::sort(leaving);
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    const VictimUnit& unit = list_.units[at];
    if (std::ranges::binary_search(leaving, unit.first)) continue;
    const Scratch::Checkpoint before = scratch.checkpoint();
    scratch.remove(list_.pods_of(unit));
    std::optional<Instead> found;
    if (!fit_.check(chosen.node)) {
      evicted_.assign(list_.units.size(), 0);
      evicted_[at] = 1;
      std::optional<Candidate> other = counted_candidate(chosen.node, evicted_);
      if (other) found = Instead{.pod = unit.first, .score = std::move(other->score)};
    }
    scratch.rollback(before);
    if (found) return found;
  }
  return std::nullopt;
}

/// No pod that leaves can change what is not resolvable, with one exception: should all pods leave
/// that the ask must be near, it could start its own series.
bool VictimSearch::worth_trying(const Refused& before) {
  if (before.resolvable) return true;
  const bool own_series =
      before.reason == RefusalReason::affinity && fit_.constraints().matches_itself();
  if (rule_ == VictimChoiceRule::best) return own_series;
  unproven_ = unproven_ || own_series;
  return false;
}

std::optional<Candidate> VictimSearch::choose_put_back(NodeIndex node,
                                                       const std::optional<Refused>& still) {
  if (!still) {
    put_back_where_possible(node);
    return counted_candidate(node, evicted_);
  }
  // Removing all of them may have removed the very pod that the ask wants to be near.
  const bool misses_a_pod =
      (still->reason == RefusalReason::affinity || still->reason == RefusalReason::volume_limit) &&
      std::ranges::any_of(list_.pods, [&](PodIndex pod) { return fit_.constraints().wanted(pod); });
  unproven_ =
      unproven_ || misses_a_pod || budgets_kept_some_ || still->reason == RefusalReason::spread;
  return std::nullopt;
}

std::optional<Candidate> VictimSearch::choose_best(NodeIndex node,
                                                   const std::optional<Refused>& still,
                                                   const ScoreTerms* not_worse_than) {
  if (still && !choice_.may_change_later(*still, node, list_)) return std::nullopt;
  std::vector<PlanCascade> cascades;  // Of the best set.
  const VictimChoice::Score score = [&](const VictimChoice::Evicted& evicted,
                                        const ScoreTerms* to_beat,
                                        std::int64_t& steps) -> std::optional<ScoreTerms> {
    std::optional<Candidate> scored =
        scored_set(node, evicted, {.to_beat = to_beat, .not_worse_than = not_worse_than}, steps);
    if (!scored) return std::nullopt;
    const bool is_better = to_beat == nullptr || compare(scored->score, *to_beat) < 0;
    if (is_better) cascades = std::move(scored->cascades);
    return std::move(scored->score);
  };
  VictimChoice::Answer answer = choice_.best({.node = node,
                                              .list = list_,
                                              .not_worse_than = not_worse_than,
                                              .score = score,
                                              .steps_max = steps_.left()});
  steps_.count(answer.steps);
  if (answer.bound_reached) {
    bound_reached_ = true;
    unproven_ = true;
    if (!still) {
      const Scratch::Checkpoint all_gone = fit_.scratch().checkpoint();
      put_back_where_possible(node);
      const bool allowed = within_strict_budgets();
      std::int64_t steps = 0;
      std::optional<Candidate> greedy = scored_set(node, evicted_, {}, steps);
      steps_.count(steps);
      fit_.scratch().rollback(all_gone);
      const bool better = greedy && (!answer.evicted || compare(greedy->score, answer.score) < 0);
      if (allowed && better) {
        answer.evicted = evicted_;
        answer.score = std::move(greedy->score);
        cascades = std::move(greedy->cascades);
      }
    }
  }
  if (!answer.evicted) return std::nullopt;
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    if ((*answer.evicted)[at] == 0) fit_.scratch().put_back(list_.pods_of(list_.units[at]));
  }
  std::optional<Candidate> candidate = counted_candidate(node, *answer.evicted);
  if (!candidate) return std::nullopt;
  candidate->score = std::move(answer.score);  // With its secondary victims.
  candidate->cascades = std::move(cascades);
  return candidate;
}

/// Whether the units that stay evicted violate no budget that must not be violated.
bool VictimSearch::within_strict_budgets() {
  if (rules_.configuration().budgets.mode != BudgetMode::strict || !world_.budgets().any())
    return true;
  world_.budgets().start_trial();
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    const bool leaves = evicted_[at] != 0;
    if (leaves && !world_.budgets().charge_all(list_.pods_of(list_.units[at]))) return false;
  }
  return true;
}

/// With secondary victims only where that can matter: following them is dear.
std::optional<Candidate> VictimSearch::scored_set(NodeIndex node,
                                                  const VictimChoice::Evicted& evicted,
                                                  const Rivals& rivals, std::int64_t& steps) {
  std::optional<Candidate> candidate = candidate_of(node, evicted, steps);
  const bool matters =
      candidate && (rivals.to_beat == nullptr || compare(candidate->score, *rivals.to_beat) < 0);
  if (matters) follow(*candidate, rivals);
  return candidate;
}

/// More than a rival has are not counted where only their number can distinguish the two.
void VictimSearch::follow(Candidate& candidate, const Rivals& rivals) {
  if (cascades_ == nullptr) return;
  const auto term =
      std::ranges::find(candidate.score, ScoreKey::secondary_victims, &ScoreTerm::key);
  if (term == candidate.score.end()) return;
  const PodOnNode coming{.pod = fit_.ask(), .node = candidate.node};
  std::int64_t enough = Cascades::no_end;
  for (const ScoreTerms* const rival : {rivals.to_beat, rivals.not_worse_than}) {
    const bool ties_until_here =
        rival != nullptr && std::equal(candidate.score.begin(), term, rival->begin());
    if (!ties_until_here) continue;
    const auto at = static_cast<std::size_t>(term - candidate.score.begin());
    enough = std::min(enough, (*rival)[at].value);
  }
  term->value =
      cascades_->follow(candidate.victims.pods, std::span(&coming, 1), candidate.cascades, enough);
}

void VictimSearch::remove(const VictimUnit& unit) {
  steps_.count(1);
  fit_.scratch().remove(list_.pods_of(unit));
}

bool VictimSearch::put_back(const VictimUnit& unit, NodeIndex node) {
  steps_.count(1);
  fit_.scratch().put_back(list_.pods_of(unit));
  if (!fit_.check(node) && !world_.needs_uncertain_arrival(fit_, node, {})) return true;
  remove(unit);
  return false;
}

void VictimSearch::put_back_where_possible(NodeIndex node) {
  evicted_.assign(list_.units.size(), 1);
  put_back_in_rounds(list_, evicted_, rules_.configuration().workload.put_back, false,
                     [&](std::size_t at) { return put_back(list_.units[at], node); });
}

/// The victims have left the world, all other pods are in it.
std::optional<Candidate> VictimSearch::candidate_of(NodeIndex node,
                                                    const VictimChoice::Evicted& evicted,
                                                    std::int64_t& steps) {
  Candidate candidate{.node = node};
  candidate.victims = split_victims(list_, evicted, candidate.spared);
  const Scratch::Checkpoint before = fit_.scratch().checkpoint();
  std::optional<Refused> whole;
  const bool works = add_fallen_and_spare(
      {.cluster = world_.cluster(),
       .scratch = fit_.scratch(),
       .rules = rules_,
       .budgets = world_.budgets()},
      [&] {
        ++steps;
        whole = fit_.check(node);
        return !whole && !world_.needs_uncertain_arrival(fit_, node, {});
      },
      candidate.victims);
  if (!works) {
    unproven_ = true;  // Others might leave instead.
    refused_ = whole.value_or(Refused{.reason = RefusalReason::promised});
    fit_.scratch().rollback(before);
    return std::nullopt;
  }
  for (const VictimUnit& unit : candidate.victims.units) {
    candidate.budget_violations += unit.violations;
  }
  // A search for the best set can only go by the set itself.
  if (rules_.configuration().budgets.counted_over == BudgetCount::victims ||
      rule_ == VictimChoiceRule::best) {
    candidate.budget_violations =
        mark_violations(world_.budgets(), candidate.victims, ChargeOrder::most_important_first);
  }
  candidate.score = score_of(world_.survey(), rules_,
                             {.scratch = fit_.scratch(),
                              .list = candidate.victims,
                              .victims = candidate.victims.units,
                              .budget_violations = candidate.budget_violations});
  fit_.scratch().rollback(before);
  return candidate;
}

std::optional<Candidate> VictimSearch::counted_candidate(NodeIndex node,
                                                         const VictimChoice::Evicted& evicted) {
  std::int64_t steps = 0;
  std::optional<Candidate> candidate = candidate_of(node, evicted, steps);
  steps_.count(steps);
  return candidate;
}

}  // namespace makeway
