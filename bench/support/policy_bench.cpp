#include "bench/support/policy_bench.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace makeway::bench {

JudgedDecision decide_judged(const Cluster& cluster, const Configuration& configuration, Time now) {
  JudgedDecision judged{
      .request = {.now = now, .preset = "bench", .asks = {}, .placements = {}, .explain = false},
      .plan = {},
      .breaches = {},
  };
  judged.plan = *decide(cluster, configuration, judged.request).plan;
  judged.breaches = check_plan(cluster, configuration, judged.plan);
  return judged;
}

DecisionTimes time_decision(const Cluster& cluster, const Configuration& configuration,
                            const JudgedDecision& judged) {
  return {
      .decide = time_of(0,
                        [&] {
                          const Decision again = decide(cluster, configuration, judged.request);
                          CHECK(again.plan->id == judged.plan.id);
                        }),
      .check = time_of(0,
                       [&] {
                         const auto breaches = check_plan(cluster, configuration, judged.plan);
                         CHECK(breaches.size() == judged.breaches.size());
                       }),
  };
}

void print_result(std::string_view what, const DecisionTimes& times, double target_us, bool right,
                  const JudgedDecision& judged) {
  fmt::print("{}  decide {:10.1f} us (fastest {:10.1f})  check {:10.1f} us  {}{}\n", what,
             times.decide.median_us, times.decide.fastest_us, times.check.median_us,
             target_us > 0 ? target_text(target_us, times.decide.median_us) + " " : "",
             right ? "answer checked" : "WRONG ANSWER");
  if (judged.breaches.empty()) return;
  const LawBreach& first = judged.breaches.front();
  fmt::print("  law {}, {}: {}\n", first.law, first.ask, first.text);
}

}  // namespace makeway::bench
