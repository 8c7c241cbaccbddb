// A plan for people: who gets a place, who must leave for it, and why.
#pragma once

#include <cstdint>
#include <string>

#include "cli/palette.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct PlanTextOptions {
  bool explain = false;
  bool time_is_known = true;  ///< False: nobody said what time it is, and no object did.
  Palette palette{false};
};

std::string plan_text(const Plan& plan, const PlanTextOptions& options);

/// "Plan: 3 asks: 1 fits, 1 preempts 2 pods, 1 is infeasible."
std::string totals_text(const Plan& plan);
/// How many pods are force-deleted for the ask.
std::uint64_t force_deleted(const PlanAsk& ask);
/// Whether anything is done to anybody for the ask.
bool needs_victims(const PlanAsk& ask);

/// The queue stage, with an empty line behind it; empty without queues. plan_queues.cpp.
std::string queues_text(const Plan& plan, const PlanTextOptions& options);

/// Of a pinned pod; empty for others. The ladder and the candidates only where that is asked for.
std::string reservation_text(const PlanAsk& ask, Time now, const PlanTextOptions& options);

/// Everything below the heading of an ask for replicas; plan_replica.cpp.
std::string replicas_text(const PlanAsk& ask, const PlanTextOptions& options);
/// Who leaves for a session, and what becomes of each; plan_session.cpp.
std::string session_victims_table(const PlanAsk& ask, const Palette& palette);
/// Each resource group with its sessions: who is pending, runs, goes and comes back.
std::string resource_groups_text(const Plan& plan, const Palette& palette);

/// What becomes of each deployment and plane, all asks together; empty: nothing is scaled.
std::string net_schedule_text(const Plan& plan, const Palette& palette);
/// Which nodes do not do for the ask, and why; plan_explanation.cpp.
std::string refusals_text(const PlanAsk& ask);
/// What --explain adds below an ask; plan_explanation.cpp.
std::string explanation_text(const PlanAsk& ask, const Palette& palette);

}  // namespace makeway::cli
