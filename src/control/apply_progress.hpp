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
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/approved_plan.hpp"
#include "control/in_flight.hpp"
#include "control/loop_watcher.hpp"

namespace makeway {

enum class ApplyStage : std::uint8_t { open, done, dropped };

struct ApplyState {
  ApplyStage stage = ApplyStage::open;
  std::string reason;             ///< Why it was dropped, or what it waits for.
  std::set<std::string> evicted;  ///< "namespace/name" of the pods that were evicted for it.
  std::set<std::string> refused;  ///< Ids of plans of which the world refused something.
  bool was_nominated = false;     ///< By us, now.
  std::string reported;           ///< The last refusal that became news.
};

/// Something that happened, for the command that reports it.
struct ApplyNews {
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
  std::vector<ApplyNews> take_news() { return std::exchange(news_, {}); }
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
  std::vector<ApplyNews> news_;
  std::vector<std::size_t> withdrawn_;
  bool has_seen_bug_ = false;
};

}  // namespace makeway
