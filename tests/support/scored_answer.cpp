#include "support/scored_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/naive_score.hpp"

namespace makeway {

std::size_t open_members(const Cluster& cluster, GroupIndex group) {
  const PodColumns& pods = cluster.pods();
  const auto count = std::ranges::count_if(cluster.groups()[group].members, [&](PodIndex pod) {
    return !pods.node[pod].exists() && pods.deletion[pod] == no_time;
  });
  return static_cast<std::size_t>(count);
}

ScoredAnswer cost_of(const Cluster& cluster, const Configuration& rules, const PlanAsk& ask,
                     Time now) {
  if (ask.outcome == Outcome::fits || ask.outcome == Outcome::waits) {
    return {.kind = CostKind::no_victims, .score = {}};
  }
  if (ask.outcome != Outcome::preempts) return {};
  std::vector<PodIndex> victims;
  victims.reserve(ask.victims.size());
  for (const PlanVictim& victim : ask.victims) {
    victims.push_back(*cluster.find_pod(victim.namespace_name, victim.name));
  }
  ScoreTerms score = NaiveScore(cluster, rules, now).score(victims);
  const GroupIndex group = *cluster.find_group(ask.namespace_name, ask.name);
  for (ScoreTerm& term : score) {
    const bool counts = rules.workload.evict_for == EvictFor::all;
    if (term.key != ScoreKey::members_not_placed || !counts) continue;
    term.value = static_cast<std::int64_t>(open_members(cluster, group) - ask.placements.size());
  }
  return {.kind = CostKind::victims, .score = std::move(score)};
}

ScoredAnswer cost_of(const BruteGroupAnswer& answer) {
  switch (answer.verdict) {
    case BruteVerdict::fits:
    case BruteVerdict::waits: return {.kind = CostKind::no_victims, .score = {}};
    case BruteVerdict::preempts: return {.kind = CostKind::victims, .score = answer.score};
    case BruteVerdict::nothing:
    case BruteVerdict::unknown: return {};
  }
  return {};
}

int compared(const ScoredAnswer& a, const ScoredAnswer& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  return compared(a.score, b.score);
}

std::string decided_on(const ScoredAnswer& a, const ScoredAnswer& b) {
  if (a.kind != b.kind) {
    const bool missing = a.kind == CostKind::no_plan || b.kind == CostKind::no_plan;
    return missing ? "no plan" : "no eviction is needed";
  }
  const auto at = std::ranges::mismatch(a.score, b.score).in1;
  return at == a.score.end() ? "equal" : std::string(choice_name(at->key));
}

std::string text(const ScoredAnswer& cost) {
  if (cost.kind == CostKind::no_victims) return "no eviction is needed";
  if (cost.kind == CostKind::no_plan) return "no plan";
  std::string result;
  for (const ScoreTerm& term : cost.score) {
    result += fmt::format(" {}={}", choice_name(term.key), term.value);
  }
  return result;
}

std::string places_and_victims(const PlanAsk& ask) {
  std::string result(choice_name(ask.outcome));
  for (const PodPlacement& place : ask.placements) {
    result += fmt::format(" {}->{}", place.name, place.node);
  }
  for (const PlanVictim& victim : ask.victims) {
    result += fmt::format(" -{}/{}", victim.namespace_name, victim.name);
  }
  return result;
}

}  // namespace makeway
