// What must leave so that a group fits (SPEC section 2, the eight steps for one domain).
//
//  1. The domain is given (group_domains.hpp).
//  2. The units with a pod in it that may leave are its potential victims. What they have outside
//     counts in the score only.
//  3. All of them leave. If the members that are needed find no place then, nothing helps.
//  4. They are ordered by importance.
//  5. With the members in their places, those whose loss would violate a budget come back where the
//     members still fit beside them.
//  6. `workload.prioritySearch`: the lowest priority N is looked for such that the members find
//     places with no pod above N gone; by halving where more room never means fewer places, else
//     upward. Those above N are no victims.
//  7. With the members in their places, victims come back, most important first, once or until
//     nothing changes (`workload.putBack`). What comes back must leave every member its place.
//  8. What is left is scored.
//
// Nodes are emptied only where members are placed (engine/emptied_nodes.hpp): a pod elsewhere
// comes back at once. Where pods elsewhere can matter to a member, or a pod is promised a place,
// all nodes are emptied.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/emptied_nodes.hpp"
#include "engine/refusals.hpp"
#include "engine/score.hpp"
#include "engine/victim_lists.hpp"
#include "policies/workload/group/group_placer.hpp"
#include "policies/workload/group/member_by_member.hpp"
#include "policies/workload/group/member_fits.hpp"

namespace makeway {

/// A place for the group once the victims are gone.
struct GroupCandidate {
  const GroupDomain* domain = nullptr;
  std::vector<PodOnNode> places;
  VictimList victims;              ///< Most important first.
  std::vector<VictimUnit> spared;  ///< Others on these nodes, where that is to be explained.
  std::int64_t budget_violations = 0;
  ScoreTerms score;                   ///< Without secondary victims until they are followed.
  std::vector<PlanCascade> cascades;  ///< What they are made of.
};

/// Of a candidate that has victims.
inline std::int32_t highest_priority(const GroupCandidate& candidate) {
  return std::ranges::max(candidate.victims.units, {}, &VictimUnit::priority).priority;
}

struct GroupTask {
  UnitIndex unit;
  std::vector<PodIndex> members;  ///< Pending, in the order in which they are placed.
  std::size_t needed = 0;         ///< Members without which there is no answer.
  std::size_t wanted = 0;         ///< Members for which others may be made to leave.
  std::vector<PodOnNode> given;   ///< Places that are taken as they are, if any.
};

/// What may leave a domain's nodes for the ask of `fits`, under these planning rules.
EmptiedNodes emptied_nodes(World& world, const PlanningRules& planning, const GroupTask& task,
                           const GroupDomain& domain, MemberFits& fits);

class GroupSearch {
 public:
  /// `fits` is over the world `after`, which is left as it was; `emptied` says what may leave.
  GroupSearch(World& world, const PlanningRules& planning, const GroupTask& task,
              const GroupDomain& domain, MemberFits& fits, EmptiedNodes& emptied);

  /// No plan for so many members has victims of a lower highest priority, as far as sums show.
  std::int32_t least_highest_priority(std::size_t members);

  struct Variant {
    PrioritySearch priority_search = PrioritySearch::none;  ///< Step 6.
    /// Those whose loss would violate a budget are no potential victims from the start.
    bool spare_violating = false;
    /// Members are placed in the opposite order: where not all are needed, small ones may do.
    bool smallest_first = false;
    /// Plans with victims above this priority are of no interest.
    std::optional<std::int32_t> not_above = std::nullopt;
  };
  std::optional<GroupCandidate> run(const Variant& variant);

  /// Places chosen by what would have to leave (victim_guide.hpp), with none gone above a
  /// priority.
  struct Guide {
    std::int32_t highest = 0;
    bool spare_violating = false;  ///< None leaves against a budget.
    bool smallest_first = false;
    std::span<const PodIndex> kept;  ///< Their units stay.
  };
  /// Whether it can do that: nothing but room matters to the members.
  bool guidable() const { return lazy_; }
  std::optional<GroupCandidate> run_guided(const Guide& guide);
  /// The same, one member after the other (member_by_member.hpp).
  std::optional<GroupCandidate> run_by_member(const Guide& guide,
                                              const MemberByMember::Detour& detour);
  /// The same once those are gone that close a part of the topology to the first member; for each
  /// such part, and for all of them together.
  std::vector<GroupCandidate> run_opened(const Guide& guide);
  /// With the same places, the best victims on one node after the other; nothing when they are the
  /// best already.
  std::optional<GroupCandidate> polish(const GroupCandidate& found);

  /// A plan that was made elsewhere, by the rules of this search: nothing when one of the
  /// victims may not leave, or a member does not fit. What can come back does.
  std::optional<GroupCandidate> adopt(std::span<const PodOnNode> places,
                                      std::span<const PodIndex> victims);

  /// The plan for the other members only; nothing when they depend on this one.
  std::optional<GroupCandidate> without(const GroupCandidate& found, PodIndex member);
  /// Where a member could go beside that plan, which has no place for it. `any_priority`: with the
  /// lowest priorities on each node; otherwise with the fewest leaving, up to the guide's highest.
  std::vector<MemberByMember::Choice> places_beside(const GroupCandidate& others, PodIndex member,
                                                    const Guide& guide, bool any_priority);

  /// After `run` found nothing: the first member without a place, and why each node refuses it with
  /// all pods gone that may be evicted.
  std::optional<PodIndex> without_place() const { return without_place_; }
  void add_refusals(RefusalTally& tally);
  /// Whether finding nothing proves that there is nothing.
  bool proven() const { return proven_; }
  const std::vector<std::string>& bounds_reached() const { return bounds_reached_; }
  std::int64_t potential_victims() const { return emptied_.potential_victims(); }

 private:
  /// All pods are where they were before the search.
  void go_back() { fits_.scratch().rollback(start_); }
  void order(bool smallest_first);
  PlanningRules counting();
  VictimSearch::Scope scope_of(const Guide& guide, bool any_priority);
  bool polish_node(std::span<const PodOnNode> members, std::span<const PodOnNode> there,
                   std::int32_t highest, std::vector<PodIndex>& victims);
  bool place_by_counts(const Variant& variant);
  std::size_t place_with_gone_up_to(std::int32_t highest, std::size_t enough);
  std::size_t find_places_up_to(std::int32_t highest, std::size_t enough);
  void arrive();
  bool fit_up_to(std::int32_t highest);
  void list_gone();
  void sort_places();
  void nothing_found();
  void keep_returned();
  void lower_priority(PrioritySearch priority_search);
  void put_back_where_possible(bool only_violating, PutBack mode);
  bool put_back(const VictimUnit& unit);
  bool matters(const VictimUnit& unit) const;
  bool fit_one_after_the_other();
  bool members_keep_places();
  bool leaves_members_their_places(const VictimUnit& unit);
  std::span<const PodOnNode> members_on(NodeIndex node) const;
  bool breaks_strict_budget() const;
  std::optional<GroupCandidate> reduced(std::span<const PodOnNode> places,
                                        std::span<const PodIndex> victims, bool fill);
  std::optional<GroupCandidate> finish(bool fill);
  std::optional<GroupCandidate> candidate();

  World& world_;
  PlanningRules planning_;
  const GroupTask& task_;
  const GroupDomain& domain_;
  MemberFits& fits_;
  std::int32_t priority_ = 0;
  EmptiedNodes& emptied_;
  GroupPlacer placer_;
  bool lazy_ = false;  ///< Nodes without a member need not be emptied.
  std::unique_ptr<PlanningVariant> counting_;
  Scratch::Checkpoint start_;
  std::vector<PodIndex> kept_;         ///< No potential victims from the start.
  VictimList list_;                    ///< That left, most important first.
  std::vector<std::uint8_t> evicted_;  ///< By place in `list_.units`.
  std::vector<PodIndex> members_;      ///< In the order in which they are placed.
  std::vector<PodOnNode> places_;
  std::vector<PodOnNode> by_node_;  ///< The places, by node.
  std::optional<PodIndex> without_place_;
  bool proven_ = false;
  std::vector<std::string> bounds_reached_;
  StepMeter steps_;
  bool out_of_steps_ = false;
};

}  // namespace makeway
