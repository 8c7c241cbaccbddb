#include "model/compatibility.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/removed_knobs.hpp"

namespace makeway {
namespace {

TEST(Bundles, AreCompleteAndValid) {
  ASSERT_EQ(bundles().size(), choice_names<Compatibility>.size());
  for (std::size_t at = 0; at < bundles().size(); ++at) {
    const Bundle& bundle = bundles()[at];
    SCOPED_TRACE(choice_name(bundle.compatibility));
    EXPECT_EQ(static_cast<std::size_t>(bundle.compatibility), at);
    Configuration configuration;
    apply_compatibility(configuration, bundle.compatibility);
    EXPECT_TRUE(validate(configuration).empty());
    std::set<std::string_view> stated;
    for (const BundleRule& each : bundle.rules) {
      const Knob* const rule = find_rule(each.path);
      ASSERT_NE(rule, nullptr) << each.path;
      EXPECT_TRUE(stated.insert(each.path).second) << each.path;
      EXPECT_EQ(knob_text(configuration, *rule), each.value) << each.path;
      EXPECT_NE(knob_text(Configuration{}, *rule), each.value) << each.path << " is the default";
      EXPECT_FALSE(each.words.empty() || each.words.ends_with('.')) << each.path;
    }
  }
}

TEST(Bundles, ReplaceEachOtherAsAWhole) {
  Configuration configuration;
  apply_compatibility(configuration, Compatibility::kube_1_37);
  EXPECT_NE(configuration, Configuration{});
  apply_compatibility(configuration, Compatibility::makeway);
  EXPECT_EQ(configuration, Configuration{});
}

/// A field of Configuration is a knob or a rule. A rule that no bundle changes is a constant.
TEST(Rules, AreNoKnobsAndDifferSomewhere) {
  std::set<std::string_view> changed;
  for (const Bundle& bundle : bundles()) {
    for (const BundleRule& rule : bundle.rules) changed.insert(rule.path);
  }
  for (const Knob& rule : rules()) {
    EXPECT_EQ(find_knob(rule.path), nullptr) << rule.path;
    EXPECT_TRUE(changed.contains(rule.path)) << rule.path;
  }
}

TEST(Profiles, TakeFromABundleWhatAsksMayDifferIn) {
  const Configuration cluster;
  Configuration profile;
  apply_compatibility(profile, Compatibility::kube_1_37);
  keep_cluster_rules(profile, cluster);
  EXPECT_EQ(profile.workload.put_back, PutBack::once);
  EXPECT_TRUE(profile.protection.protect_opted_out);
  EXPECT_EQ(profile.workload.leaving_room, LeavingRoom::credited);
  EXPECT_TRUE(profile.engine.laws_waived.empty());
}

std::string refusal_of(std::string_view path, std::string_view value) {
  Configuration configuration;
  const std::optional<Problem> problem = set_knob(configuration, path, value);
  return problem ? to_text(*problem) : std::string{};
}

TEST(RemovedKnobs, SayWhatReplacesThem) {
  EXPECT_EQ(refusal_of("workload.putBack", "once"),
            "workload.putBack \"once\": is part of compatibility; set compatibility=kube-1.37");
  EXPECT_EQ(refusal_of("workload.putBack", "until-stable"),
            "workload.putBack \"until-stable\": is part of compatibility; leave it out: it is the "
            "default");
  EXPECT_EQ(refusal_of("workload.putBack", "none"),
            "workload.putBack \"none\": is part of compatibility; 'makeway config explain "
            "compatibility' lists the bundles");
  EXPECT_EQ(refusal_of("required_node.coverage", "own-sum"),
            "required_node.coverage \"own-sum\": is part of compatibility; set "
            "compatibility=yunikorn or yunikorn-design");
  EXPECT_EQ(refusal_of("replica.tieKeys", "newest"),
            "replica.tieKeys \"newest\": was removed; the order is fixed");
  EXPECT_EQ(refusal_of("workload.belowMinimum", "evict"),
            "workload.belowMinimum \"evict\": was removed; write the annotation "
            "makeway.dev/below-minimum: evict on the PodGroup");
  EXPECT_EQ(refusal_of("trust.pinned", "trusted"),
            "trust.pinned \"trusted\": is part of trust.mode; set trust.mode=cluster or "
            "trust.mode=files");
}

TEST(RemovedKnobs, AreNoKnobsAnyMore) {
  for (const RemovedKnob& removed : removed_knobs()) {
    EXPECT_EQ(find_knob(removed.path), nullptr) << removed.path;
    EXPECT_EQ(find_rule(removed.path), nullptr) << removed.path;
  }
  for (const RemovedTrustKnob& removed : removed_trust_knobs()) {
    EXPECT_EQ(find_knob(removed.path), nullptr) << removed.path;
  }
}

/// Issue 35: with the six that are to come, 60.
TEST(Knobs, AreFew) { EXPECT_LE(knobs().size(), 54U); }

}  // namespace
}  // namespace makeway
