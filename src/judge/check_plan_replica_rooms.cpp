// Which pods may be evicted for a replica, and how: laws 2, 5, 6 and 8 as in SPEC section 4, and
// the last replica of a deployment in a plane.
//
// What replicas get on nodes: laws 1, 3, 4 and 10 as SPEC section 4 has them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "judge/check_plan_replicas.hpp"
#include "model/planes.hpp"

namespace makeway {

namespace {

class ReplicaVictimJudge {
 public:
  explicit ReplicaVictimJudge(ReplicaHearing& court) : court_(court), fleet_(court.fleet) {}

  void judge() {
    for (const HeardReplicaAsk& ask : court_.asks) {
      for (const HeardReplicaClaim& claim : ask.claims) {
        for (const HeardReplicaVictim& victim : claim.victims) {
          judge_victim(ask, victim);
          judge_again(ask, claim, victim);
          judge_loss(ask, claim, victim);
        }
      }
      judge_out(ask);
    }
    for (const auto& [share, count] : court_.losing) judge_last(share, count);
  }

 private:
  template <class... Args>
  void report(int law, const HeardReplicaAsk& ask, const HeardReplicaVictim& victim,
              fmt::format_string<Args...> text, Args&&... args) {
    court_.report(law, ask, "{} {}", victim.text, fmt::format(text, std::forward<Args>(args)...));
  }

  void judge_victim(const HeardReplicaAsk& ask, const HeardReplicaVictim& victim) {
    const std::optional<ReplicaClass> truth = fleet_.class_of(victim.pod);
    if (!truth) return report(2, ask, victim, "belongs to no deployment, and stays");
    if (*truth != victim.entry->victim_class) report(9, ask, victim, "is {}", choice_name(*truth));
    switch (*truth) {
      case ReplicaClass::force_deleting:
        if (fleet_.credit_ended(victim.pod)) report(6, ask, victim, "is counted on no more");
        return expect(ask, victim, ReplicaAction::wait);
      case ReplicaClass::terminating: return judge_terminating(ask, victim);
      case ReplicaClass::surplus:
        if (fleet_.surplus_timed_out(victim.pod)) {
          report(6, ask, victim, "is surplus for longer than replica.surplusTimeout");
        }
        return expect(ask, victim, ReplicaAction::wait);
      case ReplicaClass::committed:
        judge_committed(ask, victim);
        return expect(ask, victim, ReplicaAction::scale_down);
    }
  }

  void expect(const HeardReplicaAsk& ask, const HeardReplicaVictim& victim, ReplicaAction action) {
    if (victim.entry->action == action) return;
    const bool harsher = victim.entry->action != ReplicaAction::wait;
    report(harsher ? 2 : 9, ask, victim, "needs {}, and not {}", choice_name(action),
           choice_name(victim.entry->action));
  }

  void judge_terminating(const HeardReplicaAsk& ask, const HeardReplicaVictim& victim) {
    const bool may = fleet_.may_force_delete(victim.pod, ask.priority);
    const Time from = fleet_.force_delete_from(victim.pod);
    const bool due = from <= court_.hearing.plan.now;
    if (fleet_.credit_ended(victim.pod) && !may) report(6, ask, victim, "is counted on no more");
    expect(ask, victim, may && due ? ReplicaAction::force_delete : ReplicaAction::wait);
    const std::optional<Time> later = may && !due ? std::optional(from) : std::nullopt;
    if (victim.entry->force_delete_from != later) {
      report(9, ask, victim, "does not say from when it may be force-deleted");
    }
  }

  void judge_committed(const HeardReplicaAsk& ask, const HeardReplicaVictim& victim) {
    if (fleet_.priority(victim.pod) >= ask.priority) {
      report(2, ask, victim, "is not of lower priority ({}, and the ask has {})",
             fleet_.priority(victim.pod), ask.priority);
    }
    if (fleet_.is_protected(victim.pod)) report(2, ask, victim, "is protected");
    if (fleet_.leaves_whole_group(victim.pod)) {
      report(5, ask, victim, "belongs to a group that leaves whole or not at all");
    }
    const HeardShare* const share = fleet_.share_of(victim.pod);
    if (court_.scaled_up.contains(share)) {
      const auto own = std::ranges::find(court_.asks, share == nullptr ? nullptr : share->schedule,
                                         &HeardReplicaAsk::schedule);
      court_.report_later(8, ask, own == court_.asks.end() ? ask : *own,
                          "{} is of a deployment that is scaled up there in this cycle",
                          victim.text);
    }
    if (share != nullptr && fleet_.has_timed_out_surplus(*share)) {
      report(6, ask, victim, "is of a deployment with surplus there that does not go");
    }
  }

  /// No deployment loses a replica again for what did not help before.
  void judge_again(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim,
                   const HeardReplicaVictim& victim) {
    const bool again = victim.entry->action == ReplicaAction::scale_down && !claim.entry->kept &&
                       court_.missed(ask, victim.pod);
    if (again) report(7, ask, victim, "was spared when its deployment was scaled down for it");
  }

  /// A deployment that lost a replica to a claim is left out until that is finished.
  void judge_loss(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim,
                  const HeardReplicaVictim& victim) {
    const ReplicaSchedule* const loser = fleet_.schedule_of(victim.pod);
    if (loser == nullptr || !is_loss(ask, claim, victim)) return;
    const auto found = std::ranges::find(court_.asks, loser, &HeardReplicaAsk::schedule);
    if (found == court_.asks.end()) return;
    if (!found->claims.empty()) {
      court_.report_later(8, ask, *found, "{} is of {}, which claims room itself", victim.text,
                          found->text);
    }
    const bool earlier = victim.entry->action != ReplicaAction::scale_down;
    for (const PlanScaleUp& item : found->replicas->scale_ups) {
      if (!earlier && item.plane != claim.entry->plane) continue;
      court_.report_later(8, ask, *found, "{} is of {}, which is scaled up in plane {}",
                          victim.text, found->text, item.plane);
    }
    if (found->replicas->out_for.empty()) {
      report(9, ask, victim, "is of {}, which does not say it", found->text);
    }
  }

  bool is_loss(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim,
               const HeardReplicaVictim& victim) const {
    if (victim.entry->action == ReplicaAction::scale_down) return true;
    for (const ReplicaClaim& kept : court_.next_status(*ask.schedule).claims) {
      if (kept.node != claim.entry->node || kept.plane != claim.entry->plane) continue;
      if (kept.since != claim.entry->since) continue;
      for (const ClaimedVictim& each : kept.victims) {
        const bool same =
            each.namespace_name == victim.entry->namespace_name && each.name == victim.entry->name;
        if (same && each.committed) return true;
      }
    }
    return false;
  }

  void judge_out(const HeardReplicaAsk& ask) {
    if (ask.replicas->out_for.empty()) return;
    if (!ask.claims.empty()) court_.report(8, ask, "it lost a replica, and claims room");
    for (const PlanScaleUp& item : ask.replicas->scale_ups) {
      if (item.plane != ask.replicas->out_plane) continue;
      court_.report(8, ask, "it lost a replica in plane {}, and is scaled up there", item.plane);
    }
  }

  void judge_last(const HeardShare* share, std::int64_t losing) {
    if (share == nullptr) return;
    const std::int64_t steps = court_.steps[share];
    const bool at_risk = steps > 0 || share->commit == 0;
    if (!at_risk) return;
    const bool keeps_commit = steps == 0 || share->commit - steps >= 1;
    if (keeps_commit && std::ssize(share->running) - losing >= 1) return;
    court_.hearing.breaches.add(
        2,
        fmt::format("ReplicaSchedule {}/{}", share->schedule->namespace_name,
                    share->schedule->name),
        fmt::format("it loses its last replica in plane {}: {} run, {} committed, {} leave",
                    share->plane, share->running.size(), share->commit, losing),
        court_.takers_of(*share));
  }

  ReplicaHearing& court_;
  const FleetReading& fleet_;
};

}  // namespace

void judge_replica_victims(ReplicaHearing& court) { ReplicaVictimJudge(court).judge(); }

// ---- What replicas get on nodes -----------------------------------------------------------------

namespace {

bool evicts(const HeardReplicaClaim& claim) {
  return std::ranges::any_of(claim.entry->victims, [](const PlanReplicaVictim& victim) {
    return victim.action != ReplicaAction::wait;
  });
}

class ReplicaRoomJudge {
 public:
  explicit ReplicaRoomJudge(ReplicaHearing& court)
      : court_(court), fleet_(court.fleet), rooms_(court) {}

  void judge() {
    for (const HeardReplicaAsk& ask : court_.asks) {
      judge_scale_ups(ask);
      rooms_.start(ask);
      for (const HeardReplicaClaim& claim : ask.claims) judge_claim(ask, claim);
      judge_free_room(ask);
      judge_order(ask);
      if (ask.entry->outcome == Outcome::infeasible) judge_proof(ask);
    }
  }

 private:
  void judge_scale_ups(const HeardReplicaAsk& ask) {
    for (const PlanScaleUp& item : ask.replicas->scale_ups) {
      const HeardShare* const share = fleet_.share(*ask.schedule, item.plane);
      if (share != nullptr && fleet_.has_moving_surplus(*share)) {
        court_.report(8, ask, "it is scaled up in plane {}, where it has surplus", item.plane);
      }
      for (const PlanExpectedNode& expected : item.expected) {
        const std::optional<NodeIndex> node =
            find_node_in_plane(court_.cluster(), item.plane, expected.node);
        if (!node || fits(ask, *node)) continue;
        court_.report(3, ask, "when all asks are served node {} is too full for it", expected.node);
      }
    }
  }

  /// Whether the node is not too full for the ask when all asks are served; also because of pods
  /// that leave for claims which the plan does not mention.
  bool fits(const HeardReplicaAsk& ask, NodeIndex node) {
    std::vector<PodIndex> away;
    if (const auto held = court_.held.find(node); held != court_.held.end()) {
      std::ranges::copy_if(held->second, std::back_inserter(away),
                           [&](PodIndex pod) { return !court_.claimed.contains(pod); });
    }
    for (const PodIndex pod : away) court_.after.remove(node, court_.freed(pod));
    const bool fits = !ask.row.impossible && court_.after.in_order(node, ask.row.amounts);
    for (const PodIndex pod : away) court_.after.add(node, court_.freed(pod));
    return fits;
  }

  void judge_claim(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) {
    if (!fits(ask, claim.node)) {
      court_.report(3, ask, "it does not fit on node {} when its victims are gone",
                    claim.entry->node);
      return;
    }
    // What claims of others hold there is not in the plan.
    if (court_.held.contains(claim.node)) return;
    for (const HeardReplicaVictim& victim : claim.victims) {
      // No pod is harmed when one that leaves anyway is still waited for.
      if (claim.entry->kept && victim.entry->action == ReplicaAction::wait) continue;
      const RequestRow row = court_.requests(victim.pod);
      rooms_.add(claim.node, row);
      const bool spared = rooms_.in_order(claim.node, row);
      rooms_.remove(claim.node, row);
      if (spared) court_.report(4, ask, "{} is not needed", victim.text);
    }
  }

  bool may_scale_up(const HeardReplicaAsk& ask, std::string_view plane) const {
    const HeardShare* const share = fleet_.share(*ask.schedule, plane);
    return ask.replicas->out_for.empty() &&
           (share == nullptr || !fleet_.has_moving_surplus(*share));
  }

  /// Law 1: what is free serves an ask before a pod is evicted for it.
  void judge_free_room(const HeardReplicaAsk& ask) {
    const bool takes = std::ranges::any_of(ask.claims, evicts);
    if (!takes && ask.replicas->without == 0) return;
    for (const ReplicaPlane& plane : ask.schedule->planes) {
      if (!may_scale_up(ask, plane.name)) continue;
      for (const NodeIndex node : fleet_.open_nodes(plane.name)) {
        if (court_.held.contains(node) || !court_.now.holds(node, ask.row)) continue;
        // What claims free beyond their need came too late for an ask that is placed at once.
        if (!court_.unclaimed.holds(node, ask.row) || !court_.after.holds(node, ask.row)) continue;
        court_.report(takes ? 1 : 10, ask, "there is free room on node {}", court_.node_name(node));
        return;
      }
    }
  }

  /// Free room, and room that is claimed anew, goes to the more important ask first.
  void judge_order(const HeardReplicaAsk& ask) {
    const bool takes = std::ranges::any_of(ask.claims, evicts);
    if ((!takes && ask.replicas->without == 0) || !ask.replicas->out_for.empty()) return;
    for (const HeardReplicaAsk& other : court_.asks) {
      if (other.priority >= ask.priority) continue;
      for (const PlanScaleUp& item : other.replicas->scale_ups) judge_given(ask, other, item);
      if (ask.replicas->without == 0) continue;
      for (const HeardReplicaClaim& claim : other.claims) judge_claimed(ask, other, claim);
    }
  }

  bool listed(const HeardReplicaAsk& ask, std::string_view plane) const {
    const std::vector<ReplicaPlane>& planes = ask.schedule->planes;
    return std::ranges::find(planes, plane, &ReplicaPlane::name) != planes.end();
  }

  void judge_given(const HeardReplicaAsk& ask, const HeardReplicaAsk& other,
                   const PlanScaleUp& item) {
    if (!listed(ask, item.plane) || !may_scale_up(ask, item.plane)) return;
    for (const PlanExpectedNode& expected : item.expected) {
      const std::optional<NodeIndex> node =
          find_node_in_plane(court_.cluster(), item.plane, expected.node);
      if (!node || !fleet_.is_open(*node) || fleet_.plane_of(*node) != item.plane) continue;
      if (court_.held.contains(*node)) continue;  // The plan does not say how much of it is left.
      const bool fits = fits_without(court_.now, *node, ask, other, expected.replicas) &&
                        fits_without(court_.after, *node, ask, other, expected.replicas);
      if (!fits) continue;
      court_.report(1, ask, "free room on node {} goes to {}, which is less important",
                    expected.node, other.text);
      return;
    }
  }

  static bool fits_without(FleetRoom& room, NodeIndex node, const HeardReplicaAsk& ask,
                           const HeardReplicaAsk& other, std::int64_t replicas) {
    for (std::int64_t count = 0; count < replicas; ++count) room.remove(node, other.row.amounts);
    const bool fits = room.holds(node, ask.row);
    for (std::int64_t count = 0; count < replicas; ++count) room.add(node, other.row.amounts);
    return fits;
  }

  /// Whether it could have evicted every pod that leaves there for others: a pod that may not be
  /// force-deleted for it is at least waited for, and it does not repeat an eviction that failed.
  bool may_wait_there(const HeardReplicaAsk& ask, NodeIndex node) const {
    const auto no_help = [&](const HeardReplicaVictim& victim) {
      const bool taken = victim.entry->action == ReplicaAction::scale_down;
      if (taken && court_.missed(ask, victim.pod)) return true;
      return fleet_.credit_ended(victim.pod) && !fleet_.may_force_delete(victim.pod, ask.priority);
    };
    return std::ranges::none_of(court_.asks, [&](const HeardReplicaAsk& other) {
      return std::ranges::any_of(other.claims, [&](const HeardReplicaClaim& claim) {
        return claim.node == node && std::ranges::any_of(claim.victims, no_help);
      });
    });
  }

  void judge_claimed(const HeardReplicaAsk& ask, const HeardReplicaAsk& other,
                     const HeardReplicaClaim& claim) {
    if (claim.entry->kept || !listed(ask, claim.entry->plane)) return;
    if (court_.held.contains(claim.node)) return;
    if (!fits_without(court_.after, claim.node, ask, other, 1)) return;
    if (!may_wait_there(ask, claim.node)) return;
    court_.report(10, ask,
                  "it has no room, and {}, which is less important, claims "
                  "node {}",
                  other.text, claim.entry->node);
  }

  /// Law 10: no node holds it even when every pod that may be evicted for it is gone.
  void judge_proof(const HeardReplicaAsk& ask) {
    for (const ReplicaPlane& plane : ask.schedule->planes) {
      for (const NodeIndex node : fleet_.open_nodes(plane.name)) {
        FleetRoom& room = court_.now;
        std::vector<PodIndex> away;
        for (const PodIndex pod : court_.cluster().order().pods(node)) {
          if (may_go(ask, pod)) away.push_back(pod);
        }
        for (const PodIndex pod : away) room.remove(node, court_.requests(pod));
        const bool fits = room.holds(node, ask.row);
        for (const PodIndex pod : away) room.add(node, court_.requests(pod));
        if (!fits) continue;
        court_.report(10, ask, "it is not infeasible: node {} could hold it",
                      court_.node_name(node));
        return;
      }
    }
  }

  bool may_go(const HeardReplicaAsk& ask, PodIndex pod) const {
    const std::optional<ReplicaClass> found = fleet_.class_of(pod);
    if (!found) return false;
    const bool forceable = fleet_.may_force_delete(pod, ask.priority);
    if (fleet_.leaving(pod)) return forceable || !fleet_.credit_ended(pod);
    if (*found == ReplicaClass::surplus) return !fleet_.surplus_timed_out(pod);
    return fleet_.priority(pod) < ask.priority && !fleet_.is_protected(pod) &&
           !fleet_.leaves_whole_group(pod);
  }

  ReplicaHearing& court_;
  const FleetReading& fleet_;
  ClaimRooms rooms_;
};

}  // namespace

void judge_replica_rooms(ReplicaHearing& court) { ReplicaRoomJudge(court).judge(); }

}  // namespace makeway
