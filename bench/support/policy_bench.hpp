// What the benchmarks of the policies share: one decision for all pending asks, judged before a
// time is taken, then the times of `decide` (without explanations) and of the judge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "bench/support/measure.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway::bench {

struct JudgedDecision {
  PlanRequest request;
  Plan plan;
  std::vector<LawBreach> breaches;
};

JudgedDecision decide_judged(const Cluster& cluster, const Configuration& configuration, Time now);

struct DecisionTimes {
  Times decide;
  Times check;
};

/// Every repetition must give the same plan again.
DecisionTimes time_decision(const Cluster& cluster, const Configuration& configuration,
                            const JudgedDecision& judged);

/// `what`, the times, the target (0: none) and whether the answer is right, on one line; the first
/// law that is broken on the next.
void print_result(std::string_view what, const DecisionTimes& times, double target_us, bool right,
                  const JudgedDecision& judged);

/// The exit status: every case whose name contains the first argument is measured, and was right.
template <class Cases, class NameOf, class Measure>
int run_cases(int argc, char** argv, const Cases& cases, const NameOf& name_of,
              const Measure& measure) {
  const std::string only = argc > 1 ? argv[1] : "";
  bool right = true;
  for (const auto& item : cases) {
    if (std::string(name_of(item)).contains(only)) right = measure(item) && right;
  }
  return right ? 0 : 1;
}

}  // namespace makeway::bench
