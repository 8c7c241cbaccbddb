// The plans of simpler schedulers, from which a group's search starts, are looked for by replays of
// their bundles: what a replay sets must be what the preset of that system says.
#include <gtest/gtest.h>

#include "codec/presets.hpp"
#include "model/compatibility.hpp"

namespace makeway {
namespace {

const Knob& row_of(std::string_view path) {
  const Knob* const rule = find_rule(path);
  return rule != nullptr ? *rule : *find_knob(path);
}

TEST(Replays, AreThoseOfKubeSchedulerAndTheTextOfTheKep) {
  std::vector<Compatibility> replayed;
  for (const Bundle& bundle : bundles()) {
    if (bundle.replay) replayed.push_back(bundle.compatibility);
  }
  EXPECT_EQ(replayed, std::vector({Compatibility::kube_1_37, Compatibility::kep_5710}));
}

TEST(Replays, SetWhatThePresetSays) {
  for (const Bundle& bundle : bundles()) {
    if (!bundle.replay) continue;
    const Configuration preset = *load_preset(choice_name(bundle.compatibility));
    const Configuration cycle = *load_preset(default_preset);
    const Configuration replay = replay_of(bundle, cycle);
    for (const std::span<const BundleRule> rows : {bundle.rules, bundle.replay->knobs}) {
      for (const BundleRule& each : rows) {
        const Knob& row = row_of(each.path);
        const bool kept = bundle.replay->scope == KnobScope::ask &&
                          row.scope == KnobScope::cluster && find_rule(each.path) != nullptr;
        EXPECT_EQ(knob_text(replay, row), knob_text(kept ? cycle : preset, row)) << each.path;
      }
    }
  }
}

/// Pods that nothing but priority protects there must be potential victims in the replay.
TEST(Replays, ProtectNoMoreThanKubeScheduler) {
  const Configuration preset = *load_preset("kube-1.37");
  const Configuration replay =
      replay_of(bundle_of(Compatibility::kube_1_37), *load_preset(default_preset));
  EXPECT_TRUE(replay.protection == preset.protection);
  EXPECT_TRUE(replay.budgets == preset.budgets);
}

}  // namespace
}  // namespace makeway
