// From a cluster to a plan that keeps the laws: decide, judge, contain (SPEC section 1, law 14).
//
//  1. `decide` makes a plan. An ask inside whose decision a CHECK failed is left out by it. A named
//     object that cannot ask ends it; with `keep_going` the others are decided without it, its
//     problem is reported, and the condition of its pod or group says it as well (law 13).
//  2. `check` judges it. Lawful: that is the plan.
//  3. Otherwise all asks that the breaches name are left out, and the cycle is decided afresh, at
//     most three times. A breach of the queue stage leaves out that stage.
//  4. Still unlawful, no new ask is named, or something failed outside of any ask: an empty plan
//     that says why it is withheld.
// Without `contain` the first breach is the end, and a failed CHECK stops the process: tests and
// debug builds hide no bug.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/check_plan.hpp"
#include "model/request.hpp"

namespace makeway {

/// What a plan is made with; tests put something else in their place.
struct PlanTools {
  std::function<Decision(const Cluster&, const Configuration&, const PlanRequest&)> decide;
  std::function<std::vector<LawBreach>(const Cluster&, const Configuration&, const Plan&)> check;
  std::function<std::string(const Plan&)> identify;  ///< The plan's id, from everything else in it.
  std::function<std::int64_t()> microseconds;        ///< Of a clock that only goes forward.
  bool contain = false;
  /// Law 13, in a live run: a named object that cannot ask does not stop the others. Else it is an
  /// error of the caller.
  bool keep_going = false;
};

/// A plan that was not handed out.
struct RefusedPlan {
  std::string id;
  std::vector<LawBreach> breaches;
  Plan plan;
};

struct LawfulPlan {
  std::optional<Plan> plan;          ///< None: see `problems`; without `contain` also `refused`.
  Problems problems;                 ///< Of what was asked for; with a plan, of what cannot ask.
  std::optional<Time> recheck_at;    ///< See Decision.
  std::vector<RefusedPlan> refused;  ///< In the order in which they were made.
  std::int64_t decide_us = 0;
  std::int64_t check_us = 0;

  /// Makeway has a bug.
  bool shows_bug() const;
};

bool is_left_out(const std::vector<PlanLeftOut>& left_out, const AskName& ask);

LawfulPlan make_lawful_plan(const Cluster& cluster, const Configuration& configuration,
                            const PlanRequest& request, const PlanTools& tools);

}  // namespace makeway
