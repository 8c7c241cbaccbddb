// A plan for people: which asks get a place, which pods must leave for it, and why.
//
// A plan with a few asks is shown ask by ask, and ends with the totals. A large one begins with a
// summary that fits on one screen. Equal replicas are shown together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/result.hpp"
#include "cli/terminal.hpp"
#include "codec/workloads/workloads.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

// PlanFilter: which asks of a plan the text shows. The plan itself is the same.
//
// An ask is shown when it meets all that is asked for. A namespace, node or queue is met by the ask
// itself (its name, place, reservation, queue), by one of its victims, or by a pod that it waits
// for: the text then shows everything that happens there.

struct PlanFilter {
  std::vector<Outcome> outcomes;  ///< None: all of them.
  std::string namespace_name;     ///< Empty: all; so with the others.
  std::string node;
  std::string queue;

  bool any() const {
    return !outcomes.empty() || !namespace_name.empty() || !node.empty() || !queue.empty();
  }
};

/// "infeasible,waits" -> the outcomes; the error says what was expected.
Result<std::vector<Outcome>> parse_outcomes(std::string_view text);

/// A node, namespace or queue that is not there, with what could have been meant.
Problems filter_problems(const PlanFilter& filter, const Cluster& cluster);

/// "outcome infeasible, namespace shop"
std::string filter_text(const PlanFilter& filter);

/// In the order of the plan.
std::vector<const PlanAsk*> filtered(const Plan& plan, const PlanFilter& filter,
                                     const Cluster& cluster, const Configuration& configuration);

/// The bound of all searches of a plan together; shown for the plan, not for each ask.
inline constexpr std::string_view plan_bound = "engine.planStepsMax";

/// Law 13: how the reason of a pod begins that is not placed because of its own mistakes.
inline constexpr std::string_view quarantined_reason = "in quarantine: ";
inline bool is_quarantined(const PlanAsk& ask) {
  return ask.reason.starts_with(quarantined_reason);
}

struct PlanTextOptions {
  bool explain = false;
  bool time_is_known = true;  ///< False: neither --now nor an object gives the time.
  Palette palette{false};
  bool summary_only = false;
  PlanFilter filter;
  /// Of the plan: for owners and queues. Null: they are not shown, and there is no filter.
  const Cluster* cluster = nullptr;
  const ReplicaSetOwners* replica_sets = nullptr;  ///< Null: nothing is known of them.
  const Configuration* configuration = nullptr;
};

class Parties;

std::string plan_text(const Plan& plan, const PlanTextOptions& options);

/// "Plan: 3 asks: 1 fits, 1 preempts 2 pods, 1 is infeasible."
std::string totals_text(const Plan& plan);
/// "1.5 pod-hours, 12.0 GPU-hours"; nothing when nothing is lost.
std::string cost_text(const PlanCost& cost);
/// How many pods or sessions must leave for the ask, as the totals count them.
std::uint64_t victim_count(const PlanAsk& ask);
/// How many pods are force-deleted for the ask.
std::uint64_t force_deleted(const PlanAsk& ask);
/// Whether the ask has victims of any kind.
bool needs_victims(const PlanAsk& ask);

/// Each with its heading and all that is to be said about it.
std::string asks_text(const Plan& plan, std::span<const PlanAsk* const> asks,
                      const Parties& parties, const PlanTextOptions& options);

/// The queue stage, with an empty line behind it; empty without queues.
std::string queues_text(const Plan& plan, const PlanTextOptions& options);

/// Of a pinned pod; empty for others. The ladder and the candidates only where that is asked for.
std::string reservation_text(const PlanAsk& ask, Time now, const PlanTextOptions& options);

/// Everything below the heading of an ask for replicas.
std::string replicas_text(const PlanAsk& ask, const PlanTextOptions& options);
/// The victims of a session, and what becomes of each.
std::string session_victims_table(const PlanAsk& ask, const Palette& palette);
/// Each resource group with its pending, running, leaving and returning sessions.
std::string resource_groups_text(const Plan& plan, const Palette& palette);

/// What becomes of each deployment and plane, all asks together; empty: nothing is scaled.
std::string net_schedule_text(const Plan& plan, const Palette& palette);
/// Which nodes do not do for the ask, and why.
std::string refusals_text(const PlanAsk& ask);
/// What --explain adds below an ask.
std::string explanation_text(const PlanAsk& ask, const Palette& palette);

}  // namespace makeway::cli
