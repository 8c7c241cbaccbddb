// A plan that a user has approved, decided again on the cluster of today.
//
// What was approved are places and victims, no more: scores and reasons were true when the plan was
// made. So the asks are decided again with their places given and no other pod allowed to leave
// (LiveViewOptions::may_leave), and the judge sees the result like any plan. Whatever comes out is
// then within what was approved and lawful today, or the ask has no place and falls out whole,
// with the reason; the others are decided without it. Of the approved victims only those leave
// that are still needed.
//
// Pure: the cluster and the asks say it all, so the same is asked before the first write, after
// every change, and by a process that starts again after a crash.
//
// ApplyProgress: what became of each ask of an approved plan, while a ControlLoop carries it out.
//
//   PlanTools tools = ...;
//   ApplyProgress progress(asks, tools.decide);
//   tools.decide = [&](...) { return progress.decide(...); };
//   options.watcher = &progress;
//   while (!progress.is_over()) { loop.step(); progress.look(loop.cluster(), loop.in_flight()); }
//
//  1. An ask is done when every pod of it is seen to run where the plan has it.
//  2. It is dropped, for good, when it has no place any more (approved_plan.hpp), when the judge
//     leaves it out, or when the world has refused `refusals_max` plans for it. Brakes and volumes
//     that are being made refuse nothing: they take time.
//  3. An ask that is dropped after pods were evicted for it says so (`ApplyState::evicted`), and
//     its nominations are to be taken back (`take_withdrawn`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/in_flight.hpp"
#include "control/loop_watcher.hpp"
#include "model/request.hpp"

namespace makeway {

struct ApprovedPod {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string node;  ///< Where it goes, or where the victim runs.

  friend bool operator==(const ApprovedPod&, const ApprovedPod&) = default;
};

struct ApprovedAsk {
  AskName name;
  std::vector<ApprovedPod> places;  ///< At least one.
  std::vector<ApprovedPod> victims;

  friend bool operator==(const ApprovedAsk&, const ApprovedAsk&) = default;
};

/// What became of a pod that a plan names.
enum class PodFate : std::uint8_t {
  pending,
  runs_there,  ///< On the node that the plan names.
  runs_elsewhere,
  leaving,
  replaced,  ///< Another pod has its name.
  gone,
};
PodFate fate_of(const Cluster& cluster, const ApprovedPod& pod);

/// Why the ask cannot be carried out any more, whatever room there is; empty: it can, or is done.
/// Without schedulers pods of all of them may be placed.
std::string why_stale(const Cluster& cluster, std::span<const std::string> schedulers,
                      const ApprovedAsk& ask);

/// Uids of the pods that may be evicted.
std::set<std::string> approved_victims(std::span<const ApprovedAsk> asks);
/// "namespace/name" of the pods that may be placed.
std::set<std::string> approved_pods(std::span<const ApprovedAsk> asks);

using DecideFunction =
    std::function<Decision(const Cluster&, const Configuration&, const PlanRequest&)>;

struct ApprovedAnswer {
  Decision decision;
  std::map<std::size_t, std::string> dropped;  ///< Asks by position: why they fall out.
};

/// Decides about the asks at these positions; `request` says everything else. An ask of which
/// nothing is pending any more is no part of the plan, and neither is a member of a group as long
/// as the group itself asks.
ApprovedAnswer decide_approved(const Cluster& cluster, const Configuration& configuration,
                               const PlanRequest& request, std::span<const ApprovedAsk> asks,
                               const std::vector<std::size_t>& positions,
                               const DecideFunction& decide);

enum class ApplyStage : std::uint8_t { open, done, dropped };

struct ApplyState {
  ApplyStage stage = ApplyStage::open;
  std::string reason;             ///< Why it was dropped, or what it waits for.
  std::set<std::string> evicted;  ///< "namespace/name" of the pods that were evicted for it.
  std::set<std::string> refused;  ///< Ids of plans of which the world refused something.
  bool was_nominated = false;     ///< By us, now.
  std::string reported;           ///< The last refusal that was reported.
};

/// Something that happened, for the command that reports it.
struct ApplyEvent {
  enum class Kind : std::uint8_t { evicts, waits, binds, held_up, done, dropped };
  Kind kind = Kind::done;
  std::size_t ask = 0;
  std::vector<std::string> pods;  ///< evicts: the victims; waits: the pods that are leaving.
  std::string reason;             ///< held_up, dropped.
};

class ApplyProgress final : public LoopWatcher {
 public:
  static constexpr std::size_t refusals_max = 3;

  ApplyProgress(std::vector<ApprovedAsk> asks, DecideFunction decide);

  /// For PlanTools.
  Decision decide(const Cluster& cluster, const Configuration& configuration,
                  const PlanRequest& request);
  /// After each step: what the world shows by now.
  void look(const Cluster& cluster, const InFlight& in_flight);
  /// Nothing will be done for it any more.
  void drop(std::size_t ask, std::string reason);

  bool is_over() const;
  const std::vector<ApprovedAsk>& asks() const { return asks_; }
  const std::vector<ApplyState>& states() const { return states_; }
  std::vector<ApplyEvent> take_events() { return std::exchange(events_, {}); }
  /// A plan without places for asks that were dropped after they had been nominated; none: there
  /// are none since the last call.
  std::optional<Plan> take_withdrawn(Time now);
  bool has_seen_bug() const { return has_seen_bug_; }

  void start(const LoopStart& /*start*/) override {}
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

 private:
  std::vector<std::size_t> due(const PlanRequest& request, const Cluster& cluster) const;
  std::optional<std::size_t> position_of(const AskName& ask) const;
  std::optional<std::size_t> ask_of(const Receipt& receipt) const;
  void note_refusal(const Receipt& receipt);
  void note_sent(const Plan& plan, const PlanAsk& ask, std::size_t at);

  std::vector<ApprovedAsk> asks_;
  DecideFunction decide_;
  std::vector<ApplyState> states_;  ///< By ask.
  std::vector<ApplyEvent> events_;
  std::vector<std::size_t> withdrawn_;
  bool has_seen_bug_ = false;
};

}  // namespace makeway
