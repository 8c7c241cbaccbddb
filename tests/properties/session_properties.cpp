// Sessions over random clusters (SPEC section 6): lawful, deterministic, as a naive oracle chooses,
// and over time nothing is lost.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "model/validation/validation.hpp"
#include "policies/decide.hpp"
#include "support/naive_sessions.hpp"
#include "support/property.hpp"
#include "support/random_sessions.hpp"
#include "support/session_history.hpp"

namespace makeway::session_properties {
namespace {

Plan plan_for(const Cluster& cluster, const Configuration& configuration, bool explain = false) {
  Decision decision = decide(
      cluster, configuration,
      {.now = planning_now, .preset = "random", .asks = {}, .placements = {}, .explain = explain});
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
  if (property_cases() >= 1000) {
    EXPECT_GT(preempts * 10, property_cases()) << "too few sessions preempt";
  }
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
    EXPECT_EQ(plan_identity(plan), plan_identity(quiet));
  });
}

// ---- The oracle ---------------------------------------------------------------------------------

bool alike(const std::vector<Kernel>& kernels) {
  return std::ranges::all_of(
      kernels, [&](const Kernel& kernel) { return kernel.requests == kernels.front().requests; });
}

/// `fewest` with kernels that differ: how many sessions more than the fewest of all sets.
class FewestTally {
 public:
  void add(std::size_t more) { ++cases_[more]; }

  void judge() const {
    std::uint64_t all = 0;
    for (const auto& [more, count] : cases_) all += count;
    const std::uint64_t exact = cases_.contains(0) ? cases_.at(0) : 0;
    fmt::print("fewest with kernels that differ: {} of {} are the fewest", exact, all);
    for (const auto& [more, count] : cases_) {
      if (more > 0) fmt::print(", {} take {} more", count, more);
    }
    fmt::print("\n");
    if (all < 20) return;
    EXPECT_GE(exact * 100, all * 80) << "too many take more than the fewest";
    EXPECT_LE(cases_.rbegin()->first, 2U) << "far more than the fewest";
  }

 private:
  std::map<std::size_t, std::uint64_t> cases_;  ///< By how many more.
};

TEST(SessionProperties, VictimsAreThoseOfTheOracle) {
  std::size_t preempts = 0;
  std::size_t several = 0;
  Skips too_many;
  for_each_case("sessions: victims of the oracle", [&](Prng& random) {
    RandomSessions options = random_sessions_options(random);
    options.groups = 1;
    options.pending = 1;
    options.pods = false;
    options.past = false;
    options.nominated = false;
    options.nodes = std::min<std::size_t>(options.nodes, 4);
    options.running = std::min<std::size_t>(options.running, 9);
    const Cluster cluster = cluster_of(random_sessions(random, options));
    Configuration configuration = random_session_configuration(random);
    configuration.engine.preemption_delay = {};
    const Plan plan = plan_for(cluster, configuration);
    const PlanAsk& ask = plan.asks.front();
    const Session& session = cluster.own<Session>().at({ask.namespace_name, ask.name});
    const NaiveSessionAnswer naive = naive_session(cluster, configuration, session, planning_now);
    if (naive.too_many) return too_many.add();
    std::set<std::string> victims;
    for (const PlanVictim& victim : ask.victims) {
      victims.insert(victim.namespace_name + "/" + victim.name);
    }
    EXPECT_EQ(choice_name(ask.outcome), choice_name(naive.outcome)) << ask.reason;
    const ResourceGroup& group =
        cluster.own<ResourceGroup>().at({std::string(), session.resource_group});
    const bool fewest = group.preemption_order.value_or(configuration.session.preemption_order) ==
                        PreemptionOrder::fewest;
    if (!fewest) {
      EXPECT_EQ(victims, naive.victims) << dump(cluster, DumpFormat::yaml);
    } else if (alike(session.kernels)) {
      EXPECT_EQ(victims.size(), naive.victims.size()) << dump(cluster, DumpFormat::yaml);
    }
    if (ask.outcome == Outcome::preempts) ++preempts;
    if (victims.size() > 1) ++several;
  });
  fmt::print("{} asks preempt, {} of them several sessions\n", preempts, several);
  too_many.expect_at_most(5, "have too many candidates to try every set");
}

/// Only the ask has more than one kernel, and every session may leave for it.
std::vector<Change> case_of_unlike_kernels(Prng& random) {
  RandomSessions options;
  options.nodes = 2 + random.below(2);
  options.running = 9;
  options.pending = 1;
  std::vector<Change> objects = random_sessions(random, options);
  for (Change& object : objects) {
    if (ResourceGroup* const group = std::get_if<ResourceGroup>(&object)) {
      group->preemption_order = PreemptionOrder::fewest;
      group->preemptible_priority = 50;
    }
    Session* const session = std::get_if<Session>(&object);
    if (session == nullptr) continue;
    session->priority = session->status.phase == SessionPhase::pending ? 90 : 1;
    if (session->status.phase != SessionPhase::pending) continue;
    session->kernels.clear();
    const std::size_t kernels = 2 + random.below(2);
    for (std::size_t number = 0; number < kernels; ++number) {
      session->kernels.push_back({.name = fmt::format("k{}", number),
                                  .requests = {{"nvidia.com/gpu", random.between(1, 3)}}});
    }
  }
  return objects;
}

TEST(SessionProperties, NearlyTheFewestLeaveForKernelsThatDiffer) {
  Skips others;
  FewestTally tally;
  for_each_case("sessions: the fewest for kernels that differ", [&](Prng& random) {
    const Cluster cluster = cluster_of(case_of_unlike_kernels(random));
    const Configuration configuration = *load_preset(default_preset);
    const Plan plan = plan_for(cluster, configuration);
    const PlanAsk& ask = plan.asks.front();
    const Session& session = cluster.own<Session>().at({ask.namespace_name, ask.name});
    if (ask.outcome != Outcome::preempts || alike(session.kernels)) return others.add();
    const NaiveSessionAnswer naive = naive_session(cluster, configuration, session, planning_now);
    ASSERT_GE(ask.victims.size(), naive.victims.size()) << dump(cluster, DumpFormat::yaml);
    tally.add(ask.victims.size() - naive.victims.size());
  });
  others.expect_at_most(80, "fit, cannot be helped, or have kernels that are alike");
  tally.judge();
}

// ---- Histories ----------------------------------------------------------------------------------

TEST(SessionHistory, NothingIsLost) {
  constexpr std::size_t steps = 24;
  constexpr std::size_t calm_cycles = 40;
  constexpr std::size_t settled = 25;  // Of these, by then no session has to leave any more.
  std::int64_t evictions = 0;
  std::int64_t resumed = 0;
  constexpr std::uint64_t one_in = 10;
  Skips leaving;
  for_one_case_in(one_in, "sessions: histories", [&](Prng& random) {
    RandomSessions options = random_sessions_options(random);
    options.running = std::max<std::size_t>(options.running, 6);
    options.pending = std::max<std::size_t>(options.pending, 3);
    SessionHistory history(random, options, random_session_configuration(random));
    for (std::size_t step = 0; step < steps; ++step) history.step();
    history.calm(calm_cycles);
    if (!history.judge_rest()) leaving.add();
    for (const std::string& complaint : history.complaints()) ADD_FAILURE() << complaint;
    EXPECT_LE(history.last_calm_eviction(), settled) << "they preempt each other for ever";
    if (testing::Test::HasFailure()) ADD_FAILURE() << history.story();
    evictions += history.evictions();
    resumed += history.resumed();
  });
  fmt::print("{} sessions had to leave, {} started again\n", evictions, resumed);
  leaving.expect_at_most(30, "have a pod that is leaving for good", property_cases() / one_in);
}

/// Kernels that stay for good, users that resume at odd times, nodes that change their group.
TEST(SessionHistory, ComesToRestInAnAdversarialWorld) {
  constexpr std::size_t steps = 24;
  constexpr std::size_t calm_cycles = 40;
  constexpr std::size_t settled = 30;  // Of these; back-offs of 15 min take three of them each.
  constexpr std::uint64_t one_in = 10;
  std::int64_t evictions = 0;
  std::int64_t moved = 0;
  std::int64_t asked = 0;
  Skips leaving;
  for_one_case_in(one_in, "sessions: adversarial histories", [&](Prng& random) {
    RandomSessions options = random_sessions_options(random);
    options.groups = 2;
    options.nodes = std::max<std::size_t>(options.nodes, 3);
    options.running = std::max<std::size_t>(options.running, 6);
    options.pending = std::max<std::size_t>(options.pending, 3);
    SessionHistory history(random, options, random_session_configuration(random),
                           SessionHistory::World::adversarial);
    for (std::size_t step = 0; step < steps; ++step) history.step();
    history.calm(calm_cycles);
    EXPECT_LE(history.last_calm_eviction(), settled) << "they preempt each other for ever";
    EXPECT_LE(history.last_calm_start(), settled) << "it does not come to rest";
    const std::optional<std::int64_t> judged = history.judge_rest();
    if (!judged) leaving.add();
    asked += judged.value_or(0);
    for (const std::string& complaint : history.complaints()) ADD_FAILURE() << complaint;
    if (testing::Test::HasFailure()) ADD_FAILURE() << history.story();
    evictions += history.evictions();
    moved += history.moved_nodes();
  });
  fmt::print("{} sessions had to leave, {} nodes changed their group, {} sessions wait at rest\n",
             evictions, moved, asked);
  leaving.expect_at_most(60, "have a kernel that stays for good", property_cases() / one_in);
  if (property_cases() >= 1'000) {
    const auto histories = static_cast<std::int64_t>(property_cases() / one_in);
    EXPECT_GT(moved, histories / 4) << "too few nodes change their group";
    EXPECT_GT(asked, histories / 4) << "too few sessions wait at rest";
  }
}

}  // namespace
}  // namespace makeway::session_properties
