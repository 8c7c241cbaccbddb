// VictimLadder: which pods leave for a pinned pod, class by class and strategy by strategy.
//
// The strategies of `required_node.victimSelection` are run on the candidates of the first class,
// then of the first two, and so on (`classSteps` cumulative), or once on all of them (together). On
// each step, where budgets are avoided, first on victims that no budget forbids. The first success
// wins:
//  single    one pod that covers the shortfall and whose size deviates from the ask's request by at
//            most `deviationPercent`: the largest relative difference over what is asked for.
//            Smallest deviation, then the order of the class.
//  multiple  lower priority first, then the largest worth, the sum over the missing resources of
//            min(amount, missing) x 1000 / missing, then the order of the class; until covered, at
//            most `maxVictims` pods.
//  prefix    in the order of the classes until covered.
// Then victims that are not needed are put back, most important first (`putBack`), and the ask must
// fit by every rule of feasibility. Candidates that stand in its way by something else than room
// (a host port, anti-affinity) leave in any case.
//
// When the whole ladder gives nothing, it is climbed once more with `multiple` less short-sighted:
// it goes on upward in priority with the `maxVictims` most worthy pods so far. So small pods of low
// priority, too many to leave, do not hide larger ones.
//
// Order inside a class: lower priority, younger, smaller, then namespace/name. Smaller: the sum of
// the shares of the node, then by resource.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "engine/fit.hpp"
#include "model/reason.hpp"
#include "policies/required_node/candidates.hpp"

namespace makeway {

struct LadderTask {
  PodFit& fit;  ///< Over `world.after()`.
  NodeIndex node;
  const Shortfall& shortfall;
  CandidateList& candidates;  ///< With `all`, when something else than resources counts.
};

struct LadderAnswer {
  VictimList victims;                ///< Most important first.
  std::vector<std::uint32_t> units;  ///< The same in the list of candidates.
  VictimSelection strategy = VictimSelection::single;
  std::size_t classes = 0;            ///< How many of them were in use.
  std::optional<std::uint32_t> next;  ///< It would have come next.
};

class VictimLadder {
 public:
  VictimLadder(World& world, const LadderTask& task, std::size_t classes, PlanReservation* report);

  /// None: no victims were found.
  std::optional<LadderAnswer> climb();
  /// Without an answer: what the ask lacks although every candidate is gone; none: nothing.
  const std::optional<Refused>& lasting() const { return lasting_; }
  /// Why the last step found nothing.
  const Reason& failure() const { return failure_; }

  /// In millionths, rounded up.
  std::int64_t deviation_ppm(std::uint32_t at) const;
  /// By class, then in the order of the class.
  bool before(std::uint32_t a, std::uint32_t b) const;
  std::int64_t worth(std::uint32_t at) const;
  /// Alone.
  bool covers(std::uint32_t at) const {
    return covered(task_.candidates.frees(at), Coverage::shortfall);
  }
  Time started(const PinnedCandidate& candidate) const {
    return candidate.whole ? candidate.started : world_.rules().started(candidate.first);
  }

 private:
  using Units = std::vector<std::uint32_t>;

  struct Step {
    std::size_t classes = 0;
    VictimSelection strategy = VictimSelection::single;
    bool within_budgets = false;
    bool widely = false;
  };

  bool all_gone_is_enough();
  void find_blockers();
  std::optional<LadderAnswer> try_step(const Step& step);
  std::optional<LadderAnswer> try_single(const Step& step);
  std::optional<LadderAnswer> try_multiple(const Step& step);
  std::optional<LadderAnswer> try_widely(const Step& step);
  std::optional<LadderAnswer> try_prefix(const Step& step);
  template <class Before>
  std::optional<LadderAnswer> take_in_order(const Step& step, const Before& before);
  Units units_of(const Step& step) const;
  std::optional<LadderAnswer> finish(const Step& step, Units chosen);
  bool feasible(std::span<const std::uint32_t> chosen);
  bool has_room(std::span<const std::uint32_t> chosen) const;
  bool keeps_room_positive() const;
  void put_back(Units& chosen);
  void put_back_by_room(Units& chosen);
  bool add_fallen(VictimList& victims);
  void name_units(LadderAnswer& answer) const;
  VictimList list_of(std::span<const std::uint32_t> chosen) const;
  bool covered(std::span<const std::int64_t> sum, Coverage coverage) const;
  bool fits_budgets(std::uint32_t at);
  void remove(std::span<const std::uint32_t> chosen);
  const PinnedCandidate& unit(std::uint32_t at) const { return task_.candidates.units[at]; }
  std::pair<std::int64_t, std::vector<std::int64_t>> size_of(std::uint32_t at) const;
  void note(const Step& step, const Reason& result);

  World& world_;
  const RequiredNodeSettings& settings_;
  LadderTask task_;
  std::size_t classes_ = 0;
  PlanReservation* report_;
  bool only_room_ = true;  ///< Nothing but resources counts.
  bool by_room_ = true;    ///< The same, and arithmetic alone says whether a choice is one.
  Units blockers_;
  std::optional<Refused> lasting_;
  Reason failure_ = {.code = ReasonCode::ladder_unfit};  ///< Of the last try.
};

}  // namespace makeway
