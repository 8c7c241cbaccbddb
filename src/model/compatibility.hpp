// Bundles: the rules that exist to reproduce another scheduler, or a design text.
//
// Such rules mean something only together: "put back once" without "leaving pods are victims" is
// how no system works. So they are no knobs. `compatibility` names a bundle, the bundle fills the
// fields of Configuration that are rules, and the policies read these fields as any other. A bundle
// is data: what it does not state is as in `makeway`, which are the defaults of Configuration.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/configuration.hpp"
#include "model/knobs.hpp"

namespace makeway {

inline constexpr std::string_view compatibility_path = "compatibility";

/// A rule in which a bundle differs from `makeway`, or a knob that its replay sets.
struct BundleRule {
  std::string_view path;   ///< Of a row of `rules()`, or of `knobs()`.
  std::string_view value;  ///< As `--set` would write it.
  std::string_view words;  ///< What the rule does, as the end of a sentence.
};

/// How the plan that a bundle's system would make for a group is looked for, beside the cycle's own
/// plans: by rules of the bundle and by these knobs; all else is as in the cycle.
struct BundleReplay {
  KnobScope scope = KnobScope::ask;  ///< `ask`: rules of that scope only; `cluster`: all.
  std::span<const BundleRule> knobs;
};

struct Bundle {
  Compatibility compatibility = Compatibility::makeway;
  std::string_view summary;
  std::span<const BundleRule> rules;
  std::optional<BundleReplay> replay = std::nullopt;  ///< None: it is not replayed.
};

/// All of them, in the order of Compatibility.
std::span<const Bundle> bundles();
const Bundle& bundle_of(Compatibility compatibility);

/// Every field of Configuration that is a rule. Rows have no documentation: bundles explain them.
std::span<const Knob> rules();
const Knob* find_rule(std::string_view path);

/// Sets `compatibility` and every rule.
void apply_compatibility(Configuration& configuration, Compatibility compatibility);

/// The settings of a replay of the bundle, which has one.
Configuration replay_of(const Bundle& bundle, const Configuration& configuration);

/// In a profile, a bundle says how places and victims are looked for (KnobScope::ask). What a
/// running pod is worth stays as the cluster has it.
void keep_cluster_rules(Configuration& configuration, const Configuration& cluster);

/// The value that the bundle has for the rule, as text.
std::string rule_text(Compatibility compatibility, const Knob& rule);

/// The table of bundles and their rules in docs/configuration.md.
std::string bundles_markdown();

}  // namespace makeway
