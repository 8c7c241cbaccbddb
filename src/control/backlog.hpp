// Backlog: which asks are pending, and which of them are due (SPEC section 8, Backlog).
//
// Asks that are equal in everything that a decision reads (namespace, labels, priority, requests,
// shape, queue, scheduler) form a class. Where the first of a class finds no place, the others find
// none either: the class is parked, and 10,000 asks that nothing can help cost a cycle nothing.
//
// Rules
//  1. A parked class is woken when something changed that can matter to it: a pod left a node, or
//     begins to leave one, that could hold it if all pods of lower priority left, too; such a
//     node changed; a pod was bound or is gone, if it depends on other pods; a queue changed
//     in more than what it uses, if it is in one; a budget allows more; any other rule changed; an
//     action was refused. Also after `retry_after`. An ask that is placed then although nothing
//     woke it is a missed wake-up: counted, since it is a bug (unless it gets room that the same
//     plan makes for another ask).
//  2. All asks that are due go into one cycle. Only a class that was parked hands out one ask when
//     it is woken, and twice as many each time that all of them found a place: room for one does
//     not wake ten thousand.
//  3. An ask whose victims are leaving, or that waits for other pods that leave, awaits departures.
//     It is tried when a pod is gone from a node that it waits for, or from one that no ask waits
//     for, and at the time that the decision named: in a burst the departure of a victim wakes only
//     the ask that it was evicted for.
//  4. A group is one ask. Groups of equal pods, minimum and mode share a class as long as none of
//     their pods runs; a group that has begun to run, or whose pods differ, has its own.
//  5. The order is that of decisions: priority, creation, name. At most `asks_max` a cycle; an ask
//     that was left behind for `starvation_age` is among them whatever its priority.
//  6. Where an action was refused, or the plan, its ask backs off: 1 s, doubling to 60 s, and no
//     longer than a receipt says that it must. A pod with volumes is tried when one is bound.
//  7. A pod whose spec has changed is tried as if it were new.
//  8. Each ask is tried once, also when its class is parked: the status of every pod says what it
//     lacks, since autoscalers read it there. (`tries_all` off: for a simulation, where nothing
//     reads it.)
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "control/ask_source.hpp"
#include "control/port.hpp"
#include "model/cluster.hpp"
#include "model/request.hpp"

namespace makeway {

struct BacklogOptions {
  std::size_t asks_max = 500;
  Duration retry_after{300'000};
  Duration starvation_age{60'000};
  Backoff back_off{.first = {1'000}, .max = {60'000}};
  /// An ask without a place may get one because time passes: pods may be evicted only after
  /// a minimum runtime.
  bool time_wakes = false;
  bool tries_all = true;  ///< Rule 8.
  /// Schedulers whose pods ask, by schedulerName; none: all pods do.
  std::vector<std::string> schedulers;
  /// Only these pods ask, by "namespace/name"; none: all.
  std::optional<std::set<std::string>> pods = std::nullopt;
};

class Backlog final : public AskSource {
 public:
  explicit Backlog(BacklogOptions options = {}) : options_(std::move(options)) {}

  /// Call it before the cluster has the change: notes which pods' room it may free.
  void foresee(const Change& change, const Cluster& cluster);
  /// The cluster has the change already.
  void note(const Change& change, const Cluster& cluster, Time now);
  /// The cluster was rebuilt: earlier indices and ids are void. All pending asks
  /// are due.
  void restart(const Cluster& cluster, Time now);
  /// The asks that are due, in order.
  std::vector<AskName> take_due(const Cluster& cluster, Time now) override;
  /// What became of those that were taken, and when time alone may change it. An ask that is not in
  /// the plan was left out (law 14), and is tried again when others are.
  void learn(const std::vector<AskName>& taken, const Plan& plan,
             const std::optional<Time>& recheck_at, Time now) override;
  /// An action for it was refused by the world, or its plan by the judge: then another try is not
  /// expected to end differently.
  enum class RefusedBy : std::uint8_t { world, judge };
  void back_off(const AskName& ask, RefusedBy by, Time now,
                std::optional<Time> again_at = std::nullopt);
  void back_off(const Receipt& receipt, Time now) override;
  void not_decided(const AskName& ask, Time now) override { back_off(ask, RefusedBy::judge, now); }

  /// The earliest time at which an ask is due without a change; none: no ask is. Without
  /// `retries`, of those for which the answer may be different then.
  std::optional<Time> next_due(Time now, bool retries = true) const override;
  std::size_t pending() const { return asks_.size(); }
  std::uint64_t missed_wakeups() const { return missed_; }
  std::uint64_t starved() const { return starved_; }  ///< Asks that were due by age.

 private:
  static constexpr std::size_t burst_min = 1;
  using Turn = std::tuple<std::int64_t, std::int64_t, AskName>;  ///< -priority, creation, name.
  using ClassKey =
      std::tuple<StringId, LabelSetId, RequestId, ShapeId, NotesId, std::int64_t, std::string>;
  struct Class {
    std::set<Turn> idle;   ///< Those that await no departure.
    std::set<Turn> fresh;  ///< Of these, those that were never decided.
    std::optional<Time> parked_at;
    bool by_time = false;                ///< It was woken by nothing but time.
    bool depends_on_other_pods = false;  ///< By affinity or spread.
    bool queued = false;                 ///< Its queue may be what it lacks.
    bool pinned = false;                 ///< It may take room from equals.
    std::size_t burst = std::numeric_limits<std::size_t>::max();
  };
  struct Entry {
    Turn turn;
    ClassKey key;
    bool depends_on_other_pods = false;
    bool queued = false;
    bool pinned = false;
    bool claims = false;  ///< It uses volumes or devices that a controller makes.
    RefusedBy by = RefusedBy::world;
    bool held = false;          ///< It backs off.
    bool decided = false;       ///< Some plan says what it lacks.
    std::int64_t failures = 0;  ///< In a row.
    Time held_until;
    std::set<std::string> members;  ///< Pending ones, of a group.
    std::set<std::string> nodes;    ///< Where it awaits departures; "": anywhere.
  };

  void foresee_budget(const DisruptionBudget& budget, const Cluster& cluster);
  void add(const Pod& pod, PodIndex index, const Cluster& cluster, Time now);
  void remove(const std::string& namespace_name, const std::string& name);
  void drop(const AskName& ask);
  /// Its class, made if it is not there.
  Class& class_of(const Entry& entry);
  void leave_class(const Entry& entry);
  void stand_alone(Entry& entry);
  void be_idle(const Entry& entry);
  void park(const ClassKey& key, Class& entry, Time now);
  void wake(const ClassKey& key, bool by_time);
  void wake_all();
  void wake_if(bool Class::* what);
  void wake_by_room(const Cluster& cluster);
  void release(const AskName& ask);
  void release_claimants();
  bool call(const std::set<Turn>& turns);
  void call_awaiting() { call(awaiting_); }
  void call_waiting_for(const std::string& gone);
  void await_departures(Entry& entry, const PlanAsk& ask);
  void stop_awaiting(Entry& entry);
  std::vector<Turn> first_of(const std::set<Turn>& turns, Time now);
  bool could_hold(const Cluster& cluster, NodeIndex node, const ClassKey& key) const;

  BacklogOptions options_;
  std::map<AskName, Entry> asks_;
  std::unordered_map<std::string, AskName> ask_of_;  ///< By "namespace/name" of the pod.
  std::map<ClassKey, Class> classes_;
  std::set<ClassKey> awake_;
  std::set<std::pair<Time, ClassKey>> parked_;
  std::set<ClassKey> fresh_;  ///< Parked ones with asks that were never decided about.
  std::set<Turn> awaiting_;
  std::set<Turn> awaiting_due_;                   ///< Of these.
  std::map<std::string, std::set<Turn>> waits_;   ///< Of these, by node; "": anywhere.
  std::map<std::string, std::string> gone_from_;  ///< By pod, until it is noted: its node.
  std::set<NodeIndex> freed_;  ///< Where room may have appeared since the last cycle.
  bool queue_moves_ = false;   ///< A queue is new, or has changed in more than what it uses.
  bool budget_eases_ = false;  ///< Some budget allows more than before the last cycle.
  std::optional<Time> recheck_at_;
  std::set<Time> delays_;                     ///< Ends of delays that an ask waits for.
  std::set<std::pair<Time, AskName>> holds_;  ///< Asks that back off, until when.
  std::map<Turn, Time> left_behind_;          ///< Due, but beyond `asks_max`, since.
  std::uint64_t missed_ = 0;
  std::uint64_t starved_ = 0;
};

}  // namespace makeway
