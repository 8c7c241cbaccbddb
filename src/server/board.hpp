// Board: what people are shown of a run, kept beside the loop (decisions/0034-dashboard.md).
//
// It is fed with copies of what the loop was shown and decided, keeps a cluster of its own from
// them, and writes JSON: the whole state, or what changed since the last frame. One thread.
//
// Rules
//  1. Nothing here goes back to the loop, and nothing here decides.
//  2. A section of the state is told whole, or not at all where it did not change; of nodes,
//     preemptions and samples only those are told that are new. Each has a key, so a frame may be
//     applied to any state that is as new as the one before it.
//  3. Every list has a bound, and the count of all is told with it.
//  4. A frame costs one pass over nodes and pods, whoever looks; none is made where nobody does.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "codec/writer.hpp"
#include "control/loop_watcher.hpp"
#include "control/preemption_report.hpp"
#include "control/waiting_asks.hpp"
#include "model/cluster.hpp"

namespace makeway::server {

// ---- What it is fed with --------------------------------------------------------------------

/// The loop begins, and will be shown everything from nothing.
struct SeenStart {
  Configuration configuration;
  std::string preset;
  bool carries_out = true;
};
/// Everything, as it is, after something was missed.
struct SeenBase {
  Time now;
  Cluster cluster;
};
struct SeenBatch {
  Time now;
  std::vector<Change> changes;  ///< Effects of our own actions included.
};
/// What became of an ask.
struct SeenAnswer {
  AskName ask;
  Outcome outcome = Outcome::infeasible;
  std::string reason;
};
/// As the board keeps it.
struct SeenPreemption : ReportedPreemption {
  std::uint64_t id = 0;     ///< From 1, in the order in which they came.
  std::uint64_t cycle = 0;  ///< Since this process began.
};
struct SeenCycle {
  Time now;
  std::vector<SeenAnswer> answers;
  std::vector<ReportedPreemption> preemptions;
  std::vector<PlanQueue> queues;  ///< Empty: the plan has none.
  std::int64_t binds = 0;
  std::int64_t victims = 0;
  std::int64_t decide_us = 0;
  std::int64_t check_us = 0;
  std::int64_t refused = 0;  ///< Plans that broke a law.
};
using Seen = std::variant<SeenStart, SeenBase, SeenBatch, SeenCycle>;

SeenCycle seen_cycle(const MadeCycle& cycle);

// ---- What it shows --------------------------------------------------------------------------

/// A node in numbers, as the page reads them: flags (1: cordoned, 2: sessions, 4: replicas), pods
/// and kernels, how many of them leave, and for every resource room, what is leaving, and what each
/// band holds.
struct BoardNode {
  std::string plane;  ///< Of its key.
  std::string name;
  std::string shown_plane;  ///< As replicas see it: of its key, else of its label.
  std::vector<std::int64_t> numbers;

  friend bool operator==(const BoardNode&, const BoardNode&) = default;
};

/// The nodes of a cluster, and how their numbers are to be read.
struct BoardNodes {
  std::vector<std::string> resources;
  std::vector<std::int32_t> bands;  ///< The lowest priority of each, lowest first.
  std::vector<BoardNode> nodes;     ///< By plane and name.
  std::int64_t leaving = 0;         ///< Pods and kernels, wherever they are.
};

/// `priorities`: all that were ever seen; those of this cluster are added.
BoardNodes board_nodes(const Cluster& cluster, const SessionSettings& sessions,
                       std::set<std::int32_t>& priorities);

/// The same for a cluster of another time; as an object with the fields of a whole state.
void write_board_nodes(DocumentWriter& writer, const BoardNodes& nodes);

/// Figures at one time; one a second of the run's clock at most.
struct BoardSample {
  Time when;
  std::int64_t waiting = 0;
  std::uint64_t preemptions = 0;  ///< Since the beginning.
  std::int64_t decide_p50_us = 0;
  std::int64_t decide_p99_us = 0;
  std::vector<std::int64_t> used_permille;  ///< By resource.
};

class Board {
 public:
  /// Whose pods are ours, by schedulerName; none: all are.
  explicit Board(std::vector<std::string> schedulers = {}) : schedulers_(std::move(schedulers)) {}

  void take(Seen seen);
  /// Something was missed: what is shown is old until a base comes.
  void fall_behind() { is_behind_ = true; }
  /// Nothing of its cluster can be trusted: until a base comes there is none.
  void lose_sight();

  const Cluster& cluster() const { return cluster_; }
  const Configuration& configuration() const { return configuration_; }
  const std::string& preset() const { return preset_; }
  Time now() const { return now_; }
  bool has_begun() const { return has_begun_; }
  /// What the last decision said of it; null: it waits for nothing, or nobody knows.
  const AskAnswer* answer_of(const AskName& ask) const { return waiting_.answer_of(ask); }
  const std::deque<SeenPreemption>& preemptions() const { return preemptions_; }

  /// Looks at what came since the last time; for figures over time also where nobody reads.
  void look();
  /// Everything, as one JSON document in one line.
  std::string state();
  /// What changed since the last call of this; empty: nothing.
  std::string changes();

 private:
  void take_one(SeenStart seen);
  void take_one(SeenBase seen);
  void take_one(const SeenBatch& seen);
  void take_one(SeenCycle seen);
  std::map<std::string, std::string> sections() const;
  std::string run_section() const;
  std::string counters_section() const;
  std::string asks_section() const;
  std::string feed_section(std::uint64_t after) const;
  std::string queues_section() const;
  std::string sessions_section() const;
  std::string planes_section() const;
  std::string series_section(Time after) const;
  std::string changed_nodes();
  void add_sample();

  std::vector<std::string> schedulers_;
  Cluster cluster_;
  std::size_t interned_before_ = 0;  ///< After it was compacted.
  Configuration configuration_;
  std::string preset_;
  bool carries_out_ = true;
  bool has_begun_ = false;
  bool is_behind_ = false;
  Time now_;

  std::deque<SeenPreemption> preemptions_;  ///< Newest first.
  std::vector<PlanQueue> queues_;
  std::deque<std::int64_t> decide_us_;  ///< Of the last cycles; newest first.
  std::uint64_t cycles_ = 0;
  std::uint64_t preemption_count_ = 0;
  std::uint64_t victim_count_ = 0;
  std::uint64_t bind_count_ = 0;
  std::uint64_t refused_count_ = 0;

  std::set<std::int32_t> priorities_;
  bool is_dirty_ = true;  ///< Something came since `look`.
  BoardNodes seen_;       ///< Of the last `look`.
  WaitingAsks waiting_;
  std::deque<BoardSample> samples_;

  // Of the last frame.
  std::map<std::string, std::string> told_sections_;
  BoardNodes told_;
  std::uint64_t reported_preemptions_ = 0;
  Time told_sample_;
  std::uint64_t frame_ = 0;
};

}  // namespace makeway::server
