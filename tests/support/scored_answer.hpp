// ScoredAnswer: what an answer for a group costs, by the keys of given rules, so that answers of
// different planners compare. Scored by NaiveScore, whatever the planner said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "support/brute_force_group.hpp"

namespace makeway {

enum class CostKind : std::uint8_t {
  no_victims,  ///< It fits, or waits for leaving pods.
  victims,     ///< See the score.
  no_plan,
};

struct ScoredAnswer {
  CostKind kind = CostKind::no_plan;
  ScoreTerms score;
};

/// Pending members that want a place.
std::size_t open_members(const Cluster& cluster, GroupIndex group);

ScoredAnswer cost_of(const Cluster& cluster, const Configuration& rules, const PlanAsk& ask,
                     Time now);
ScoredAnswer cost_of(const BruteGroupAnswer& answer);

/// Negative: the first is better.
int compared(const ScoredAnswer& a, const ScoredAnswer& b);
/// What decides between them: a key of the score, or "no plan", "no eviction is needed" of the
/// kinds that one of them is; "equal".
std::string decided_on(const ScoredAnswer& a, const ScoredAnswer& b);
std::string text(const ScoredAnswer& cost);
/// "preempts web-0->node-1 -default/low"
std::string places_and_victims(const PlanAsk& ask);

}  // namespace makeway
