// SessionKeeper: sessions of a live cluster and the pods that run their kernels (SPEC section 8).
//
// A plan says where a session starts and what leaves for it; everything else follows from what the
// API server shows, so that another process can go on at any point:
//  1. A start is the status first (running, with the nodes of the kernels), then a pod a kernel.
//     Pods of a running session that are missing are created.
//  2. A preemption is the status first (endsAt, fate, preemptor, count), then the pods: a mark,
//     and a delete with the grace time that is left. A process that finds such a status goes on.
//  3. When the last of them is gone, the session is taken off: preempted, or ended.
//  4. All pods have succeeded: the session has ended. One has failed by itself: the others leave,
//     and the session ends. One was lost (its node is gone, a kubelet refused it, a user deletes
//     it, the API server will not have it): all leave, and the session is pending again after
//     `restart_after`.
//  5. Nothing is done about a session as long as our last write about it is not shown.
//  6. A pod of an earlier start that came late is deleted.
//  7. A session without a place says why in a condition (makeway.dev/Scheduled); it goes with a
//     status that is written anyway, or by itself when there is time.
//  8. What a session says of sessions of other namespaces has no names, unless `names_causes`: its
//     owner reads it. Its preemptor is then known by kind and uid.
//
// Pure: what was seen and plans in, jobs out (write_jobs.hpp). Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/write_jobs.hpp"
#include "model/session_objects.hpp"

namespace makeway::kube {

struct SessionRules {
  std::string scheduler = "makeway";  ///< What its pods name as their scheduler.
  Duration restart_after{30'000};
  bool names_causes = false;
};

class SessionKeeper {
 public:
  explicit SessionKeeper(SessionRules rules) : rules_(std::move(rules)) {}

  /// Before the cache takes the same.
  void saw(const std::vector<Change>& changes, const std::vector<ObjectState>& objects_seen);
  /// What the plan says about sessions, added to the jobs of everything else.
  void add_jobs(const Plan& plan, const VersionCache& cache, const EvictionBrake& brake,
                PlanJobs& jobs);
  /// What there is to do without a plan.
  PlanJobs repairs(const VersionCache& cache, Time now);
  /// Of anything that was asked for here.
  void refused(const Receipt& receipt);

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace, name.
  struct Entry {
    Session object;  ///< As it was shown.
    /// Our last write, as long as it is not shown.
    std::optional<Session> written = std::nullopt;
    Time written_at{};
    std::set<std::string> pods;      ///< The pods that it controls, by name; also finished ones.
    std::set<std::string> vanished;  ///< Pods that were there.
  };
  struct Making {
    Key session;
    Time since;
    bool is_under_way = false;
    int refusals = 0;
    std::string reason;  ///< Of the last one.
  };
  struct Erasing {
    std::string uid;
    Time since;
  };
  /// How a session goes on when its pods have left.
  struct Ending {
    SessionFate fate = SessionFate::ends;
    std::string why;
  };
  class PlanBuilder;

  Entry* find(const std::string& uid);
  bool is_settled(Entry& entry, Time now);
  void repair(const Key& key, const VersionCache& cache, Time now, PlanJobs& jobs);
  void keep_running(const Key& key, Entry& entry, const VersionCache& cache, Time now,
                    PlanJobs& jobs);
  void go_on_leaving(const Key& key, Entry& entry, const VersionCache& cache, Time now,
                     PlanJobs& jobs);
  std::optional<Ending> ending_of(const Entry& entry, const VersionCache& cache) const;
  bool has_succeeded(const Entry& entry, const VersionCache& cache, std::int64_t preemptions) const;
  void create(const Key& key, const Session& session, const Kernel& kernel, std::string_view plan,
              std::vector<std::size_t> needs, Time now, PlanJobs& jobs);
  std::size_t write(Entry& entry, Session next, const VersionCache& cache, Time now, PlanJobs& jobs,
                    ConditionUpdate word = {});
  bool erase(const Session& session, const CachedObject& pod, Time now, PlanJobs& jobs);
  void wake(const Key& session, Time at);
  void forget_pod(const Key& pod, bool has_finished);
  void forget_session(const Key& key, const Entry& entry);

  SessionRules rules_;
  std::map<Key, Entry> sessions_;
  std::map<std::string, Key> by_uid_;
  std::map<Key, std::string> owners_;  ///< Of pods: the uid of the Session.
  std::map<Key, Making> making_;       ///< Pods, from when they are asked for until they are seen.
  std::map<Key, Erasing> erasing_;     ///< Pods, from when they are deleted until that is seen.
  std::set<Key> dirty_;
  std::map<Key, Time> wakes_;
  Time now_;  ///< Of the last look.
};

}  // namespace makeway::kube
