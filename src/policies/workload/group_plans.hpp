// GroupPlans: several plans for one group, and the best of them on the score.
//
// In each domain, in this order:
//  1. as configured (group_search.hpp); with `workload.startFromSimplePlans` also without touching
//     anybody whose loss would violate a budget, with the smallest members first where not all are
//     needed, and as kube-scheduler and KEP-5710 would plan (group_manner.hpp). So the answer is
//     never worse than a plan of theirs that keeps the laws.
//  2. with `workload.placementGuide` victims, in places chosen for who would have to leave, with
//     nobody gone above the highest priority that the best plan so far needs: by counts
//     (victim_guide.hpp), and member by member (member_by_member.hpp) where pods elsewhere matter
//     or the ask is small; then with each victim of the best plan kept in turn, and with detours.
//     `workload.placementsMax` bounds how many.
//  3. the best plan so far, with the best victims on each of its nodes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policies/workload/group_search.hpp"

namespace makeway {

class GroupPlans {
 public:
  GroupPlans(Cycle& cycle, const GroupTask& task, MemberFits& fits);

  void search(const GroupDomain& domain);

  const std::optional<GroupCandidate>& best() const { return best_; }
  const std::optional<GroupCandidate>& runner_up() const { return runner_up_; }

  std::int64_t potential_victims() const { return potential_victims_; }
  const std::vector<std::string>& bounds_reached() const { return bounds_reached_; }

  /// When nothing was found: whether that proves that there is nothing, and why.
  bool proven() const { return proven_; }
  std::optional<PodIndex> without_place() const;
  void add_refusals(RefusalTally& tally);

 private:
  bool consider(std::optional<GroupCandidate> found);
  void plan_simply(const GroupDomain& domain, GroupSearch& search);
  void adopt_plan_of(const GroupManner& manner, const GroupDomain& domain, GroupSearch& search);
  void plan_for_victims(const GroupDomain& domain, GroupSearch& search);
  void keep_each_victim(GroupSearch& search);
  void take_detours(GroupSearch& search);
  GroupSearch::Guide guide() const;
  GroupManner as_kube_scheduler();
  GroupManner as_kep();

  Cycle& cycle_;
  const GroupTask& task_;
  MemberFits& fits_;
  std::unique_ptr<SimpleManner> kube_;
  std::unique_ptr<SimpleManner> kep_;
  std::vector<PodIndex> leaving_;  ///< Pods whose room is credited.
  std::optional<GroupCandidate> best_;
  std::optional<GroupCandidate> runner_up_;
  std::vector<std::unique_ptr<GroupSearch>> failed_;  ///< As long as nothing is found.
  std::int64_t potential_victims_ = 0;
  std::vector<std::string> bounds_reached_;
  bool proven_ = true;
  std::int64_t placements_left_ = 0;
};

}  // namespace makeway
