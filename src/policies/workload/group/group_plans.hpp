// GroupPlans: several plans for one group, and the best of them on the score.
//
// In each domain, in this order:
//  1. as configured (group_search.hpp); with `workload.startFromSimplePlans` also without touching
//     any pod whose loss would violate a budget, with the smallest members first where not all are
//     needed, and as kube-scheduler and KEP-5710 would plan, by replays of their bundles
//     (model/compatibility.hpp). So the answer is never worse than a plan of theirs that keeps the
//     laws.
//  2. with `workload.placementGuide` victims, in places chosen by what would have to leave, with
//     no pod gone above the highest priority that the best plan so far needs: by counts
//     (victim_guide.hpp), and member by member (member_by_member.hpp) where pods elsewhere matter
//     or the ask is small; then with each victim of the best plan kept in turn, and with detours
//     (`workload.placementsMax` bounds how many), and with those gone that close a zone to members.
//  3. the best plan so far, with the best victims on each of its nodes; then as long as one member
//     elsewhere makes it better (plan_moves.hpp).
//
// Domains come in the order of what sums promise, and those that cannot beat the best plan so far
// are left out. Of equal plans the one in the first domain wins.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policies/shared/draft.hpp"
#include "policies/workload/cascades.hpp"
#include "policies/workload/group/group_search.hpp"

namespace makeway {

class GroupPlans {
 public:
  GroupPlans(const Draft& draft, const GroupTask& task, MemberFits& fits);

  /// The domains stay where they are.
  void search(std::span<const GroupDomain> domains);

  const std::optional<GroupCandidate>& best() const { return best_; }
  const std::optional<GroupCandidate>& runner_up() const { return runner_up_; }

  std::int64_t potential_victims() const { return potential_victims_; }
  const std::vector<std::string>& bounds_reached() const { return bounds_reached_; }

  /// When nothing was found: whether that proves that there is nothing, and why.
  bool proven() const { return proven_; }
  std::optional<PodIndex> without_place() const;
  void add_refusals(RefusalTally& tally);

 private:
  /// A domain and what is known about it.
  struct Place {
    const GroupDomain* domain = nullptr;
    std::unique_ptr<EmptiedNodes> emptied;
    std::unique_ptr<GroupSearch> search;
    std::int32_t floor = 0;  ///< See GroupSearch::least_highest_priority.
  };

  Place place_of(const GroupDomain& domain);
  void search(Place& place);
  void start_from_whole_cluster(std::span<const GroupDomain> domains);
  bool infeasible(const Place& place) const;
  void list_spared();
  bool consider(std::optional<GroupCandidate> found);
  bool follow(GroupCandidate& found);
  bool small_members_may_do() const;
  void plan_simply(Place& place);
  std::optional<GroupCandidate> plan_of(const PlanningRules& planning, Place& place,
                                        bool only_better = true);
  void find_runner_up();
  void plan_for_victims(Place& place);
  void lower_highest_priority(GroupSearch& search);
  void keep_each_victim(GroupSearch& search);
  void move_members(GroupSearch& search, std::size_t nodes);
  void take_detours(GroupSearch& search);
  GroupSearch::Guide guide() const;
  const std::vector<PlanningRules>& replays();

  bool explain_;
  World& world_;
  const GroupTask& task_;
  MemberFits& fits_;
  std::vector<std::unique_ptr<PlanningVariant>> variants_;  ///< Made when first needed.
  std::vector<PlanningRules> replays_;                      ///< The same.
  std::vector<PodIndex> leaving_;                           ///< Pods whose room is credited.
  bool one_priority_each_ = true;     ///< No unit's preemption priority differs.
  std::optional<Cascades> cascades_;  ///< None: they do not count.
  std::optional<GroupCandidate> best_;
  std::optional<GroupCandidate> runner_up_;
  std::vector<Place> places_;
  std::int64_t potential_victims_ = 0;
  std::vector<std::string> bounds_reached_;
  bool proven_ = true;
  std::int64_t placements_left_ = 0;
  std::int64_t looks_ = 0;  ///< Of placements member by member, in all domains so far.
};

}  // namespace makeway
