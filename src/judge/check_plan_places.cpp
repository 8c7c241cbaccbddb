// Where asks go: laws 1, 3, 4, 6, 7 and 10. The form of every entry, and all about single pods;
// groups are in check_plan_groups.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "judge/check_plan_walk.hpp"

namespace makeway {
namespace {

/// Whether the refusal stays whichever pods leave (kube-scheduler's "unresolvable").
bool lasts(const NaiveFit& fit, NodeIndex node, const NaiveRefusal& refusal) {
  switch (refusal.reason) {
    case RefusalReason::resource: {
      const MaybeRefusal lasting = fit.lasting_refusal(node);
      return lasting && lasting->reason == RefusalReason::resource;
    }
    case RefusalReason::volume_limit: return fit.lasting_refusal(node).has_value();
    case RefusalReason::host_port:
    case RefusalReason::volume_in_use:
    case RefusalReason::spread:
    case RefusalReason::anti_affinity:
    case RefusalReason::repelled: return false;
    default: return true;
  }
}

// ---- The form of an entry (laws 3, 6 and 10) ----------------------------------------------------

void judge_awaited(PlanWalk& walk, const HeardAsk& ask, const PodPlacement& awaited) {
  const Cluster& cluster = walk.cluster();
  const std::string text = fmt::format("{}/{}", awaited.namespace_name, awaited.name);
  const auto pod = cluster.find_pod(awaited.namespace_name, awaited.name, awaited.plane);
  if (!pod || !cluster.pods().node[*pod].exists()) {
    return walk.report(6, ask, "it waits for {}, which is no bound pod", text);
  }
  if (awaited.node != walk.node_name(cluster.pods().node[*pod])) {
    walk.report(6, ask, "it waits for {}, which is on another node", text);
  }
  if (walk.is_earlier_victim(*pod)) return;
  if (!walk.rules().leaving(*pod)) {
    walk.report(6, ask, "it waits for {}, which is not leaving", text);
  } else if (walk.rules().overdue(*pod)) {
    walk.report(6, ask, "it waits for {}, which should have left long ago", text);
  }
}

void judge_waiting(PlanWalk& walk, const HeardAsk& ask) {
  const PlanAsk& entry = *ask.entry;
  // Where earlier asks are on their way, it may also wait for them to come (affinity, spread).
  const bool names_no_pod = entry.waits_for.empty() && !entry.waits_until;
  const bool comes_from_outside =
      walk.someone_nominated() || walk.queue_room().waits_for_queues(ask);
  if (entry.outcome == Outcome::waits && names_no_pod && !comes_from_outside) {
    walk.report(6, ask, "it waits for nothing");
  }
  if (entry.waits_until && *entry.waits_until <= walk.time()) {
    walk.report(6, ask, "it waits until {}, which has passed", to_text(*entry.waits_until));
  }
  for (const PodPlacement& awaited : entry.waits_for) judge_awaited(walk, ask, awaited);
}

/// What it says about a pinned pod's reservation (law 9).
void judge_reservation(PlanWalk& walk, const HeardAsk& ask) {
  const Rare<PlanReservation>& reservation = ask.entry->reservation;
  if (!reservation) return;
  if (ask.pinned_to.empty()) return walk.report(9, ask, "it reserves a node, and is not pinned");
  if (reservation->node != ask.pinned_to) {
    walk.report(9, ask, "it reserves node {}, and can run on node {} only", reservation->node,
                ask.pinned_to);
  }
  const Time since = reserved_since(walk.cluster(), ask.pods.front(), walk.time());
  if (reservation->since != since) {
    walk.report(9, ask, "its reservation began at {}, not at {}", to_text(since),
                to_text(reservation->since));
  }
  if (ask.entry->outcome == Outcome::fits) walk.report(9, ask, "it fits, and reserves its node");
  if (reservation->preempts_from != ask.entry->waits_until) {
    walk.report(9, ask, "it says two things about when it starts preempting");
  }
}

void judge_form(PlanWalk& walk, const HeardAsk& ask) {
  const PlanAsk& entry = *ask.entry;
  const Outcome outcome = entry.outcome;
  const bool placed = has_place(entry);
  if (placed && entry.placements.empty()) {
    walk.report(3, ask, "it has no place, and its outcome is {}", choice_name(outcome));
  }
  if (!placed && !entry.placements.empty()) {
    walk.report(3, ask, "it has a place, and its outcome is {}", choice_name(outcome));
  }
  if (outcome != Outcome::preempts && !entry.victims.empty()) {
    walk.report(3, ask, "it has victims, and its outcome is {}", choice_name(outcome));
  }
  if (outcome == Outcome::preempts && entry.victims.empty()) {
    walk.report(3, ask, "it preempts without a victim");
  }
  if (outcome == Outcome::infeasible && !entry.bounds_reached.empty()) {
    walk.report(10, ask, "it is called infeasible, and bound {} stopped the search",
                entry.bounds_reached.front());
  }
  judge_waiting(walk, ask);
  judge_reservation(walk, ask);
}

/// Asks that are pinned to nodes of other regimes precede the list. `listed`: it has begun.
void judge_crossing(PlanWalk& walk, const HeardAsk& ask, bool& listed) {
  const auto node = walk.cluster().find_node(ask.pinned_to);
  const bool crosses = !ask.pinned_to.empty() && node &&
                       walk.cluster().nodes().flags[*node].exists &&
                       walk.regimes().of_node(*node) != Regime::pods;
  if (crosses && listed) {
    walk.report(9, ask, "its node belongs to {}, and it does not precede the other asks",
                choice_name(walk.regimes().of_node(*node)));
  }
  listed = listed || (!crosses && ask.entry->kind != AskKind::queue);
}

// ---- A member of a group that asks for itself
// ------------------------------------------------------

bool is_member(const PlanWalk& walk, const HeardAsk& ask) {
  return ask.entry->kind == AskKind::pod &&
         walk.cluster().units()[ask.unit].kind == UnitKind::group;
}

/// SPEC section 2, `evictFor: each`: law 3 has more to say about a member that asks for itself than
/// about other pods: whether it may (its group's minimum has a place, and is bound if the member
/// is), and where it may go in its group's required domain.
std::vector<NodeIndex> judge_member(PlanWalk& walk, const HeardAsk& ask) {
  const Cluster& cluster = walk.cluster();
  const Unit& unit = cluster.units()[ask.unit];
  const Group& group = cluster.groups()[unit.group];
  const Outcome outcome = ask.entry->outcome;
  if (ask.rules->workload.evict_for != EvictFor::each) {
    walk.report(3, ask, "it is a member of a group, which asks as a whole");
  }
  std::vector<NodeIndex> taken;  // Where members run or will run.
  std::int64_t later = 0;
  std::int64_t now = 0;
  for (const PodIndex pod : group.members) {
    if (walk.rules().leaving(pod) || walk.is_earlier_victim(pod)) continue;
    if (walk.now().where(pod).exists()) ++now;
    if (!walk.after().where(pod).exists()) continue;
    ++later;
    taken.push_back(walk.after().where(pod));
  }
  if (unit.gang && later < unit.minimum) {
    walk.report(3, ask, "it asks, and {} of the minimum {} of its group have a place", later,
                unit.minimum);
  }
  if (unit.gang && outcome == Outcome::fits && now < unit.minimum) {
    walk.report(3, ask, "it is bound before the minimum of its group is");
  }
  const GroupPolicy* const policy = cluster.policy_of(group);
  const bool anywhere = policy == nullptr || policy->topology_keys.empty() ||
                        ask.rules->workload.group_domains == GroupDomains::cluster;
  std::vector<NodeIndex> allowed = walk.now().nodes();
  if (anywhere) return allowed;
  for (const std::string& key : policy->topology_keys) {
    const NodeDomains& domains = walk.now().domains(key);
    std::erase_if(allowed, [&](NodeIndex node) {
      return domains.of[node] == NodeDomains::none ||
             std::ranges::any_of(
                 taken, [&](NodeIndex other) { return domains.of[other] != domains.of[node]; });
    });
  }
  for (const PlanWalk::Place& place : walk.places(ask, false)) {
    if (std::ranges::find(allowed, place.node) != allowed.end()) continue;
    walk.report(3, ask, "it is not in the domain of its group");
  }
  return allowed;
}

// ---- One pod ------------------------------------------------------------------------------------

class PodJudge {
 public:
  PodJudge(PlanWalk& walk, const HeardAsk& ask) : walk_(walk), ask_(ask) {
    if (is_member(walk, ask)) member_nodes_ = judge_member(walk, ask);
    if (ask.pinned_to.empty()) return;
    const auto node = walk.cluster().find_node(ask.pinned_to, ask.entry->plane);
    if (node && walk.cluster().nodes().flags[*node].exists) pinned_nodes_.push_back(*node);
  }

  void judge() {
    judge_late();
    walk_.count_awaited(ask_);
    const Outcome outcome = ask_.entry->outcome;
    const std::vector<PlanWalk::Place> found = walk_.places(ask_, true);
    const NodeIndex node = found.empty() ? NodeIndex{} : found.front().node;
    if (outcome == Outcome::not_found) return;
    std::vector<NodeIndex> free_now;
    if (outcome == Outcome::fits || outcome == Outcome::preempts) {
      NaiveFit fit(walk_.now(), ask_.pods.front());
      respect_claims(fit);
      if (outcome == Outcome::fits && node.exists()) {
        if (const MaybeRefusal refused = fit.refusal(node)) {
          return walk_.report_refusal(ask_, {.pod = fit.ask(), .node = node}, *refused);
        }
      }
      const bool queue_fits_now = walk_.queue_room().fits_now(ask_, {fit.ask()});
      if (outcome == Outcome::fits && !queue_fits_now) return walk_.report_queue(ask_, "now");
      if (outcome == Outcome::preempts && queue_fits_now) {
        std::ranges::copy_if(nodes(), std::back_inserter(free_now),
                             [&](NodeIndex each) { return fit.fits(each); });
      }
    }
    const auto rule = walk_.configuration().required_node.leaving_room;
    bool credits = rule == PinnedLeavingRoom::credited;
    if (!credits) with_leaving_room(true, [&](NaiveFit& fit) { credits = keeps_promise(fit); });
    with_leaving_room(credits, [&](NaiveFit& fit) { judge_after(fit, node, free_now); });
  }

 private:
  /// A pinned ask has its own rule about the room of pods that leave its node.
  void with_leaving_room(bool credits, const std::function<void(NaiveFit&)>& judge) {
    NaiveFit fit(walk_.after(), ask_.pods.front());
    const std::vector<PodIndex> away = moved_by_leaving_room(credits, true);
    const std::vector<PodIndex> there = moved_by_leaving_room(credits, false);
    for (const PodIndex pod : away) fit.remove(pod);
    for (const PodIndex pod : there) fit.put_back(pod);
    respect_claims(fit);
    judge(fit);
    for (const PodIndex pod : away) fit.put_back(pod);
    for (const PodIndex pod : there) fit.remove(pod);
  }

  /// Where leaving pods are not credited, they are to a pod to which their room was promised.
  bool keeps_promise(NaiveFit& fit) {
    const PodColumns& pods = walk_.cluster().pods();
    const NodeIndex nominated = pods.nominated[fit.ask()];
    if (!nominated.exists() || std::ranges::find(pinned_nodes_, nominated) == pinned_nodes_.end()) {
      return false;
    }
    const bool only_reserved = walk_.cluster().notes(pods.notes[fit.ask()]).only_reserved();
    return !only_reserved && fits_after(fit, nominated);
  }

  /// Those that this rule counts as being away although others do not, or (`away` false) the other
  /// way round.
  std::vector<PodIndex> moved_by_leaving_room(bool credits, bool away) const {
    std::vector<PodIndex> moved;
    for (const NodeIndex node : pinned_nodes_) {
      for (const PodIndex pod : walk_.cluster().order().pods(node)) {
        if (!walk_.rules().leaving(pod) || walk_.is_earlier_victim(pod)) continue;
        if (walk_.rules().late(pod)) continue;  // As for every ask.
        const bool gone = credits && !walk_.rules().overdue(pod);
        if (gone != walk_.is_gone(pod) && gone == away) moved.push_back(pod);
      }
    }
    return moved;
  }

  /// Neither side takes what the other holds (SPEC section 1).
  void respect_claims(NaiveFit& fit) const {
    for (const NodeIndex node : pinned_nodes_) {
      fit.keep_free(held_by_claims(fit.world(), walk_.regimes(), node));
    }
  }

  /// Law 6: an ask with a valid nomination waits for its own victims, however long. No ask waits
  /// for a pod that leaves late if it fits without that pod's room.
  void judge_late() {
    walk_.count_own_late(ask_);
    if (walk_.any_own_victim_late()) {
      NaiveFit fit(walk_.after(), ask_.pods.front());
      const NodeIndex node = walk_.cluster().pods().nominated[fit.ask()];
      const bool allowed = std::ranges::find(nodes(), node) != nodes().end();
      if (!allowed || !fits_after(fit, node)) walk_.put_back_own_late();
    }
    if (!walk_.waits_for_late(ask_) || ask_.entry->placement_given) return;
    if (!walk_.queue_room().fits_now(ask_, {ask_.pods.front()}))
      return;  // Its queue makes it wait.
    NaiveFit fit(walk_.after(), ask_.pods.front());
    respect_claims(fit);
    const auto free =
        std::ranges::find_if(nodes(), [&](NodeIndex node) { return fits_after(fit, node); });
    if (free == nodes().end()) return;
    walk_.report(6, ask_, "it waits for a pod that leaves late, and fits on node {} without",
                 walk_.node_name(*free));
  }

  bool fits_after(NaiveFit& fit, NodeIndex node) {
    return walk_.fits_for_sure(fit, ask_, node) && walk_.keeps_promises(fit, node) &&
           !walk_.spoils_nomination(fit.ask(), ask_, node);
  }

  /// The laws about the time when all leaving pods are gone and all nominated pods are placed.
  void judge_after(NaiveFit& fit, NodeIndex node, const std::vector<NodeIndex>& free_now) {
    const bool held = held_by_preempted(fit);
    if (held && !ask_.victims.empty()) {
      walk_.report(7, ask_,
                   "it has victims, and those it preempted are still leaving its nominated node");
    }
    // A place that was given says nothing about other places.
    const bool free_choice = !ask_.entry->placement_given;
    if (ask_.entry->outcome == Outcome::preempts && free_choice) judge_evicting(fit, free_now);
    if (ask_.entry->outcome == Outcome::infeasible && free_choice) judge_infeasible(fit);
    std::vector<PodIndex> own;
    for (const HeardVictim& victim : ask_.victims) {
      if (fit.world().where(victim.pod).exists()) own.push_back(victim.pod);
    }
    for (const PodIndex pod : own) fit.remove(pod);
    // An ask whose nomination is held by the pods it preempted keeps it, whatever the room.
    const bool waits_held = held && ask_.entry->outcome == Outcome::waits;
    if (node.exists() && !waits_held) {
      walk_.judge_place(fit, ask_, node);
      if (!queue_fits(own)) walk_.report_queue(ask_, "once all leaving pods are gone");
    }
    if (node.exists() && queue_fits(own) && walk_.fits_beside_nominated(fit, ask_, node)) {
      judge_irreducible(fit, node);
    }
    for (const PodIndex pod : own) fit.put_back(pod);
  }

  /// Laws 1, 6 and 7: without its victims the ask fits nowhere, neither at once nor when all other
  /// leaving pods are gone.
  void judge_evicting(NaiveFit& fit, const std::vector<NodeIndex>& free_now) {
    if (!queue_fits({})) return;
    const auto fits_there = [&](NodeIndex node) { return fits_after(fit, node); };
    const NodeIndex nominated = walk_.cluster().pods().nominated[fit.ask()];
    const bool allowed = std::ranges::find(nodes(), nominated) != nodes().end();
    if (nominated.exists() && allowed && fits_there(nominated)) {
      walk_.report(7, ask_, "it has victims, and its nomination to node {} is valid",
                   walk_.node_name(nominated));
    }
    const auto free = std::ranges::find_if(free_now, fits_there);
    if (free != free_now.end()) {
      return walk_.report(1, ask_, "it has victims, and fits on node {}", walk_.node_name(*free));
    }
    // No pod is leaving: there is no room later that is not free now.
    if (!walk_.any_pod_gone()) return;
    const auto later = std::ranges::find_if(nodes(), fits_there);
    if (later == nodes().end()) return;
    walk_.report(6, ask_, "it has victims, and fits on node {} once others have left",
                 walk_.node_name(*later));
  }

  /// Preempted pods of lower priority are still leaving the nominated node, and the ask may wait
  /// for it: what refuses it there now may pass.
  bool held_by_preempted(NaiveFit& fit) const {
    const NominationHeldBy holder = walk_.configuration().workload.nomination_held_by;
    if (holder != NominationHeldBy::preempted_pods || pinned()) return false;
    const NodeIndex node = walk_.cluster().pods().nominated[fit.ask()];
    if (!node.exists() || !walk_.cluster().nodes().flags[node].exists) return false;
    if (walk_.regimes().of_node(node) != Regime::pods) return false;
    const MaybeRefusal refused = walk_.first_refusal(fit, ask_, node);
    if (refused && lasts(fit, node, *refused)) return false;
    return walk_.preempted_still_leaving(node, ask_);
  }

  /// Law 4. Where victims are put back once, an ask that must be near others may lose one whose
  /// turn came before theirs: that is kube-scheduler's rule.
  void judge_irreducible(NaiveFit& fit, NodeIndex node) {
    if (ask_.victims.empty() || waives(walk_.configuration(), WaivedLaw::law_4)) return;
    const ShapeId shape = walk_.cluster().pods().shape[fit.ask()];
    const bool once = ask_.rules->workload.put_back == PutBack::once && !pinned();
    if (once && !walk_.cluster().shape(shape).affinity.empty()) return;
    for (const std::vector<PodIndex>& unit : walk_.victim_units(ask_)) {
      for (const PodIndex pod : unit) fit.put_back(pod);
      std::vector<PodIndex> others;
      if (walk_.queue_room().concerns(ask_)) others = walk_.own_victims(ask_);
      std::erase_if(others,
                    [&](PodIndex pod) { return std::ranges::find(unit, pod) != unit.end(); });
      if (queue_fits(others) && walk_.fits_for_sure(fit, ask_, node)) {
        walk_.report(4, ask_, "victim {} need not leave: it fits on node {} beside it",
                     walk_.cluster().pod_key(unit.front()), walk_.node_name(node));
      }
      for (const PodIndex pod : unit) fit.remove(pod);
    }
  }

  /// Section 5, `candidatesHold: resource-name`: whether those on the node hold something that the
  /// ask names; no ask names `pods`. Other settings leave out only pods whose room does not matter.
  bool shares_a_name(const std::vector<PodIndex>& together, NodeIndex node) const {
    const bool by_name =
        walk_.configuration().required_node.candidates_hold == CandidatesHold::resource_name;
    if (!pinned() || !by_name) return true;
    const Cluster& cluster = walk_.cluster();
    const PodColumns& pods = cluster.pods();
    std::set<ResourceIndex> named;
    for (const ResourceAmount& item : cluster.requests(pods.requests[ask_.pods.front()])) {
      if (item.resource != resource_pods) named.insert(item.resource);
    }
    return std::ranges::any_of(together, [&](PodIndex pod) {
      return walk_.after().where(pod) == node &&
             std::ranges::any_of(
                 cluster.requests(pods.requests[pod]),
                 [&](const ResourceAmount& item) { return named.contains(item.resource); });
    });
  }

  /// Law 10: no node would hold it even if every pod left that it may evict there. A group of mode
  /// `all` leaves whole; pods on other nodes are not evicted for a pod that goes here.
  void judge_infeasible(NaiveFit& fit) {
    const Cluster& cluster = walk_.cluster();
    const EvictionRules& rules = walk_.rules();
    const bool may_evict =
        pinned() && !walk_.configuration().required_node.honour_preemption_policy;
    const bool evicts = may_evict || !cluster.units()[ask_.unit].never_preempts;
    const NaiveWorld& after = walk_.after();
    const bool queues = walk_.queue_room().concerns(ask_);
    const std::set<PodIndex> anywhere = walk_.may_leave_queue(ask_);
    std::map<NodeIndex, std::set<PodIndex>>
        groups_on;  // By node: pods that leave with those there.
    for (const PodIndex pod : anywhere) {
      std::set<PodIndex>& together = groups_on[after.where(pod)];
      for (const PodIndex member : rules.leaves_with(pod)) {
        if (after.where(member).exists()) together.insert(member);
      }
    }
    for (const NodeIndex node : nodes()) {
      if (fit.lasting_refusal(node)) continue;
      if (!pinned() && walk_.full_for_ever(ask_, fit.ask(), node)) continue;
      std::set<PodIndex> away;
      std::set<PodIndex> candidates;  // Of these, by `candidatesHold`.
      // Of a queue only few pods are on a node: they are known already.
      if (queues) {
        away = groups_on[node];
      } else {
        for (const PodIndex pod : cluster.order().pods(node)) {
          if (!evicts || after.where(pod) != node || !may_leave(pod) || walk_.has_arrived(pod))
            continue;
          const std::vector<PodIndex> together = rules.leaves_with(pod);
          const bool named = shares_a_name(together, node);
          for (const PodIndex member : together) {
            if (!after.where(member).exists()) continue;
            away.insert(member);
            if (named) candidates.insert(member);
          }
        }
      }
      const auto fits_without = [&](const std::set<PodIndex>& gone) {
        for (const PodIndex pod : gone) fit.remove(pod);
        const bool fits = walk_.fits_for_sure(fit, ask_, node);
        for (const PodIndex pod : gone) fit.put_back(pod);
        return fits;
      };
      // The ask may need a pod there (affinity): fewer pods gone is not always less room.
      if (!fits_without(away) || (!queues && !fits_without(candidates))) continue;
      // The room that its queue lacks may come from any node, if it still fits then.
      if (!queue_fits({away.begin(), away.end()})) {
        away.insert(anywhere.begin(), anywhere.end());
        if (!queue_fits({away.begin(), away.end()}) || !fits_without(away)) continue;
      }
      return walk_.report(10, ask_,
                          "it is called infeasible, and fits on node {} when {} pods leave",
                          walk_.node_name(node), away.size());
    }
  }

  bool pinned() const { return !ask_.pinned_to.empty(); }
  /// Where it may go as far as its section is concerned.
  const std::vector<NodeIndex>& nodes() {
    if (member_nodes_) return *member_nodes_;
    return pinned() ? pinned_nodes_ : walk_.now().nodes();
  }
  bool may_leave(PodIndex pod) const {
    return pinned() ? walk_.rules().may_leave_for_pinned(pod, ask_.priority)
                    : walk_.may_leave(ask_, pod);
  }
  /// Whether its queue has room for it when these have left too.
  bool queue_fits(const std::vector<PodIndex>& away) const {
    return walk_.queue_fits(ask_, {ask_.pods.front()}, away);
  }

  PlanWalk& walk_;
  const HeardAsk& ask_;
  std::vector<NodeIndex> pinned_nodes_;                 ///< Its node, if that is there.
  std::optional<std::vector<NodeIndex>> member_nodes_;  ///< Of a member that asks for itself.
};

}  // namespace

void judge_places(Hearing& hearing) {
  PlanWalk walk(hearing);
  std::map<AskKind, std::function<void(const HeardAsk&)>> judges;
  for (const OwnRules* const own : all_own_rules) judges.emplace(own->kind, own->judge(walk));
  bool listed = false;
  for (const HeardAsk& ask : hearing.asks) {
    judge_crossing(walk, ask, listed);
    if (ask.entry->kind == AskKind::queue) {  // It has no place; see judge_queues.
      walk.settle(ask);
      continue;
    }
    judge_form(walk, ask);
    if (ask.own_rules != nullptr) {
      judges.at(ask.own_rules->kind)(ask);
      continue;
    }
    if (ask.entry->kind == AskKind::pod) {
      PodJudge(walk, ask).judge();
    } else {
      walk.count_awaited(ask);
      judge_group(walk, ask);
    }
    walk.put_back_own_late();
    walk.settle(ask);
  }
  walk.judge_promises();
}

}  // namespace makeway
