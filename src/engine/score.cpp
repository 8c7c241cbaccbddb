#include "engine/score.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace makeway {
namespace {

constexpr std::int64_t raw_offset = std::int64_t{1} << 31;

class Scoring {
 public:
  Scoring(const Survey& survey, const VictimRules& rules, const ScoreInput& input)
      : cluster_(survey.cluster()),
        loss_units_(survey.loss_units()),
        rules_(rules),
        input_(input),
        by_pod_(rules.configuration().workload.score_priority == ScorePriority::pod) {
    find_stopped();
  }

  std::int64_t value(ScoreKey key) const {
    switch (key) {
      case ScoreKey::members_not_placed: return input_.members_not_placed;
      case ScoreKey::budget_violations: return input_.budget_violations;
      case ScoreKey::highest_priority: return highest_priority();
      case ScoreKey::secondary_victims: return 0;  // The caller that follows cascades sets it.
      case ScoreKey::stopped_pods: return stopped_.running + sum([](PodIndex) { return 1; });
      case ScoreKey::victims: return sum([](PodIndex) { return 1; });
      case ScoreKey::priority_sum: return sum([this](PodIndex pod) { return priority(pod); });
      case ScoreKey::raw_priority_sum:
        return sum([this](PodIndex pod) { return priority(pod) + raw_offset; });
      case ScoreKey::lost_work:
        return stopped_.lost_work_seconds +
               sum([this](PodIndex pod) { return rules_.lost_work_seconds(pod); });
      case ScoreKey::groups_below_minimum: return groups(true);
      case ScoreKey::disrupted_groups: return groups(false);
      case ScoreKey::oldest_victim: return oldest_victim();
      case ScoreKey::grouped_victims:
        return sum([this](PodIndex pod) { return in_group(pod) ? 1 : 0; });
      case ScoreKey::largest_victim: return largest_victim();
      case ScoreKey::victims_age: return sum([this](PodIndex pod) { return rules_.age_ms(pod); });
    }
    CHECK(false, "unknown score key");
  }

 private:
  template <class Value>
  std::int64_t sum(const Value& value) const {
    std::int64_t total = 0;
    for (const VictimUnit& unit : input_.victims) {
      for (const PodIndex pod : input_.list.pods_of(unit)) total += value(pod);
    }
    return total;
  }

  std::int64_t priority(PodIndex pod) const {
    return by_pod_ ? cluster_.pods().priority[pod] : rules_.priority_of(pod);
  }

  std::int64_t highest_priority() const {
    if (input_.victims.empty()) return 0;
    if (by_pod_) return priority(input_.victims.front().first);
    return std::ranges::max(input_.victims, {}, &VictimUnit::priority).priority;
  }

  /// Of the highest priority among the victims' pods, as kube-scheduler reads it.
  std::int64_t oldest_victim() const {
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    Time earliest = rules_.now();
    for (const VictimUnit& unit : input_.victims) {
      for (const PodIndex pod : input_.list.pods_of(unit)) {
        const Time started = rules_.started(pod);
        if (priority(pod) > highest) {
          highest = priority(pod);
          earliest = started;
        } else if (priority(pod) == highest) {
          earliest = std::min(earliest, started);
        }
      }
    }
    return (rules_.now() - earliest).ms;
  }

  bool in_group(PodIndex pod) const {
    return cluster_.units()[cluster_.pods().unit[pod]].kind == UnitKind::group;
  }

  std::int64_t largest_victim() const {
    if (input_.victims.empty()) return 0;
    return std::ranges::max(input_.victims, {}, &VictimUnit::size).size;
  }

  /// What stays of the gangs and the loss units that the victims stop; each pod once.
  void find_stopped() {
    const std::vector<UnitIndex> gangs = stopped_gangs();
    const std::vector<LossUnits::Stopped> units = stopped_units();
    if (units.empty()) return;
    // A pod may be in both, so they are counted one by one.
    std::vector<PodIndex> pods;
    for (const LossUnits::Stopped& unit : units) {
      pods.insert(pods.end(), unit.rest.begin(), unit.rest.end());
    }
    std::ranges::sort(pods);
    const auto repeated = std::ranges::unique(pods);
    pods.erase(repeated.begin(), repeated.end());
    for (const PodIndex pod : pods) {
      if (std::ranges::binary_search(gangs, cluster_.pods().unit[pod])) continue;
      ++stopped_.running;
      stopped_.lost_work_seconds += rules_.lost_work_seconds(pod);
    }
  }

  /// Adds up what stays of them; sorted.
  std::vector<UnitIndex> stopped_gangs() {
    std::vector<UnitIndex> gangs;
    std::vector<std::pair<UnitIndex, PodIndex>> losing;
    for (const VictimUnit& unit : input_.victims) {
      if (!unit.group || unit.whole || !cluster_.units()[unit.unit].gang) continue;
      for (const PodIndex pod : input_.list.pods_of(unit)) losing.emplace_back(unit.unit, pod);
    }
    std::ranges::sort(losing);
    for (auto at = losing.begin(); at != losing.end();) {
      const UnitIndex gang = at->first;
      const std::int64_t minimum = cluster_.units()[gang].minimum;
      GangStanding left = gang_standing(cluster_, rules_, input_.scratch, gang);
      std::int64_t lost = 0;
      for (; at != losing.end() && at->first == gang; ++at, ++lost) {
        // Below-minimum `evict` takes the rest of a gang, which is still there.
        if (!input_.scratch.node_of(at->second).exists()) continue;
        --left.running;
        left.lost_work_seconds -= rules_.lost_work_seconds(at->second);
      }
      if (left.running >= minimum || left.running + lost < minimum) continue;
      gangs.push_back(gang);
      stopped_.running += left.running;
      stopped_.lost_work_seconds += left.lost_work_seconds;
    }
    return gangs;
  }

  std::vector<LossUnits::Stopped> stopped_units() const {
    if (!loss_units_.any()) return {};
    std::vector<PodIndex> victims;
    for (const VictimUnit& unit : input_.victims) {
      const auto pods = input_.list.pods_of(unit);
      victims.insert(victims.end(), pods.begin(), pods.end());
    }
    std::ranges::sort(victims);
    return loss_units_.stopped_by(
        victims, [this](PodIndex pod) { return !rules_.leaving(pod); },
        [this](PodIndex pod) { return input_.scratch.node_of(pod).exists(); });
  }

  std::int64_t groups(bool below_minimum) const {
    std::vector<UnitIndex> seen;
    for (const VictimUnit& unit : input_.victims) {
      if (!unit.group || std::ranges::find(seen, unit.unit) != seen.end()) continue;
      if (below_minimum && !falls_below_minimum(unit.unit)) continue;
      seen.push_back(unit.unit);
    }
    return static_cast<std::int64_t>(seen.size());
  }

  bool falls_below_minimum(UnitIndex index) const {
    const Unit& unit = cluster_.units()[index];
    if (!unit.gang) return false;
    const std::vector<PodIndex>& members = cluster_.groups()[unit.group].members;
    // A pod that leaves late is still there (law 6), and does not count.
    const auto remaining = std::ranges::count_if(members, [&](PodIndex pod) {
      return input_.scratch.node_of(pod).exists() && !rules_.late(pod);
    });
    return remaining - still_there(index) < unit.minimum;
  }

  /// Victims of the group that are not taken away yet: the rest under below-minimum `evict`.
  std::int64_t still_there(UnitIndex group) const {
    std::int64_t count = 0;
    for (const VictimUnit& unit : input_.victims) {
      if (unit.unit != group) continue;
      count += std::ranges::count_if(input_.list.pods_of(unit), [&](PodIndex pod) {
        return input_.scratch.node_of(pod).exists();
      });
    }
    return count;
  }

  const Cluster& cluster_;
  const LossUnits& loss_units_;
  const VictimRules& rules_;
  const ScoreInput& input_;
  bool by_pod_;
  GangStanding stopped_;  ///< Of all that stops beside the victims.
};

}  // namespace

GangStanding gang_standing(const Cluster& cluster, const VictimRules& rules, const Scratch& scratch,
                           UnitIndex gang) {
  GangStanding standing;
  for (const PodIndex pod : cluster.groups()[cluster.units()[gang].group].members) {
    const bool bound = cluster.pods().node[pod].exists() && scratch.node_of(pod).exists();
    if (!bound || rules.leaving(pod)) continue;
    ++standing.running;
    standing.lost_work_seconds += rules.lost_work_seconds(pod);
  }
  return standing;
}

ScoreTerms score_of(const Survey& survey, const VictimRules& rules, const ScoreInput& input) {
  const Scoring scoring(survey, rules, input);
  ScoreTerms terms;
  for (const ScoreKey key : rules.configuration().workload.score_keys) {
    terms.push_back({.key = key, .value = scoring.value(key)});
  }
  return terms;
}

int compare(const ScoreTerms& a, const ScoreTerms& b) {
  CHECK(a.size() == b.size(), "scores of different keys");
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (a[at].value != b[at].value) return a[at].value < b[at].value ? -1 : 1;
  }
  return 0;
}

ScoreFloor::ScoreFloor(const WorkloadSettings& settings) {
  const auto never_negative = [](ScoreKey key) {
    return key == ScoreKey::members_not_placed || key == ScoreKey::budget_violations ||
           key == ScoreKey::secondary_victims || key == ScoreKey::stopped_pods ||
           key == ScoreKey::victims || key == ScoreKey::grouped_victims ||
           key == ScoreKey::largest_victim || key == ScoreKey::victims_age ||
           key == ScoreKey::lost_work || key == ScoreKey::groups_below_minimum ||
           key == ScoreKey::disrupted_groups;
  };
  const auto highest = std::ranges::find(settings.score_keys, ScoreKey::highest_priority);
  highest_at_ = static_cast<std::size_t>(highest - settings.score_keys.begin());
  useful_ = settings.score_priority == ScorePriority::unit &&
            highest != settings.score_keys.end() &&
            std::all_of(settings.score_keys.begin(), highest, never_negative);
}

std::int64_t ScoreFloor::highest_allowed(const ScoreTerms& score) const {
  if (!useful_) return no_limit;
  const bool least_before =
      std::all_of(score.begin(), score.begin() + static_cast<std::ptrdiff_t>(highest_at_),
                  [](const ScoreTerm& term) { return term.value == 0; });
  return least_before ? score[highest_at_].value : no_limit;
}

}  // namespace makeway
