#include "policies/workload/victim_choice.hpp"

#include <algorithm>
#include <limits>

#include "base/checked_math.hpp"
#include "policies/workload/cascades.hpp"

namespace makeway {

VictimChoice::VictimChoice(World& world, const VictimRules& rules, PodFit& fit)
    : world_(world), rules_(rules), fit_(fit) {
  const WorkloadSettings& workload = rules.configuration().workload;
  by_unit_priority_ = workload.score_priority == ScorePriority::unit;
  cascades_count_ = cascades_count(rules.configuration());
  const auto at = [&](ScoreKey key) { return std::ranges::find(workload.score_keys, key); };
  fewer_before_sum_ = at(ScoreKey::victims) < at(ScoreKey::priority_sum);
  age_after_priority_ = at(ScoreKey::highest_priority) < at(ScoreKey::oldest_victim) ||
                        at(ScoreKey::oldest_victim) == workload.score_keys.end();
}

VictimChoice::Answer VictimChoice::best(const Task& task) {
  task_ = &task;
  answer_ = {};
  read_units();
  resources_only_ = fit_.only_resources(task.node);
  if (resources_only_) find_short_resources();
  evicted_.assign(task.list.units.size(), 0);
  evicted_stack_.clear();
  descend(0, {});
  return std::move(answer_);
}

// ---- What there is to choose from ---------------------------------------------------------------

void VictimChoice::read_units() {
  const Cluster& cluster = world_.cluster();
  entries_.clear();
  groups_.clear();
  budgets_left_.clear();
  budgets_of_.clear();
  world_.budgets().among(task_->list.pods, budgets_);
  for (const std::int64_t allowed : budgets_.allowed) {
    // Earlier asks may have overdrawn it; each further pod still violates it once.
    budgets_left_.push_back(std::max<std::int64_t>(allowed, 0));
  }
  short_.clear();
  for (std::uint32_t position = 0; position < task_->list.units.size(); ++position) {
    Entry entry{.position = position, .unit = &task_->list.units[position]};
    const auto pods = task_->list.pods_of(*entry.unit);
    entry.recreated = cascades_count_ && std::ranges::any_of(pods, [&](PodIndex pod) {
                        return recreated_by_controller(cluster, pod);
                      });
    if (entry.unit->group) {
      const auto known = std::ranges::find(groups_, entry.unit->unit);
      entry.group = static_cast<std::int32_t>(known - groups_.begin());
      if (known == groups_.end()) groups_.push_back(entry.unit->unit);
    }
    read_budgets(entry);
    entries_.push_back(entry);
  }
  std::ranges::stable_sort(
      entries_, [](const Entry& a, const Entry& b) { return a.unit->priority > b.unit->priority; });
  read_gangs();
  negative_sum_.assign(entries_.size() + 1, 0);
  for (std::size_t depth = entries_.size(); depth-- > 0;) {
    const VictimUnit& unit = *entries_[depth].unit;
    negative_sum_[depth] = negative_sum_[depth + 1] +
                           std::min<std::int64_t>(unit.priority, 0) * std::int64_t{unit.size};
  }
}

/// All pods here that may leave have left, and count as running.
void VictimChoice::read_gangs() {
  const Cluster& cluster = world_.cluster();
  gangs_.assign(groups_.size(), {});
  for (std::size_t at = 0; at < groups_.size(); ++at) {
    const Unit& unit = cluster.units()[groups_[at]];
    if (!unit.gang || unit.mode == DisruptionMode::all) continue;
    Gang& gang = gangs_[at];
    const GangStanding others = gang_standing(cluster, rules_, fit_.scratch(), groups_[at]);
    gang.running = others.running;
    gang.lost_work = others.lost_work_seconds;
    for (const Entry& entry : entries_) {
      if (entry.group != static_cast<std::int32_t>(at)) continue;
      ++gang.running;
      gang.lost_work += entry.unit->lost_work_seconds;
    }
    gang.beyond_minimum = gang.running - unit.minimum;
  }
}

void VictimChoice::read_budgets(Entry& entry) {
  entry.budgets_begin = static_cast<std::uint32_t>(budgets_of_.size());
  if (world_.budgets().any()) {
    for (std::uint32_t at = 0; at < entry.unit->size; ++at) {
      const std::span<const std::uint32_t> of = budgets_.of(entry.unit->begin + at);
      budgets_of_.insert(budgets_of_.end(), of.begin(), of.end());
    }
  }
  entry.budgets_end = static_cast<std::uint32_t>(budgets_of_.size());
}

/// A resource of which there is enough for all pods decides nothing.
void VictimChoice::find_short_resources() {
  const Cluster& cluster = world_.cluster();
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(task_->node);
  const std::span<const std::int64_t> used = fit_.scratch().used(task_->node);
  slack_.clear();
  open_.clear();
  std::vector<std::vector<std::int64_t>> columns;
  for (const ResourceAmount& item : fit_.requests()) {
    const std::size_t column = item.resource.value;
    std::vector<std::int64_t> freed;
    std::int64_t total = 0;
    for (const Entry& entry : entries_) {
      std::int64_t amount = 0;
      for (const PodIndex pod : task_->list.pods_of(*entry.unit)) {
        if (cluster.pods().node[pod] != task_->node) continue;
        for (const ResourceAmount& held : request_of(cluster, pod)) {
          if (held.resource == item.resource) amount = saturated_add(amount, held.amount);
        }
      }
      freed.push_back(amount);
      total = saturated_add(total, amount);
    }
    const std::int64_t slack = allocatable[column] - used[column] - item.amount;
    if (total <= slack) continue;
    short_.push_back(item.resource);
    slack_.push_back(slack);
    open_.push_back(saturated_sub(total, slack));
    columns.push_back(std::move(freed));
  }
  frees_.assign(entries_.size() * short_.size(), 0);
  largest_.assign((entries_.size() + 1) * short_.size(), 0);
  for (std::size_t entry = entries_.size(); entry-- > 0;) {
    for (std::size_t at = 0; at < short_.size(); ++at) {
      frees_[entry * short_.size() + at] = columns[at][entry];
      largest_[entry * short_.size() + at] =
          std::max(columns[at][entry], largest_[(entry + 1) * short_.size() + at]);
    }
  }
}

// ---- The search ---------------------------------------------------------------------------------

void VictimChoice::descend(std::size_t depth, const Cost& cost) {
  if (answer_.bound_reached || ++answer_.steps >= task_->steps_max) {
    answer_.bound_reached = true;
    return;
  }
  if (of_no_interest(depth, cost)) return;
  if (depth == entries_.size()) return finish();
  if (!wrongly_spared(depth) && spare(depth)) {
    descend(depth + 1, cost);
    unspare(depth);
  }
  evict_next(depth, cost);
}

void VictimChoice::evict_next(std::size_t depth, const Cost& cost) {
  const Entry& entry = entries_[depth];
  evicted_[entry.position] = 1;
  evicted_stack_.push_back(depth);
  for (std::size_t at = 0; at < short_.size(); ++at) open_[at] -= frees(depth, at);
  if (!stays_reducible()) {
    descend(depth + 1, with(cost, entry));
    uncharge(entry);
  }
  for (std::size_t at = 0; at < short_.size(); ++at) open_[at] += frees(depth, at);
  evicted_stack_.pop_back();
  evicted_[entry.position] = 0;
}

void VictimChoice::put_back(const VictimUnit& unit) {
  fit_.scratch().put_back(task_->list.pods_of(unit));
}

void VictimChoice::remove(const VictimUnit& unit) {
  fit_.scratch().remove(task_->list.pods_of(unit));
}

/// False: the ask could not stand beside it, whichever pods leave besides.
bool VictimChoice::spare(std::size_t depth) {
  if (resources_only_) {
    for (std::size_t at = 0; at < short_.size(); ++at) {
      if (frees(depth, at) > slack_[at]) return false;
    }
    for (std::size_t at = 0; at < short_.size(); ++at) slack_[at] -= frees(depth, at);
    return true;
  }
  put_back(*entries_[depth].unit);
  const std::optional<Refused> refused = fit_.check(task_->node);
  if (!refused || may_change_later(*refused, task_->node, task_->list)) return true;
  remove(*entries_[depth].unit);
  return false;
}

/// A pod may be wanted nearby, or have a volume of the ask attached. On other nodes a pod may
/// even out the spread; on this node every pod that comes back only adds to the ask's own domain.
bool VictimChoice::may_change_later(const Refused& refused, NodeIndex node,
                                    const VictimList& list) const {
  if (refused.reason == RefusalReason::affinity || refused.reason == RefusalReason::volume_limit) {
    return true;
  }
  const PodColumns& pods = world_.cluster().pods();
  return refused.reason == RefusalReason::spread &&
         std::ranges::any_of(list.pods, [&](PodIndex pod) { return pods.node[pod] != node; });
}

void VictimChoice::unspare(std::size_t depth) {
  if (!resources_only_) return remove(*entries_[depth].unit);
  for (std::size_t at = 0; at < short_.size(); ++at) slack_[at] += frees(depth, at);
}

/// All units are decided.
void VictimChoice::finish() {
  if (evicted_stack_.empty() || !feasible_set() || reducible_set()) return;
  const Scratch::Checkpoint before = fit_.scratch().checkpoint();
  if (resources_only_) {  // Only the sums know which units were spared.
    for (const Entry& entry : entries_) {
      if (evicted_[entry.position] == 0) put_back(*entry.unit);
    }
  }
  const ScoreTerms* const to_beat = answer_.evicted ? &answer_.score : nullptr;
  std::optional<ScoreTerms> score = task_->score(evicted_, to_beat, answer_.steps);
  fit_.scratch().rollback(before);
  if (!score) return;
  if (task_->not_worse_than != nullptr && compare(*score, *task_->not_worse_than) > 0) return;
  if (to_beat != nullptr && compare(*score, *to_beat) >= 0) return;
  answer_.evicted = evicted_;
  answer_.score = *std::move(score);
}

bool VictimChoice::feasible_set() {
  if (rules_.configuration().budgets.mode == BudgetMode::strict &&
      std::ranges::any_of(budgets_left_, [](std::int64_t left) { return left < 0; })) {
    return false;
  }
  return resources_only_ || !fit_.check(task_->node);
}

bool VictimChoice::reducible_set() {
  for (const std::size_t entry : evicted_stack_) {
    if (resources_only_) {
      bool comes_back = true;
      for (std::size_t at = 0; at < short_.size(); ++at) {
        comes_back = comes_back && frees(entry, at) <= slack_[at];
      }
      if (comes_back) return true;
      continue;
    }
    put_back(*entries_[entry].unit);
    const bool comes_back = !fit_.check(task_->node);
    remove(*entries_[entry].unit);
    if (comes_back) return true;
  }
  return false;
}

/// Whether an evicted unit comes back at the end, however the others are decided: then there is at
/// least the room that is left when all of them stay.
bool VictimChoice::stays_reducible() const {
  if (!resources_only_) return false;
  return std::ranges::any_of(evicted_stack_, [&](std::size_t entry) {
    for (std::size_t at = 0; at < short_.size(); ++at) {
      if (frees(entry, at) > std::max<std::int64_t>(-open_[at], 0)) return false;
    }
    return true;
  });
}

// ---- Bounds -------------------------------------------------------------------------------------

VictimChoice::Cost VictimChoice::with(const Cost& cost, const Entry& entry) {
  Cost sum = cost;
  const VictimUnit& unit = *entry.unit;
  sum.pods += unit.size;
  sum.stopped += unit.size;
  sum.priority_sum += std::int64_t{unit.priority} * unit.size;
  sum.lost_work += unit.lost_work_seconds;
  sum.largest = std::max(sum.largest, std::int64_t{unit.size});
  for (const PodIndex pod : task_->list.pods_of(unit)) {
    sum.age_ms += rules_.age_ms(pod);
  }
  if (entry.group >= 0) {
    sum.grouped += unit.size;
    leave_gang(gangs_[static_cast<std::size_t>(entry.group)], unit, sum);
  }
  for (std::uint32_t at = entry.budgets_begin; at < entry.budgets_end; ++at) {
    // A pod under two budgets violates once; so the largest excess bounds their number.
    sum.violations = std::max(sum.violations, -(--budgets_left_[budgets_of_[at]]));
  }
  if (!sum.highest) {
    sum.highest = unit.priority;
    sum.oldest = unit.started;
  } else if (*sum.highest == unit.priority) {
    sum.oldest = std::min(sum.oldest, unit.started);
  }
  return sum;
}

/// The one that takes a gang below its minimum stops all of it; those after it add nothing.
void VictimChoice::leave_gang(Gang& gang, const VictimUnit& unit, Cost& sum) {
  if (gang.gone++ == 0) ++sum.groups;
  gang.gone_work += unit.lost_work_seconds;
  if (gang.beyond_minimum < 0 || gang.gone <= gang.beyond_minimum) return;
  const bool stops = gang.gone == gang.beyond_minimum + 1;
  sum.stopped += stops ? gang.running - gang.gone : -1;
  sum.lost_work += stops ? gang.lost_work - gang.gone_work : -unit.lost_work_seconds;
}

void VictimChoice::uncharge(const Entry& entry) {
  if (entry.group >= 0) {
    Gang& gang = gangs_[static_cast<std::size_t>(entry.group)];
    --gang.gone;
    gang.gone_work -= entry.unit->lost_work_seconds;
  }
  for (std::uint32_t at = entry.budgets_begin; at < entry.budgets_end; ++at) {
    ++budgets_left_[budgets_of_[at]];
  }
}

std::int64_t VictimChoice::pods_needed(std::size_t depth) const {
  std::int64_t needed = 0;
  for (std::size_t at = 0; at < short_.size(); ++at) {
    const std::int64_t largest = largest_[depth * short_.size() + at];
    if (open_[at] <= 0 || largest <= 0) continue;
    needed = std::max(needed, (open_[at] - 1) / largest + 1);
  }
  return needed;
}

std::int64_t VictimChoice::lower_bound(ScoreKey key, std::size_t depth, const Cost& cost) const {
  constexpr std::int64_t anything = std::numeric_limits<std::int64_t>::min();
  switch (key) {
    case ScoreKey::members_not_placed:
    case ScoreKey::secondary_victims:
    case ScoreKey::groups_below_minimum: return 0;
    case ScoreKey::budget_violations: return cost.violations;
    case ScoreKey::highest_priority:
      return by_unit_priority_ && cost.highest ? std::int64_t{*cost.highest} : anything;
    case ScoreKey::stopped_pods: return std::max(cost.stopped, cost.pods + pods_needed(depth));
    case ScoreKey::victims: return cost.pods + pods_needed(depth);
    case ScoreKey::priority_sum:
      return by_unit_priority_ ? cost.priority_sum + negative_sum_[depth] : anything;
    case ScoreKey::raw_priority_sum: return by_unit_priority_ ? cost.priority_sum : 0;
    case ScoreKey::lost_work: return cost.lost_work;
    case ScoreKey::disrupted_groups: return cost.groups;
    case ScoreKey::oldest_victim:
      return by_unit_priority_ && cost.highest ? (rules_.now() - cost.oldest).ms : anything;
    case ScoreKey::grouped_victims: return cost.grouped;
    case ScoreKey::largest_victim: return cost.largest;
    case ScoreKey::victims_age: return cost.age_ms;
  }
  CHECK(false, "unknown score key");
}

bool VictimChoice::of_no_interest(std::size_t depth, const Cost& cost) const {
  if (cost.violations > 0 && rules_.configuration().budgets.mode == BudgetMode::strict) return true;
  const std::vector<ScoreKey>& keys = rules_.configuration().workload.score_keys;
  bool as_good_as_limit = task_->not_worse_than != nullptr;
  bool as_good_as_best = answer_.evicted.has_value();
  for (std::size_t at = 0; at < keys.size() && (as_good_as_limit || as_good_as_best); ++at) {
    const std::int64_t bound = lower_bound(keys[at], depth, cost);
    if (as_good_as_limit) {
      const std::int64_t limit = (*task_->not_worse_than)[at].value;
      if (bound > limit) return true;
      as_good_as_limit = bound == limit;
    }
    if (as_good_as_best) {
      if (bound > answer_.score[at].value) return true;
      as_good_as_best = bound == answer_.score[at].value;
    }
  }
  return as_good_as_best;  // What is only equal is no better.
}

/// This unit could go in place of an evicted one, for less or the same.
bool VictimChoice::wrongly_spared(std::size_t depth) const {
  const bool never_a_gain =
      age_after_priority_ && (fewer_before_sum_ || negative_sum_.front() == 0);
  if (!resources_only_ || !by_unit_priority_ || !never_a_gain) return false;
  return std::ranges::any_of(evicted_stack_, [&](std::size_t evicted) {
    return frees_and_costs_no_worse(depth, evicted);
  });
}

bool VictimChoice::frees_and_costs_no_worse(std::size_t a, std::size_t b) const {
  for (std::size_t at = 0; at < short_.size(); ++at) {
    if (frees(a, at) < frees(b, at)) return false;
  }
  return costs_no_more(entries_[a], entries_[b]);
}

/// Whether a pod stops with both or with neither. A pod that stays in a unit that others stop
/// counts there as a victim does, so evicting another one instead is no saving.
bool VictimChoice::stops_alike(const Entry& a, const Entry& b) const {
  const bool in_gang =
      b.group >= 0 && gangs_[static_cast<std::size_t>(b.group)].beyond_minimum >= 0;
  if (in_gang && a.group != b.group) return false;
  const Cluster& cluster = world_.cluster();
  const PodColumns& pods = cluster.pods();
  const auto shares = [&](PodIndex pod) -> const std::vector<LossShare>& {
    return cluster.notes(pods.notes[pod]).loss_units;
  };
  const auto in_none = [&](const Entry& entry) {
    return std::ranges::all_of(task_->list.pods_of(*entry.unit),
                               [&](PodIndex pod) { return shares(pod).empty(); });
  };
  if (in_none(a) && in_none(b)) return true;
  const PodIndex one = a.unit->first;
  const PodIndex other = b.unit->first;
  return a.unit->size == 1 && b.unit->size == 1 && shares(one) == shares(other) &&
         pods.namespace_name[one] == pods.namespace_name[other] &&
         pods.plane[one] == pods.plane[other];
}

bool VictimChoice::costs_no_more(const Entry& a, const Entry& b) const {
  const VictimUnit& one = *a.unit;
  const VictimUnit& other = *b.unit;
  if (one.size > other.size || one.lost_work_seconds > other.lost_work_seconds) return false;
  if (std::int64_t{one.priority} * one.size > std::int64_t{other.priority} * other.size) {
    return false;
  }
  if (a.budgets_begin != a.budgets_end) return false;
  if (a.group >= 0 && (a.group != b.group || one.whole)) return false;
  if (!stops_alike(a, b)) return false;
  if (one.started < other.started || (one.priority != other.priority && !age_after_priority_)) {
    return false;
  }
  if (!a.recreated) return true;
  const PodColumns& pods = world_.cluster().pods();
  return b.recreated && one.size == 1 && other.size == 1 && one.priority == other.priority &&
         pods.requests[one.first] == pods.requests[other.first] &&
         pods.shape[one.first] == pods.shape[other.first] &&
         pods.labels[one.first] == pods.labels[other.first] &&
         pods.namespace_name[one.first] == pods.namespace_name[other.first];
}

}  // namespace makeway
