// The words of an answer to a pod: reasons, causes, alternatives. Built from what the search saw.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/shared/cluster_text.hpp"
#include "policies/workload/victim_search.hpp"

namespace makeway {

Reason fits_reason(const PlanAsk& ask);

/// Why an ask has no place.
enum class Unplaced : std::uint8_t { proven, unproven, never, unsupported };
/// `domain`: where its group has to stay, if it has to stay somewhere.
Reason nothing_reason(const PlanAsk& ask, Unplaced why, std::string_view domain);

/// Names, on the example node of each refusal, the pods that hold what is short and cannot leave.
void explain_holders(World& world, PodIndex pod, PlanAsk& ask);

/// Names, for each refusal because of a claim that one pod at a time may use, the pod that uses it.
void explain_claim_users(World& world, PlanAsk& ask);

/// What holds for all victims of an ask.
struct VictimCause {
  ReasonCode rule = ReasonCode::pod_rule;
  Reason alternative;               ///< What the plan was compared with.
  Reason key;                       ///< What decided.
  bool budgets_by_victims = false;  ///< Violations are counted over the victims themselves.
};
void explain_victims(World& world, const VictimList& victims, const VictimCause& cause,
                     PlanAsk& ask);
/// The first key on which they differ, else "name".
Reason decided_on(const ScoreTerms& loser, const ScoreTerms& winner);
PlanAlternative alternative_of(const Cluster& cluster, std::string where, const ScoreTerms& score,
                               const VictimList& victims, const ScoreTerms& chosen);
void explain_spared(World& world, std::span<const VictimUnit> spared, std::size_t victims,
                    PlanExplanation& explanation);

/// No other node would do: why its victims leave and not this one on the same node.
void explain_instead(const World& world, PodIndex other, const ScoreTerms& chosen,
                     const ScoreTerms& score, PlanAsk& ask);

/// Victims with their causes, the spared, the alternatives and the reason. `best` comes best first
/// and is not empty.
void explain_candidates(World& world, std::span<const Candidate> best, PlanAsk& ask);

}  // namespace makeway
