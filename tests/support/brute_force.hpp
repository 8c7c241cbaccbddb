// brute_force: the best victims for one pod, by trying every node and every set of units there.
//
// The oracle of the search for single pods (SPEC section 2): feasibility is the judge's (NaiveFit
// in a NaiveWorld, nominations as check_plan sees them), the score is NaiveScore's; no code of the
// search is used. A set counts when
//   - the ask fits once these units, and all leaving pods whose room is credited, are gone;
//   - beside any single one of them it does not (law 4);
//   - each unit has lower priority, is not leaving already and not protected (law 2, law 6);
//   - with strict budgets, no budget loses more pods than it allows.
// Units of a node are the pods on it, members of `single` groups one by one, and `all` groups with
// a pod that can leave there, with all their pods wherever they run.
//
// Only for the default rules: no cascades, no waived law 4, `nominationHeldBy: placement`,
// put-backs until stable, no `preemptionDelay`, `belowMinimum: keep`. 2^units sets for each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "judge/check_plan.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

enum class BruteVerdict : std::uint8_t {
  fits,      ///< On some node at once.
  waits,     ///< On some node once the leaving pods are gone.
  preempts,  ///< Some set of victims makes room.
  nothing,   ///< No set does.
  unknown,   ///< Some node has more units than can be tried.
};

struct BrutePlace {
  NodeIndex node;
  std::vector<PodIndex> victims;  ///< Sorted by index.
};

struct BruteAnswer {
  BruteVerdict verdict = BruteVerdict::nothing;
  ScoreTerms score;                ///< The best one; only for `preempts`.
  std::vector<BrutePlace> places;  ///< All that attain it, by name of the node.
};

inline constexpr std::size_t brute_units_max = 10;

BruteAnswer brute_force(const Cluster& cluster, const Configuration& configuration, PodIndex ask,
                        Time now);

/// The first law that an ask would break which goes to that place for those victims, by
/// check_plan; none: it keeps them. Law 9, how a plan is written down, is not asked about.
std::optional<LawBreach> breach_of(const Cluster& cluster, const Configuration& configuration,
                                   PodIndex ask, const BrutePlace& place, Time now);
/// The same of a whole plan.
std::optional<LawBreach> breach_of(const Cluster& cluster, const Configuration& configuration,
                                   const Plan& plan);

/// As they would stand in a plan, without their causes.
std::vector<PlanVictim> plan_victims(const Cluster& cluster, const Configuration& configuration,
                                     const std::vector<PodIndex>& pods, Time now);

}  // namespace makeway
