#include "policies/workload/victim_search.hpp"

#include <algorithm>

namespace makeway {

VictimSearch::VictimSearch(Cycle& cycle, PodFit& fit) : cycle_(cycle), fit_(fit) {
  priority_ = cycle.cluster.units()[cycle.cluster.pods().unit[fit.ask()]].scheduling_priority;
}

std::optional<Candidate> VictimSearch::on_node(NodeIndex node) {
  const std::optional<Refused> before = fit_.check(node);
  CHECK(before.has_value(), "nobody has to leave this node");
  refused_ = *before;
  if (!before->resolvable) {
    // Should everybody leave whom the ask must be near, it could start its own series.
    unproven_ = unproven_ ||
                (before->reason == RefusalReason::affinity && fit_.constraints().matches_itself());
    return std::nullopt;
  }
  list_.clear();
  cycle_.rules.collect(fit_.scratch(), node, priority_, list_);
  std::ranges::sort(list_.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return cycle_.rules.more_important(a, b);
  });
  mark_violations();
  keep_within_budgets();
  if (list_.units.empty()) {
    unproven_ = unproven_ || budgets_kept_some_;
    return std::nullopt;
  }
  const Scratch::Checkpoint start = fit_.scratch().checkpoint();
  std::optional<Candidate> candidate;
  if (fits_without_all(node)) {
    put_back_where_possible(node);
    candidate = finish(node);
  }
  fit_.scratch().rollback(start);
  return candidate;
}

/// One walk in order of importance, as kube-scheduler does it.
void VictimSearch::mark_violations() {
  if (!cycle_.budgets.any()) return;
  cycle_.budgets.start_trial();
  for (VictimUnit& unit : list_.units) {
    for (const PodIndex pod : list_.pods_of(unit)) {
      if (cycle_.budgets.charge(pod)) ++unit.violations;
    }
  }
}

void VictimSearch::keep_within_budgets() {
  budgets_kept_some_ = false;
  if (cycle_.configuration.budgets.mode != BudgetMode::strict || !cycle_.budgets.any()) return;
  cycle_.budgets.start_trial();
  std::vector<VictimUnit> allowed;
  for (auto unit = list_.units.rbegin(); unit != list_.units.rend(); ++unit) {
    const auto pods = list_.pods_of(*unit);
    // A group that leaves whole is charged pod by pod; if one of them is too much, it stays.
    const bool too_much =
        std::ranges::any_of(pods, [&](PodIndex pod) { return cycle_.budgets.charge(pod); });
    budgets_kept_some_ = budgets_kept_some_ || too_much;
    unit->violations = 0;
    if (!too_much) allowed.push_back(*unit);
  }
  std::ranges::reverse(allowed);
  list_.units = std::move(allowed);
}

bool VictimSearch::fits_without_all(NodeIndex node) {
  for (const VictimUnit& unit : list_.units) remove(unit);
  const std::optional<Refused> still = fit_.check(node);
  if (!still) return true;
  refused_ = *still;
  // Removing everybody may have removed the very pod that the ask wants to be near.
  const bool misses_somebody =
      still->reason == RefusalReason::affinity &&
      std::ranges::any_of(list_.pods, [&](PodIndex pod) { return fit_.constraints().wanted(pod); });
  unproven_ =
      unproven_ || misses_somebody || budgets_kept_some_ || still->reason == RefusalReason::spread;
  return false;
}

void VictimSearch::remove(const VictimUnit& unit) {
  ++steps_;
  for (const PodIndex pod : list_.pods_of(unit)) fit_.scratch().remove(pod);
}

bool VictimSearch::put_back(VictimUnit& unit, NodeIndex node) {
  ++steps_;
  const Cluster& cluster = cycle_.cluster;
  for (const PodIndex pod : list_.pods_of(unit)) {
    fit_.scratch().place(pod, cluster.pods().node[pod]);
  }
  if (!fit_.check(node)) return true;
  remove(unit);
  return false;
}

void VictimSearch::put_back_where_possible(NodeIndex node) {
  const PutBack mode = cycle_.configuration.workload.put_back;
  is_victim_.assign(list_.units.size(), 1);
  if (mode == PutBack::none) return;
  for (bool changed = true; changed;) {
    changed = false;
    for (const bool violating : {true, false}) {
      for (std::size_t at = 0; at < list_.units.size(); ++at) {
        VictimUnit& unit = list_.units[at];
        if (is_victim_[at] == 0 || (unit.violations > 0) != violating) continue;
        if (!put_back(unit, node)) continue;
        is_victim_[at] = 0;
        changed = true;
      }
    }
    if (mode == PutBack::once) return;
  }
}

Candidate VictimSearch::finish(NodeIndex node) {
  Candidate candidate{.node = node};
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    VictimUnit unit = list_.units[at];
    if (is_victim_[at] == 0) {
      candidate.spared.push_back(unit);
      continue;
    }
    candidate.budget_violations += unit.violations;
    const auto pods = list_.pods_of(unit);
    unit.begin = static_cast<std::uint32_t>(candidate.victims.pods.size());
    candidate.victims.pods.insert(candidate.victims.pods.end(), pods.begin(), pods.end());
    candidate.victims.units.push_back(unit);
  }
  if (cycle_.configuration.budgets.counted_over == BudgetCount::victims) {
    candidate.budget_violations = 0;
    cycle_.budgets.start_trial();
    for (VictimUnit& unit : candidate.victims.units) {
      unit.violations = 0;
      for (const PodIndex pod : candidate.victims.pods_of(unit)) {
        if (cycle_.budgets.charge(pod)) ++unit.violations;
      }
      candidate.budget_violations += unit.violations;
    }
  }
  candidate.score = score_of(cycle_.survey, cycle_.rules,
                             {.scratch = fit_.scratch(),
                              .list = candidate.victims,
                              .victims = candidate.victims.units,
                              .budget_violations = candidate.budget_violations});
  return candidate;
}

}  // namespace makeway
