// HistoryLaws: what must hold from one cycle to the next (SPEC section 1, laws 3, 7 and 8).
//
// It watches a loop: every plan is shown to it before it is carried out, and every batch of changes
// after it. It says what is wrong, in words:
//  - a plan that the judge refused;
//  - law 8: a victim that the same plan places or that leaves for two asks, and two asks that count
//    on the same room. This is summed up from the objects, without check_plan's worlds;
//  - law 7: an ask that has its place, and gets victims again before it is there;
//  - law 3: an ask that had its place and has none any more; or that is not bound where it was
//    planned, although all leaving pods are gone.
//  - law 3: after a plan was carried out, a gang that has some members running, fewer than its
//    minimum, and never had its minimum. A gang that lost members later is only degraded.
// The two before the last are promises. They hold as long as nothing but the plans themselves
// happens to the cluster. What else happens it sees for itself, and forgets what was promised: an
// action was refused; a pod, group or node came or changed, or a pod was deleted, for which no plan
// asked; a leaving pod did not leave in time.
//
// By law 7 a strictly higher ask may take a promised place, and the promise is void; `Takers` says
// which asks. With queues on, room in the same queue is such a place.
//
// Where leaving room is not credited (law 6 is waived: what kube-scheduler does), plans promise
// less: an ask may count on a victim of another ask, which the next cycle does not credit. There
// only this is asked for: no victims again while some of an ask's own victims are still leaving.
// Unless no pod is left that it must be near at its nominated node: that ends a nomination in
// kube-scheduler, whatever is leaving (docs/decisions/0013-promises.md). Such ends are counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/loop_watcher.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "model/queue_membership.hpp"

namespace makeway {

using PodKey = std::pair<std::string, std::string>;  ///< Namespace and name.

/// The ask whose arrival voids a promise.
enum class Takers : std::uint8_t {
  higher,            ///< Any strictly higher ask: law 7 to the letter.
  higher_placeless,  ///< Only one that has no promise itself: no ask moves to take another's place.
};

/// Leaving, and `now` is before the end of what others wait for it (law 6).
bool still_awaited(const Pod& pod, const Configuration& configuration, Time now);

class HistoryLaws final : public LoopWatcher {
 public:
  HistoryLaws(const Configuration& configuration, Takers takers)
      : configuration_(configuration), takers_(takers) {}

  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  const std::vector<std::string>& complaints() const { return complaints_; }
  /// Every plan, also those that were refused.
  const std::vector<Plan>& plans() const { return plans_; }
  std::int64_t partners_lost() const { return partners_lost_; }

 private:
  /// What it knows of a pod.
  struct Seen {
    std::string uid;
    std::string node;
    std::optional<Time> deletion;
  };

  /// Something happened that no plan asked for: nothing is promised any more.
  void forget() {
    promises_.clear();
    gangs_unknown_ = true;
  }
  void note(const Change& change);
  void note_pod(const Pod& pod);
  void note_gone(const PodKey& key);
  bool is_awaited(const Seen& seen, Time now) const;
  void judge(const Cluster& cluster, const Plan& plan);
  void judge_gangs(const Cluster& cluster);
  struct Promise {
    std::int32_t priority = 0;
    std::vector<PodPlacement> placements;
    std::set<PodKey> victims;      ///< In the cycle in which it was made.
    bool looks_at_others = false;  ///< By affinity, anti-affinity or spread.
    QueueRow queue;                ///< None: it is outside every queue.
    int cycle = 0;
  };

  void note_gangs(const Cluster& cluster);
  void judge_victims(const Plan& plan);
  void judge_rooms(const Cluster& cluster, const Plan& plan);
  void judge_promises(const Cluster& cluster, const Plan& plan);
  void judge_kept(const Plan& plan, const PlanAsk& ask, const Promise& promise, bool all_gone);
  bool any_leaving(const Cluster& cluster, const std::set<PodKey>& victims) const;
  bool lost_its_partner(const Cluster& cluster, const Plan& plan, const PlanAsk& ask,
                        const Promise& promise) const;
  void void_taken(const Cluster& cluster, const PlanAsk& ask);
  void remember(const Cluster& cluster, const Plan& plan);
  bool may_still_fit(const PlanAsk& ask) const;
  bool promises_last() const;

  const Configuration& configuration_;
  Takers takers_;
  std::map<std::string, Promise> promises_;  ///< By ask_text.
  std::vector<std::string> complaints_;
  std::vector<Plan> plans_;
  std::map<PodKey, Seen> seen_;
  Time last_cycle_;
  int cycle_ = 0;
  std::int64_t partners_lost_ = 0;
  std::set<UnitIndex> gangs_;  ///< They have had their minimum, or began with less.
  bool gangs_unknown_ = true;  ///< Something else happened: a gang may run in part.
};

}  // namespace makeway
