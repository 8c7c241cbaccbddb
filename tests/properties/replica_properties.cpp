// Replicas over random fleets (SPEC section 4): every plan keeps the laws, the input's order leaves
// no trace, one GPU is taken where the lowest victim is; and over many cycles in a Kubernetes-like
// world no deployment loses its last replica, nothing is undone, and everything comes to rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "model/names.hpp"
#include "policies/decide.hpp"
#include "support/fleet_history.hpp"
#include "support/property.hpp"
#include "support/random_configuration.hpp"
#include "support/random_fleet.hpp"
#include "support/random_planning.hpp"

namespace makeway::replica_properties {
namespace {

Plan plan_of(const Cluster& cluster, const Configuration& configuration) {
  Decision decision = decide(cluster, configuration, {.now = fleet_now});
  EXPECT_TRUE(decision.plan.has_value());
  return std::move(*decision.plan);
}

/// Half of them with the settings of a preset, the others with some of them changed.
Configuration fleet_configuration(Prng& random) {
  if (random.chance(25)) return *load_preset("mcm-v1");
  Configuration configuration = *load_preset(default_preset);
  if (random.chance(50)) return configuration;
  ReplicaSettings& replica = configuration.replica;
  replica.force_delete_any_priority = random.chance(30);
  replica.surplus_timeout = Duration{random.between(0, 3) * 100'000};
  replica.force_delete_extra_delay = Duration{random.between(0, 2) * 5'000};
  if (random.chance(30)) replica.force_delete_after = ForceDeleteAfter::next_cycle;
  return configuration;
}

std::string breaches_text(const std::vector<LawBreach>& breaches) {
  std::string text;
  for (const LawBreach& breach : breaches) {
    text += fmt::format("law {}: {}: {}\n", breach.law, breach.ask, breach.text);
  }
  return text;
}

TEST(ReplicaProperties, EveryPlanKeepsTheLaws) {
  for_each_case("replicas: every plan keeps the laws", [](Prng& random) {
    RandomFleet options = random_fleet_options(random);
    options.strangers = random.chance(60);
    const Cluster cluster = cluster_of(random_fleet(random, options));
    const Configuration configuration = fleet_configuration(random);
    const Plan plan = plan_of(cluster, configuration);
    const std::vector<LawBreach> breaches = check_plan(cluster, configuration, plan);
    EXPECT_TRUE(breaches.empty()) << breaches_text(breaches) << dump(cluster, DumpFormat::yaml)
                                  << canonical_text(configuration) << plan_text_json(plan);
  });
}

TEST(ReplicaProperties, TheOrderOfTheInputLeavesNoTrace) {
  for_each_case("replicas: shuffled input, same plan", [](Prng& random) {
    RandomFleet options = random_fleet_options(random);
    options.strangers = random.chance(60);
    std::vector<Change> objects = random_fleet(random, options);
    const Configuration configuration = fleet_configuration(random);
    const std::string first = plan_text_json(plan_of(cluster_of(objects), configuration));
    random.shuffle(objects);
    EXPECT_EQ(plan_text_json(plan_of(cluster_of(objects), configuration)), first);
  });
}

// ---- One GPU: the lowest victim over all nodes --------------------------------------------------

using VictimKey = std::tuple<int, std::int32_t, std::int64_t, std::int64_t, std::string>;

/// Class, priority, plane score, newest first, higher name first.
VictimKey victim_key(const PlanReplicaVictim& victim, std::int64_t score, const Pod& pod) {
  std::string name = pod.name;
  for (char& letter : name) letter = static_cast<char>(0x7F - letter);  // Higher comes first.
  name.push_back(0x7F);
  return {static_cast<int>(victim.victim_class), victim.priority, score, -pod.created->ms, name};
}

/// A fleet in which every pod has one GPU, every node is full, and only committed pods are there.
struct OneGpuFleet {
  std::vector<Change> objects;
  ReplicaSchedule ask;
  std::vector<std::pair<Pod, ReplicaSchedule>> pods;  ///< With their deployments.
};

OneGpuFleet one_gpu_fleet(Prng& random) {
  OneGpuFleet fleet;
  const std::vector<std::string> planes = {"w1", "w2"};
  std::vector<ReplicaSchedule> schedules;
  for (int number = 0; number < 3; ++number) {
    ReplicaSchedule schedule{.namespace_name = "default",
                             .name = fmt::format("d{}", number),
                             .priority = static_cast<std::int32_t>(random.between(0, 3) * 10),
                             .requests = {{"nvidia.com/gpu", 1}},
                             .planes = {{.name = "w1"}, {.name = "w2"}}};
    normalize(schedule);
    schedules.push_back(std::move(schedule));
  }
  for (const std::string& plane : planes) {
    for (std::int64_t number = random.between(1, 3); number > 0; --number) {
      const std::int64_t gpus = random.between(1, 3);
      Node node{.name = fmt::format("{}-n{}", plane, number),
                .labels = {{std::string(names::plane), plane}},
                .allocatable = {{"nvidia.com/gpu", gpus}, {"pods", 20}}};
      for (std::int64_t pod = 0; pod < gpus; ++pod) {
        ReplicaSchedule& schedule = schedules[random.below(schedules.size())];
        ++schedule.planes[plane == "w1" ? 0 : 1].committed;
        fleet.pods.emplace_back(
            fleet_pod(schedule, fmt::format("{}-{}", schedule.name, fleet.pods.size()), node.name,
                      Time{fleet_now.ms - random.between(1, 3) * 60'000}),
            schedule);
      }
      fleet.objects.emplace_back(std::move(node));
    }
  }
  for (const ReplicaSchedule& schedule : schedules) fleet.objects.emplace_back(schedule);
  for (auto& [pod, schedule] : fleet.pods) {
    fleet.objects.emplace_back(pod);
    schedule = *std::ranges::find(schedules, schedule.name, &ReplicaSchedule::name);
  }
  fleet.ask = {.namespace_name = "default",
               .name = "asks",
               .priority = static_cast<std::int32_t>(random.between(0, 4) * 10),
               .requests = {{"nvidia.com/gpu", 1}},
               .unmet = 1,
               .planes = {{.name = "w1", .score = random.between(0, 2)},
                          {.name = "w2", .score = random.between(0, 2)}}};
  normalize(fleet.ask);
  fleet.objects.emplace_back(fleet.ask);
  return fleet;
}

TEST(ReplicaProperties, OneGpuIsTakenFromTheLowestOfAll) {
  Skips without_claims;
  for_each_case("replicas: one GPU, the lowest victim of all nodes", [&](Prng& random) {
    const OneGpuFleet fleet = one_gpu_fleet(random);
    std::optional<VictimKey> lowest;
    std::string name;
    for (const auto& [pod, schedule] : fleet.pods) {
      const std::size_t plane = pod.node.starts_with("w1") ? 0 : 1;
      if (*schedule.priority >= *fleet.ask.priority) continue;
      if (schedule.planes[plane].committed < 2) continue;  // The last one.
      const PlanReplicaVictim victim{.priority = *schedule.priority};
      const VictimKey key = victim_key(victim, fleet.ask.planes[plane].score, pod);
      if (lowest && *lowest <= key) continue;
      lowest = key;
      name = pod.name;
    }
    const Cluster cluster = cluster_of(fleet.objects);
    const Plan plan = plan_of(cluster, *load_preset(default_preset));
    const std::vector<PlanReplicaClaim>& claims = plan.asks.front().replicas->claims;
    ASSERT_EQ(claims.empty(), !lowest.has_value()) << dump(cluster, DumpFormat::yaml);
    if (claims.empty()) return without_claims.add();
    ASSERT_EQ(claims.front().victims.size(), 1U);
    EXPECT_EQ(claims.front().victims.front().name, name) << dump(cluster, DumpFormat::yaml);
  });
  without_claims.expect_at_most(60, "have no deployment that may be scaled down");
}

// ---- Histories ----------------------------------------------------------------------------------

constexpr std::uint64_t cases_in_one_history = 10;

/// A tenth as many as other properties have cases: 200 by default.
void for_each_history(std::string_view name, const std::function<void(Prng&)>& check) {
  const std::uint64_t cases = std::max<std::uint64_t>(1, property_cases() / cases_in_one_history);
  const std::uint64_t first = property_first_seed();
  fmt::print("property {}: {} histories, first seed {}\n", name, cases, first);
  std::fflush(stdout);
  for (std::uint64_t seed = first; seed - first < cases; ++seed) {
    SCOPED_TRACE(fmt::format("MAKEWAY_PROPERTY_SEED={} MAKEWAY_PROPERTY_CASES=1", seed));
    Prng random(seed);
    check(random);
    if (testing::Test::HasFailure()) return;
  }
}

FleetOptions random_world(Prng& random) {
  return {.seed = random.next(),
          .step = {random.between(5, 20) * 1000},
          .grace_max_s = random.chance(30) ? 0 : 30,
          .late_max_s = random.chance(50) ? 0 : 40,
          .act_percent = random.chance(50) ? 100U : 60U,
          .delete_percent = random.chance(50) ? 100U : 60U,
          .force_lost_percent = random.chance(70) ? 0U : 20U,
          .force_cycles_max = random.between(0, 3),
          .wrong_percent = random.chance(60) ? 0U : 40U};
}

Configuration history_configuration(Prng& random) {
  return *load_preset(random.chance(70) ? default_preset : "mcm-v1");
}

// ---- Stories by hand ----------------------------------------------------------------------------

Node story_node(std::string name, std::int64_t gpus) {
  return {.name = std::move(name),
          .labels = {{std::string(names::plane), "eu"}},
          .allocatable = {{"nvidia.com/gpu", gpus}, {"pods", 20}}};
}

ReplicaSchedule story_schedule(std::string name, std::int32_t priority, std::int64_t committed,
                               std::int64_t unmet) {
  ReplicaSchedule schedule{.namespace_name = "default",
                           .name = std::move(name),
                           .priority = priority,
                           .requests = {{"nvidia.com/gpu", 1}},
                           .unmet = unmet,
                           .planes = {{.name = "eu", .committed = committed}}};
  normalize(schedule);
  return schedule;
}

Pod story_pod(const std::string& name, const std::string& node, std::int64_t age_s) {
  return fleet_pod(story_schedule("low", 10, 0, 0), name, node, Time{fleet_now.ms - age_s * 1000});
}

/// low-1 and low-2 share n1; low-3, the newest, is alone on n2: the plan names low-3, Kubernetes
/// removes one of the others.
FleetHistory story_of_siblings() {
  return FleetHistory({story_node("n1", 2), story_node("n2", 1), story_schedule("high", 100, 0, 1),
                       story_schedule("low", 10, 3, 0), story_pod("low-1", "n1", 300),
                       story_pod("low-2", "n1", 200), story_pod("low-3", "n2", 100)},
                      *load_preset(default_preset), fleet_now,
                      {.step = {10'000}, .grace_max_s = 20, .late_max_s = 0});
}

/// "committed scale-down", "surplus wait", ...: what the first claim of high says.
std::string victim_text(const Plan& plan) {
  const auto ask = std::ranges::find(plan.asks, "high", &PlanAsk::name);
  if (ask == plan.asks.end()) return "does not ask";
  if (ask->replicas->claims.empty()) return std::string(choice_name(ask->outcome));
  const PlanReplicaVictim& victim = ask->replicas->claims.front().victims.front();
  return fmt::format("{} {}", choice_name(victim.victim_class), choice_name(victim.action));
}

TEST(ReplicaStories, AVictimGoesThroughItsLife) {
  FleetHistory world({story_node("n1", 1), story_node("n2", 1), story_schedule("high", 100, 0, 1),
                      story_schedule("low", 10, 2, 0), story_pod("low-1", "n1", 300),
                      story_pod("low-2", "n2", 100)},
                     *load_preset(default_preset), fleet_now,
                     {.step = {10'000},
                      .grace_min_s = 30,
                      .grace_max_s = 30,
                      .late_max_s = 100'000,  // It does not go by itself.
                      .delete_percent = 0,
                      .force_cycles_min = 1,
                      .force_cycles_max = 1});
  std::vector<std::string> life;
  for (int cycle = 0; cycle < 15; ++cycle) {
    std::string now = victim_text(world.step());
    if (life.empty() || life.back() != now) life.push_back(std::move(now));
    if (cycle == 1) world.options().delete_percent = 100;
  }
  // With a grace of 0 Kubernetes force-deletes it itself; this one has some.
  EXPECT_EQ(life, (std::vector<std::string>{"committed scale-down", "surplus wait",
                                            "terminating wait", "terminating force-delete",
                                            "force-deleting wait", "fits", "does not ask"}))
      << world.story();
  EXPECT_EQ(world.lost_for("ReplicaSchedule default/high"), 1);
  EXPECT_EQ(world.schedule("high").planes.front().committed, 1);
  EXPECT_EQ(world.schedule("low").planes.front().committed, 1);
  EXPECT_EQ(world.schedule("low").unmet, 1);
  EXPECT_TRUE(world.complaints().empty()) << world.story();
}

TEST(ReplicaStories, TheWrongPodDisappears) {
  FleetHistory world = story_of_siblings();
  EXPECT_EQ(victim_text(world.step()), "committed scale-down") << world.story();
  for (int cycle = 0; cycle < 10; ++cycle) world.step();
  EXPECT_TRUE(world.has_pod("low-3")) << world.story();
  EXPECT_EQ(world.schedule("high").planes.front().committed, 1) << world.story();
  EXPECT_EQ(world.scale_downs(), 1) << world.story();
  EXPECT_TRUE(world.complaints().empty()) << world.story();
}

/// high needs both GPUs of n1, where low-1 has one; low-2 and low-3 are newer, and alone on nodes
/// of one GPU. Kubernetes removes low-3 (3 -> 2), then low-2 (2 -> 1); low-1 is the last one then,
/// low grows back (1 -> 3), and high does not begin again.
TEST(ReplicaStories, WhatWasInVainIsNotRepeated) {
  ReplicaSchedule high = story_schedule("high", 100, 0, 1);
  high.requests = {{"nvidia.com/gpu", 2}};
  FleetHistory world({story_node("n1", 2), story_node("n2", 1), story_node("n3", 1), high,
                      story_schedule("low", 10, 3, 0), story_pod("low-1", "n1", 300),
                      story_pod("low-2", "n2", 200), story_pod("low-3", "n3", 100)},
                     *load_preset(default_preset), fleet_now,
                     {.step = {10'000}, .grace_max_s = 20, .late_max_s = 0});
  for (int cycle = 0; cycle < 30; ++cycle) world.step();
  EXPECT_TRUE(world.at_rest()) << world.story();
  EXPECT_EQ(world.scale_downs(), 2) << world.story();
  EXPECT_EQ(world.schedule("low").planes.front().committed, 3) << world.story();
  EXPECT_EQ(world.schedule("high").status.missed,
            (std::vector<MissedVictim>{{.plane = "eu",
                                        .node = "n1",
                                        .namespace_name = "default",
                                        .deployment = "low",
                                        .committed = 1}}));
  EXPECT_EQ(victim_text(world.step()), "not-found") << world.story();
  EXPECT_TRUE(world.complaints().empty()) << world.story();
}

TEST(ReplicaStories, PrioritiesInvertBetweenCycles) {
  FleetHistory world = story_of_siblings();
  world.options().delete_percent = 0;
  world.step();
  ReplicaSchedule low = world.schedule("low");
  low.priority = 200;
  world.happens(low);
  world.options().delete_percent = 100;
  for (int cycle = 0; cycle < 12; ++cycle) world.step();
  // The step is carried out, so it is not taken back; what it frees goes to the ask that is higher
  // now.
  EXPECT_EQ(world.scale_downs(), 1) << world.story();
  EXPECT_EQ(world.schedule("low").planes.front().committed, 3) << world.story();
  EXPECT_EQ(world.schedule("high").planes.front().committed, 0) << world.story();
  EXPECT_TRUE(world.complaints().empty()) << world.story();
}

/// Priorities, commits and unmet replicas change between cycles.
void something_happens(FleetHistory& world, Prng& random) {
  const std::vector<ReplicaSchedule> schedules = world.schedules();
  ReplicaSchedule schedule = random.pick(schedules);
  switch (random.below(4)) {
    case 0: schedule.priority = static_cast<std::int32_t>(random.between(0, 4) * 10); break;
    case 1: schedule.unmet = random.between(0, 3); break;
    case 2:
      for (ReplicaPlane& plane : schedule.planes) {
        if (random.chance(50)) plane.committed = std::max<std::int64_t>(0, plane.committed - 1);
      }
      break;
    default: {
      ReplicaSchedule other = random.pick(schedules);  // They change places.
      if (other.name == schedule.name) return;
      std::swap(schedule.priority, other.priority);
      world.happens(other);
    }
  }
  world.happens(schedule);
}

TEST(ReplicaHistories, EveryCycleKeepsTheLaws) {
  constexpr int cycles = 15;
  for_each_history("replicas: laws over cycles in which things happen", [](Prng& random) {
    const RandomFleet options = random_fleet_options(random);
    std::vector<Change> objects = random_fleet(random, options);
    if (random.chance(40)) move_to_planes(objects);
    FleetHistory world(std::move(objects), history_configuration(random), fleet_now,
                       random_world(random));
    for (int cycle = 0; cycle < cycles && world.complaints().empty(); ++cycle) {
      world.step();
      if (random.chance(15)) something_happens(world, random);
    }
    EXPECT_TRUE(world.complaints().empty()) << world.story();
  });
}

/// Nothing happens from outside: no oscillation, and in the end every ask is satisfied or knows why
/// not; also where Kubernetes removes others than the plan names, and these do not help.
TEST(ReplicaHistories, EverythingComesToRest) {
  constexpr int cycles_max = 150;
  for_each_history("replicas: comes to rest", [](Prng& random) {
    RandomFleet options = random_fleet_options(random);
    options.statuses = false;
    FleetOptions how = random_world(random);
    how.force_lost_percent = 0;
    how.obedient = random.chance(50);
    if (how.obedient) how.wrong_percent = 0;
    std::vector<Change> objects = random_fleet(random, options);
    if (random.chance(40)) move_to_planes(objects);
    FleetHistory world(std::move(objects), history_configuration(random), fleet_now, how);
    int quiet = 0;
    for (int cycle = 0; cycle < cycles_max && quiet < 3; ++cycle) {
      const Plan& plan = world.step();
      if (!world.complaints().empty()) break;
      quiet = world.at_rest() ? quiet + 1 : 0;
      if (quiet < 3) continue;
      for (const PlanAsk& ask : plan.asks) {
        const bool knows = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
        EXPECT_TRUE(knows && !ask.reason.empty())
            << "complaint: " << ask.name << " " << choice_name(ask.outcome) << "\n"
            << world.story();
      }
    }
    EXPECT_TRUE(world.complaints().empty()) << world.story();
    EXPECT_EQ(quiet, 3) << "complaint: it does not come to rest\n" << world.story();
  });
}

/// One GPU each: whichever pod Kubernetes removes, its room serves the ask. So no deployment loses
/// more than is needed. Not so yet where actions are refused: seed 834 scales down once more than
/// it needs, after one scale-down was carried out with another pod of the same node and the next
/// was refused twice. Such histories may lose one more, and few do.
TEST(ReplicaHistories, LossesAreBoundedByTheNeedAndOneMoreWhereActionsAreRefused) {
  constexpr int cycles = 40;
  int histories = 0;
  int exact = 0;
  int one_more = 0;
  for_each_history("replicas: losses are bounded by the need", [&](Prng& random) {
    OneGpuFleet fleet = one_gpu_fleet(random);
    fleet.ask.unmet = random.between(1, 3);
    fleet.ask.priority = 100;
    fleet.objects.back() = fleet.ask;
    FleetOptions how = random_world(random);
    how.force_lost_percent = 0;
    FleetHistory world(fleet.objects, history_configuration(random), fleet_now, how);
    for (int cycle = 0, quiet = 0; cycle < cycles && quiet < 3; ++cycle) {
      world.step();
      quiet = world.at_rest() ? quiet + 1 : 0;
      if (!world.complaints().empty()) break;
    }
    EXPECT_TRUE(world.complaints().empty()) << world.story();
    const bool refused = how.act_percent < 100;
    const auto lost = world.lost_for("ReplicaSchedule default/asks");
    EXPECT_LE(lost, fleet.ask.unmet + (refused ? 1 : 0)) << "complaint: more are lost than needed\n"
                                                         << world.story();
    ++histories;
    exact += refused ? 0 : 1;
    one_more += lost > fleet.ask.unmet ? 1 : 0;
  });
  fmt::print("{} of {} histories refuse nothing; {} lose one more than is needed\n", exact,
             histories, one_more);
  if (histories < 100) return;
  EXPECT_LE(one_more * 100, histories);
  EXPECT_GE(exact * 20, histories);
}

}  // namespace
}  // namespace makeway::replica_properties
