// Whether a pod that should leave earlier was overlooked (SPEC section 4: classes, ties, one GPU,
// several GPUs), and whether a claim of the previous plan was given up without need (law 7).
//
// For one GPU every single pod that comes before is tried. For several, nodes are compared by their
// worst class, with pods of the classes before it that leave anyway; and, where the plan leaves a
// node quite alone, by the highest priority among those that would have lost something there. The
// other keys depend on which victims each node would have had in its turn, which is the
// search itself. replica_ranking_properties compares that with a look at every place.
//
// A pod that is not a victim at the end of the plan, and could still be one, could have been one
// when the ask was decided.
#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "judge/check_plan_replicas.hpp"
#include "model/planes.hpp"

namespace makeway {
namespace {

class ReplicaChoiceJudge {
 public:
  explicit ReplicaChoiceJudge(ReplicaHearing& court)
      : court_(court), fleet_(court.fleet), settings_(court.fleet.settings()), rooms_(court) {}

  void judge() {
    list_candidates();
    for (const HeardReplicaAsk& ask : court_.asks) {
      rooms_.start(ask);
      const HeardReplicaClaim* worst = nullptr;
      for (const HeardReplicaClaim& claim : ask.claims) {
        if (claim.entry->kept || claim.victims.empty()) continue;
        judge_on_node(ask, claim);
        const bool worse = worst == nullptr || before(ask, last(ask, *worst), last(ask, claim));
        if (worse) worst = &claim;
      }
      if (worst != nullptr) {
        undo(ask, *worst);
        // What its victims free may serve other claims, too; these would need other victims then.
        const bool alone = rooms_.in_order(worst->node, ask.row.amounts);
        if (alone) judge_elsewhere(ask, last(ask, *worst));
        redo(ask, *worst);
        judge_losers(ask, *worst);
      }
      judge_previous(ask);
    }
  }

 private:
  /// Nodes that are tried for what one claim takes; the judge samples, the search looks at all.
  static constexpr std::size_t losers_nodes_max = 50;

  struct Candidate {
    std::size_t rank = 0;
    std::int32_t priority = 0;
    PodIndex pod;

    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  /// As if the ask had not made the claim.
  void undo(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) {
    rooms_.remove(claim.node, ask.row.amounts);
    for (const HeardReplicaVictim& victim : claim.victims) {
      rooms_.add(claim.node, court_.freed(victim.pod));
    }
  }
  void redo(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) {
    rooms_.add(claim.node, ask.row.amounts);
    for (const HeardReplicaVictim& victim : claim.victims) {
      rooms_.remove(claim.node, court_.freed(victim.pod));
    }
  }

  static constexpr std::size_t no_rank = 100;

  std::size_t rank(PodIndex pod) const {
    const std::optional<ReplicaClass> found = fleet_.class_of(pod);
    return found ? static_cast<std::size_t>(*found) : no_rank;
  }

  /// Less intrusive: class, then ties.
  bool before(const HeardReplicaAsk& ask, PodIndex a, PodIndex b) const {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    const PodColumns& pods = court_.cluster().pods();
    if (fleet_.priority(a) != fleet_.priority(b)) return fleet_.priority(a) < fleet_.priority(b);
    if (score(ask, a) != score(ask, b)) return score(ask, a) < score(ask, b);
    if (pods.created[a] != pods.created[b]) return pods.created[a] > pods.created[b];
    return pods.name[a.value] > pods.name[b.value];
  }

  std::int64_t score(const HeardReplicaAsk& ask, PodIndex pod) const {
    const std::string_view plane = fleet_.plane_of(court_.cluster().pods().node[pod]);
    const std::vector<ReplicaPlane>& planes = ask.schedule->planes;
    const auto found = std::ranges::find(planes, plane, &ReplicaPlane::name);
    return found == planes.end() ? 0 : found->score;
  }

  PodIndex last(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) const {
    PodIndex found = claim.victims.front().pod;
    for (const HeardReplicaVictim& victim : claim.victims) {
      if (before(ask, found, victim.pod)) found = victim.pod;
    }
    return found;
  }

  /// How many more committed replicas the share could lose.
  std::int64_t spare(const HeardShare& share) const {
    const auto steps = court_.steps.find(&share);
    const auto losing = court_.losing.find(&share);
    const std::int64_t commit = share.commit - (steps == court_.steps.end() ? 0 : steps->second);
    const std::int64_t running =
        std::ssize(share.running) - (losing == court_.losing.end() ? 0 : losing->second);
    const auto held = court_.losing_to_held.find(&share);
    const std::int64_t others = held == court_.losing_to_held.end() ? 0 : held->second;
    return std::min(commit, running) - others - 1;  // The last one stays.
  }

  /// Whether the ask could still have it as one more victim.
  bool available(const HeardReplicaAsk& ask, PodIndex pod) const {
    if (rank(pod) == no_rank || court_.claimed.contains(pod)) return false;
    // An ask waits for it already, and its room is counted.
    if (court_.gone.contains(pod)) return false;
    const ReplicaClass found = *fleet_.class_of(pod);
    if (found == ReplicaClass::force_deleting) return !fleet_.credit_ended(pod);
    if (found == ReplicaClass::terminating) {
      return !fleet_.credit_ended(pod) || fleet_.may_force_delete(pod, ask.priority);
    }
    const HeardShare& share = *fleet_.share_of(pod);
    // Which of a deployment's last pods stays depends on which others leave: no breach.
    if (found == ReplicaClass::surplus) return share.commit > 0 && !fleet_.surplus_timed_out(pod);
    return fleet_.priority(pod) < ask.priority && !court_.missed(ask, pod) &&
           !fleet_.is_protected(pod) && !fleet_.leaves_whole_group(pod) &&
           !court_.scaled_up.contains(&share) && !fleet_.has_timed_out_surplus(share) &&
           spare(share) > 0;
  }

  /// On the node that was chosen: without its most intrusive victim, but with all that come before
  /// it, the ask does not fit.
  void judge_on_node(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) {
    const PodIndex worst = last(ask, claim);
    std::vector<PodIndex> others;
    for (const PodIndex pod : court_.cluster().order().pods(claim.node)) {
      if (available(ask, pod) && before(ask, pod, worst)) others.push_back(pod);
    }
    std::ranges::sort(others, [&](PodIndex a, PodIndex b) { return before(ask, a, b); });
    std::map<const HeardShare*, std::int64_t> taken;
    std::erase_if(others, [&](PodIndex pod) {
      if (fleet_.class_of(pod) != ReplicaClass::committed) return false;
      const HeardShare* const share = fleet_.share_of(pod);
      return ++taken[share] > spare(*share);
    });
    if (others.empty() || court_.held.contains(claim.node)) return;
    ClaimRooms& room = rooms_;
    room.add(claim.node, court_.requests(worst));
    for (const PodIndex pod : others) room.remove(claim.node, court_.requests(pod));
    const bool enough = room.in_order(claim.node, court_.requests(worst)) &&
                        room.in_order(claim.node, ask.row.amounts);
    for (const PodIndex pod : others) room.add(claim.node, court_.requests(pod));
    room.remove(claim.node, court_.requests(worst));
    if (!enough) return;
    court_.report(9, ask,
                  fmt::format("victim {} comes after others on node {} that are enough",
                              court_.cluster().pod_key(worst), claim.entry->node));
  }

  /// All pods that are not victims, by class and priority: plans are large, and a pod that comes
  /// before a victim of a good plan is rare.
  void list_candidates() {
    for (std::uint32_t slot = 0; slot < court_.cluster().pods().slots(); ++slot) {
      const PodIndex pod{slot};
      if (!court_.cluster().pods().flags[pod].exists || court_.claimed.contains(pod)) continue;
      if (rank(pod) == no_rank) continue;
      candidates_.push_back({.rank = rank(pod), .priority = fleet_.priority(pod), .pod = pod});
    }
    std::ranges::sort(candidates_);
  }

  void judge_elsewhere(const HeardReplicaAsk& ask, PodIndex worst) {
    const bool single = needed(ask) == 1;
    std::set<NodeIndex> seen;
    for (const Candidate& candidate : candidates_) {
      const bool later =
          candidate.rank > rank(worst) ||
          (candidate.rank == rank(worst) && candidate.priority > fleet_.priority(worst));
      if (later) return;
      const NodeIndex node = court_.cluster().pods().node[candidate.pod];
      // What its further claims leave over there was not yet there when this one was chosen.
      const bool own = std::ranges::any_of(ask.claims, [&](const HeardReplicaClaim& each) {
        return each.node == node && !each.victims.empty();
      });
      if (own || !is_usable(ask, node)) continue;
      const bool better = (single && is_enough(ask, candidate.pod, worst)) ||
                          (candidate.rank < rank(worst) && seen.insert(node).second &&
                           class_is_enough(ask, node, worst));
      if (!better) continue;
      court_.report(6, ask,
                    fmt::format("victim {} comes after the pods that suffice on node {}",
                                court_.cluster().pod_key(worst), court_.node_name(node)));
      return;
    }
  }

  // ---- Several GPUs: which pods lose something --------------------------------------------------

  /// It is scaled down, or force-deleted now; a pod that is only waited for loses nothing.
  bool loses(const HeardReplicaAsk& ask, PodIndex pod) const {
    if (fleet_.class_of(pod) == ReplicaClass::committed) return true;
    return fleet_.class_of(pod) == ReplicaClass::terminating &&
           fleet_.may_force_delete(pod, ask.priority) &&
           fleet_.force_delete_from(pod) <= court_.hearing.plan.now;
  }

  /// None: none of them loses anything.
  std::optional<std::int32_t> highest_loser(const HeardReplicaAsk& ask,
                                            const std::vector<PodIndex>& pods) const {
    std::optional<std::int32_t> highest;
    for (const PodIndex pod : pods) {
      if (!loses(ask, pod)) continue;
      highest = std::max(highest.value_or(fleet_.priority(pod)), fleet_.priority(pod));
    }
    return highest;
  }

  /// The plan does nothing to the node, nor to a deployment with pods there: what the ask would
  /// find there at the end, it found in its turn.
  bool is_left_alone(NodeIndex node) const {
    const bool claimed = std::ranges::any_of(court_.asks, [&](const HeardReplicaAsk& ask) {
      return std::ranges::any_of(
          ask.claims, [&](const HeardReplicaClaim& claim) { return claim.node == node; });
    });
    if (claimed || court_.held.contains(node)) return false;
    return std::ranges::all_of(court_.cluster().order().pods(node), [&](PodIndex pod) {
      const HeardShare* const share = fleet_.share_of(pod);
      if (court_.gone.contains(pod)) return false;
      return share == nullptr || fleet_.leaving(pod) ||
             (share->commit > 0 && !court_.steps.contains(share) &&
              !court_.scaled_up.contains(share));
    });
  }

  /// The pods that the ask would evict there, after putting back as many as possible; none: it does
  /// not fit.
  std::optional<std::vector<PodIndex>> victims_on(const HeardReplicaAsk& ask, NodeIndex node) {
    std::vector<PodIndex> order;
    for (const PodIndex pod : court_.cluster().order().pods(node)) {
      if (available(ask, pod)) order.push_back(pod);
    }
    std::ranges::sort(order, [&](PodIndex a, PodIndex b) { return before(ask, a, b); });
    FleetRoom& room = court_.after;
    std::map<const HeardShare*, std::int64_t> taken;
    std::vector<PodIndex> victims;
    for (const PodIndex pod : order) {
      if (room.holds(node, ask.row)) break;
      const HeardShare* const share = fleet_.share_of(pod);
      const bool committed = fleet_.class_of(pod) == ReplicaClass::committed;
      if (!helps(room, ask, pod) || (committed && taken[share] >= spare(*share))) continue;
      if (committed) ++taken[share];
      room.remove(node, court_.requests(pod));
      victims.push_back(pod);
    }
    const bool fits = room.holds(node, ask.row);
    for (std::size_t at = victims.size(); fits && at-- > 0;) {
      room.add(node, court_.requests(victims[at]));
      if (room.holds(node, ask.row)) {
        victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        room.remove(node, court_.requests(victims[at]));
      }
    }
    for (const PodIndex pod : victims) room.add(node, court_.requests(pod));
    if (!fits) return std::nullopt;
    return victims;
  }

  /// It holds something that is short.
  bool helps(const FleetRoom& room, const HeardReplicaAsk& ask, PodIndex pod) const {
    const NodeIndex node = court_.cluster().pods().node[pod];
    return std::ranges::any_of(ask.row.amounts, [&](const ResourceAmount& need) {
      const RequestRow row = court_.requests(pod);
      return room.left(node, need.resource) < need.amount &&
             std::ranges::any_of(
                 row,
                 [&](const ResourceAmount& held) {
                   return held.resource == need.resource && held.amount > 0;
                 });
    });
  }

  void judge_losers(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) {
    if (needed(ask) == 1) return;
    std::vector<PodIndex> chosen;
    chosen.reserve(claim.victims.size());
    for (const HeardReplicaVictim& victim : claim.victims) chosen.push_back(victim.pod);
    const std::optional<std::int32_t> highest = highest_loser(ask, chosen);
    if (!highest) return;
    const std::size_t worst = rank(last(ask, claim));
    std::set<NodeIndex> seen;
    for (const Candidate& candidate : candidates_) {
      if (candidate.rank > worst || seen.size() == losers_nodes_max) return;
      const NodeIndex node = court_.cluster().pods().node[candidate.pod];
      if (!is_usable(ask, node) || !is_left_alone(node) || !seen.insert(node).second) continue;
      const std::optional<std::vector<PodIndex>> there = victims_on(ask, node);
      if (!there || there->empty()) continue;
      const bool same_class =
          std::ranges::all_of(*there, [&](PodIndex pod) { return rank(pod) <= worst; });
      const std::optional<std::int32_t> other = highest_loser(ask, *there);
      if (!same_class || (other && *other >= *highest)) continue;
      court_.report(9, ask,
                    fmt::format("on node {} no pod of priority {} would lose anything",
                                court_.node_name(node), *highest));
      return;
    }
  }

  bool is_usable(const HeardReplicaAsk& ask, NodeIndex node) const {
    if (!fleet_.is_open(node) || court_.held.contains(node)) return false;
    const std::vector<ReplicaPlane>& planes = ask.schedule->planes;
    return std::ranges::find(planes, fleet_.plane_of(node), &ReplicaPlane::name) != planes.end();
  }

  std::int64_t needed(const HeardReplicaAsk& ask) const {
    for (const Amount& amount : ask.schedule->requests) {
      if (amount.resource == settings_.resource) return amount.amount;
    }
    return 0;
  }

  /// Whether this pod alone, which comes before, would do.
  bool is_enough(const HeardReplicaAsk& ask, PodIndex pod, PodIndex worst) {
    if (!before(ask, pod, worst) || !available(ask, pod)) return false;
    const NodeIndex node = court_.cluster().pods().node[pod];
    rooms_.remove(node, court_.requests(pod));
    const bool fits = rooms_.holds(node, ask.row);
    rooms_.add(node, court_.requests(pod));
    return fits;
  }

  /// Whether those of better classes, which leave anyway, would be enough.
  bool class_is_enough(const HeardReplicaAsk& ask, NodeIndex node, PodIndex worst) {
    std::vector<PodIndex> away;
    for (const PodIndex pod : court_.cluster().order().pods(node)) {
      const bool better = rank(pod) < rank(worst) && available(ask, pod) &&
                          fleet_.class_of(pod) != ReplicaClass::committed;
      if (better) away.push_back(pod);
    }
    if (away.empty()) return false;
    for (const PodIndex pod : away) rooms_.remove(node, court_.requests(pod));
    const bool fits = rooms_.holds(node, ask.row);
    for (const PodIndex pod : away) rooms_.add(node, court_.requests(pod));
    return fits;
  }

  // ---- The previous plan ------------------------------------------------------------------------

  /// Law 7: no other deployment loses a replica while a claim of the previous plan stands and is
  /// not kept.
  void judge_previous(const HeardReplicaAsk& ask) {
    const bool takes = std::ranges::any_of(ask.claims, [](const HeardReplicaClaim& claim) {
      return !claim.entry->kept &&
             std::ranges::any_of(claim.entry->victims, [](const PlanReplicaVictim& victim) {
               return victim.action == ReplicaAction::scale_down;
             });
    });
    if (!takes) return;
    for (const ReplicaClaim& claim : ask.schedule->status.claims) {
      const std::optional<NodeIndex> node =
          find_node_in_plane(court_.cluster(), claim.plane, claim.node);
      const bool kept = std::ranges::any_of(ask.claims, [&](const HeardReplicaClaim& each) {
        return each.entry->node == claim.node && each.entry->since == claim.since;
      });
      if (kept || !node || court_.held.contains(*node) || !fleet_.is_open(*node)) continue;
      if (fleet_.plane_of(*node) != claim.plane || !stands(ask, claim, *node)) continue;
      court_.report(7, ask,
                    fmt::format("its claim of node {} stands, and it takes others", claim.node));
    }
  }

  bool stands(const HeardReplicaAsk& ask, const ReplicaClaim& claim, NodeIndex node) {
    const std::vector<ReplicaPlane>& planes = ask.schedule->planes;
    if (std::ranges::find(planes, claim.plane, &ReplicaPlane::name) == planes.end()) return false;
    std::vector<PodIndex> away;
    for (const ClaimedVictim& victim : claim.victims) {
      const auto pod =
          find_pod_in_plane(court_.cluster(), claim.plane, victim.namespace_name, victim.name);
      if (!pod || court_.cluster().pods().node[*pod] != node) continue;
      const bool waits = available(ask, *pod) && fleet_.class_of(*pod) != ReplicaClass::committed;
      if (!waits) return false;
      away.push_back(*pod);
    }
    for (const HeardReplicaClaim& each : ask.claims) {
      if (!each.entry->kept) undo(ask, each);
    }
    for (const PodIndex pod : away) rooms_.remove(node, court_.requests(pod));
    const bool fits = rooms_.holds(node, ask.row);
    for (const PodIndex pod : away) rooms_.add(node, court_.requests(pod));
    for (const HeardReplicaClaim& each : ask.claims) {
      if (!each.entry->kept) redo(ask, each);
    }
    return fits;
  }

  ReplicaHearing& court_;
  const FleetReading& fleet_;
  const ReplicaSettings& settings_;
  ClaimRooms rooms_;
  std::vector<Candidate> candidates_;
};

}  // namespace

void judge_replica_choices(ReplicaHearing& court) { ReplicaChoiceJudge(court).judge(); }

}  // namespace makeway
