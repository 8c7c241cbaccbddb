#include "support/brute_force.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "judge/check_plan_hearing.hpp"
#include "judge/naive_fit.hpp"
#include "support/naive_score.hpp"

namespace makeway {
namespace {

using LeavingUnit = std::vector<PodIndex>;

class BruteForce {
 public:
  BruteForce(const Cluster& cluster, const Configuration& configuration, PodIndex ask, Time now)
      : cluster_(cluster),
        configuration_(configuration),
        ask_(ask),
        priority_(unit().scheduling_priority),
        rules_(cluster, configuration, now),
        scorer_(cluster, configuration, now),
        world_(cluster),
        fit_(world_, ask) {
    CHECK(!waives(configuration, WaivedLaw::law_4), "every answer is irreducible");
    CHECK(configuration.workload.nomination_held_by == NominationHeldBy::placement);
    for (const Group& group : cluster.groups()) {
      const bool runs_degraded = !group.object || !group.object->evict_below_minimum;
      CHECK(runs_degraded, "gangs run on degraded");
    }
    CHECK(configuration.workload.put_back == PutBack::until_stable);
    CHECK(configuration.engine.preemption_delay == Duration{});
  }

  BruteAnswer answer() {
    const std::vector<NodeIndex> nodes = cluster_.nodes_by_name();
    nominated_ = find_nominated();
    std::set<NodeIndex> free_now;
    for (const NodeIndex node : nodes) {
      if (fit_.fits(node)) free_now.insert(node);
    }
    remove_credited();
    for (const NodeIndex node : nodes) {
      if (!fits_beside_nominated(node)) continue;
      answer_.verdict = free_now.contains(node) ? BruteVerdict::fits : BruteVerdict::waits;
      if (answer_.verdict == BruteVerdict::fits) return answer_;
    }
    if (answer_.verdict == BruteVerdict::waits) return answer_;
    if (!unit().never_preempts) {
      for (const NodeIndex node : nodes) try_node(node);
    }
    if (too_many_units_) return {.verdict = BruteVerdict::unknown};
    if (!answer_.places.empty()) {
      answer_.verdict = BruteVerdict::preempts;
    } else if (fits_without_late(nodes)) {
      answer_.verdict = BruteVerdict::waits;
    }
    return answer_;
  }

 private:
  const Unit& unit() const { return cluster_.units()[cluster_.pods().unit[ask_]]; }

  void remove_credited() {
    if (configuration_.workload.leaving_room != LeavingRoom::credited) return;
    for (const PodIndex pod : cluster_.pods_by_name()) {
      if (!world_.where(pod).exists() || !rules_.leaving(pod) || rules_.overdue(pod)) continue;
      if (rules_.late(pod)) {
        late_.push_back(pod);
      } else {
        fit_.remove(pod);
      }
    }
    remove_own_late();
  }

  /// Law 6: pods that leave late count if they left for the ask's nomination, and that is valid.
  void remove_own_late() {
    const NodeIndex node = cluster_.pods().nominated[ask_];
    if (!node.exists() || !cluster_.nodes().flags[node].exists) return;
    std::vector<PodIndex> own;
    for (const PodIndex pod : late_) {
      const bool preempted = cluster_.pods().flags[pod].disrupted_by_preemption;
      const bool for_others = !cluster_.notes(cluster_.pods().notes[pod]).evicted_for.empty();
      if (cluster_.pods().node[pod] != node || !preempted || for_others) continue;
      if (rules_.priority(pod) < priority_) own.push_back(pod);
    }
    for (const PodIndex pod : own) fit_.remove(pod);
    if (fits_beside_nominated(node)) return;
    for (const PodIndex pod : own) fit_.put_back(pod);
  }

  /// Nothing else helps.
  bool fits_without_late(const std::vector<NodeIndex>& nodes) {
    for (const PodIndex pod : late_) {
      if (world_.where(pod).exists()) fit_.remove(pod);
    }
    return std::ranges::any_of(nodes, [&](NodeIndex node) { return fits_beside_nominated(node); });
  }

  struct Nominated {
    PodIndex pod;
    NodeIndex node;
  };

  /// Pods that hold room by a nomination against the ask.
  std::vector<Nominated> find_nominated() {
    std::vector<Nominated> found;
    for (const NodeIndex node : cluster_.nodes_by_name()) {
      for (const PodIndex pod : cluster_.nodes().nominated[node]) {
        const Unit& other = cluster_.units()[cluster_.pods().unit[pod]];
        const bool holds = other.scheduling_priority >= priority_ ||
                           keeps_its_node(world_, configuration_, pod, node);
        if (pod == ask_ || !holds || world_.where(pod).exists()) continue;
        if (!NaiveFit(world_, pod).fits_when_empty(node)) continue;  // Void: it never comes.
        found.push_back({.pod = pod, .node = node});
      }
    }
    return found;
  }

  bool fits_with(NodeIndex node, const std::vector<Nominated>& others) {
    for (const Nominated& each : others) fit_.place(each.pod, each.node);
    const bool fits = fit_.fits(node);
    for (const Nominated& each : others) fit_.remove(each.pod);
    return fits;
  }

  /// Without the pods that hold room there by their nomination, with them, and when every pod with
  /// a valid nomination has come, on any node.
  bool fits_beside_nominated(NodeIndex node) {
    if (!fit_.fits(node)) return false;
    std::vector<Nominated> there;
    std::vector<Nominated> arriving;
    for (const Nominated& each : nominated_) {
      if (each.node == node) there.push_back(each);
      if (fits_alone(each)) arriving.push_back(each);
    }
    return fits_with(node, there) && fits_with(node, arriving);
  }

  /// Nominated pods do not depend on others (see the property), so that neither the ask nor the
  /// others matter beyond the room on its node.
  bool fits_alone(const Nominated& each) { return NaiveFit(world_, each.pod).fits(each.node); }

  std::vector<LeavingUnit> units_on(NodeIndex node) const {
    const bool again = configuration_.workload.leaving_room == LeavingRoom::victims;
    std::vector<LeavingUnit> units;
    std::set<PodIndex> seen;
    for (const PodIndex pod : world_.pods_on(node)) {
      if (rules_.priority(pod) >= priority_ || (rules_.leaving(pod) && !again)) continue;
      const LeavingUnit together = rules_.leaves_with(pod);
      if (!seen.insert(together.front()).second) continue;
      const bool stays = std::ranges::any_of(
          together, [&](PodIndex each) { return !rules_.protection(each).empty(); });
      if (!stays) units.push_back(together);
    }
    return units;
  }

  static std::vector<PodIndex> pods_of(const std::vector<LeavingUnit>& units, std::size_t set) {
    std::vector<PodIndex> pods;
    for (std::size_t at = 0; at < units.size(); ++at) {
      if ((set >> at & 1U) != 0) pods.insert(pods.end(), units[at].begin(), units[at].end());
    }
    std::ranges::sort(pods);
    return pods;
  }

  /// For every set of units, as bits: whether the ask fits on the node once they are gone.
  std::vector<bool> feasible_sets(NodeIndex node, const std::vector<LeavingUnit>& units) {
    std::vector<bool> feasible(std::size_t{1} << units.size());
    for (std::size_t set = 0; set < feasible.size(); ++set) {
      const std::vector<PodIndex> away = pods_of(units, set);
      for (const PodIndex pod : away) fit_.remove(pod);
      feasible[set] = fits_beside_nominated(node);
      for (const PodIndex pod : away) fit_.put_back(pod);
    }
    return feasible;
  }

  void try_node(NodeIndex node) {
    const std::vector<LeavingUnit> units = units_on(node);
    if (units.size() > brute_units_max) too_many_units_ = true;
    if (too_many_units_) return;
    const std::vector<bool> feasible = feasible_sets(node, units);
    for (std::size_t set = 0; set < feasible.size(); ++set) {
      if (!feasible[set]) continue;
      bool reducible = false;
      for (std::size_t at = 0; at < units.size(); ++at) {
        const std::size_t one = std::size_t{1} << at;
        reducible = reducible || ((set & one) != 0 && feasible[set ^ one]);
      }
      if (!reducible) consider(node, pods_of(units, set));
    }
  }

  void consider(NodeIndex node, std::vector<PodIndex> victims) {
    const bool strict = configuration_.budgets.mode == BudgetMode::strict;
    if (strict && !scorer_.within_budgets(victims)) return;
    ScoreTerms score = scorer_.score(victims);
    const int order = answer_.places.empty() ? -1 : compared(score, answer_.score);
    if (order > 0) return;
    if (order < 0) answer_.places.clear();
    answer_.score = std::move(score);
    answer_.places.push_back({.node = node, .victims = std::move(victims)});
  }

  const Cluster& cluster_;
  const Configuration& configuration_;
  PodIndex ask_;
  std::int32_t priority_;
  EvictionRules rules_;
  NaiveScore scorer_;
  NaiveWorld world_;
  NaiveFit fit_;
  std::vector<Nominated> nominated_;
  std::vector<PodIndex> late_;
  BruteAnswer answer_;
  bool too_many_units_ = false;
};

}  // namespace

BruteAnswer brute_force(const Cluster& cluster, const Configuration& configuration, PodIndex ask,
                        Time now) {
  return BruteForce(cluster, configuration, ask, now).answer();
}

std::vector<PlanVictim> plan_victims(const Cluster& cluster, const Configuration& configuration,
                                     const std::vector<PodIndex>& pods, Time now) {
  const EvictionRules rules(cluster, configuration, now);
  std::vector<PlanVictim> victims;
  victims.reserve(pods.size());
  for (const PodIndex pod : pods) {
    victims.push_back(
        {.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod])),
         .name = std::string(cluster.pods().name[pod.value]),
         .node = std::string(cluster.text(cluster.nodes().name[cluster.pods().node[pod]])),
         .priority = rules.priority(pod)});
  }
  return victims;
}

std::optional<LawBreach> breach_of(const Cluster& cluster, const Configuration& configuration,
                                   PodIndex ask, const BrutePlace& place, Time now) {
  PlanAsk entry{.kind = AskKind::pod,
                .namespace_name = std::string(cluster.text(cluster.pods().namespace_name[ask])),
                .name = std::string(cluster.pods().name[ask.value]),
                .priority = cluster.units()[cluster.pods().unit[ask]].scheduling_priority,
                .outcome = Outcome::preempts};
  entry.placements.push_back({.namespace_name = entry.namespace_name,
                              .name = entry.name,
                              .node = std::string(cluster.text(cluster.nodes().name[place.node]))});
  entry.victims = plan_victims(cluster, configuration, place.victims, now);
  Plan plan{.now = now};
  plan.asks.push_back(std::move(entry));
  return breach_of(cluster, configuration, plan);
}

std::optional<LawBreach> breach_of(const Cluster& cluster, const Configuration& configuration,
                                   const Plan& plan) {
  for (LawBreach& breach : check_plan(cluster, configuration, plan)) {
    if (breach.law != 9) return std::move(breach);
  }
  return std::nullopt;
}

}  // namespace makeway
