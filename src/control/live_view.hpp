// LiveView: a live cluster as decisions may see it, between the watches and the loop.
//
// What API servers show is what tenants wrote. The view follows it and shows something else where a
// rule of a live run says so; deciding and judging then need no such rule:
//  1. What is wrong beside other objects is in quarantine (law 13,
//  model/validation/quarantine.hpp):
//     a class or a parent that was removed stops no other object.
//  2. Marks that do not count are taken off (SPEC section 10, model/trust.hpp).
//  3. Pods of other schedulers are never victims unless `protection.preemptOtherSchedulers`;
//     under strict budgets neither are pods under two of them (KeptBy). Where `may_leave` lists the
//     pods that may be evicted, no other pod is a victim either.
//  4. A pending pod keeps away from nodes whose kubelet has just refused a pod of its owner
//     (closed_nodes.hpp).
//  5. A pod that is a kernel of a session is that session's row and nothing else
//     (session_pods.hpp).
//  6. A claim that is bound to a volume which is not seen yet is not bound yet (late_volumes.hpp).
//
// What changes is looked at, and what depends on it: a pod and its group. When rules change (a
// trusted namespace, a queue, a class, a DaemonSet) everything is looked at again, O(cluster). So
// it is once a minute as long as the stated cost of a pod is more than its run time, which grows.
// One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/closed_nodes.hpp"
#include "control/late_volumes.hpp"
#include "control/own_findings.hpp"
#include "control/port.hpp"
#include "control/session_pods.hpp"
#include "model/cluster.hpp"
#include "model/cluster_compaction.hpp"
#include "model/configuration.hpp"
#include "model/object_at.hpp"
#include "model/trust.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway {

struct LiveViewOptions {
  std::vector<std::string> schedulers;  ///< Their pods are ours; none: all are.
  /// Uids; none: all pods that the rules allow.
  std::optional<std::set<std::string>> may_leave = std::nullopt;
  /// Reservations of pods were read from their status (kube/version_cache.hpp), so they count.
  bool recalls_notes = false;
  Backoff closed_nodes{.first = {60'000}, .max = {3'600'000}};
  Duration cost_again{60'000};
  Duration volume_patience{5'000};
  std::size_t notices_max = 100;
  /// See LoopOptions.
  std::size_t garbage_min = 200'000;
  std::size_t copied_at_once = 1'000;
};

/// A mark of a tenant that did not count, for an event on its object (SPEC section 10).
struct MarkNotice {
  ObjectKind kind = ObjectKind::pod;  ///< Or a PodGroup.
  std::string namespace_name;
  std::string name;
  std::string note;

  friend bool operator==(const MarkNotice&, const MarkNotice&) = default;
};

class LiveView {
 public:
  /// The configuration outlives it.
  LiveView(const Configuration& configuration, LiveViewOptions options);

  /// What the loop is shown instead of these changes. Also to be called when nothing has changed.
  std::vector<Change> show(std::vector<Change> changes, const LiveUpdates& updates, Time now);
  /// When `show` may have something new without a change.
  std::optional<Time> next_due() const;

  /// How many marks of each sort did not count, each time that they were looked at.
  std::uint64_t not_honoured(TrustMark mark) const {
    return not_honoured_.at(static_cast<std::size_t>(mark));
  }
  /// Each mark of an object of ours once, as long as the object is there; of many at once only
  /// `notices_max`, the others when they are looked at again.
  std::vector<MarkNotice> take_notices() { return std::exchange(notices_, {}); }
  std::uint64_t kubelet_refusals() const { return kubelet_refusals_; }
  /// What is wrong with objects beside others, as of now (law 13).
  const Quarantine& quarantined() const { return quarantine_; }
  const OwnFindings& own_findings() const { return own_findings_; }

 private:
  /// One call of `show`.
  struct Round {
    std::vector<Change> changes;               ///< As they came.
    std::map<ChangeKey, std::size_t> last;     ///< Where among them the last of each object is.
    std::map<ChangeKey, Change> shown_before;  ///< Of other objects: what the loop knows.
    std::set<ChangeKey> altered;               ///< What differs from how it came.
    std::set<ChangeKey> pods;                  ///< To be examined.
    std::set<ChangeKey> groups;
    std::set<ChangeKey> redefined;  ///< Groups whose own object changed; their pods are looked at.
    bool everything = false;
  };

  bool is_ours(const Pod& pod) const;
  bool is_kept(const Pod& pod) const;
  bool take_daemon_sets(const LiveUpdates& updates);
  void note_change(Change& change, Round& round) const;
  void note_group_of(const ChangeKey& pod, Round& round) const;
  void note_members(const ChangeKey& group, Round& round) const;
  bool has_sessions() const;
  void note_budget(const ChangeKey& key, const DisruptionBudget* budget, Round& round) const;
  bool changes_rules(const Change& change, const ChangeKey& key) const;
  void take(Round& round);
  void restore(Round& round);
  void restore_one(const ChangeKey& key, Round& round);
  bool may_be_wrong(const Round& round) const;
  void quarantine(Round& round);
  bool may_be_doubtful(const Round& round) const;
  void note_findings();
  void note_finding(const Problem& problem, OwnFinding::Level level);
  void mark_two_budgets(Round& round);
  std::vector<PodIndex> pods_to_look_at(const Round& round) const;
  TrustScope scope_of(const Round& round) const;
  void honour(Round& round, Time now);
  void note_mark(const NotHonoured& mark);
  std::vector<Change> changes_shown(Round& round) const;
  void keep_pods_away(std::vector<Change>& changes, const LiveUpdates& updates, Time now);
  void put(const Change& change);
  void compact();

  const Configuration& configuration_;
  LiveViewOptions options_;
  SessionPods session_pods_;
  LateVolumes late_volumes_;
  Cluster seen_;  ///< As it is shown, but for closed nodes.
  Quarantine quarantine_;
  OwnFindings own_findings_;
  std::set<ChangeKey> quarantined_;        ///< Objects that were mended or held for it.
  std::map<ChangeKey, TrustEdit> edited_;  ///< What differs from what the server shows.
  std::set<std::pair<std::string, std::string>> daemon_sets_;
  ClosedNodes closed_;
  std::optional<Time> cost_again_;
  std::optional<ClusterCompaction> compaction_;
  std::size_t interned_before_ = 0;
  std::array<std::uint64_t, choice_names<TrustMark>.size()> not_honoured_{};
  std::map<std::string, std::uint32_t> reported_marks_;  ///< By object: a bit for each TrustMark.
  std::vector<MarkNotice> notices_;
  std::uint64_t kubelet_refusals_ = 0;
};

}  // namespace makeway
