// WriteQueue: which write is sent next, and what its answer leads to. No thread, no clock, no HTTP.
//
//  1. Per object one write at a time, in the order of the plans; over objects in parallel. A
//     nomination that waits and the next plan's to the same node are one write.
//  2. A job starts when the jobs that it needs are done. If one of them is refused, so is it. An
//     eviction needs the bind of its pod, as long as it is unknown what became of that.
//  3. "Again" (overload, nothing sent) waits as long as the server says and sends the same; after
//     `send_max` it is refused.
//  4. "Unknown" reads the object: at once, and if that does not show the write, once more when the
//     server can no longer carry it out (twice its deadline). Nothing is sent twice on a guess.
//  5. A bind or a create that is refused with 409 is read as well: it may have been ours.
//  6. Conditions and events wait for everything else at home and have an allowance; what goes to a
//     plane, which may not answer, delays nothing else. A condition that is not sent yet gives way
//     to any other write about its object, but not to a condition of another type. Refused, they
//     are dropped, and so is one that must be sent again while a write that places waits behind
//     it. One whose status and reason we wrote a short while ago, in whatever patch, waits for its
//     minute.
//  7. A bind that waits for volumes ends, refused, when everything that it waits for was sent.
//  8. When a budget refuses a victim, its ask's other victims that are not sent yet stay. Only what
//     leaves as one with a pod that has left goes on: it is evicted, and the refused one tried
//     again, until `leave_max` after the first one; a pod that stays then is reported.
//  9. A nomination that only confirms what was seen waits for the write that is under way, and is
//     sent only if one of our writes since then has removed it.
// 10. Binds that are ready go before other writes: they end a pod's wait, and free no room.
// 11. A bind waits for the evictions of its ask that are not answered: a victim does not count for
//     a spread any more, and stays if its eviction is refused.
// 12. A patch that says what we wrote already, since what was seen, is not sent: on a busy server
//     several plans nominate a pod before a watch shows the first nomination, and a bind must not
//     wait for all of them.
// 13. A status that nothing relies on is sent at most once in `status_again`; until then the next
//     plan's takes its place. An eviction for a queue needs all statuses of queues that are not
//     answered, also those of earlier plans: these do not wait any more. If one was refused and
//     the loop did not know of it when it decided, the eviction relies on what is not there, and
//     is refused.
// 14. A Deployment that has changed since it was read is read again, and scaled if it still has as
//     many replicas as the plan says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "control/allowance.hpp"
#include "control/port.hpp"
#include "kube/write_calls.hpp"
#include "kube/write_jobs.hpp"

namespace makeway::kube {

struct QueueLimits {
  std::size_t events_max = 10'000;  ///< That wait; the oldest give way.
  std::size_t events_at_once = 4;
  std::int64_t conditions_per_second = 10;
  std::int64_t events_per_second = 20;
  Duration condition_again{60'000};  ///< The same reason with another message.
  Duration status_again{1'000};      ///< Of a kind of ours.
  Duration send_max{60'000};
  Duration leave_max{60'000};  ///< So long a unit that leaves may take to leave whole.
  Backoff pause{.first = {100}, .max = {2'000}};
};

/// What to send: a write, or a reading of the object.
struct Sending {
  std::uint64_t job = 0;
  bool reads = false;
  WriteCall call;
  std::string plane;  ///< The plane of the API server; empty: home.
};

struct QueueStatistics {
  std::uint64_t sent = 0;  ///< Writes, with events.
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  std::uint64_t again = 0;
  std::uint64_t unknown = 0;
  std::uint64_t events_dropped = 0;
  std::uint64_t left_behind = 0;  ///< Pods whose unit has left without them.
};

class WriteQueue {
 public:
  WriteQueue(WriteOptions options, QueueLimits limits);

  /// Times are of a clock that never goes back, except `plan_now`, which only comes out again.
  void add(const std::string& plan, Time plan_now, PlanJobs jobs, Time now);
  /// `server_now` is written into conditions and events.
  std::optional<Sending> next(Time now, Time server_now);
  /// Of what `next` gave.
  void answered(std::uint64_t job, const ApiResult<HttpAnswer>& result, Time now);
  /// Nothing of this sort that is not sent yet is sent any more.
  enum class Which : std::uint8_t { evictions, all };
  void drop(Which which, const std::string& reason);
  /// The same of what would go to a plane.
  void drop_plane(const std::string& plane, const std::string& reason);

  std::vector<Receipt> take_receipts();
  /// Of queues, in all.
  std::uint64_t statuses_refused() const { return statuses_refused_; }
  /// When `next` may give something that it does not give now; none: after an answer.
  std::optional<Time> next_due(Time now);
  /// Of what goes to the home server: a plane that does not answer makes nothing else wait.
  std::size_t unsent() const {
    return waiting_.size() - delayed_statuses_.size() - to_planes_.size();
  }
  /// The oldest plan with an unanswered action.
  std::optional<Time> sending_since() const;
  bool is_idle() const { return jobs_.empty() && events_.empty() && event_sent_.empty(); }
  std::uint64_t answers() const { return answers_; }
  const QueueStatistics& statistics() const { return statistics_; }

 private:
  enum class Stage : std::uint8_t {
    waits,    ///< To be sent.
    sent,     ///< For an answer.
    to_read,  ///< To be read.
    reads,    ///< For the object.
  };
  /// Send order among the jobs that are ready.
  enum class Rank : std::uint8_t {
    ends,        ///< For which nothing is sent, as a rule.
    reads,       ///< Of writes whose outcome is unknown.
    binds,       ///< No other write waits for them, but the pod does.
    writes,      ///< All others that place.
    conditions,  ///< Of pods.
  };
  struct Live {
    WriteJob job;
    std::string plan;
    Time plan_now;
    Time added;
    Stage stage = Stage::waits;
    std::size_t step = 0;
    Time not_before;
    std::optional<Rank> ready_as;  ///< None: it is not in `ready_`.
    Time sent_at;
    int attempts = 0;
    std::string refusal;        ///< Of a bind that was answered with 409.
    bool last_reading = false;  ///< What is not there now will not come.
    std::set<std::uint64_t> needs;
    std::vector<std::string> also;  ///< Plans that said the same while it waited.
  };
  struct OwnVersion {
    ObjectState object;  ///< As the server answered.
    std::uint64_t answer = 0;
    Time when;
  };
  /// The status and the reason that we wrote last.
  struct WrittenCondition {
    Time when;
    std::string status_and_reason;
    std::string uid;  ///< Another object may get the name later.
  };
  /// What leaves as one for one ask by one plan, as long as one of its jobs is here.
  struct UnitKey {
    std::string plan;
    std::optional<ObjectRef> ask;
    ObjectRef unit;

    friend auto operator<=>(const UnitKey&, const UnitKey&) = default;
  };
  struct LeavingUnit {
    std::set<std::uint64_t> jobs;
    std::optional<Time> left_since;  ///< The first of its pods; none: all are there.
  };
  using Jobs = std::map<std::uint64_t, Live>;
  enum class RefusedAs : std::uint8_t { refused, uncertain, awaits_volume };

  static Rank rank_of(const Live& live);
  void take_out(std::uint64_t id, Live& live);
  void sort_in(std::uint64_t id, Live& live);
  void move_to(std::uint64_t id, Live& live, Stage stage, Time not_before);
  void admit_due(Time now);
  bool is_written(const Live& live) const;
  Sending send(std::uint64_t id, Live& live, Time now, Time server_now);
  WriteCall call_of(const Live& live, Time server_now) const;
  ObjectState guarded(const Live& live) const;
  std::optional<Sending> next_condition(Time now, Time server_now);
  bool is_placing() const;
  std::optional<Sending> next_event(Time now, Time server_now);
  void enqueue(std::uint64_t id, Live live);
  void need_binds(Live& live) const;
  void need_evictions(Live& live) const;
  void need_statuses(Live& live);
  std::optional<std::uint64_t> waiting_duplicate(const WriteJob& job) const;
  void join(std::uint64_t id, Live newer);
  void end_delay(std::uint64_t id, Time now);
  void drop_superseded(const WriteJob& newer);
  bool is_repeated(const WriteJob& job, Time now) const;
  void note_written(const Live& live, Time now);
  void forget_written(const Live& live);
  bool is_moot(const Live& live, const WriteAnswer& answer) const;
  bool was_taken_back(const WriteJob& job) const;
  bool is_confirmed(const Live& live) const;
  void write_answered(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now);
  void reading_answered(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now);
  void scale_read(std::uint64_t id, const Live& live, const WriteAnswer& answer, Time now);
  Time pause_end(Live& live, const std::optional<Duration>& retry_after, Time now);
  void step_done(std::uint64_t id, const WriteAnswer& answer, Time now);
  void refuse(std::uint64_t id, const std::string& reason, RefusedAs as = RefusedAs::refused);
  std::vector<std::uint64_t> dependents_of(std::uint64_t id) const;
  static UnitKey unit_of(const Live& live);
  bool has_begun(const UnitKey& unit, std::uint64_t but_for) const;
  void budget_refused(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now);
  void spare_others(const UnitKey& but_for, std::uint64_t refused);
  void report_left_behind(const Live& live);
  void add_event(EventRequest event);
  void forget(std::uint64_t id);
  void remember(const ObjectRef& key, const ObjectState& object, Time now);

  WriteOptions options_;
  QueueLimits limits_;
  Jobs jobs_;
  std::map<ObjectRef, std::deque<std::uint64_t>> lines_;                   ///< By object.
  std::map<std::optional<ObjectRef>, std::set<std::uint64_t>> evictions_;  ///< By ask.
  std::set<std::uint64_t> waiting_;           ///< Jobs that place, and wait to be sent.
  std::set<std::uint64_t> delayed_statuses_;  ///< Of these, statuses that nothing relies on.
  std::set<std::uint64_t> to_planes_;   ///< The subset that goes to planes, not to the home server.
  std::set<std::uint64_t> statuses_;    ///< Of queues, until they are answered.
  std::set<std::uint64_t> conditions_;  ///< That wait to be sent.
  /// What may be sent or read at that time, and when that has come, in the order of sending.
  std::set<std::pair<Time, std::uint64_t>> due_;
  std::set<std::pair<Rank, std::uint64_t>> ready_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> needed_by_;  ///< By job: its dependents.
  std::multiset<Time> plan_times_;                                 ///< Of jobs that place at home.
  std::size_t places_sent_ = 0;  ///< Jobs that place at home, unanswered.
  std::deque<EventRequest> events_;
  std::set<std::uint64_t> event_sent_;
  std::map<std::pair<ObjectRef, std::string>, WrittenCondition>
      written_conditions_;  ///< By object and condition.
  std::map<ObjectRef, OwnVersion> own_;
  std::map<UnitKey, LeavingUnit> units_;
  std::vector<Receipt> receipts_;
  std::optional<Allowance> condition_allowance_;
  std::optional<Allowance> event_allowance_;
  Time events_not_before_;
  std::uint64_t last_id_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t statuses_refused_ = 0;
  std::uint64_t pauses_ = 0;
  QueueStatistics statistics_;
};

}  // namespace makeway::kube
