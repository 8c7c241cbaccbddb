// SPEC section 9: random loads through the simulated world, with and without faults.
//
// In every history: every plan keeps the laws, the world refuses nothing that no fault explains,
// no pod is evicted twice, none is lost, no wake-up is missed, and everything comes to rest; one
// history in four is run twice, and gives the same bytes. Half of the loads have pods and gangs
// that want to be near each other, apart, or spread. Without faults and queues every run ends; with
// them, a task that has not ended runs, leaves, or has an ask in the last plan with a reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "cli/plan/plan_maker.hpp"
#include "cli/simulate/simulate_report.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "codec/presets.hpp"
#include "model/regime.hpp"
#include "model/session_lifecycle.hpp"
#include "sim/generate.hpp"
#include "support/property.hpp"

namespace makeway::simulation_properties {
namespace {

constexpr std::array<std::string_view, 8> presets = {
    "makeway",         "kube-1.37",       "kep-5710",   "yunikorn",
    "yunikorn-design", "kube-arbitrator", "backend-ai", "mcm-v1"};

void add_own_kinds(Prng& random, GenerateOptions& options) {
  options.gangs = random.between(0, 20);
  options.services /= 4;
  options.priorities = random.between(2, 4);
  if (random.chance(70)) options.sessions = random.between(10, 40);
  if (random.chance(50)) {
    options.replicas = random.between(10, 40);
    options.planes = random.between(1, 3);
    options.gpus = 8;
  }
}

/// 200 of each property in `make test`, 1,000 in `make check`.
constexpr std::uint64_t one_in = 10;

GenerateOptions random_simulation(Prng& random) {
  GenerateOptions options{.nodes = random.between(1, 12),
                          .pods = random.between(10, 150),
                          .cpus = random.between(32, 64),
                          .gpus = random.chance(50) ? 8 : 0,
                          .load = random.between(50, 400),
                          .gangs = random.between(0, 60),
                          .services = random.between(0, 40),
                          .priorities = random.between(1, 4)};
  if (random.chance(40)) options.checkpoint = random.between(10, 600);
  if (random.chance(30)) options.daemons = 1;
  if (random.chance(30)) options.queues = random.between(1, 4);
  if (random.chance(60) && options.nodes >= 6) add_own_kinds(random, options);
  if (random.chance(50)) {
    options.affinity = random.between(0, 40);
    options.anti_affinity = random.between(0, 30);
    options.spread = random.between(0, 30);
    options.zones = random.between(1, 4);
  }
  return options;
}

FaultOptions random_faults(Prng& random) {
  FaultOptions faults;
  for (std::int64_t FaultOptions::* const each :
       {&FaultOptions::node_loss, &FaultOptions::conflict, &FaultOptions::late,
        &FaultOptions::stuck, &FaultOptions::writer, &FaultOptions::kill}) {
    if (random.chance(50)) faults.*each = random.between(1, 100);
  }
  return faults;
}

std::string options_text(const GenerateOptions& options) {
  return fmt::format(
      "nodes={},pods={},cpus={},gpus={},load={},gangs={},services={},priorities={},queues={},"
      "checkpoint={},daemons={},sessions={},replicas={},planes={},affinity={},anti-affinity={},"
      "spread={},zones={}",
      options.nodes, options.pods, options.cpus, options.gpus, options.load, options.gangs,
      options.services, options.priorities, options.queues, options.checkpoint, options.daemons,
      options.sessions, options.replicas, options.planes, options.affinity, options.anti_affinity,
      options.spread, options.zones);
}

std::string faults_text(const FaultOptions& faults) {
  return fmt::format("node-loss={},conflict={},late={},stuck={},writer={},kill={}",
                     faults.node_loss, faults.conflict, faults.late, faults.stuck, faults.writer,
                     faults.kill);
}

/// Sessions and schedules that wait have a reason.
void expect_own_kinds_reported(const Cluster& cluster, const Configuration& configuration,
                               const std::set<std::string>& reported, Time now) {
  for (const auto& [key, session] : cluster.own<Session>()) {
    const SessionStanding standing = standing_of(session, now);
    EXPECT_NE(standing, SessionStanding::ended) << session.name;
    const bool waits =
        standing == SessionStanding::pending || standing == SessionStanding::suspended;
    if (!waits || !configuration.session.enabled) continue;
    const std::string text = fmt::format("Session {}/{}", session.namespace_name, session.name);
    EXPECT_TRUE(reported.contains(text)) << text << " has no reason to wait";
  }
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    if (schedule.unmet == 0 || !configuration.replica.enabled) continue;
    const std::string text =
        fmt::format("ReplicaSchedule {}/{}", schedule.namespace_name, schedule.name);
    EXPECT_TRUE(reported.contains(text)) << text << " has no reason to wait";
  }
}

/// Nothing happens any more: no pod could be placed, and every pending one has a reason.
void expect_rest(const Cluster& cluster, const Configuration& configuration, Time now) {
  const Decision decision = cli::real_tools().decide(cluster, configuration, {.now = now});
  ASSERT_TRUE(decision.plan.has_value());
  std::set<std::string> reported;
  for (const PlanAsk& ask : decision.plan->asks) {
    if (!ask.reason.empty()) reported.insert(ask_text(ask));
  }
  for (const PlanAction& action : decision.plan->actions) {
    const bool acts = action.type == ActionType::bind || action.type == ActionType::evict ||
                      action.type == ActionType::scale_up || action.type == ActionType::scale_down;
    EXPECT_FALSE(acts) << choice_name(action.type) << " " << action.name << " is still to be done";
  }
  expect_own_kinds_reported(cluster, configuration, reported, now);
  const Regimes regimes(cluster, configuration);
  for (const PodIndex index : cluster.pending_pods()) {
    if (regimes.of(index) == Regime::replicas) continue;  // Another scheduler places it.
    const Pod pod = cluster.pod(index);
    const std::string text = pod.group.empty()
                                 ? fmt::format("Pod {}/{}", pod.namespace_name, pod.name)
                                 : fmt::format("PodGroup {}/{}", pod.namespace_name, pod.group);
    const std::string alone = fmt::format("Pod {}/{}", pod.namespace_name, pod.name);
    EXPECT_TRUE(reported.contains(text) || reported.contains(alone))
        << text << " has no reason to wait";
  }
}

/// Law 6: with it waived, a leaving pod may be evicted again.
bool waives_leaving(const Configuration& configuration) {
  const std::vector<WaivedLaw>& waived = configuration.engine.laws_waived;
  return std::ranges::find(waived, WaivedLaw::law_6) != waived.end();
}

/// One history and what it came to.
struct History {
  GenerateOptions options;
  FaultOptions faults;
  std::uint64_t seed = 1;
  std::string_view preset;
};

cli::SimulateResult expect_lawful(const History& history) {
  SCOPED_TRACE(fmt::format("makeway simulate --preset {} --seed {} --generate {} --faults {}",
                           history.preset, history.seed, options_text(history.options),
                           faults_text(history.faults)));
  const SimLoad load = generate_load(history.options, history.seed, Time{});
  const ConfigurationDocument document{.name = std::string(history.preset),
                                       .configuration = *load_preset(history.preset)};
  const PlanTools tools = cli::real_tools();
  cli::SimulateSettings settings;
  settings.options.faults = history.faults;
  settings.options.seed = history.seed;
  const auto go_on = [](const cli::SimulateStep& step) { return step.cycles < 100'000; };
  settings.at_rest = [&](const Cluster& cluster, Time now) {
    expect_rest(cluster, document.configuration, now);
  };
  std::vector<cli::SimulateResult> results;
  results.push_back(cli::simulate(load, document, settings, tools, go_on));
  if (history.seed % 4 == 0) {
    std::vector<cli::SimulateResult> again;
    again.push_back(cli::simulate(load, document, settings, tools, go_on));
    EXPECT_EQ(cli::simulate_json({.runs = {cli::measured(results.front())}}),
              cli::simulate_json({.runs = {cli::measured(again.front())}}));
    EXPECT_EQ(cli::simulate_csv(results), cli::simulate_csv(again));
  }
  const cli::SimulateResult& result = results.front();
  EXPECT_FALSE(result.partial) << "it does not come to rest";
  EXPECT_EQ(result.loop.refused, 0U);
  EXPECT_EQ(result.loop.left_out, 0U);
  EXPECT_EQ(result.metrics.refused, 0);
  EXPECT_EQ(result.missed_wakeups, 0U);
  if (!waives_leaving(document.configuration)) {
    EXPECT_EQ(result.metrics.evicted_twice, 0);
  }
  // A task that is larger than the share of its queue waits while other queues want theirs (SPEC
  // 3); room under a pod that never leaves does not come back.
  const bool may_wait = history.options.queues > 0 || history.faults.stuck > 0;
  const bool own_kinds = history.options.sessions + history.options.replicas > 0;
  const bool no_controller_starts_them = own_kinds && !document.configuration.session.enabled;
  for (const RunRecord& run : result.metrics.runs) {
    const bool daemon = run.run_ms == 0;
    const bool done = daemon ? run.first_start.has_value() : run.end.has_value();
    EXPECT_TRUE(done || may_wait || no_controller_starts_them);
    if (run.end) {
      EXPECT_GE((*run.end - run.arrival).ms, run.run_ms);
    }
  }
  return results.front();
}

TEST(SimulationProperties, LawsHoldNothingIsRefusedAllTasksEndWithoutFaults) {
  std::int64_t victims = 0;
  std::int64_t sessions = 0;
  std::int64_t replicas = 0;
  std::uint64_t cycles = 0;
  for_one_case_in(one_in, "simulation without faults", [&](Prng& random) {
    History history{.options = random_simulation(random), .faults = {}};
    history.seed = random.next() >> 1U;
    history.preset = presets[random.below(presets.size())];
    const cli::SimulateResult result = expect_lawful(history);
    EXPECT_EQ(result.metrics.faults, FaultCounts{});
    victims += result.metrics.victims;
    sessions += result.metrics.session_victims;
    replicas += result.metrics.replica_victims;
    cycles += result.loop.cycles;
  });
  fmt::print("{} cycles, {} victims, of these {} sessions and {} replicas\n", cycles, victims,
             sessions, replicas);
  if (property_cases() >= 1'000) {
    EXPECT_GE(victims, 50);
    EXPECT_GE(sessions, 5);
    EXPECT_GE(replicas, 5);
  }
}

TEST(SimulationProperties, AllFaultsAtOnceBreakNoLawAndLoseNoPod) {
  FaultCounts seen;
  std::uint64_t cycles = 0;
  Skips without_stuck;
  for_one_case_in(one_in, "simulation with faults", [&](Prng& random) {
    History history{.options = random_simulation(random), .faults = random_faults(random)};
    history.seed = random.next() >> 1U;
    history.preset = presets[random.below(presets.size())];
    if (history.faults.stuck > 0 && waives_leaving(*load_preset(history.preset))) {
      history.faults.stuck = 0;
      without_stuck.add();
    }
    const cli::SimulateResult result = expect_lawful(history);
    const FaultCounts& counts = result.metrics.faults;
    cycles += result.loop.cycles;
    seen.nodes_lost += counts.nodes_lost;
    seen.conflicts += counts.conflicts;
    seen.late += counts.late;
    seen.stuck += counts.stuck;
    seen.second_writes += counts.second_writes;
    seen.kills += counts.kills;
    seen.refused += counts.refused;
  });
  fmt::print(
      "{} cycles, {} nodes lost, {} conflicts, {} late, {} stuck, {} second writes, {} kills, {} "
      "refused\n",
      cycles, seen.nodes_lost, seen.conflicts, seen.late, seen.stuck, seen.second_writes,
      seen.kills, seen.refused);
  // A pod that never leaves is evicted again and again, for ever.
  without_stuck.expect_at_most(30, "waive law 6, so that no pod is stuck",
                               property_cases() / one_in);
  if (property_cases() >= 1'000) {
    for (const std::int64_t count : {seen.nodes_lost, seen.conflicts, seen.late, seen.stuck,
                                     seen.second_writes, seen.kills, seen.refused}) {
      EXPECT_GE(count, 5);
    }
  }
}

}  // namespace
}  // namespace makeway::simulation_properties
