// Sessions over random clusters (SPEC section 6): lawful, deterministic, as a naive oracle chooses,
// and over time nothing is lost.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "engine/check_plan.hpp"
#include "model/validation.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_sessions.hpp"

namespace makeway {
namespace {

Plan plan_for(const Cluster& cluster, const Configuration& configuration, bool explain = false) {
  Decision decision = decide(cluster, configuration,
                             {.now = planning_now,
                              .preset = "random",
                              .ask = std::nullopt,
                              .placements = {},
                              .explain = explain});
  return *std::move(decision.plan);
}

bool expect_lawful(const Cluster& cluster, const Configuration& configuration, const Plan& plan) {
  const std::vector<LawBreach> breaches = check_plan(cluster, configuration, plan);
  for (const LawBreach& breach : breaches) {
    ADD_FAILURE() << "law " << breach.law << ", " << breach.ask << ": " << breach.text;
  }
  if (!breaches.empty()) {
    ADD_FAILURE() << canonical_text(configuration) << "\n" << dump(cluster, DumpFormat::yaml);
  }
  return breaches.empty();
}

std::string json(const Plan& plan) {
  return plan_text_json(plan, PlanDetail::with_explanation, JsonStyle::compact);
}

TEST(SessionProperties, KeepTheLaws) {
  std::size_t preempts = 0;
  std::size_t fits = 0;
  std::size_t victims = 0;
  for_each_case("sessions: keep the laws", [&](Prng& random) {
    const RandomSessions options = random_sessions_options(random);
    const Cluster cluster = cluster_of(random_sessions(random, options));
    const Configuration configuration = random_session_configuration(random);
    const Plan plan = plan_for(cluster, configuration);
    expect_lawful(cluster, configuration, plan);
    for (const PlanAsk& ask : plan.asks) {
      if (!ask.session) continue;
      if (ask.outcome == Outcome::preempts) ++preempts;
      if (ask.outcome == Outcome::fits) ++fits;
      victims += ask.victims.size();
    }
  });
  fmt::print("{} sessions fit, {} preempt {}\n", fits, preempts, victims);
}

TEST(SessionProperties, TheOrderOfTheInputAndExplainingChangeNothing) {
  for_each_case("sessions: order of the input", [](Prng& random) {
    std::vector<Change> objects = random_sessions(random, random_sessions_options(random));
    const Configuration configuration = random_session_configuration(random);
    const Plan plan = plan_for(cluster_of(objects), configuration, true);
    const Plan quiet = plan_for(cluster_of(objects), configuration);
    random.shuffle(objects);
    EXPECT_EQ(json(plan), json(plan_for(cluster_of(objects, false), configuration, true)));
    EXPECT_EQ(plan.actions, quiet.actions);
    EXPECT_EQ(plan.id, quiet.id);
  });
}

}  // namespace
}  // namespace makeway
