// The history of one pod, of all pods of a group or controller, of a Session or a ReplicaSchedule,
// from a journal.
//
// Rules
//  1. KIND/NAMESPACE/NAME means what it says. Without a kind, NAME is everything that is called so:
//     a Job whose pod was evicted makes another one of another name, and its story goes on.
//  2. Events are in the order of the records. For an eviction the cycle is decided again, with
//     explanations, so that the alternative can be shown.
//  3. A plan that was not carried out evicts nothing: receipts show that, or the end of the process
//     before it did anything.
//     Assumptions are not reported.
//  4. An eviction is over when a pod of the story is bound after it, or its session runs.
//  5. A pod that a ReplicaSchedule expects to leave is reported as such: its controller removes it.
//  6. A base in the middle repeats what the changes before it said, so it is ignored; the base at
//     the start of a process, or after a gap, is not.
//  7. Pods of other planes are reported with their plane. They are no asks here.
//  8. If plans are only made (shadow, --dry-run), nothing was evicted: the text says "would be".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/plan/ask_name.hpp"
#include "control/lawful_plan.hpp"
#include "journal/journal_world.hpp"
#include "model/replica_schedule.hpp"
#include "model/session_objects.hpp"

namespace makeway::cli {

struct WhyEvent {
  Time when;
  std::string text;
};

/// Of its pods, or of the session itself, for one ask, all at once.
struct WhyEviction {
  Time when;
  std::vector<std::string> pods;   ///< "default/low"; of a session its own name.
  std::vector<std::string> nodes;  ///< Where they ran.
  std::string ask;                 ///< The preemptor: "Pod default/high".
  std::string reason;
  std::string alternative;          ///< Empty: unknown.
  std::string key;                  ///< On which the alternative lost.
  std::vector<std::string> spared;  ///< "default/b (priority 20)": it might have left instead.
  std::uint64_t cycle = 0;
  std::string plan;
  std::optional<Time> back;  ///< When a pod of the story was bound again.
  std::string back_on;       ///< "n1, as default/low-r1"
  bool seen = false;         ///< A change has shown that one of its pods leaves.
  bool claimed = false;      ///< A ReplicaSchedule counts on it; controllers remove the pods.
};

/// What a recorded plan says of an ask with its victims.
struct RecordedVictim {
  std::string namespace_name;
  std::string name;
  std::string plane;
  std::string node;
  std::string reason;
  std::string deployment;  ///< Of a replica; else empty.
};
struct RecordedAsk {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::vector<RecordedVictim> victims;
  std::vector<RecordedVictim> claimed;  ///< Pods whose controllers are to remove them.
};

/// The cluster and the rules as they were at the current record; made on demand. Null: they are not
/// available any more.
using WorldThen = std::function<const JournalWorld*()>;

class WhyStory {
 public:
  /// Without a plane the subject is looked for at home and in all planes.
  WhyStory(WrittenAsk subject, PlanTools tools, std::string plane = {})
      : subject_(std::move(subject)), tools_(std::move(tools)), plane_(std::move(plane)) {}

  /// Not called for bases that repeat what was said.
  void read(const JournalRecord& record, const WorldThen& world);
  /// When the last record was written.
  void end(Time latest) { latest_ = latest; }
  /// Changes and cycles whose text contains none of these names do not concern the story: its
  /// subject, and its pods so far. Changes of nodes do: pods may leave with them.
  std::vector<std::string> names() const;

  /// An object of that name was there.
  bool is_known() const { return known_; }
  const std::vector<WhyEvent>& events() const { return events_; }
  const std::vector<WhyEviction>& evictions() const { return evictions_; }
  /// Those of its pods that are there, by name; where they are in a plane, "web-1 of plane east".
  const std::map<std::string, Pod>& pods() const { return pods_; }
  const std::optional<Time>& gone() const { return gone_; }  ///< The last one, if none is there.
  /// Null: there is none of that name now.
  const Session* session() const { return session_ ? &*session_ : nullptr; }
  const ReplicaSchedule* schedule() const { return schedule_ ? &*schedule_ : nullptr; }
  /// Its asks without a place: pods, whole groups, the session, the schedule.
  std::vector<AskName> pending() const;

 private:
  bool is_about(const Pod& pod) const;
  bool is_about(const AskName& ask) const;
  /// The victim is the session of this story, or one of its pods.
  bool is_about(const RecordedAsk& ask, const RecordedVictim& victim) const;
  /// The subject may be of that kind, and is called so.
  bool is_called(AskKind kind, std::string_view namespace_name, std::string_view name) const;
  enum class Source : std::uint8_t { base, as_change };
  void read_change(const Change& change, Time now);
  void read_receipts(const ReceiptsRecord& record);
  /// The process restarted: what it had not done by then is not done.
  void drop_unseen(Time now);
  /// Takes it out of the eviction by that plan; false: nothing was to become of it.
  bool undo(std::string_view plan, const std::string& name);
  void note_leaving(const std::string& name);
  void read_base(const Cluster& cluster, Time now);
  void read_own_kinds_in(const Cluster& cluster, Time now);
  void read_changes(const ChangesRecord& batch);
  void note_node(const Change& change);
  void read_pod(const Pod& pod, Time now, Source source);
  void read_session(const Session& session, Time now);
  void read_schedule(const ReplicaSchedule& schedule, Time now);
  void read_removal(const Removal& removal, Time now);
  void read_own_removal(const Removal& removal, Time now);
  void read_cycle(const CycleRecord& cycle, const WorldThen& world);
  void read_evictions(const CycleRecord& cycle, const WorldThen& world,
                      std::span<const RecordedAsk> asks);
  void read_claims(const CycleRecord& cycle, const RecordedAsk& ask);
  /// A pod of the story was bound, or its session runs.
  void come_back(Time now, std::string where);
  /// None: nothing of the story leaves for the ask.
  std::optional<WhyEviction> eviction_for(const CycleRecord& cycle, const RecordedAsk& ask) const;
  void add_eviction(const WhyEviction& eviction, std::string_view kind);
  void add(Time when, std::string text);

  WrittenAsk subject_;
  PlanTools tools_;
  std::string plane_;
  bool known_ = false;
  std::vector<WhyEvent> events_;
  std::vector<WhyEviction> evictions_;
  std::map<std::string, Pod> pods_;
  std::set<std::string> evicted_;     ///< As in `pods_`; evicted by a plan and still there.
  bool carries_out_ = true;           ///< False: plans are only made.
  Time latest_;                       ///< Of what was read.
  std::set<std::string> gone_nodes_;  ///< They were there before; planes as in `pods_`.
  std::optional<Session> session_;
  std::optional<ReplicaSchedule> schedule_;
  std::optional<Time> gone_;
};

// What happened to a Session or a ReplicaSchedule between two of its versions, in sentences.

/// `before` is null when it was not there. Without the object's own name: "runs on n1".
std::vector<std::string> session_events(const Session* before, const Session& session, Time now);
std::vector<std::string> schedule_events(const ReplicaSchedule* before,
                                         const ReplicaSchedule& schedule);

/// How it stands: "pending", "runs on n1 since ...".
std::string session_state(const Session& session);
std::string schedule_state(const ReplicaSchedule& schedule);

/// Where its kernels run; sorted.
std::vector<std::string> session_nodes(const Session& session);

// The answer of `why --journal` for machines.

/// `summary`: the story in one sentence, as the text begins.
std::string why_json(std::string_view object, std::string_view summary, const WhyStory& story);

}  // namespace makeway::cli
