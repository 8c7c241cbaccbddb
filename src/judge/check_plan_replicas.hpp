// The judge's own reading of a fleet of replicas (SPEC section 4): the deployment and class of a
// pod, when it may be force-deleted, and what nodes hold. Private to check_plan*.cpp; the policy
// has its own.
//
// A share is one deployment in one plane. Running: bound and not leaving. Surplus: as many of the
// running as are more than the commit, those that Kubernetes would most likely remove.
//
// What the parts of the judge of SPEC section 4 share: the plan with its names looked up, and two
// worlds. Private to check_plan_replicas*.cpp.
//
// now:   everything that is bound, what other asks bind, replicas that are committed and not bound
//        yet where they fit, and the scale-ups of the plan;
// after: the same without the victims of all claims, with what other asks nominate and all claims.
// A scale-up must hold in both, a claim in the second. Where a better choice is missed is judged by
// the end of the plan only: a pod that is not a victim then was there for every ask.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/check_plan_hearing.hpp"

namespace makeway {

/// What one replica requests; nothing fits it when no node knows one of its resources.
struct ReplicaRow {
  std::vector<ResourceAmount> amounts;  ///< With one of `pods`.
  bool impossible = false;
};

struct HeardShare {
  const ReplicaSchedule* schedule = nullptr;
  std::string_view plane;
  std::int64_t commit = 0;
  std::vector<PodIndex> running;  ///< Those that Kubernetes would remove first come first.

  std::int64_t surplus() const { return std::max<std::int64_t>(0, std::ssize(running) - commit); }
};

class FleetReading {
 public:
  explicit FleetReading(const Hearing& hearing);

  const Cluster& cluster() const { return cluster_; }
  const ReplicaSettings& settings() const { return settings_; }
  /// Null: the pod is of no ReplicaSchedule.
  const ReplicaSchedule* schedule_of(PodIndex pod) const { return schedules_[pod]; }
  std::string_view plane_of(NodeIndex node) const { return planes_[node]; }
  /// Existing nodes of the plane that are not cordoned, by name.
  const std::vector<NodeIndex>& open_nodes(std::string_view plane) const;
  bool is_open(NodeIndex node) const;
  /// Null: the deployment has neither a commit nor a pod there.
  const HeardShare* share(const ReplicaSchedule& schedule, std::string_view plane) const;
  const HeardShare* share_of(PodIndex pod) const;
  const std::map<std::pair<const ReplicaSchedule*, std::string_view>, HeardShare>& shares() const {
    return shares_;
  }
  std::int32_t priority(const ReplicaSchedule& schedule) const;
  /// That of its deployment; of a pod without one, its own.
  std::int32_t priority(PodIndex pod) const;
  ReplicaRow row(const ReplicaSchedule& schedule) const;

  /// None: it stays, and belongs to no deployment.
  std::optional<ReplicaClass> class_of(PodIndex pod) const { return classes_[pod]; }
  bool leaving(PodIndex pod) const { return cluster_.pods().deletion[pod] != no_time; }
  /// Evicted for an ask of another section in this plan.
  bool evicted(PodIndex pod) const { return evicted_.contains(pod); }
  Time force_delete_from(PodIndex pod) const;
  bool may_force_delete(PodIndex pod, std::int32_t ask_priority) const;
  /// The room of a leaving pod is not counted any more (law 6).
  bool credit_ended(PodIndex pod) const;
  /// A surplus pod has not started to terminate for too long.
  bool surplus_timed_out(PodIndex pod) const;
  bool has_timed_out_surplus(const HeardShare& share) const;
  /// It has surplus that is on its way out.
  bool has_moving_surplus(const HeardShare& share) const;
  /// Protected from being chosen and from force-deletion, not from being waited for.
  bool is_protected(PodIndex pod) const { return !rules_.protection_from_scale_down(pod).empty(); }
  bool leaves_whole_group(PodIndex pod) const;
  std::int64_t amount(PodIndex pod) const;  ///< Of `replica.resource`.

 private:
  void find_pods();
  void find_recorded();
  bool removed_before(PodIndex a, PodIndex b, const std::map<NodeIndex, int>& siblings) const;
  std::optional<Time> recorded(PodIndex pod) const;
  std::optional<ReplicaClass> find_class(PodIndex pod) const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  const ReplicaSettings& settings_;
  EvictionRules rules_;
  Time now_;
  IndexedVector<PodIndex, const ReplicaSchedule*> schedules_;
  IndexedVector<NodeIndex, std::string_view> planes_;
  IndexedVector<PodIndex, std::optional<ReplicaClass>> classes_;
  std::map<std::string_view, std::vector<NodeIndex>> open_nodes_;
  std::map<std::pair<const ReplicaSchedule*, std::string_view>, HeardShare> shares_;
  std::set<PodIndex> surplus_;
  std::set<PodIndex> evicted_;
  std::map<PodIndex, Time> forced_;  ///< When plans had them force-deleted.
};

/// What nodes hold, in what-if form: amounts come and go.
class FleetRoom {
 public:
  explicit FleetRoom(const Cluster& cluster);

  void add(NodeIndex node, RequestRow row) { change(node, row, 1); }
  void remove(NodeIndex node, RequestRow row) { change(node, row, -1); }
  std::int64_t left(NodeIndex node, ResourceIndex resource) const;
  /// Whether one more such row fits beside what is there.
  bool holds(NodeIndex node, const ReplicaRow& row) const;
  /// Whether nothing of these resources is overdrawn.
  bool in_order(NodeIndex node, RequestRow row) const;

 private:
  void change(NodeIndex node, RequestRow row, int sign);

  std::size_t columns_ = 0;
  std::vector<std::int64_t> left_;  ///< Node by node, `columns_` each.
};

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

  template <class... Args>
  void report(int law, const HeardReplicaAsk& ask, fmt::format_string<Args...> text,
              Args&&... args) {
    hearing.breaches.add(law, ask.text, text, std::forward<Args>(args)...);
  }
  /// Of two asks that conflict, the later one is to blame (law 14).
  template <class... Args>
  void report_later(int law, const HeardReplicaAsk& a, const HeardReplicaAsk& b,
                    fmt::format_string<Args...> text, Args&&... args) {
    report(law, &a < &b ? b : a, text, std::forward<Args>(args)...);
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
