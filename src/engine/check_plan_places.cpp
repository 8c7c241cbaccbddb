// Where asks go: laws 1, 3, 4, 6, 7 and 10. Walks through the plan with a NaiveWorld.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/checked_math.hpp"
#include "engine/check_plan_hearing.hpp"
#include "engine/naive_fit.hpp"

namespace makeway {
namespace {

std::string refusal_text(const NaiveRefusal& refusal) {
  if (refusal.detail.empty()) return std::string(choice_name(refusal.reason));
  return fmt::format("{} {}", choice_name(refusal.reason), refusal.detail);
}

/// Whether the refusal stays whoever leaves (kube-scheduler's "unresolvable").
bool lasts(const NaiveFit& fit, NodeIndex node, const NaiveRefusal& refusal) {
  switch (refusal.reason) {
    case RefusalReason::resource: {
      const MaybeRefusal lasting = fit.lasting_refusal(node);
      return lasting && lasting->reason == RefusalReason::resource;
    }
    case RefusalReason::host_port:
    case RefusalReason::spread:
    case RefusalReason::anti_affinity:
    case RefusalReason::repelled: return false;
    default: return true;
  }
}

class PlaceJudge {
 public:
  explicit PlaceJudge(Hearing& hearing)
      : hearing_(hearing),
        cluster_(hearing.cluster),
        configuration_(hearing.configuration),
        rules_(hearing.cluster, hearing.configuration, hearing.plan.now),
        now_(hearing.cluster) {
    find_credited();
  }

  void judge() {
    for (const HeardAsk& ask : hearing_.asks) {
      judge_form(ask);
      if (ask.entry->kind == AskKind::pod) {
        judge_pod(ask);
      } else {
        judge_group(ask);
      }
      settle(ask);
    }
    judge_promises();
  }

 private:
  struct Place {
    PodIndex pod;
    NodeIndex node;
  };

  struct Promise {
    const HeardAsk* ask = nullptr;
    Place place;
  };

  /// When everybody who is leaving has left, and everybody who is nominated has come.
  NaiveWorld& after() { return after_ ? *after_ : now_; }
  NaiveWorld& own_after() {
    if (!after_) after_.emplace(now_);
    return *after_;
  }

  void report(int law, const HeardAsk& ask, std::string text) {
    hearing_.breaches.add(law, ask.text, std::move(text));
  }

  void find_credited();
  void judge_form(const HeardAsk& ask);
  void judge_waiting(const HeardAsk& ask);
  std::vector<Place> places(const HeardAsk& ask, bool complain);
  void judge_pod(const HeardAsk& ask);
  void judge_after(NaiveFit& fit, const HeardAsk& ask, NodeIndex node,
                   const std::vector<NodeIndex>& free_now);
  void judge_evicting(NaiveFit& fit, const HeardAsk& ask, const std::vector<NodeIndex>& free_now);
  void judge_place(NaiveFit& fit, const HeardAsk& ask, NodeIndex node);
  void report_refusal(const HeardAsk& ask, const Place& place, const NaiveRefusal& refused);
  void judge_irreducible(NaiveFit& fit, const HeardAsk& ask, NodeIndex node);
  void judge_infeasible(NaiveFit& fit, const HeardAsk& ask);
  void judge_group(const HeardAsk& ask);
  bool judge_members(NaiveWorld& world, const HeardAsk& ask, const std::vector<Place>& found,
                     bool now);
  void settle(const HeardAsk& ask);
  void judge_promises();
  bool keeps_promises(NaiveFit& fit, NodeIndex node);

  std::vector<PodIndex> holders(const HeardAsk& ask, NodeIndex node) const;
  bool fits_beside_nominated(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const;
  MaybeRefusal first_refusal(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const;
  bool held_by_preempted(NaiveFit& fit, const HeardAsk& ask) const;
  bool below_minimum(const Unit& unit, const HeardAsk& ask) const;
  std::vector<std::vector<PodIndex>> victim_units(const HeardAsk& ask) const;
  bool full_for_ever(const HeardAsk& ask, NodeIndex node) const;
  std::string_view node_name(NodeIndex node) const {
    return cluster_.text(cluster_.nodes().name[node]);
  }

  Hearing& hearing_;
  const Cluster& cluster_;
  const Configuration& configuration_;
  EvictionRules rules_;
  NaiveWorld now_;                   ///< For the next ask: what is bound or will be at once.
  std::optional<NaiveWorld> after_;  ///< Where it differs from `now_`.
  std::vector<Promise> promises_;    ///< Pods that are still to come.
  std::vector<PodIndex> hopeful_;    ///< Nominated where they do not fit yet.
  bool someone_nominated_ = false;
  std::set<PodIndex> gone_;           ///< After: credited leaving pods and victims of earlier asks.
  std::set<PodIndex> victims_;        ///< Of earlier asks.
  std::set<NodeIndex> victim_nodes_;  ///< Where they are.
  std::set<PodIndex> decided_;        ///< Pods of earlier asks.
};

void PlaceJudge::find_credited() {
  if (configuration_.workload.leaving_room != LeavingRoom::credited) return;
  for (std::uint32_t slot = 0; slot < cluster_.nodes().slots(); ++slot) {
    const NodeIndex node{slot};
    if (!cluster_.nodes().flags[node].used || cluster_.nodes().leaving[node] == 0) continue;
    for (const PodIndex pod : cluster_.order().pods(node)) {
      if (!rules_.leaving(pod) || rules_.overdue(pod)) continue;
      gone_.insert(pod);
      own_after().remove(pod);
    }
  }
}

// ---- The form of an entry (laws 3, 6 and 10) ---------------------------------------------------

void PlaceJudge::judge_form(const HeardAsk& ask) {
  const PlanAsk& entry = *ask.entry;
  const Outcome outcome = entry.outcome;
  const bool delayed = outcome == Outcome::waits && entry.waits_until.has_value();
  const bool has_place =
      outcome == Outcome::fits || outcome == Outcome::preempts || outcome == Outcome::waits;
  if (has_place && !delayed && entry.placements.empty()) {
    report(3, ask, fmt::format("it has no place, and its outcome is {}", choice_name(outcome)));
  }
  if ((!has_place || delayed) && !entry.placements.empty()) {
    report(3, ask, fmt::format("it has a place, and its outcome is {}", choice_name(outcome)));
  }
  if (outcome != Outcome::preempts && !entry.victims.empty()) {
    report(3, ask, fmt::format("it has victims, and its outcome is {}", choice_name(outcome)));
  }
  if (entry.kind == AskKind::pod && outcome == Outcome::preempts && entry.victims.empty()) {
    report(3, ask, "it preempts without a victim");
  }
  if (outcome == Outcome::infeasible && !entry.bounds_reached.empty()) {
    report(10, ask,
           fmt::format("it is called infeasible, and bound {} stopped the search",
                       entry.bounds_reached.front()));
  }
  judge_waiting(ask);
}

void PlaceJudge::judge_waiting(const HeardAsk& ask) {
  const PlanAsk& entry = *ask.entry;
  // Where earlier asks are on their way, it may also wait for them to come (affinity, spread).
  const bool names_nobody = entry.waits_for.empty() && !entry.waits_until;
  if (entry.outcome == Outcome::waits && names_nobody && !someone_nominated_) {
    report(6, ask, "it waits for nothing");
  }
  if (entry.waits_until && *entry.waits_until <= hearing_.plan.now) {
    report(6, ask, fmt::format("it waits until {}, which has passed", to_text(*entry.waits_until)));
  }
  for (const PodPlacement& awaited : entry.waits_for) {
    const std::string text = fmt::format("{}/{}", awaited.namespace_name, awaited.name);
    const auto pod = cluster_.find_pod(awaited.namespace_name, awaited.name);
    if (!pod || !cluster_.pods().node[*pod].exists()) {
      report(6, ask, fmt::format("it waits for {}, which is no bound pod", text));
      continue;
    }
    if (awaited.node != node_name(cluster_.pods().node[*pod])) {
      report(6, ask, fmt::format("it waits for {}, which is on another node", text));
    }
    if (victims_.contains(*pod)) continue;
    if (!rules_.leaving(*pod)) {
      report(6, ask, fmt::format("it waits for {}, which is not leaving", text));
    } else if (rules_.overdue(*pod)) {
      report(6, ask, fmt::format("it waits for {}, which should have left long ago", text));
    }
  }
}

/// The placements that make sense; the others are breaches.
std::vector<PlaceJudge::Place> PlaceJudge::places(const HeardAsk& ask, bool complain) {
  std::vector<Place> found;
  std::set<PodIndex> known;
  for (const PodPlacement& placement : ask.entry->placements) {
    const auto pod = cluster_.find_pod(placement.namespace_name, placement.name);
    const auto node = cluster_.find_node(placement.node);
    const bool own = pod && std::ranges::find(ask.pods, *pod) != ask.pods.end() &&
                     !cluster_.pods().node[*pod].exists() && known.insert(*pod).second;
    const bool again = own && decided_.contains(*pod);
    const bool there = node && cluster_.nodes().flags[*node].exists;
    if (own && there && !again) {
      found.push_back({.pod = *pod, .node = *node});
    } else if (complain) {
      report(again ? 8 : 3, ask,
             fmt::format("it cannot place {}/{} on node {}: {}", placement.namespace_name,
                         placement.name, placement.node,
                         again ? "an earlier ask decided about the pod"
                         : own ? "there is no such node"
                               : "the pod is not its own, or not pending"));
    }
  }
  return found;
}

// ---- Feasibility beside nominated pods ---------------------------------------------------------

/// Pending pods that hold room on the node against this ask by their nomination.
std::vector<PodIndex> PlaceJudge::holders(const HeardAsk& ask, NodeIndex node) const {
  std::vector<PodIndex> held;
  for (const PodIndex pod : cluster_.nodes().nominated[node]) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    if (unit.scheduling_priority < ask.priority || decided_.contains(pod)) continue;
    if ((after_ ? *after_ : now_).where(pod).exists()) continue;
    if (std::ranges::find(ask.pods, pod) == ask.pods.end()) held.push_back(pod);
  }
  return held;
}

/// With the nominated pods there and without them, as kube-scheduler demands.
bool PlaceJudge::fits_beside_nominated(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
  if (!fit.fits(node)) return false;
  if (cluster_.nodes().nominated[node].empty()) return true;
  const std::vector<PodIndex> held = holders(ask, node);
  for (const PodIndex pod : held) fit.place(pod, node);
  const bool fits = fit.fits(node);
  for (const PodIndex pod : held) fit.remove(pod);
  return fits;
}

// ---- One pod ------------------------------------------------------------------------------------

void PlaceJudge::judge_pod(const HeardAsk& ask) {
  const Outcome outcome = ask.entry->outcome;
  const std::vector<Place> found = places(ask, true);
  const NodeIndex node = found.empty() ? NodeIndex{} : found.front().node;
  if (outcome == Outcome::not_found) return;
  std::vector<NodeIndex> free_now;
  if (outcome == Outcome::fits || outcome == Outcome::preempts) {
    NaiveFit fit(now_, ask.pods.front());
    if (outcome == Outcome::fits && node.exists()) {
      if (const MaybeRefusal refused = fit.refusal(node)) {
        return report_refusal(ask, {.pod = fit.ask(), .node = node}, *refused);
      }
    }
    if (outcome == Outcome::preempts) {
      std::ranges::copy_if(now_.nodes(), std::back_inserter(free_now),
                           [&](NodeIndex each) { return fit.fits(each); });
    }
  }
  NaiveFit fit(after(), ask.pods.front());
  judge_after(fit, ask, node, free_now);
}

/// The laws about the time when everybody who leaves is gone and everybody nominated has come.
void PlaceJudge::judge_after(NaiveFit& fit, const HeardAsk& ask, NodeIndex node,
                             const std::vector<NodeIndex>& free_now) {
  const bool held = held_by_preempted(fit, ask);
  if (held && !ask.victims.empty()) {
    report(7, ask, "it has victims, and those it preempted are still leaving its nominated node");
  }
  // A place that was given says nothing about other places.
  const bool free_choice = !ask.entry->placement_given;
  if (ask.entry->outcome == Outcome::preempts && free_choice) judge_evicting(fit, ask, free_now);
  if (ask.entry->outcome == Outcome::infeasible && free_choice) judge_infeasible(fit, ask);
  std::vector<PodIndex> own;
  for (const HeardVictim& victim : ask.victims) {
    if (!gone_.contains(victim.pod)) own.push_back(victim.pod);
  }
  for (const PodIndex pod : own) fit.remove(pod);
  // An ask that is held by whom it preempted keeps its nomination whatever the room.
  const bool waits_held = held && ask.entry->outcome == Outcome::waits;
  if (node.exists() && !waits_held) judge_place(fit, ask, node);
  if (node.exists() && fits_beside_nominated(fit, ask, node)) judge_irreducible(fit, ask, node);
  for (const PodIndex pod : own) fit.put_back(pod);
}

/// Law 3 in the end: what later asks took and got leaves room for everybody who is still to come.
void PlaceJudge::judge_promises() {
  for (const PodIndex pod : hopeful_) after().remove(pod);
  for (const Promise& promise : promises_) {
    after().remove(promise.place.pod);
    {
      NaiveFit fit(after(), promise.place.pod);
      if (const MaybeRefusal refused = fit.refusal(promise.place.node)) {
        report(3, *promise.ask,
               fmt::format("when all asks are served it does not fit on node {} any more: {}",
                           node_name(promise.place.node), refusal_text(*refused)));
      }
    }
    after().place(promise.place.pod, promise.place.node);
  }
}

/// Whether everybody before it would still fit, should the ask come to the node.
bool PlaceJudge::keeps_promises(NaiveFit& fit, NodeIndex node) {
  if (promises_.empty()) return true;
  fit.place(fit.ask(), node);
  bool kept = true;
  for (const Promise& promise : promises_) {
    fit.remove(promise.place.pod);
    kept = kept && !NaiveFit(after(), promise.place.pod).refusal(promise.place.node);
    fit.place(promise.place.pod, promise.place.node);
  }
  fit.remove(fit.ask());
  return kept;
}

/// Laws 1, 6 and 7: without its victims the ask fits nowhere, neither at once nor when everybody
/// else who is leaving is gone.
void PlaceJudge::judge_evicting(NaiveFit& fit, const HeardAsk& ask,
                                const std::vector<NodeIndex>& free_now) {
  const NodeIndex nominated = cluster_.pods().nominated[fit.ask()];
  if (nominated.exists() && fits_beside_nominated(fit, ask, nominated) &&
      keeps_promises(fit, nominated)) {
    report(7, ask,
           fmt::format("it has victims, and its nomination to node {} is valid",
                       node_name(nominated)));
  }
  const auto fits_after = [&](NodeIndex node) {
    return fits_beside_nominated(fit, ask, node) && keeps_promises(fit, node);
  };
  const auto free = std::ranges::find_if(free_now, fits_after);
  if (free != free_now.end()) {
    return report(1, ask, fmt::format("it has victims, and fits on node {}", node_name(*free)));
  }
  if (gone_.empty()) return;  // Nobody is leaving: there is no room later that is not there now.
  const auto later = std::ranges::find_if(now_.nodes(), fits_after);
  if (later == now_.nodes().end()) return;
  report(
      6, ask,
      fmt::format("it has victims, and fits on node {} once others have left", node_name(*later)));
}

void PlaceJudge::report_refusal(const HeardAsk& ask, const Place& place,
                                const NaiveRefusal& refused) {
  report(3, ask,
         fmt::format("{} does not fit on node {}: {}", cluster_.pod_key(place.pod),
                     node_name(place.node), refusal_text(refused)));
}

/// Law 3, or 7 when only somebody's nomination is in the way.
void PlaceJudge::judge_place(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) {
  if (const MaybeRefusal refused = fit.refusal(node)) {
    report_refusal(ask, {.pod = fit.ask(), .node = node}, *refused);
  } else if (!fits_beside_nominated(fit, ask, node)) {
    report(7, ask,
           fmt::format("{} takes room on node {} that is nominated to others",
                       cluster_.pod_key(fit.ask()), node_name(node)));
  }
}

/// What refuses the ask first: with the nominated pods there, else without them.
MaybeRefusal PlaceJudge::first_refusal(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
  const std::vector<PodIndex> held = holders(ask, node);
  for (const PodIndex pod : held) fit.place(pod, node);
  const MaybeRefusal refused = fit.refusal(node);
  for (const PodIndex pod : held) fit.remove(pod);
  return refused ? refused : fit.refusal(node);
}

/// Preempted pods of lower priority are still leaving the nominated node, and the ask may wait for
/// it: what refuses it there now may pass.
bool PlaceJudge::held_by_preempted(NaiveFit& fit, const HeardAsk& ask) const {
  if (configuration_.workload.nomination_held_by != NominationHeldBy::preempted_pods) return false;
  const NodeIndex node = cluster_.pods().nominated[fit.ask()];
  if (!node.exists() || !cluster_.nodes().flags[node].exists) return false;
  const MaybeRefusal refused = first_refusal(fit, ask, node);
  if (refused && lasts(fit, node, *refused)) return false;
  return std::ranges::any_of(cluster_.order().pods(node), [&](PodIndex pod) {
    return cluster_.pods().flags[pod].disrupted_by_preemption && rules_.leaving(pod) &&
           !rules_.overdue(pod) && rules_.priority(pod) < ask.priority;
  });
}

// ---- Law 4 --------------------------------------------------------------------------------------

/// With `belowMinimum: evict`, a gang that falls under its minimum goes whole.
bool PlaceJudge::below_minimum(const Unit& unit, const HeardAsk& ask) const {
  if (configuration_.workload.below_minimum != BelowMinimum::evict || !unit.gang) return false;
  std::int64_t left = 0;
  for (const PodIndex member : cluster_.groups()[unit.group].members) {
    const bool leaves =
        !cluster_.pods().node[member].exists() || rules_.leaving(member) ||
        victims_.contains(member) ||
        std::ranges::find(ask.victims, member, &HeardVictim::pod) != ask.victims.end();
    if (!leaves) ++left;
  }
  return left < unit.minimum;
}

/// The victims as they would be put back: one by one, or a group together.
std::vector<std::vector<PodIndex>> PlaceJudge::victim_units(const HeardAsk& ask) const {
  std::vector<std::vector<PodIndex>> units;
  std::map<UnitIndex, std::size_t> whole;
  for (const HeardVictim& victim : ask.victims) {
    if (gone_.contains(victim.pod)) continue;
    const UnitIndex index = cluster_.pods().unit[victim.pod];
    const Unit& unit = cluster_.units()[index];
    const bool together =
        unit.kind == UnitKind::group &&
        (unit.mode == DisruptionMode::all || whole.contains(index) || below_minimum(unit, ask));
    const auto [at, is_new] =
        together ? whole.try_emplace(index, units.size()) : std::pair(whole.end(), true);
    if (is_new) {
      units.push_back({victim.pod});
    } else {
      units[at->second].push_back(victim.pod);
    }
  }
  return units;
}

void PlaceJudge::judge_irreducible(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) {
  if (ask.victims.empty() || waives(configuration_, WaivedLaw::law_4)) return;
  for (const std::vector<PodIndex>& unit : victim_units(ask)) {
    for (const PodIndex pod : unit) fit.put_back(pod);
    if (fits_beside_nominated(fit, ask, node)) {
      report(4, ask,
             fmt::format("victim {} need not leave: it fits on node {} beside it",
                         cluster_.pod_key(unit.front()), node_name(node)));
    }
    for (const PodIndex pod : unit) fit.remove(pod);
  }
}

// ---- Law 10 -------------------------------------------------------------------------------------

/// A node whose pods of at least the ask's priority leave no room; saves looking at each pod.
bool PlaceJudge::full_for_ever(const HeardAsk& ask, NodeIndex node) const {
  const bool known_to_stay = configuration_.workload.honour_preemption_priority &&
                             cluster_.nodes().leaving[node] == 0 && !victim_nodes_.contains(node);
  if (!known_to_stay) return false;
  const NodeOrder& order = cluster_.order();
  const std::size_t staying = order.count_at_least(node, ask.priority);
  const std::span<const std::int64_t> used = order.used_by_first(node, staying);
  const RequestRow room = cluster_.requests(cluster_.nodes().allocatable[node]);
  for (const ResourceAmount& wanted :
       cluster_.requests(cluster_.pods().requests[ask.pods.front()])) {
    const std::int64_t taken =
        wanted.resource.value < used.size() ? used[wanted.resource.value] : 0;
    const auto at = std::ranges::find(room, wanted.resource, &ResourceAmount::resource);
    const std::int64_t amount = at == room.end() ? 0 : at->amount;
    if (saturated_add(taken, wanted.amount) > amount) return true;
  }
  return false;
}

/// No node would hold it even if everybody left whom it may make leave there. What leaves as one
/// leaves whole; pods that stand elsewhere are nobody's to take for a pod that goes here.
void PlaceJudge::judge_infeasible(NaiveFit& fit, const HeardAsk& ask) {
  const bool evicts = !cluster_.units()[ask.unit].never_preempts;
  for (const NodeIndex node : now_.nodes()) {
    if (full_for_ever(ask, node) || fit.lasting_refusal(node)) continue;
    std::set<PodIndex> away;
    for (const PodIndex pod : cluster_.order().pods(node)) {
      if (!evicts || after().where(pod) != node || !rules_.may_leave(pod, ask.priority)) continue;
      for (const PodIndex member : rules_.leaves_with(pod)) {
        if (after().where(member).exists()) away.insert(member);
      }
    }
    for (const PodIndex pod : away) fit.remove(pod);
    const bool fits = fits_beside_nominated(fit, ask, node);
    for (const PodIndex pod : away) fit.put_back(pod);
    if (!fits) continue;
    return report(10, ask,
                  fmt::format("it is called infeasible, and fits on node {} when {} pods leave",
                              node_name(node), away.size()));
  }
}

// ---- Groups, and what an ask leaves behind -----------------------------------------------------

/// Each member fits where it goes beside all the others. Who `fits` must do so now as well.
void PlaceJudge::judge_group(const HeardAsk& ask) {
  const std::vector<Place> found = places(ask, true);
  const bool fits = ask.entry->outcome == Outcome::fits;
  if (fits && !judge_members(now_, ask, found, true)) return;
  std::vector<PodIndex> away;
  for (const HeardVictim& victim : ask.victims) {
    if (!gone_.contains(victim.pod)) away.push_back(victim.pod);
  }
  for (const PodIndex pod : away) after().remove(pod);
  judge_members(after(), ask, found, false);
  for (const PodIndex pod : away) after().place(pod, cluster_.pods().node[pod]);
}

/// False: somebody does not fit.
bool PlaceJudge::judge_members(NaiveWorld& world, const HeardAsk& ask,
                               const std::vector<Place>& found, bool now) {
  bool all_fit = true;
  for (const Place& place : found) world.place(place.pod, place.node);
  for (const Place& place : found) {
    world.remove(place.pod);
    NaiveFit fit(world, place.pod);
    const MaybeRefusal refused = fit.refusal(place.node);
    if (refused) all_fit = false;
    if (!now) judge_place(fit, ask, place.node);
    if (now && refused) report_refusal(ask, place, *refused);
    fit.place(place.pod, place.node);
  }
  for (const Place& place : found) world.remove(place.pod);
  return all_fit;
}

void PlaceJudge::settle(const HeardAsk& ask) {
  for (const HeardVictim& victim : ask.victims) {
    if (gone_.insert(victim.pod).second) own_after().remove(victim.pod);
    victims_.insert(victim.pod);
    victim_nodes_.insert(cluster_.pods().node[victim.pod]);
  }
  for (const Place& place : places(ask, false)) {
    if (ask.entry->outcome == Outcome::fits) {
      now_.place(place.pod, place.node);
      if (after_) after_->place(place.pod, place.node);
      continue;
    }
    // Somebody may wait for a place where it does not fit yet; that is no promise.
    const bool fits = !NaiveFit(own_after(), place.pod).refusal(place.node);
    own_after().place(place.pod, place.node);
    someone_nominated_ = true;
    if (!fits) hopeful_.push_back(place.pod);
    const bool promised = fits && ask.entry->kind == AskKind::pod;
    if (promised) promises_.push_back({.ask = &ask, .place = place});
  }
  // Groups for which nothing was found keep what they are nominated to.
  const bool keeps_nominations =
      ask.entry->kind == AskKind::pod_group && ask.entry->outcome == Outcome::not_found;
  if (!keeps_nominations) decided_.insert(ask.pods.begin(), ask.pods.end());
}

}  // namespace

void judge_places(Hearing& hearing) { PlaceJudge(hearing).judge(); }

}  // namespace makeway
