// What the parts of the judge of SPEC section 4 share: the plan with its names looked up, and two
// worlds. Private to check_plan_replicas*.cpp.
//
// now:   everything that is bound, what other asks bind, replicas that are committed and not bound
//        yet where they fit, and the scale-ups of the plan;
// after: the same without the victims of all claims, with what other asks nominate and all claims.
// A scale-up must hold in both, a claim in the second. Where a better choice is missed is judged by
// the end of the plan only: a pod that is not a victim then was there for every ask.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "judge/check_plan_fleet.hpp"

namespace makeway {

struct HeardReplicaVictim {
  const PlanReplicaVictim* entry = nullptr;
  PodIndex pod;
  std::string text;  ///< "victim default/low-1"
};

struct HeardReplicaClaim {
  const PlanReplicaClaim* entry = nullptr;
  NodeIndex node;
  std::vector<HeardReplicaVictim> victims;  ///< Those that are pods of the node, each once.
};

struct HeardReplicaAsk {
  const PlanAsk* entry = nullptr;
  const PlanReplicas* replicas = nullptr;
  std::string text;  ///< "ReplicaSchedule default/reco"
  const ReplicaSchedule* schedule = nullptr;
  std::int32_t priority = 0;
  ReplicaRow row;
  std::vector<HeardReplicaClaim> claims;
  const std::vector<MissedVictim>* missed = nullptr;  ///< Of its next status.
};

struct ReplicaHearing {
  Hearing& hearing;
  FleetReading fleet;
  FleetRoom now;
  FleetRoom after;
  FleetRoom unclaimed;  ///< As `after`, without claims and their victims.
  std::vector<HeardReplicaAsk> asks;
  std::set<PodIndex> claimed;  ///< Victims of claims.
  std::set<PodIndex> gone;     ///< For asks of other sections; no longer in `after`.
  std::map<const HeardShare*, std::int64_t> steps;   ///< Scale-downs of this plan.
  std::map<const HeardShare*, std::int64_t> losing;  ///< Running pods that are victims.
  std::set<const HeardShare*> scaled_up;
  /// Nodes where schedules that the plan does not mention have claims, and where the pods leave
  /// that those count on. An ask that avoids these nodes is no breach.
  std::map<NodeIndex, std::set<PodIndex>> held;
  /// How many running pods of a share such claims count on. They may leave it its last replica.
  std::map<const HeardShare*, std::int64_t> losing_to_held;

  void report(int law, const HeardReplicaAsk& ask, std::string text) {
    hearing.breaches.add(law, ask.text, std::move(text));
  }
  /// Of two asks that conflict, the later one is to blame (law 14).
  void report_later(int law, const HeardReplicaAsk& a, const HeardReplicaAsk& b, std::string text) {
    report(law, &a < &b ? b : a, std::move(text));
  }
  /// The asks with claims that have victims in the share.
  std::vector<AskName> takers_of(const HeardShare& share) const;
  const Cluster& cluster() const { return hearing.cluster; }
  RequestRow requests(PodIndex pod) const {
    return cluster().requests(cluster().pods().requests[pod]);
  }
  /// What its node gains in `after` when a claim evicts it or waits for it.
  RequestRow freed(PodIndex pod) const { return gone.contains(pod) ? RequestRow{} : requests(pod); }
  std::string_view node_name(NodeIndex node) const {
    return cluster().text(cluster().nodes().name[node]);
  }
  /// The status that the schedule has when the plan is applied.
  const ReplicaStatus& next_status(const ReplicaSchedule& schedule) const;
  /// Its deployment was scaled down for the ask from what it has now, or less, and Kubernetes
  /// removed another pod than one of its node; that is not tried again.
  bool missed(const HeardReplicaAsk& ask, PodIndex pod) const;
};

/// What a claim finds: the room at the end of the plan, and that of its own time. A claim that
/// could have needed less must have found it in both.
class ClaimRooms {
 public:
  explicit ClaimRooms(ReplicaHearing& court)
      : court_(court), end_(court.after), then_(court.unclaimed) {}

  /// Claims that were kept come before new ones of equal or lower priority. Asks come in their
  /// order.
  void start(const HeardReplicaAsk& ask);
  void add(NodeIndex node, RequestRow row) {
    end_.add(node, row);
    then_.add(node, row);
  }
  void remove(NodeIndex node, RequestRow row) {
    end_.remove(node, row);
    then_.remove(node, row);
  }
  bool holds(NodeIndex node, const ReplicaRow& row) const {
    return end_.holds(node, row) && then_.holds(node, row);
  }
  bool in_order(NodeIndex node, RequestRow row) const {
    return end_.in_order(node, row) && then_.in_order(node, row);
  }

 private:
  void settle(const HeardReplicaAsk& ask, bool kept);

  ReplicaHearing& court_;
  FleetRoom end_;
  FleetRoom then_;
  std::optional<std::int32_t> priority_;
};

void judge_replica_victims(ReplicaHearing& court);   ///< Laws 2, 5, 6 and 8, and the last replica.
void judge_replica_rooms(ReplicaHearing& court);     ///< Laws 1, 3, 4 and 10.
void judge_replica_choices(ReplicaHearing& court);   ///< Which pods leave first; law 7.
void judge_replica_document(ReplicaHearing& court);  ///< Law 9.
void judge_net_schedule(Hearing& hearing);           ///< Law 9: it is the sum of the actions.

}  // namespace makeway
