#include "support/brute_force_group.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "judge/check_plan_hearing.hpp"
#include "support/naive_score.hpp"

namespace makeway {
namespace {

using LeavingUnit = std::vector<PodIndex>;
using Nodes = std::vector<NodeIndex>;

/// The keys up to the number of victims: none of them falls when a victim is added, and that one
/// rises.
void check_keys(const std::vector<ScoreKey>& keys) {
  static constexpr std::array first = {ScoreKey::members_not_placed, ScoreKey::budget_violations,
                                       ScoreKey::highest_priority, ScoreKey::secondary_victims,
                                       ScoreKey::stopped_pods};
  const auto at = std::ranges::find(keys, ScoreKey::victims);
  CHECK(at != keys.end(), "fewer victims must be better");
  CHECK(std::all_of(keys.begin(), at,
                    [](ScoreKey key) { return std::ranges::count(first, key) > 0; }));
  const bool members_first = keys.front() == ScoreKey::members_not_placed ||
                             std::ranges::count(keys, ScoreKey::members_not_placed) == 0;
  CHECK(members_first, "members come before victims");
}

class BruteForceGroup {
 public:
  BruteForceGroup(const Cluster& cluster, const Configuration& configuration, GroupIndex group,
                  Time now)
      : cluster_(cluster),
        configuration_(configuration),
        group_(cluster.groups()[group]),
        unit_(cluster.units()[group_.unit]),
        rules_(cluster, configuration, now),
        scorer_(cluster, configuration, now) {
    check_keys(configuration.workload.score_keys);
    CHECK(!waives(configuration, WaivedLaw::law_4));
    CHECK(!waives(configuration, WaivedLaw::law_4_gangs));
    CHECK(configuration.workload.nomination_held_by == NominationHeldBy::placement);
    CHECK(configuration.workload.score_priority == ScorePriority::unit);
    CHECK(configuration.workload.leaving_room == LeavingRoom::credited);
    CHECK(configuration.engine.preemption_delay == Duration{});
    find_members();
  }

  BruteGroupAnswer answer();

 private:
  /// A set of units of a domain as bits, and what it costs.
  struct VictimSet {
    std::vector<PodIndex> pods;
    ScoreTerms score;  ///< With all members placed.
  };
  using DomainName = std::optional<std::vector<std::uint32_t>>;

  void find_members();
  bool some_pod_has_three_budgets() const;
  DomainName domain(NodeIndex node);
  bool find_domains();
  bool find_free_places();
  void remove_credited();
  Nodes nodes_of_use(const Nodes& nodes) const;
  std::vector<LeavingUnit> units_on(const Nodes& nodes) const;
  std::vector<PodIndex> with_broken_gangs(std::vector<PodIndex> victims) const;
  std::vector<VictimSet> sets_by_score(const std::vector<LeavingUnit>& units) const;
  void try_domain(const Nodes& all);
  std::vector<MemberPlace> places_without(const std::vector<PodIndex>& away, const Nodes& nodes,
                                          std::size_t least, std::size_t most);
  void consider(VictimSet set, std::vector<MemberPlace> places);
  std::size_t wanted() const {
    return configuration_.workload.evict_for == EvictFor::all ? open_.size() : answer_.needed;
  }

  const Cluster& cluster_;
  const Configuration& configuration_;
  const Group& group_;
  const Unit& unit_;
  EvictionRules rules_;
  NaiveScore scorer_;
  std::vector<PodIndex> staying_;
  std::vector<PodIndex> open_;
  bool minimum_runs_ = false;  ///< Then `evictFor: minimum` evicts no pod.
  std::vector<PodIndex> credited_;
  std::vector<Nodes> domains_;
  std::optional<NaiveWorld> labels_;
  std::optional<MemberPlaces> members_;
  BruteGroupAnswer answer_;
};

void BruteForceGroup::find_members() {
  for (const PodIndex pod : group_.members) {
    if (rules_.leaving(pod)) continue;
    (cluster_.pods().node[pod].exists() ? staying_ : open_).push_back(pod);
  }
  const std::size_t minimum = unit_.gang ? static_cast<std::size_t>(std::max(unit_.minimum, 1)) : 1;
  answer_.needed = unit_.gang && minimum > staying_.size() ? minimum - staying_.size() : 1;
  answer_.open = open_.size();
  minimum_runs_ = configuration_.workload.evict_for == EvictFor::minimum && unit_.gang &&
                  staying_.size() >= minimum;
}

BruteGroupAnswer BruteForceGroup::answer() {
  if (!unit_.defined || open_.size() < answer_.needed) return answer_;
  labels_.emplace(cluster_);
  members_.emplace(cluster_, configuration_, open_);
  answer_.torn = !find_domains();
  if (answer_.torn || some_pod_has_three_budgets()) {
    answer_.verdict = BruteVerdict::unknown;
    return answer_;
  }
  remove_credited();
  if (find_free_places() || unit_.never_preempts || minimum_runs_) return answer_;
  for (const Nodes& nodes : domains_) {
    try_domain(nodes);
    if (answer_.verdict == BruteVerdict::unknown) break;
  }
  return answer_;
}

bool BruteForceGroup::some_pod_has_three_budgets() const {
  const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
  if (budgets.size() < 3) return false;
  return std::ranges::any_of(cluster_.pods_by_name(), [&](PodIndex pod) {
    return std::ranges::count_if(budgets, [&](const DisruptionBudget* budget) {
             return rules_.governed(pod, *budget);
           }) > 2;
  });
}

// ---- Domains and free room ----------------------------------------------------------------------

/// The values of the group's topology keys; none: the node lacks one.
BruteForceGroup::DomainName BruteForceGroup::domain(NodeIndex node) {
  std::vector<std::uint32_t> name;
  const bool whole = configuration_.workload.group_domains == GroupDomains::cluster;
  if (whole || !group_.object) return name;
  for (const std::string& key : group_.object->policy.topology_keys) {
    name.push_back(labels_->domains(key).of[node]);
    if (name.back() == NodeDomains::none) return std::nullopt;
  }
  return name;
}

/// False: those that stay are in several domains, or outside of all.
bool BruteForceGroup::find_domains() {
  std::set<DomainName> fixed;
  for (const PodIndex pod : staying_) fixed.insert(domain(cluster_.pods().node[pod]));
  if (fixed.size() > 1 || fixed.contains(std::nullopt)) return false;
  std::map<DomainName, Nodes> found;
  for (const NodeIndex node : cluster_.nodes_by_name()) {
    const DomainName name = domain(node);
    if (name && (fixed.empty() || fixed.contains(name))) found[name].push_back(node);
  }
  for (auto& [name, nodes] : found) domains_.push_back(std::move(nodes));
  return true;
}

void BruteForceGroup::remove_credited() {
  for (const PodIndex pod : cluster_.pods_by_name()) {
    const bool bound = cluster_.pods().node[pod].exists();
    if (!bound || !rules_.leaving(pod) || rules_.overdue(pod) || rules_.late(pod)) continue;
    members_->remove(pod);
    credited_.push_back(pod);
  }
}

bool BruteForceGroup::find_free_places() {
  return std::ranges::any_of(domains_, [this](const Nodes& nodes) {
    answer_.places = members_->best(nodes_of_use(nodes), answer_.needed, answer_.needed);
    if (answer_.places.empty()) return false;
    const bool now =
        credited_.empty() || MemberPlaces(cluster_, configuration_, open_).stand(answer_.places);
    answer_.verdict = now ? BruteVerdict::fits : BruteVerdict::waits;
    return true;
  });
}

Nodes BruteForceGroup::nodes_of_use(const Nodes& nodes) const {
  Nodes found;
  std::ranges::copy_if(nodes, std::back_inserter(found),
                       [this](NodeIndex node) { return members_->of_use(node); });
  return found;
}

// ---- Victims ------------------------------------------------------------------------------------

std::vector<LeavingUnit> BruteForceGroup::units_on(const Nodes& nodes) const {
  std::vector<LeavingUnit> units;
  std::set<PodIndex> seen;
  const PodColumns& pods = cluster_.pods();
  for (const PodIndex pod : cluster_.pods_by_name()) {
    if (std::ranges::count(nodes, pods.node[pod]) == 0 || pods.unit[pod] == group_.unit) continue;
    if (rules_.priority(pod) >= unit_.scheduling_priority || rules_.leaving(pod)) continue;
    const LeavingUnit together = rules_.leaves_with(pod);
    if (!seen.insert(std::ranges::min(together)).second) continue;
    const bool stays = std::ranges::any_of(
        together, [&](PodIndex each) { return !rules_.protection(each).empty(); });
    if (!stays) units.push_back(together);
  }
  return units;
}

/// Below-minimum `evict`: the rest of each gang that these bring under its minimum, unless one of
/// its pods may not leave.
std::vector<PodIndex> BruteForceGroup::with_broken_gangs(std::vector<PodIndex> victims) const {
  std::set<UnitIndex> units;
  for (const PodIndex pod : victims) units.insert(cluster_.pods().unit[pod]);
  for (const UnitIndex index : units) {
    const Unit& unit = cluster_.units()[index];
    if (!unit.evict_below_minimum || !unit.gang) continue;
    std::vector<PodIndex> left;
    std::int64_t before = 0;
    for (const PodIndex member : cluster_.groups()[unit.group].members) {
      if (!cluster_.pods().node[member].exists() || rules_.leaving(member)) continue;
      ++before;
      if (std::ranges::count(victims, member) == 0) left.push_back(member);
    }
    const bool falls = before >= unit.minimum && std::ssize(left) < unit.minimum;
    const bool may_go = std::ranges::all_of(
        left, [&](PodIndex member) { return rules_.may_leave(member, unit_.scheduling_priority); });
    if (falls && may_go) victims.insert(victims.end(), left.begin(), left.end());
  }
  return victims;
}

/// The best first. The empty set is not among them: it has been tried.
std::vector<BruteForceGroup::VictimSet> BruteForceGroup::sets_by_score(
    const std::vector<LeavingUnit>& units) const {
  const bool strict = configuration_.budgets.mode == BudgetMode::strict;
  std::vector<VictimSet> sets;
  for (std::size_t bits = 1; bits < std::size_t{1} << units.size(); ++bits) {
    std::vector<PodIndex> pods;
    for (std::size_t at = 0; at < units.size(); ++at) {
      if ((bits >> at & 1U) != 0) pods.insert(pods.end(), units[at].begin(), units[at].end());
    }
    pods = with_broken_gangs(std::move(pods));
    std::ranges::sort(pods);
    if (strict && !scorer_.within_budgets(pods)) continue;
    ScoreTerms score = scorer_.score(pods);
    sets.push_back({.pods = std::move(pods), .score = std::move(score)});
  }
  std::ranges::stable_sort(
      sets, [](const VictimSet& a, const VictimSet& b) { return compared(a.score, b.score) < 0; });
  return sets;
}

std::vector<MemberPlace> BruteForceGroup::places_without(const std::vector<PodIndex>& away,
                                                         const Nodes& nodes, std::size_t least,
                                                         std::size_t most) {
  for (const PodIndex pod : away) members_->remove(pod);
  std::vector<MemberPlace> places = members_->best(nodes, least, most);
  for (const PodIndex pod : away) members_->put_back(pod);
  return places;
}

void BruteForceGroup::try_domain(const Nodes& all) {
  const Nodes nodes = nodes_of_use(all);
  if (nodes.empty()) return;
  const bool elsewhere = members_->pods_elsewhere_matter();
  const std::vector<LeavingUnit> units = units_on(elsewhere ? all : nodes);
  std::size_t most = wanted();
  if (!elsewhere) {
    // The more leave the better: nothing is possible that is not possible then.
    std::set<PodIndex> all_pods;
    for (const LeavingUnit& unit : units) all_pods.insert(unit.begin(), unit.end());
    const std::vector<PodIndex> away = with_broken_gangs({all_pods.begin(), all_pods.end()});
    most = places_without(away, nodes, answer_.needed, most).size();
    if (most == 0) return;
  }
  if (units.size() > brute_group_units_max) {
    answer_ = {.verdict = BruteVerdict::unknown, .needed = answer_.needed, .open = answer_.open};
    return;
  }
  std::size_t placed = answer_.needed - 1;
  for (VictimSet& set : sets_by_score(units)) {
    if (placed == most) return;
    std::vector<MemberPlace> places = places_without(set.pods, nodes, placed + 1, most);
    if (places.empty()) continue;
    placed = places.size();
    consider(std::move(set), std::move(places));
  }
}

void BruteForceGroup::consider(VictimSet set, std::vector<MemberPlace> places) {
  for (ScoreTerm& term : set.score) {
    const bool counts = configuration_.workload.evict_for == EvictFor::all;
    if (term.key != ScoreKey::members_not_placed || !counts) continue;
    term.value = static_cast<std::int64_t>(open_.size() - places.size());
  }
  const bool first = answer_.verdict != BruteVerdict::preempts;
  if (!first && compared(set.score, answer_.score) >= 0) return;
  answer_.verdict = BruteVerdict::preempts;
  answer_.score = std::move(set.score);
  answer_.places = std::move(places);
  answer_.victims = std::move(set.pods);
}

}  // namespace

BruteGroupAnswer brute_force_group(const Cluster& cluster, const Configuration& configuration,
                                   GroupIndex group, Time now) {
  return BruteForceGroup(cluster, configuration, group, now).answer();
}

Plan plan_of(const Cluster& cluster, const Configuration& configuration, GroupIndex group,
             const BruteGroupAnswer& answer, Time now) {
  const Group& object = cluster.groups()[group];
  PlanAsk entry{.kind = AskKind::pod_group,
                .namespace_name = std::string(cluster.text(object.namespace_name)),
                .name = std::string(cluster.text(object.name)),
                .priority = cluster.units()[object.unit].scheduling_priority,
                .outcome = Outcome::preempts,
                .score = answer.score};
  for (const MemberPlace& place : answer.places) {
    entry.placements.push_back(
        {.namespace_name = entry.namespace_name,
         .name = std::string(cluster.pods().name[place.pod.value]),
         .node = std::string(cluster.text(cluster.nodes().name[place.node]))});
  }
  entry.victims = plan_victims(cluster, configuration, answer.victims, now);
  switch (answer.verdict) {
    case BruteVerdict::fits: entry.outcome = Outcome::fits; break;
    case BruteVerdict::waits: entry.outcome = Outcome::waits; break;
    case BruteVerdict::preempts: break;
    case BruteVerdict::nothing: entry.outcome = Outcome::infeasible; break;
    case BruteVerdict::unknown: entry.outcome = Outcome::not_found; break;
  }
  Plan plan{.now = now};
  plan.asks.push_back(std::move(entry));
  return plan;
}

}  // namespace makeway
