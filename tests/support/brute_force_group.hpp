// brute_force_group: the best plan for one pending group, by trying every set of victims.
//
// The oracle of the search for groups (SPEC section 2): places are MemberPlaces', the score is
// NaiveScore's; no code of the search is used. What is tried:
//   - every domain: each one of the group's topology keys, or the whole cluster. Members that stay
//     fix it; a group that is `torn` apart already is `unknown`: there is no rule for it.
//   - there, every set of units that may leave: of lower priority, not leaving, not protected, with
//     a pod in the domain, not of the ask; with strict budgets, within them. Members of `single`
//     groups leave one by one, `all` groups whole wherever they run; with `belowMinimum: evict` a
//     gang that falls under its minimum goes whole if all of it may leave.
//   - for each set, every way to place members: with `evictFor: minimum` as many as the group
//     needs, with `all` as many as have a place, and never fewer than it needs. Where a gang's
//     minimum runs already, `minimum` evicts no pod.
// A group of which as many fit as it needs, now or once the leaving pods are gone, gets no victims
// (laws 1 and 6), whatever `evictFor` says.
//
// Only the score is unique: of several plans that attain it, any one is the answer. It needs no
// reducing (law 4): a set that could do without a unit is worse than the set without it.
//
// Only for the keys of preset `makeway` in its order up to `victims` (others would have to be tried
// with law 4), no cascades, no `preemptionDelay`. Where pods are governed by three budgets at once
// a larger set can violate fewer of them: `unknown`.
#pragma once

#include <cstddef>
#include <vector>

#include "support/brute_force.hpp"
#include "support/member_places.hpp"

namespace makeway {

struct BruteGroupAnswer {
  /// `fits` and `waits` both mean that no victim is needed.
  BruteVerdict verdict = BruteVerdict::nothing;
  ScoreTerms score;                 ///< The best one; only for `preempts`.
  std::vector<MemberPlace> places;  ///< Of the members that count; more may fit beside them.
  std::vector<PodIndex> victims;    ///< Sorted by index.
  std::size_t needed = 0;           ///< Members that must get a place.
  std::size_t open = 0;             ///< Members that want one.
  bool torn = false;                ///< Those that stay are in several domains, or outside of all.
};

inline constexpr std::size_t brute_group_units_max = 12;

BruteGroupAnswer brute_force_group(const Cluster& cluster, const Configuration& configuration,
                                   GroupIndex group, Time now);

/// As it would stand in a plan, to be shown and to be judged by check_plan. Law 9, how a plan is
/// written down, it does not keep.
Plan plan_of(const Cluster& cluster, const Configuration& configuration, GroupIndex group,
             const BruteGroupAnswer& answer, Time now);

}  // namespace makeway
