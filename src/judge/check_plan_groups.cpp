// Where the members of a group go: laws 1, 3, 4, 6, 7 and 10 for all of them together.
//
// Words. Staying: a bound member that is not leaving, nor the victim of an earlier ask. Needed: how
// many more members must get a place, for a gang what its minimum lacks, never less than one.
// Open: pending members that are not leaving, by name.
//
// What is proven, and what is not
//  1. Of placements that the plan names everything is judged, as for pods.
//  2. "Needs no victims" (laws 1 and 6) is claimed only of alike members that look at no other pod:
//     they cannot get in each other's way other than by room, so first fit finds places for as many
//     as there are.
//  3. "Is feasible" (law 10) is claimed when first fit, members by name over nodes by name, finds
//     places once every pod that may be evicted is gone. With rule 2's members that is exact, with
//     others it is one try, and each of its places is judged beside all the others before it
//     counts.
// O(members x nodes), times the pods where members look at other pods.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "judge/check_plan_walk.hpp"
#include "model/group_status.hpp"

namespace makeway {
namespace {

using Place = PlanWalk::Place;
using Places = std::vector<Place>;
using Nodes = std::vector<NodeIndex>;

/// Members of one kind differ in nothing that a place depends on.
using MemberKind = std::tuple<RequestId, ShapeId, LabelSetId>;

class GroupJudge {
  /// The values of the group's topology keys; none: the node lacks one.
  using DomainName = std::optional<std::vector<std::uint32_t>>;

 public:
  GroupJudge(PlanWalk& walk, const HeardAsk& ask)
      : walk_(walk),
        cluster_(walk.cluster()),
        ask_(ask),
        unit_(cluster_.units()[ask.unit]),
        group_(cluster_.groups()[unit_.group]) {
    find_members();
  }

  void judge() {
    const PlanAsk& entry = *ask_.entry;
    const Places found = walk_.places(ask_, true);
    if (entry.outcome == Outcome::not_found) return;
    const bool held = held_by_preempted();
    if (held && !ask_.victims.empty()) {
      walk_.report(7, ask_,
                   "it has victims, and those it preempted are still leaving a nominated node");
    }
    // An ask whose nomination is held by the pods it preempted keeps it, whatever the room.
    const bool placed = has_place(entry) && (!held || entry.outcome != Outcome::waits);
    if (placed) judge_count(found);
    if (placed) judge_domain(found);
    if (entry.outcome == Outcome::fits && !judge_members_now(found)) return;
    if (entry.outcome == Outcome::fits && !walk_.queue_room().fits_now(ask_, pods_of(found))) {
      return walk_.report_queue(ask_, "now");
    }
    // Places that were given say nothing about other places.
    const bool free_choice = !entry.placement_given;
    if (entry.outcome == Outcome::preempts && free_choice) judge_nominations();
    if (entry.outcome == Outcome::preempts && free_choice) judge_evicting();
    if (entry.outcome == Outcome::infeasible && free_choice) judge_infeasible();
    if (!placed) return;
    const std::vector<PodIndex> away = walk_.own_victims(ask_);
    for (const PodIndex pod : away) walk_.after().remove(pod);
    if (!queue_fits(found, away)) {
      walk_.report_queue(ask_, "once all leaving pods are gone");
    } else if (judge_members_after(found)) {
      judge_irreducible(found);
    }
    for (const PodIndex pod : away) walk_.after().place(pod, cluster_.pods().node[pod]);
  }

 private:
  void find_members() {
    const EvictionRules& rules = walk_.rules();
    for (const PodIndex pod : ask_.pods) {
      if (rules.leaving(pod) || walk_.is_earlier_victim(pod)) continue;
      if (cluster_.pods().node[pod].exists()) {
        staying_.push_back(pod);
      } else if (!walk_.is_decided(pod) && !walk_.after().where(pod).exists()) {
        open_.push_back(pod);
      }
    }
    std::ranges::sort(open_, {}, [this](PodIndex pod) { return cluster_.pods().name[pod.value]; });
    const auto minimum = static_cast<std::size_t>(std::max(unit_.minimum, 1));
    if (unit_.gang && minimum > staying_.size()) needed_ = minimum - staying_.size();
  }

  // ---- The places that the plan names (laws 3 and 7) --------------------------------------------

  /// Unlike a pod, a group is held even by a node that can never take its member again.
  bool held_by_preempted() const {
    const NominationHeldBy holder = walk_.configuration().workload.nomination_held_by;
    if (holder != NominationHeldBy::preempted_pods) return false;
    return std::ranges::any_of(open_, [this](PodIndex pod) {
      const NodeIndex node = cluster_.pods().nominated[pod];
      return node.exists() && cluster_.nodes().flags[node].exists &&
             walk_.regimes().of_node(node) == Regime::pods &&
             walk_.preempted_still_leaving(node, ask_);
    });
  }

  void judge_count(const Places& found) {
    if (found.size() >= needed_) return;
    walk_.report(3, ask_, "{} of its members have a place, {} stay, and its minimum is {}",
                 found.size(), staying_.size(), unit_.gang ? unit_.minimum : 1);
  }

  /// All members are in one domain of every topology key of the group.
  void judge_domain(const Places& found) {
    std::vector<Nodes> allowed = domains();
    for (Nodes& nodes : allowed) std::ranges::sort(nodes);
    const bool together = std::ranges::any_of(allowed, [&](const Nodes& nodes) {
      return std::ranges::all_of(
          found, [&](const Place& place) { return std::ranges::binary_search(nodes, place.node); });
    });
    if (found.empty() || together) return;
    walk_.report(3, ask_, "its members are not all in one domain that it allows");
  }

  /// Each fits where it goes beside all the others.
  bool judge_members_now(const Places& found) {
    NaiveWorld& world = walk_.now();
    bool all_fit = true;
    for (const Place& place : found) world.place(place.pod, place.node);
    for (const Place& place : found) {
      world.remove(place.pod);
      const MaybeRefusal refused = NaiveFit(world, place.pod).refusal(place.node);
      world.place(place.pod, place.node);
      if (!refused) continue;
      walk_.report_refusal(ask_, place, *refused);
      all_fit = false;
    }
    for (const Place& place : found) world.remove(place.pod);
    return all_fit;
  }

  /// The same, and beside the pods that are nominated there.
  bool judge_members_after(const Places& found) {
    NaiveWorld& world = walk_.after();
    bool all_fit = true;
    for (const Place& place : found) world.place(place.pod, place.node);
    for (const Place& place : found) {
      world.remove(place.pod);
      NaiveFit fit(world, place.pod);
      all_fit = walk_.judge_place(fit, ask_, place.node) && all_fit;
      fit.place(place.pod, place.node);
    }
    for (const Place& place : found) world.remove(place.pod);
    return all_fit;
  }

  // ---- Domains ----------------------------------------------------------------------------------

  DomainName domain(NodeIndex node) {
    std::vector<std::uint32_t> name;
    const bool whole_cluster = ask_.rules->workload.group_domains == GroupDomains::cluster;
    const GroupPolicy* const policy = cluster_.policy_of(group_);
    if (whole_cluster || policy == nullptr) return name;
    for (const std::string& key : policy->topology_keys) {
      name.push_back(walk_.now().domains(key).of[node]);
      if (name.back() == NodeDomains::none) return std::nullopt;
    }
    return name;
  }

  /// Domains in which members stay; they fix where the others go.
  std::set<DomainName> fixed_domains() {
    std::set<DomainName> fixed;
    for (const PodIndex pod : staying_) fixed.insert(domain(cluster_.pods().node[pod]));
    return fixed;
  }

  /// The nodes of each domain that the group may use, by name. Where its members stay in several,
  /// or outside all of them, any domain will do.
  std::vector<Nodes> domains() {
    const std::set<DomainName> fixed = fixed_domains();
    const bool is_fixed = fixed.size() == 1 && fixed.begin()->has_value();
    std::vector<Nodes> found;
    std::map<DomainName, std::size_t> positions;
    for (const NodeIndex node : cluster_.home_nodes()) {
      const DomainName name = domain(node);
      if (walk_.regimes().of_node(node) != Regime::pods) continue;
      if (!name || (is_fixed && !fixed.contains(name))) continue;
      const auto [at, is_new] = positions.try_emplace(name, found.size());
      if (is_new) found.emplace_back();
      found[at->second].push_back(node);
    }
    return found;
  }

  /// The same for what is claimed about places that the plan does not name: none where the group is
  /// torn apart already.
  std::vector<Nodes> sure_domains() {
    const std::set<DomainName> fixed = fixed_domains();
    const bool torn = fixed.size() > 1 || fixed.contains(std::nullopt);
    return torn ? std::vector<Nodes>{} : domains();
  }

  // ---- Looking for places -----------------------------------------------------------------------

  bool looks_at_others(PodIndex pod) const {
    const PodShape& shape = cluster_.shape(cluster_.pods().shape[pod]);
    return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty() ||
           !shape.claims.empty();  // Claims for one pod, volumes that a node takes.
  }

  /// Places as many as are needed, or fewer, and leaves them in the world after, `also_now` in
  /// both.
  Places first_fit(const Nodes& nodes, bool also_now) {
    const bool both = also_now && now_differs();
    Places places;
    // Where the last member of that kind fitted: places before it were too small and only get
    // smaller.
    std::map<MemberKind, std::size_t> begins;
    for (const PodIndex pod : open_) {
      if (places.size() == needed_) break;
      std::size_t start = 0;
      std::size_t& begin = looks_at_others(pod) ? start : begins[kind(pod)];
      if (begin == nodes.size()) continue;
      NaiveFit later(walk_.after(), pod);
      std::optional<NaiveFit> at_once;
      if (both) at_once.emplace(walk_.now(), pod);
      const auto fits = [&](NodeIndex node) {
        return walk_.fits_beside_nominated(later, ask_, node) && (!both || at_once->fits(node));
      };
      while (begin < nodes.size() && !fits(nodes[begin])) ++begin;
      if (begin == nodes.size()) continue;
      later.place(pod, nodes[begin]);
      if (both) at_once->place(pod, nodes[begin]);
      places.push_back({.pod = pod, .node = nodes[begin]});
    }
    return places;
  }

  void take_back(const Places& places, bool also_now) {
    for (const Place& place : places) walk_.after().remove(place.pod);
    if (!also_now || !now_differs()) return;
    for (const Place& place : places) walk_.now().remove(place.pod);
  }

  /// They are placed already: each fits beside the others, and every pod before them still does.
  bool all_fit_after(const Places& places) {
    NaiveWorld& world = walk_.after();
    for (const Place& place : places) {
      world.remove(place.pod);
      NaiveFit fit(world, place.pod);
      const bool fits = walk_.fits_beside_nominated(fit, ask_, place.node);
      fit.place(place.pod, place.node);
      if (!fits) return false;
    }
    return walk_.promises_hold();
  }

  /// Law 7: not where a pod that was nominated before, and has its turn later, could not be placed
  /// any more. They are placed already, one after the other.
  bool spoil_nominations(const Places& places) {
    for (const Place& place : places) walk_.after().remove(place.pod);
    bool spoilt = false;
    for (const Place& place : places) {
      spoilt = spoilt || walk_.spoils_nomination(place.pod, ask_, place.node);
      walk_.after().place(place.pod, place.node);
    }
    return spoilt;
  }

  static std::vector<PodIndex> pods_of(const Places& places) {
    std::vector<PodIndex> pods;
    pods.reserve(places.size());
    for (const Place& place : places) pods.push_back(place.pod);
    return pods;
  }

  /// Places for as many as are needed, or none. Pods in `away` have left.
  Places find_places(const Nodes& nodes, bool also_now, const std::set<PodIndex>& away = {}) {
    const Places places = first_fit(nodes, also_now);
    const bool room = queue_fits(places, {away.begin(), away.end()}) &&
                      (!also_now || walk_.queue_room().fits_now(ask_, pods_of(places)));
    const bool found =
        places.size() == needed_ && room && all_fit_after(places) && !spoil_nominations(places);
    take_back(places, also_now);
    return found ? places : Places{};
  }

  /// The same when some have left the nodes, and some (these and others) the queue.
  Places find_places_without(const Nodes& nodes, const std::set<PodIndex>& away,
                             const std::set<PodIndex>& away_from_queue) {
    for (const PodIndex pod : away) walk_.after().remove(pod);
    const Places places = find_places(nodes, false, away_from_queue);
    for (const PodIndex pod : away) walk_.after().place(pod, cluster_.pods().node[pod]);
    return places;
  }

  std::string first_text(const Places& places) const {
    return fmt::format("{} on node {}", cluster_.pod_key(places.front().pod),
                       walk_.node_name(places.front().node));
  }

  // ---- Victims that are not needed (laws 1, 4, 6 and 7) -----------------------------------------

  /// Law 7. Where preempted pods hold a nomination, `held_by_preempted` says when.
  void judge_nominations() {
    const NominationHeldBy holder = walk_.configuration().workload.nomination_held_by;
    if (holder != NominationHeldBy::placement) return;
    Places nominated;
    std::set<DomainName> names;
    for (const PodIndex pod : open_) {
      const NodeIndex node = cluster_.pods().nominated[pod];
      if (!node.exists() || !cluster_.nodes().flags[node].exists) continue;
      nominated.push_back({.pod = pod, .node = node});
      names.insert(domain(node));
    }
    if (nominated.size() < needed_) return;
    for (const PodIndex pod : staying_) names.insert(domain(cluster_.pods().node[pod]));
    if (names.size() > 1 || !names.begin()->has_value()) return;
    for (const Place& place : nominated) walk_.after().place(place.pod, place.node);
    // Members that only want to be near each other cannot come.
    const bool valid =
        queue_fits(nominated, {}) && can_come_in_turn(nominated) && all_fit_after(nominated);
    take_back(nominated, false);
    if (valid)
      walk_.report(7, ask_, "it has victims, and the nominations of its members are valid");
  }

  /// Laws 1 and 6.
  void judge_evicting() {
    if (open_.size() < needed_ || looks_at_others(open_.front())) return;
    const bool alike = std::ranges::all_of(
        open_, [this](PodIndex pod) { return kind(pod) == kind(open_.front()); });
    if (!alike) return;
    const std::vector<Nodes> allowed = sure_domains();
    for (const bool also_now : {true, false}) {
      if (!also_now && !walk_.any_pod_gone()) return;
      for (const Nodes& nodes : allowed) {
        const Places places = find_places(nodes, also_now);
        if (places.empty()) continue;
        return walk_.report(
            also_now ? 1 : 6, ask_, "it has victims, and {} of its members fit {}, {}", needed_,
            also_now ? "without them" : "once others have left", first_text(places));
      }
    }
  }

  /// Law 4. The victims are away.
  void judge_irreducible(const Places& found) {
    if (ask_.victims.empty() || waives(walk_.configuration(), WaivedLaw::law_4_gangs)) return;
    NaiveWorld& world = walk_.after();
    for (const Place& place : found) world.place(place.pod, place.node);
    const Places held = held_by_members();
    for (const Place& place : held) world.place(place.pod, place.node);
    const std::vector<std::vector<PodIndex>> units = walk_.victim_units(ask_);
    std::vector<bool> is_needed(units.size());
    find_needed(found, units, is_needed);
    for (std::size_t at = 0; at < units.size(); ++at) {
      if (is_needed[at]) continue;
      std::vector<PodIndex> others = walk_.own_victims(ask_);
      std::erase_if(others, [&](PodIndex pod) {
        return std::ranges::find(units[at], pod) != units[at].end();
      });
      if (!queue_fits(found, others)) continue;
      for (const PodIndex pod : units[at]) world.place(pod, cluster_.pods().node[pod]);
      // It may have to leave so that asks before this one still get what they were promised. Nor
      // may its members depend on pods that were promised a place and have not come.
      if (walk_.promises_hold() && can_come_in_turn(found) && can_come_without(held, found)) {
        walk_.report(4, ask_, "victim {} need not leave: every member fits where it goes",
                     cluster_.pod_key(units[at].front()));
      }
      for (const PodIndex pod : units[at]) world.remove(pod);
    }
    for (const Place& place : held) world.remove(place.pod);
    for (const Place& place : found) world.remove(place.pod);
  }

  /// Members that will ask for themselves keep what they were promised against their group, too.
  /// The members that the group places are there already.
  Places held_by_members() {
    Places held;
    if (ask_.rules->workload.evict_for != EvictFor::each) return held;
    const PodColumns& pods = cluster_.pods();
    for (const PodIndex pod : cluster_.groups()[cluster_.units()[ask_.unit].group].members) {
      const NodeIndex node = pods.nominated[pod];
      const bool waits = node.exists() && cluster_.nodes().flags[node].exists &&
                         pods.deletion[pod] == no_time && !walk_.after().where(pod).exists() &&
                         walk_.regimes().may_go(pod, node);
      if (waits) held.push_back({pod, node});
    }
    return held;
  }

  /// The same without these pods, which are placed. All of them are placed again afterwards.
  bool can_come_without(const Places& others, const Places& found) {
    for (const Place& place : others) walk_.after().remove(place.pod);
    const bool come = can_come_in_turn(found);
    for (const Place& place : others) walk_.after().place(place.pod, place.node);
    return come;
  }

  /// Members come one at a time: in some order each must find what it needs. All of them are there.
  bool can_come_in_turn(const Places& found) {
    NaiveWorld& world = walk_.after();
    for (const Place& place : found) world.remove(place.pod);
    Places open = found;
    for (bool came = true; came;) {
      came = std::erase_if(open, [&](const Place& place) {
               if (NaiveFit(world, place.pod).refusal(place.node)) return false;
               world.place(place.pod, place.node);
               return true;
             }) > 0;
    }
    for (const Place& place : open) world.place(place.pod, place.node);
    return open.empty();
  }

  /// Which victims, put back where they run, leave no room for some member.
  void find_needed(const Places& found, const std::vector<std::vector<PodIndex>>& units,
                   std::vector<bool>& is_needed) {
    std::map<NodeIndex, std::set<std::size_t>> units_on;
    std::set<std::size_t> everywhere;  // These may matter on other nodes than their own.
    std::set<std::size_t> all;
    for (std::size_t at = 0; at < units.size(); ++at) {
      all.insert(at);
      for (const PodIndex pod : units[at]) {
        units_on[cluster_.pods().node[pod]].insert(at);
        if (repels(pod)) everywhere.insert(at);
      }
    }
    for (const Place& place : found) {
      walk_.after().remove(place.pod);
      NaiveFit fit(walk_.after(), place.pod);
      const auto try_units = [&](const std::set<std::size_t>& tried) {
        for (const std::size_t at : tried) {
          if (is_needed[at]) continue;
          for (const PodIndex pod : units[at]) fit.put_back(pod);
          is_needed[at] = !walk_.fits_beside_nominated(fit, ask_, place.node);
          for (const PodIndex pod : units[at]) fit.remove(pod);
        }
      };
      if (looks_at_others(place.pod)) {
        try_units(all);
      } else {
        try_units(units_on[place.node]);
        try_units(everywhere);
      }
      fit.place(place.pod, place.node);
    }
  }

  // ---- Law 10 -----------------------------------------------------------------------------------

  /// Every pod on these nodes that may be evicted, and the pods that leave with it.
  std::set<PodIndex> pods_that_may_leave(const Nodes& nodes) {
    std::set<PodIndex> away;
    if (unit_.never_preempts) return away;
    const EvictionRules& rules = walk_.rules();
    const NaiveWorld& world = walk_.after();
    // A pod on a node where no member can ever go, which matters nowhere else, is skipped.
    std::map<MemberKind, PodIndex> kinds;
    for (const PodIndex pod : open_) kinds.try_emplace(kind(pod), pod);
    const bool far_pods_matter =
        !world.repelling().empty() || std::ranges::any_of(kinds, [this](const auto& each) {
          return looks_at_others(each.second);
        });
    for (const NodeIndex node : nodes) {
      const bool useless = !far_pods_matter && std::ranges::all_of(kinds, [&](const auto& each) {
        return walk_.full_for_ever(ask_, each.second, node);
      });
      if (useless) continue;
      for (const PodIndex pod : cluster_.order().pods(node)) {
        if (world.where(pod) != node || away.contains(pod)) continue;
        if (cluster_.pods().unit[pod] == ask_.unit || !walk_.may_leave(ask_, pod)) continue;
        for (const PodIndex member : rules.leaves_with(pod)) {
          if (world.where(member).exists()) away.insert(member);
        }
      }
    }
    return away;
  }

  void judge_infeasible() {
    const bool refused = walk_.configuration().workload.pods_not_matching_priority ==
                             PodsNotMatchingPriority::refuse &&
                         priority_mismatch(cluster_, unit_.group).pods > 0;
    if (!unit_.defined || refused || open_.size() < needed_) return;
    // The room that its queue lacks may come from any node.
    const std::set<PodIndex> anywhere = walk_.may_leave_queue(ask_);
    for (const Nodes& nodes : sure_domains()) {
      std::set<PodIndex> away = pods_that_may_leave(nodes);
      std::set<PodIndex> all = away;
      all.insert(anywhere.begin(), anywhere.end());
      Places places = find_places_without(nodes, away, away);
      if (places.empty() && all.size() > away.size() &&
          !find_places_without(nodes, away, all).empty()) {
        away = all;
        places = find_places_without(nodes, all, all);
      }
      if (places.empty()) continue;
      return walk_.report(
          10, ask_, "it is called infeasible, and {} of its members fit when {} pods leave, {}",
          needed_, away.size(), first_text(places));
    }
  }

  bool repels(PodIndex pod) const {
    return !cluster_.shape(cluster_.pods().shape[pod]).anti_affinity.empty();
  }
  MemberKind kind(PodIndex pod) const {
    const PodColumns& pods = cluster_.pods();
    return {pods.requests[pod], pods.shape[pod], pods.labels[pod]};
  }
  /// Whether its queue has room for these when those have left too.
  bool queue_fits(const Places& places, const std::vector<PodIndex>& away) const {
    return walk_.queue_fits(ask_, pods_of(places), away);
  }
  bool now_differs() { return &walk_.now() != &walk_.after(); }

  PlanWalk& walk_;
  const Cluster& cluster_;
  const HeardAsk& ask_;
  const Unit& unit_;
  const Group& group_;
  std::vector<PodIndex> staying_;
  std::vector<PodIndex> open_;
  std::size_t needed_ = 1;
};

}  // namespace

void judge_group(PlanWalk& walk, const HeardAsk& ask) { GroupJudge(walk, ask).judge(); }

}  // namespace makeway
