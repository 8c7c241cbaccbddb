// Which pods may be evicted for a replica, and how: laws 2, 5, 6 and 8 as in SPEC section 4, and
// the last replica of a deployment in a plane.
#include <fmt/format.h>

#include <algorithm>

#include "judge/check_plan_replicas.hpp"

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
  void report(int law, const HeardReplicaAsk& ask, const HeardReplicaVictim& victim,
              std::string_view text) {
    court_.report(law, ask, fmt::format("{} {}", victim.text, text));
  }

  void judge_victim(const HeardReplicaAsk& ask, const HeardReplicaVictim& victim) {
    const std::optional<ReplicaClass> truth = fleet_.class_of(victim.pod);
    if (!truth) return report(2, ask, victim, "belongs to no deployment, and stays");
    if (*truth != victim.entry->victim_class) {
      report(9, ask, victim, fmt::format("is {}", choice_name(*truth)));
    }
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
    report(harsher ? 2 : 9, ask, victim,
           fmt::format("needs {}, and not {}", choice_name(action),
                       choice_name(victim.entry->action)));
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
      report(2, ask, victim,
             fmt::format("is not of lower priority ({}, and the ask has {})",
                         fleet_.priority(victim.pod), ask.priority));
    }
    if (fleet_.is_protected(victim.pod)) report(2, ask, victim, "is protected");
    if (fleet_.leaves_whole_group(victim.pod)) {
      report(5, ask, victim, "belongs to a group that leaves whole or not at all");
    }
    const HeardShare* const share = fleet_.share_of(victim.pod);
    if (court_.scaled_up.contains(share)) {
      const auto own = std::ranges::find(court_.asks, share == nullptr ? nullptr : share->schedule,
                                         &HeardReplicaAsk::schedule);
      court_.report_later(
          8, ask, own == court_.asks.end() ? ask : *own,
          victim.text + " is of a deployment that is scaled up there in this cycle");
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
      court_.report_later(
          8, ask, *found,
          fmt::format("{} is of {}, which claims room itself", victim.text, found->text));
    }
    const bool earlier = victim.entry->action != ReplicaAction::scale_down;
    for (const PlanScaleUp& item : found->replicas->scale_ups) {
      if (!earlier && item.plane != claim.entry->plane) continue;
      court_.report_later(8, ask, *found,
                          fmt::format("{} is of {}, which is scaled up in plane {}", victim.text,
                                      found->text, item.plane));
    }
    if (found->replicas->out_for.empty()) {
      report(9, ask, victim, fmt::format("is of {}, which does not say it", found->text));
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
      court_.report(
          8, ask, fmt::format("it lost a replica in plane {}, and is scaled up there", item.plane));
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

}  // namespace makeway
