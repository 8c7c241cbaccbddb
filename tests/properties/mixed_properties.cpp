// All kinds at once (SPEC section 1, "How policies meet in one cycle"): over random worlds with
// pods, gangs, queues, pinned pods, sessions and replicas, under all presets, no plan breaks a law,
// nothing depends on the order of the input, and nothing crashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "model/validation/validation.hpp"
#include "support/mixed_check.hpp"
#include "support/mixed_history.hpp"
#include "support/property.hpp"
#include "support/random_world.hpp"

namespace makeway::mixed_properties {
namespace {

TEST(MixedProperties, WhateverMeetsEveryPlanIsLawful) {  // laws 1 to 11
  Skips refused;
  std::map<std::string, std::uint64_t> by_preset;
  for_each_case("mixed worlds: every plan is lawful", [&](Prng& random) {
    const RandomWorldCase item = random_world_case(random);
    const MixedVerdict verdict = judge_world(item.objects, item.preset, item.seed);
    if (verdict.refused) refused.add();
    ++by_preset[item.preset];
    for (const std::string& complaint : verdict.complaints) {
      ADD_FAILURE() << complaint << "\npreset " << item.preset << ", " << world_text(item.options)
                    << "\n"
                    << dump(cluster_of(item.objects), DumpFormat::yaml);
    }
  });
  refused.expect_at_most(20, "are refused as bad input");
  if (property_cases() >= 500) {
    EXPECT_EQ(by_preset.size(), preset_names().size());
  }
}

// ---- Histories ----------------------------------------------------------------------------------

MixedHistoryOptions random_history(Prng& random) {
  return {.seed = random.next(),
          .grace_max_s = random.chance(30) ? 0 : 30,
          .late_max_s = random.chance(50) ? 0 : 90,
          .stuck_percent = random.chance(70) ? 0U : 15U};
}

/// The cluster of a world; none: it is bad input.
std::optional<Cluster> sound_cluster(const RandomWorldCase& item) {
  std::optional<Cluster> cluster = cluster_of(item.objects);
  if (!find_errors(*cluster).empty()) cluster.reset();
  return cluster;
}

constexpr std::uint64_t cases_in_one_history = 10;

TEST(MixedHistories, EveryCycleKeepsTheLaws) {
  constexpr int cycles = 8;
  Skips refused;
  for_one_case_in(cases_in_one_history, "mixed histories: laws", [&](Prng& random) {
    const RandomWorldCase item = random_world_case(random);
    const std::optional<Cluster> cluster = sound_cluster(item);
    if (!cluster) return refused.add();
    MixedHistoryOptions options = random_history(random);
    options.happenings = random.chance(60);
    MixedHistory history(*cluster, *load_preset(item.preset), planning_now, options);
    for (int cycle = 0; cycle < cycles && history.complaints().empty(); ++cycle) history.step();
    EXPECT_TRUE(history.complaints().empty())
        << "preset " << item.preset << ", " << world_text(item.options) << "\n"
        << history.story();
  });
  refused.expect_at_most(20, "are refused as bad input", property_cases() / cases_in_one_history);
}

/// Law 12: no ask evicts others for ever. Evicted pods are not resubmitted, but sessions come back
/// by themselves and replicas are placed again.
TEST(MixedHistories, ComeToRest) {
  constexpr int busy_cycles = 4;
  constexpr int cycles_max = 80;
  constexpr int quiet_cycles = 3;
  Skips refused;
  int longest = 0;
  for_one_case_in(cases_in_one_history, "mixed histories: rest", [&](Prng& random) {
    const RandomWorldCase item = random_world_case(random);
    const std::optional<Cluster> cluster = sound_cluster(item);
    if (!cluster) return refused.add();
    MixedHistory history(*cluster, *load_preset(item.preset), planning_now, random_history(random));
    int quiet = 0;
    int cycle = 0;
    for (; cycle < cycles_max && quiet < quiet_cycles && history.complaints().empty(); ++cycle) {
      if (cycle == busy_cycles) history.calm();
      history.step();
      quiet = history.acted() ? 0 : quiet + 1;
    }
    longest = std::max(longest, cycle);
    EXPECT_EQ(quiet, quiet_cycles)
        << "preset " << item.preset << ", " << world_text(item.options) << "\n"
        << history.story();
  });
  fmt::print("at rest after at most {} cycles\n", longest);
  refused.expect_at_most(20, "are refused as bad input", property_cases() / cases_in_one_history);
}

}  // namespace
}  // namespace makeway::mixed_properties
