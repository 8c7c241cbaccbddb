// What another scheduler did for an ask, beside what we would have done (SPEC section 8,
// Shadow).
//
// Of both sides there are the nodes and the victims, with their priorities and how long they had
// run when the ask was first seen: that is measured for both in the same way, so that it can be
// compared. The verdict, in this order:
//  1. Which side found a place: both, only ours, only theirs, neither.
//  2. The same victims: on the same nodes it is the same decision, else only the node differs.
//     Members of a group are alike, so only the numbers of members on the nodes count.
//  3. Fewer or more victims.
//  4. As many: theirs or ours have the higher highest priority, then the higher sum of priorities,
//     then have run for longer.
//
// ShadowLoop: decides beside another scheduler, and reports what that one did differently (SPEC 8).
//
//   ShadowLoop shadow(port, configuration, tools, {.scheduler = "default-scheduler"});
//   for (const ShadowResult& result : shadow.step(deadline)) ...
//
// Rules:
//  1. An ask is a pending pod whose schedulerName is theirs, or a group of such pods as soon as its
//     minimum is there; not while a scheduling gate holds it.
//  2. It is decided once, when it is first seen, together with all that are first seen in the same
//     batch. Nothing is assumed afterwards and no plan is submitted: the next decision is on what
//     the port shows.
//  3. A batch that shows a new ask together with what was done for it (it is bound or nominated
//     already, others begin to leave) is taken in two steps, and decided between them.
//  4. Asks that are nominated when the port is first looked at were decided before us: they are not
//     compared. While the port is blind nothing is decided; an ask bound meanwhile was missed.
//  5. An ask is compared when all its pods are bound, at the latest after `patience`; then their
//     choice is the nodes where it is bound or nominated. An ask that is gone before is not
//     compared.
//  6. Their victims are pods that were marked as preempted after the ask was first seen, on a node
//     that it was nominated to. Where several asks were nominated to that node, a victim belongs to
//     the one that was nominated closest in time; where none was, to the ask that was bound there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/lawful_plan.hpp"
#include "control/loop_watcher.hpp"
#include "control/port.hpp"
#include "model/plan.hpp"
#include "model/request.hpp"

namespace makeway {

struct ShadowVictim {
  std::string namespace_name;
  std::string name;
  std::string node;
  std::int32_t priority = 0;     ///< The unit's preemption priority.
  std::int64_t run_seconds = 0;  ///< When the ask was first seen.

  friend auto operator<=>(const ShadowVictim&, const ShadowVictim&) = default;
};

struct ShadowChoice {
  std::vector<std::string> nodes;     ///< One a pod, sorted; none: no place was found.
  std::vector<ShadowVictim> victims;  ///< Sorted.

  std::optional<std::int32_t> highest_priority() const;
  std::int64_t priority_sum() const;
  std::int64_t run_seconds() const;

  friend bool operator==(const ShadowChoice&, const ShadowChoice&) = default;
};

/// What our decision is, compared with theirs.
enum class ShadowVerdict : std::uint8_t {
  same,
  other_node,  ///< With the same victims.
  fewer_victims,
  cheaper_victims,
  other_victims,  ///< As many, and not cheaper.
  dearer_victims,
  more_victims,
  only_ours,    ///< They found no place in time.
  only_theirs,  ///< We found none.
  neither,
};
template <>
inline constexpr std::array<std::string_view, 10> choice_names<ShadowVerdict> = {
    "same",           "other-node",   "fewer-victims", "cheaper-victims", "other-victims",
    "dearer-victims", "more-victims", "only-ours",     "only-theirs",     "neither"};

ShadowVerdict compare(const ShadowChoice& ours, const ShadowChoice& theirs);

/// An ask, decided by both.
struct ShadowResult {
  AskName ask;
  std::int32_t priority = 0;
  Time seen;                             ///< First.
  std::string plan;                      ///< Its id.
  Outcome outcome = Outcome::not_found;  ///< Of ours.
  std::string reason;                    ///< Of ours, one sentence.
  ShadowChoice ours;
  ShadowChoice theirs;
  /// Until their last pod was bound; none: not within the patience.
  std::optional<Duration> wait;
  ShadowVerdict verdict = ShadowVerdict::same;
};

/// Sums over all that was compared; only where both found a place are victims summed up.
struct ShadowTotals {
  struct Side {
    std::int64_t victims = 0;
    std::int64_t priority_sum = 0;
    std::int64_t run_seconds = 0;

    friend bool operator==(const Side&, const Side&) = default;
  };
  std::array<std::int64_t, choice_names<ShadowVerdict>.size()> verdicts{};
  Side ours;
  Side theirs;

  void add(const ShadowResult& result);
  std::int64_t compared() const;
  std::int64_t of(ShadowVerdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }

  friend bool operator==(const ShadowTotals&, const ShadowTotals&) = default;
};

struct ShadowOptions {
  std::string scheduler;  ///< The pods of this scheduler ask.
  std::string preset;     ///< For plans.
  Duration patience{60'000};
  LoopWatcher* watcher = nullptr;  ///< Notified of every batch and cycle; outlives the loop.
};

struct ShadowStatistics {
  std::uint64_t seen = 0;       ///< Asks that were decided, or should have been.
  std::uint64_t cycles = 0;     ///< In which something was decided.
  std::uint64_t gone = 0;       ///< Before they could be compared.
  std::uint64_t late = 0;       ///< The other scheduler had decided before the first look.
  std::uint64_t missed = 0;     ///< Bound while we were blind.
  std::uint64_t undecided = 0;  ///< Our plan did not have them: a bug, or nothing we schedule.
  std::uint64_t refused = 0;    ///< Plans that the judge refused.
};

class ShadowLoop {
 public:
  /// Port, configuration and tools outlive it.
  ShadowLoop(Port& port, const Configuration& configuration, const PlanTools& tools,
             ShadowOptions options);

  /// One poll, at the latest until the deadline, and what could be compared after it.
  std::vector<ShadowResult> step(Time deadline);

  const Cluster& cluster() const { return cluster_; }
  const ShadowStatistics& statistics() const { return statistics_; }
  std::size_t open() const { return open_.size(); }  ///< Decided and not compared yet.
  bool has_begun() const { return begun_; }          ///< The cluster was shown.
  bool is_blind() const { return blind_; }
  Time now() const { return now_; }
  const std::vector<RefusedPlan>& refused() const { return refused_; }

 private:
  using PodName = std::pair<std::string, std::string>;  ///< Namespace and name.
  /// A pod of an ask.
  struct Member {
    std::string name;
    std::string uid;
  };
  struct Open {
    ShadowResult result;
    std::vector<Member> members;
    std::map<std::string, Time> nominated;  ///< To which node, seen when.
  };
  /// A pod that was marked as preempted.
  struct Marked {
    ShadowVictim victim;
    Time started;
    Time seen;
  };

  /// What is to be applied before the decision, and after it.
  struct Steps {
    std::vector<Change> before;
    std::vector<Change> after;
  };
  enum class State : std::uint8_t { waits, bound, gone };

  bool is_theirs(const Pod& pod) const;
  bool is_new_ask(const Change& change) const;
  Steps split(std::vector<Change> changes) const;
  void apply(const std::vector<Change>& changes);
  void note_mark(const Change& change);
  void note(const Change& change);
  static AskName ask_of(const Pod& pod);
  std::vector<PodIndex> members_of(PodIndex index) const;
  bool is_ready(PodIndex index, const std::vector<PodIndex>& members) const;
  /// The asks that are first seen; they are open then.
  std::vector<AskName> take_new();
  void decide(const std::vector<AskName>& asks);
  LawfulPlan make(const std::vector<AskName>& asks);
  void learn(const Plan& plan, const std::vector<AskName>& asks);
  std::vector<ShadowResult> settle();
  std::optional<PodIndex> find_member(const AskName& ask, const Member& member) const;
  State state_of(const AskName& ask, const Open& open) const;
  void choose_theirs(const AskName& ask, Open& open);
  bool is_victim_of(const Marked& marked, const AskName& ask, const Open& open) const;
  void forget_marks();

  Port& port_;
  const Configuration& configuration_;
  const PlanTools& tools_;
  ShadowOptions options_;
  std::string hash_;
  Cluster cluster_;
  Time now_;
  bool begun_ = false;
  bool blind_ = true;
  std::set<PodName> candidates_;  ///< Pending, theirs, and not decided.
  std::map<PodName, std::string>
      decided_;  ///< Pods of asks, with their uids, while they are there.
  std::map<AskName, Open> open_;
  std::map<PodName, Marked> marked_;
  ShadowStatistics statistics_;
  std::vector<RefusedPlan> refused_;
};

}  // namespace makeway
