#include "support/naive_score.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.hpp"
#include "model/group_name.hpp"
#include "model/selector.hpp"

namespace makeway {

NaiveScore::NaiveScore(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster), configuration_(configuration), now_(now), budgets_(cluster.budgets()) {
  CHECK(configuration.engine.cascade_depth == 0, "cascades are not followed here");
  CHECK(configuration.budgets.counted_over == BudgetCount::victims, "counted over the victims");
}

// ---- One pod ------------------------------------------------------------------------------------

const Unit& NaiveScore::unit_of(PodIndex pod) const {
  return cluster_.units()[cluster_.pods().unit[pod]];
}

const PodGroup* NaiveScore::group_object(PodIndex pod) const {
  const Unit& unit = unit_of(pod);
  if (unit.kind != UnitKind::group) return nullptr;
  const std::optional<PodGroup>& object = cluster_.groups()[unit.group].object;
  return object ? &*object : nullptr;
}

const Workload* NaiveScore::workload_object(PodIndex pod) const {
  const Unit& unit = unit_of(pod);
  if (unit.kind != UnitKind::group) return nullptr;
  const Group& group = cluster_.groups()[unit.group];
  const std::string name(group.object ? std::string_view(group.object->workload)
                                      : workload_of_group_name(cluster_.text(group.name)));
  for (const Workload* const workload : cluster_.workloads()) {
    if (!name.empty() && workload->name == name &&
        workload->namespace_name == cluster_.text(group.namespace_name) &&
        workload->plane == cluster_.text(group.plane)) {
      return workload;
    }
  }
  return nullptr;
}

std::int64_t NaiveScore::unit_priority(PodIndex pod) const {
  const Unit& unit = unit_of(pod);
  return configuration_.workload.honour_preemption_priority ? unit.preemption_priority
                                                            : unit.scheduling_priority;
}

std::int64_t NaiveScore::scored_priority(PodIndex pod) const {
  return configuration_.workload.score_priority == ScorePriority::pod
             ? cluster_.pods().priority[pod]
             : unit_priority(pod);
}

/// A pod whose start is unknown has just started.
std::int64_t NaiveScore::age_ms(PodIndex pod) const {
  const Time started = cluster_.pods().started[pod];
  return started == no_time ? 0 : (now_ - started).ms;
}

/// In seconds: a stated cost; else the time since the last checkpoint, if it is later than the
/// start; else the run time. What the pod states comes before what its group states, then comes
/// its workload.
std::int64_t NaiveScore::lost_work(PodIndex pod) const {
  const PodNotes& notes = cluster_.notes(cluster_.pods().notes[pod]);
  const PodGroup* const group = group_object(pod);
  if (notes.preemption_cost_seconds) return *notes.preemption_cost_seconds;
  if (group != nullptr && group->preemption_cost_seconds) return *group->preemption_cost_seconds;
  const Workload* const workload = workload_object(pod);
  if (workload != nullptr && workload->preemption_cost_seconds) {
    return *workload->preemption_cost_seconds;
  }
  std::int64_t lost_ms = age_ms(pod);
  std::optional<Time> checkpoint = notes.last_checkpoint;
  if (!checkpoint && group != nullptr) checkpoint = group->last_checkpoint;
  if (!checkpoint && workload != nullptr) checkpoint = workload->last_checkpoint;
  const bool start_known = cluster_.pods().started[pod] != no_time;
  if (checkpoint) {
    const std::int64_t since_ms = (now_ - *checkpoint).ms;
    lost_ms = start_known ? std::min(lost_ms, since_ms) : since_ms;
  }
  return lost_ms > 0 ? lost_ms / 1000 : 0;
}

bool NaiveScore::governed(PodIndex pod, const DisruptionBudget& budget) const {
  const PodColumns& pods = cluster_.pods();
  const std::string_view name = pods.name[pod.value];
  return governs(budget, cluster_.text(pods.namespace_name[pod]),
                 cluster_.label_objects(pods.labels[pod])) &&
         std::ranges::count(budget.disrupted_pods, name) == 0;
}

bool NaiveScore::credited(PodIndex pod) const {
  const Time deletion = cluster_.pods().deletion[pod];
  return configuration_.workload.leaving_room == LeavingRoom::credited && deletion != no_time &&
         now_ < deletion + configuration_.engine.leave_timeout;
}

// ---- Units by importance ------------------------------------------------------------------------

std::vector<NaiveScore::Leaver> NaiveScore::by_importance(
    const std::vector<PodIndex>& victims) const {
  std::map<UnitIndex, std::vector<PodIndex>> whole;
  std::vector<std::vector<PodIndex>> together;
  for (const PodIndex pod : victims) {
    const Unit& unit = unit_of(pod);
    if (unit.kind == UnitKind::group && unit.mode == DisruptionMode::all) {
      whole[cluster_.pods().unit[pod]].push_back(pod);
    } else {
      together.push_back({pod});
    }
  }
  for (const auto& [unit, pods] : whole) together.push_back(pods);
  std::vector<Leaver> leavers;
  for (std::vector<PodIndex>& pods : together) {
    std::ranges::sort(pods, {}, [&](PodIndex pod) { return cluster_.pods().name[pod.value]; });
    Leaver leaver{.pods = pods,
                  .group = unit_of(pods.front()).kind == UnitKind::group,
                  .priority = unit_priority(pods.front()),
                  .age_ms = age_ms(pods.front())};
    for (const PodIndex pod : pods) {
      leaver.age_ms = std::max(leaver.age_ms, age_ms(pod));
      leaver.lost_work += lost_work(pod);
    }
    leavers.push_back(std::move(leaver));
  }
  std::ranges::sort(leavers,
                    [&](const Leaver& a, const Leaver& b) { return more_important(a, b); });
  return leavers;
}

bool NaiveScore::more_important(const Leaver& a, const Leaver& b) const {
  const auto measure = [](ImportanceKey key, const Leaver& leaver) -> std::int64_t {
    switch (key) {
      case ImportanceKey::priority: return leaver.priority;
      case ImportanceKey::kind: return leaver.group ? 1 : 0;
      case ImportanceKey::size: return static_cast<std::int64_t>(leaver.pods.size());
      case ImportanceKey::age: return leaver.age_ms;
    }
    CHECK(false, "unknown importance key");
  };
  for (const ImportanceKey key : configuration_.workload.importance_keys) {
    const std::int64_t left = measure(key, a);
    const std::int64_t right = measure(key, b);
    if (left != right) return left > right;
  }
  const PodColumns& pods = cluster_.pods();
  const auto name = [&](const Leaver& leaver) {
    const PodIndex first = leaver.pods.front();
    return std::pair(cluster_.text(pods.namespace_name[first]), pods.name[first.value]);
  };
  return name(a) < name(b);
}

// ---- The keys -----------------------------------------------------------------------------------

ScoreTerms NaiveScore::score(const std::vector<PodIndex>& victims) const {
  const std::vector<Leaver> leavers = by_importance(victims);
  ScoreTerms terms;
  for (const ScoreKey key : configuration_.workload.score_keys) {
    terms.push_back({.key = key, .value = value(key, leavers)});
  }
  return terms;
}

std::int64_t NaiveScore::value(ScoreKey key, const std::vector<Leaver>& leavers) const {
  constexpr std::int64_t raw_offset = 2'147'483'648;
  std::int64_t pods = 0;
  std::int64_t priorities = 0;
  std::int64_t work = 0;
  std::int64_t grouped = 0;
  std::int64_t largest = 0;
  std::int64_t ages = 0;
  for (const Leaver& leaver : leavers) {
    largest = std::max(largest, static_cast<std::int64_t>(leaver.pods.size()));
    for (const PodIndex pod : leaver.pods) {
      pods += 1;
      priorities += scored_priority(pod);
      work += lost_work(pod);
      grouped += leaver.group ? 1 : 0;
      ages += std::max<std::int64_t>(age_ms(pod), 0);
    }
  }
  std::set<PodIndex> beside = stopped_beside(leavers);
  beside.merge(stopped_in_units(leavers));
  for (const PodIndex pod : beside) work += lost_work(pod);
  switch (key) {
    case ScoreKey::members_not_placed:
    case ScoreKey::secondary_victims: return 0;
    case ScoreKey::budget_violations: return budget_violations(leavers);
    case ScoreKey::highest_priority: return highest_priority(leavers);
    case ScoreKey::stopped_pods: return pods + static_cast<std::int64_t>(beside.size());
    case ScoreKey::victims: return pods;
    case ScoreKey::priority_sum: return priorities;
    case ScoreKey::raw_priority_sum: return priorities + pods * raw_offset;
    case ScoreKey::lost_work: return work;
    case ScoreKey::groups_below_minimum: return groups(leavers, true);
    case ScoreKey::disrupted_groups: return groups(leavers, false);
    case ScoreKey::oldest_victim: return oldest_victim(leavers);
    case ScoreKey::grouped_victims: return grouped;
    case ScoreKey::largest_victim: return largest;
    case ScoreKey::victims_age: return ages;
  }
  CHECK(false, "unknown score key");
}

std::int64_t NaiveScore::budget_violations(const std::vector<Leaver>& leavers) const {
  std::map<const DisruptionBudget*, std::int64_t> charged;
  std::int64_t violations = 0;
  for (const Leaver& leaver : leavers) {
    for (const PodIndex pod : leaver.pods) {
      for (const DisruptionBudget* const budget : budgets_) {
        if (!governed(pod, *budget)) continue;
        if (++charged[budget] <= budget->disruptions_allowed.value_or(0)) continue;
        ++violations;
        break;
      }
    }
  }
  return violations;
}

bool NaiveScore::within_budgets(const std::vector<PodIndex>& victims) const {
  return std::ranges::all_of(budgets_, [&](const DisruptionBudget* budget) {
    const auto lost =
        std::ranges::count_if(victims, [&](PodIndex pod) { return governed(pod, *budget); });
    return lost == 0 || lost <= budget->disruptions_allowed.value_or(0);
  });
}

std::int64_t NaiveScore::highest_priority(const std::vector<Leaver>& leavers) const {
  if (leavers.empty()) return 0;
  if (configuration_.workload.score_priority == ScorePriority::pod) {
    return scored_priority(leavers.front().pods.front());
  }
  return std::ranges::max(leavers, {}, &Leaver::priority).priority;
}

/// Milliseconds that the oldest of those pods has run whose priority is highest.
std::int64_t NaiveScore::oldest_victim(const std::vector<Leaver>& leavers) const {
  std::optional<std::pair<std::int64_t, std::int64_t>> worst;  // Priority, then age.
  for (const Leaver& leaver : leavers) {
    for (const PodIndex pod : leaver.pods) {
      const std::pair both(scored_priority(pod), age_ms(pod));
      if (!worst || both > *worst) worst = both;
    }
  }
  return worst ? worst->second : 0;
}

std::int64_t NaiveScore::groups(const std::vector<Leaver>& leavers, bool only_below_minimum) const {
  std::set<UnitIndex> found;
  for (const Leaver& leaver : leavers) {
    if (!leaver.group) continue;
    const UnitIndex unit = cluster_.pods().unit[leaver.pods.front()];
    if (!only_below_minimum || below_minimum(unit, leavers)) found.insert(unit);
  }
  return static_cast<std::int64_t>(found.size());
}

/// A gang that keeps fewer running pods than its minimum.
bool NaiveScore::below_minimum(UnitIndex index, const std::vector<Leaver>& leavers) const {
  const Unit& unit = cluster_.units()[index];
  if (!unit.gang) return false;
  std::int64_t kept = 0;
  for (const PodIndex member : cluster_.groups()[unit.group].members) {
    const bool leaves = std::ranges::any_of(
        leavers, [&](const Leaver& leaver) { return std::ranges::count(leaver.pods, member) > 0; });
    if (cluster_.pods().node[member].exists() && !credited(member) && !leaves) ++kept;
  }
  return kept < unit.minimum;
}

/// Bound pods that do not leave, of gangs that had their minimum and lack it without the leavers.
std::set<PodIndex> NaiveScore::stopped_beside(const std::vector<Leaver>& leavers) const {
  std::map<UnitIndex, std::set<PodIndex>> lost;
  for (const Leaver& leaver : leavers) {
    for (const PodIndex pod : leaver.pods) lost[cluster_.pods().unit[pod]].insert(pod);
  }
  std::set<PodIndex> stopped;
  for (const auto& [index, gone] : lost) {
    const Unit& unit = cluster_.units()[index];
    if (unit.kind != UnitKind::group || !unit.gang) continue;
    std::vector<PodIndex> kept;
    for (const PodIndex member : cluster_.groups()[unit.group].members) {
      const bool leaves = configuration_.workload.leaving_room != LeavingRoom::victims &&
                          cluster_.pods().deletion[member] != no_time;
      if (cluster_.pods().node[member].exists() && !leaves && !gone.contains(member)) {
        kept.push_back(member);
      }
    }
    const std::size_t before = kept.size() + gone.size();
    const auto minimum = static_cast<std::size_t>(unit.minimum);
    if (before >= minimum && kept.size() < minimum) {
      stopped.insert(kept.begin(), kept.end());
    }
  }
  return stopped;
}

/// SPEC section 7: a unit stops when more pods of one of its parts leave than it allows.
std::set<PodIndex> NaiveScore::stopped_in_units(const std::vector<Leaver>& leavers) const {
  std::set<PodIndex> gone;
  for (const Leaver& leaver : leavers) gone.insert(leaver.pods.begin(), leaver.pods.end());
  using UnitName = std::pair<std::string, std::string>;
  std::map<std::pair<UnitName, std::string>, std::int64_t> allowed;  // By unit and part.
  std::map<std::pair<UnitName, std::string>, std::int64_t> losses;
  std::map<UnitName, std::set<PodIndex>> others;
  for (const PodIndex pod : cluster_.each_pod()) {
    const bool leaves = configuration_.workload.leaving_room != LeavingRoom::victims &&
                        cluster_.pods().deletion[pod] != no_time;
    if (!cluster_.pods().node[pod].exists()) continue;
    const std::string space(cluster_.text(cluster_.pods().namespace_name[pod]));
    for (const LossShare& share : cluster_.notes(cluster_.pods().notes[pod]).loss_units) {
      const UnitName unit(space, share.unit);
      if (!gone.contains(pod) && !leaves) others[unit].insert(pod);
      if (share.part.empty()) continue;
      const std::pair part(unit, share.part);
      allowed[part] =
          std::min(allowed.contains(part) ? allowed[part] : share.allowed, share.allowed);
      if (gone.contains(pod)) ++losses[part];
    }
  }
  std::set<PodIndex> stopped;
  for (const auto& [part, count] : losses) {
    if (count > allowed[part]) stopped.insert(others[part.first].begin(), others[part.first].end());
  }
  return stopped;
}

int compared(const ScoreTerms& a, const ScoreTerms& b) {
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (a[at].value != b[at].value) return a[at].value < b[at].value ? -1 : 1;
  }
  return 0;
}

}  // namespace makeway
