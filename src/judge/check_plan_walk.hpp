// PlanWalk: the way through a plan, ask by ask: the worlds for the next ask (see check_plan.hpp),
// and what the asks before it took, got and were promised. Private to check_plan*.cpp.
//
// Judging an ask leaves both worlds as they were; `settle` then applies the ask.
//
// A promise is a place of a pod that is still to come, where it fits once all pods of its ask have
// come. All promises hold in the end (law 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/check_plan_hearing.hpp"
#include "judge/naive_fit.hpp"
#include "judge/naive_regimes.hpp"

namespace makeway {

/// How much of what the queues may use is used, ask by ask.
///
/// With queues on, a pod or group of section 2 needs room in its queue beside room on nodes:
///   now:   used, and what asks before it bind, and its request are within what is allocated;
///   after: the same without pods that are leaving and victims, with pods that asks before
///          it nominate, within what is allocated, deserved and still to come (preempting).
/// Where the queue stage is left out (law 14), what was allocated before counts, and nothing is to
/// come. Only resources that it asks for count. Outside every queue the same holds for what is
/// there, less what queues are promised: now beside what their pods still hold, too. No queue
/// limits infrastructure pods, nor the pods of section 5.
class HeardQueueRoom {
 public:
  using Pods = std::vector<PodIndex>;

  explicit HeardQueueRoom(const Hearing& hearing);

  /// Whether queues limit the ask.
  bool concerns(const HeardAsk& ask) const;
  /// Whether queues allow the ask to evict the pod.
  bool may_take(const HeardAsk& ask, PodIndex victim) const;
  std::string name(const HeardAsk& ask) const;

  bool same_queue(const HeardAsk& ask, PodIndex pod) const;
  /// No queue limits it, and it comes back at once.
  bool infrastructure(PodIndex pod) const;
  /// Of the ask's queue, which must limit it.
  const Pods& bound_pods(const HeardAsk& ask) const;

  bool fits_now(const HeardAsk& ask, const Pods& pods) const;
  /// When these have left, too, besides all that are gone, and others have come.
  bool fits_after(const HeardAsk& ask, const Pods& pods, const Pods& away,
                  const Pods& others) const;
  /// It has to wait for what other queues still hold.
  bool waits_for_queues(const HeardAsk& ask) const;

  void leave(PodIndex pod);
  /// Nothing is used on nodes that are not divided.
  void bind(PodIndex pod, NodeIndex node);
  void nominate(PodIndex pod, NodeIndex node);

 private:
  struct Row {
    std::vector<std::int64_t> allocated;
    std::vector<std::int64_t> lasting;  ///< Of that, what leaving pods do not give back.
    std::vector<std::int64_t> coming;
    std::vector<std::int64_t> used_now;
    std::vector<std::int64_t> used_after;
  };

  void add_outside();
  void change(std::vector<std::int64_t>& used, PodIndex pod, int sign) const;
  /// Of those that queues limit.
  std::vector<std::int64_t> asked(Pods pods) const;
  std::size_t row_of(PodIndex pod) const;
  std::size_t queue_of(const HeardAsk& ask) const;
  bool credited(PodIndex pod) const;

  const Hearing& hearing_;
  const NaiveQueues& queues_;
  std::vector<Row> rows_;  ///< By queue; the last one is that of pods outside.
  std::set<PodIndex> gone_;
};

class PlanWalk {
 public:
  struct Place {
    PodIndex pod;
    NodeIndex node;
  };

  explicit PlanWalk(Hearing& hearing);

  const Cluster& cluster() const { return cluster_; }
  const Configuration& configuration() const { return configuration_; }
  const EvictionRules& rules() const { return rules_; }
  const NaiveRegimes& regimes() const { return *hearing_.regimes; }
  const HeardQueueRoom& queue_room() const { return queue_room_; }
  Time time() const { return hearing_.plan.now; }
  template <class... Args>
  void report(int law, const HeardAsk& ask, fmt::format_string<Args...> text, Args&&... args) {
    hearing_.breaches.add(law, ask.text, text, std::forward<Args>(args)...);
  }
  std::string_view node_name(NodeIndex node) const {
    return cluster_.text(cluster_.nodes().name[node]);
  }

  // ---- Where the pods are -----------------------------------------------------------------------
  /// For the next ask: what is bound or will be at once.
  NaiveWorld& now() { return now_; }
  /// When all leaving pods have left and all nominated pods have come. The same object as `now()`
  /// while they do not differ.
  NaiveWorld& after() { return after_ ? *after_ : now_; }
  /// After: a credited leaving pod, or a victim of an earlier ask.
  bool is_gone(PodIndex pod) const { return gone_.contains(pod); }
  bool any_pod_gone() const { return !gone_.empty(); }
  bool is_earlier_victim(PodIndex pod) const { return victims_.contains(pod); }
  bool is_decided(PodIndex pod) const { return decided_.contains(pod); }
  bool someone_nominated() const { return someone_nominated_; }

  // ---- Pods that leave late (law 6) -------------------------------------------------------------
  /// Whether the ask waits for a pod whose room it should do without if it can.
  bool waits_for_late(const HeardAsk& ask) const;
  /// Pods that were evicted for the ask's nomination are gone, however late they are.
  void count_own_late(const HeardAsk& ask);
  /// They are there again: the nomination does not hold, or the ask does not wait for them.
  void put_back_own_late();
  bool any_own_victim_late() const { return !own_late_.empty(); }
  /// Pods that the ask waits for are gone, however late, for it and for later asks.
  void count_awaited(const HeardAsk& ask);

  // ---- What an entry of the plan means ----------------------------------------------------------
  /// The placements that make sense; the others are breaches.
  std::vector<Place> places(const HeardAsk& ask, bool complain);
  /// Its victims that are not gone already.
  std::vector<PodIndex> own_victims(const HeardAsk& ask) const;
  /// The same as they would be put back (law 4): one by one, or a group together.
  std::vector<std::vector<PodIndex>> victim_units(const HeardAsk& ask) const;

  // ---- Feasibility ------------------------------------------------------------------------------
  /// With the nominated pods there and without them, as kube-scheduler demands. Where it is
  /// nominated itself, also if it fits once all nominated pods have come, on every node.
  bool fits_beside_nominated(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
    if (!fit.fits(node)) return false;
    if (cluster_.nodes().nominated[node].empty() || fits_with_holders(fit, ask, node)) return true;
    return cluster_.pods().nominated[fit.ask()] == node && fits_with_all_holders(fit, ask, node);
  }
  /// The same, and without pods that may never come.
  bool fits_for_sure(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const;
  /// Whether the ask, if it went to the node, would take from a nominated pod, there or elsewhere,
  /// what its place depends on (law 7), or the other way round.
  bool spoils_nomination(PodIndex pod, const HeardAsk& ask, NodeIndex node);
  /// What refuses it first: with the nominated pods there, else without them.
  MaybeRefusal first_refusal(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const;
  /// Law 3, or 7 when only a nomination is in the way. False: one of them is broken.
  bool judge_place(NaiveFit& fit, const HeardAsk& ask, NodeIndex node);
  void report_refusal(const HeardAsk& ask, const Place& place, const NaiveRefusal& refused);
  /// Law 3: the ask's queue has no room for it.
  void report_queue(const HeardAsk& ask, std::string_view when);
  /// May be evicted for the ask, by section 2 and by the queues.
  bool may_leave(const HeardAsk& ask, PodIndex pod) const {
    return queue_room_.may_take(ask, pod) && rules_.may_leave(pod, ask.priority);
  }
  /// Whether its queue has room for these, beside the nominations that hold room in it, when the
  /// pods in `away` have left too.
  bool queue_fits(const HeardAsk& ask, const std::vector<PodIndex>& pods,
                  const std::vector<PodIndex>& away) const;
  /// Every pod in the ask's queue, on any node, that may be evicted for it.
  std::set<PodIndex> may_leave_queue(const HeardAsk& ask) const;
  /// Law 8: a group that leaves whole and that this plan has given a place is not a victim.
  bool has_arrived(PodIndex pod) const;
  /// A preempted pod of lower priority is still leaving the node.
  bool preempted_still_leaving(NodeIndex node, const HeardAsk& ask) const;
  /// A node whose pods of at least the ask's priority leave no room for the pod; saves looking at
  /// each of them.
  bool full_for_ever(const HeardAsk& ask, PodIndex pod, NodeIndex node) const;

  // ---- Promises ---------------------------------------------------------------------------------
  /// Whether every pod before it would still fit after, if the ask came to the node.
  bool keeps_promises(NaiveFit& fit, NodeIndex node);
  /// Whether every pod before fits after, as that world is. No NaiveFit may live on it.
  bool promises_hold();

  void settle(const HeardAsk& ask);
  void settle_session(const HeardAsk& ask);
  /// Law 3 in the end: what later asks took and got leaves room for every pod still to come.
  void judge_promises();

 private:
  struct Promise {
    const HeardAsk* ask = nullptr;
    Place place;
  };

  NaiveWorld& own_after() {
    if (!after_) after_.emplace(now_);
    return *after_;
  }

  void find_credited();
  void leave_late(PodIndex pod);
  void nominate(const HeardAsk& ask, const std::vector<Place>& found);
  void judge_turns();
  bool nominated_may_spoil(const HeardAsk& ask, const Place& place);
  bool loses_nomination(const HeardAsk& ask, PodIndex member, const std::vector<Place>& found);
  std::vector<Place> come_in_any_order(std::vector<Place> open);
  std::size_t add_who_can_follow(std::vector<Place>& coming, const std::vector<Place>& waiting);
  bool can_all_come(PodIndex pod, NodeIndex node, const std::vector<Place>& coming);
  bool only_held(const HeardAsk& ask) const;
  MaybeRefusal refusal_after(const Place& place);
  bool without_tentative(const std::function<bool()>& question);
  bool fits_with_holders(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const;
  bool fits_with_all_holders(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const;
  /// Whether the nominations of other members of the asking group count.
  enum class OwnMembers : std::uint8_t { left_out, counted };
  std::vector<PodIndex> holders(const HeardAsk& ask, PodIndex member, NodeIndex node,
                                OwnMembers own_members = OwnMembers::left_out) const;
  bool taken_whole(const Unit& unit, const HeardAsk& ask) const;

  Hearing& hearing_;
  const Cluster& cluster_;
  const Configuration& configuration_;
  EvictionRules rules_;
  HeardQueueRoom queue_room_;
  NaiveWorld now_;
  std::set<PodIndex> keeping_;       ///< Pinned pods that own their room, from before.
  std::set<PodIndex> never_fit_;     ///< Nominated to a node that would not take them if empty.
  std::optional<NaiveWorld> after_;  ///< Where it differs from `now_`.
  std::vector<Promise> promises_;
  std::vector<PodIndex> tentative_;  ///< Nominated where they do not fit yet.
  bool someone_nominated_ = false;
  std::set<PodIndex> gone_;
  std::set<PodIndex> late_;           ///< Leaving, and there in `after()`.
  std::set<PodIndex> own_late_;       ///< Of these, pods gone for the judged ask.
  std::set<PodIndex> victims_;        ///< Of earlier asks.
  std::set<NodeIndex> victim_nodes_;  ///< Where they are.
  std::set<PodIndex> decided_;        ///< Pods of earlier asks.
  std::set<PodIndex> lost_;  ///< Members whose nominated room their group has given to others.
};

/// The outcome names a place, so there must be one; an ask that waits for a delay has none.
bool has_place(const PlanAsk& entry);

/// Where the members of a group go: the same laws as for pods, for all of them together.
void judge_group(PlanWalk& walk, const HeardAsk& ask);

}  // namespace makeway
