#include "support/random_configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "codec/presets.hpp"
#include "model/compatibility.hpp"
#include "model/knobs.hpp"

namespace makeway {
namespace {

void change_protection(Prng& random, Configuration& configuration) {
  ProtectionSettings& protection = configuration.protection;
  switch (random.below(3)) {
    case 0: protection.protect_system_critical = random.chance(50); break;
    case 1: protection.namespaces = {random.chance(50) ? "space-1" : "default"}; break;
    default: protection.minimum_runtime = {random.between(0, 4) * 100'000}; break;
  }
}

void change_leaving(Prng& random, Configuration& configuration) {
  switch (random.below(3)) {
    case 0: {
      const std::span<const Bundle> all = bundles();
      apply_compatibility(configuration, all[random.below(all.size())].compatibility);
      break;
    }
    case 1: configuration.engine.leave_timeout = {random.between(0, 3) * 30'000}; break;
    default: configuration.engine.leave_wait_max = {random.between(0, 3) * 30'000}; break;
  }
}

void change_workload(Prng& random, Configuration& configuration) {
  WorkloadSettings& workload = configuration.workload;
  switch (random.below(3)) {
    case 0:
      random.shuffle(workload.score_keys);
      if (workload.score_keys.size() > 1 && random.chance(30)) workload.score_keys.pop_back();
      break;
    case 1: workload.evict_for = static_cast<EvictFor>(random.below(3)); break;
    default: workload.node_score = static_cast<NodeScore>(random.below(2)); break;
  }
}

void change_search(Prng& random, Configuration& configuration) {
  switch (random.below(4)) {
    case 0: configuration.budgets.mode = BudgetMode::strict; break;
    case 1: configuration.engine.cascade_depth = random.between(0, 2); break;
    case 2: configuration.engine.preemption_delay = {random.between(0, 3) * 60'000}; break;
    default: configuration.engine.alternatives_max = random.between(1, 8); break;
  }
}

void change_required_node(Prng& random, Configuration& configuration) {
  RequiredNodeSettings& required_node = configuration.required_node;
  using Classes = std::vector<std::string>;
  static const std::vector<Classes> classes = {{"regular"},
                                               {"regular", "owner"},
                                               {"regular", "opted-out", "owner"},
                                               {"regular", "label:app=a", "owner", "opted-out"},
                                               {"label:app=a", "owner"}};
  static const std::vector<std::vector<VictimSelection>> selections = {
      {VictimSelection::single},
      {VictimSelection::multiple},
      {VictimSelection::multiple, VictimSelection::single},
      {VictimSelection::prefix},
      {VictimSelection::single, VictimSelection::prefix}};
  switch (random.below(6)) {
    case 0: required_node.victim_classes = random.pick(classes); break;
    case 1: required_node.victim_selection = random.pick(selections); break;
    case 2: required_node.deviation_percent = random.between(0, 200); break;
    case 3: required_node.max_victims = random.between(1, 4); break;
    case 4: required_node.allow_equal_priority = random.chance(50); break;
    default: required_node.preemption_start_delay = {random.between(0, 3) * 20'000}; break;
  }
}

/// Of a knob of asks; bounds stay large enough to find something.
std::string random_value(Prng& random, const Knob& knob) {
  switch (knob.type) {
    case KnobType::boolean: return random.chance(50) ? "true" : "false";
    case KnobType::duration: return to_text(Duration{random.between(0, 3) * 60'000});
    case KnobType::choice: return std::string(knob.choices[random.below(knob.choices.size())]);
    case KnobType::choice_list: {
      std::vector<std::string> items(knob.choices.begin(), knob.choices.end());
      random.shuffle(items);
      items.resize(1 + random.below(items.size()));
      return to_text(items);
    }
    case KnobType::integer:
      return std::to_string(random.between(knob.minimum, std::min<std::int64_t>(knob.maximum, 40)));
    case KnobType::text:
    case KnobType::text_list: break;
  }
  return {};
}

bool is_bound(const Knob& knob) { return knob.section() == "engine" && knob.maximum > 1'000; }

}  // namespace

void add_random_profile(Prng& random, std::string name, Configuration& configuration) {
  Profile profile{.scheduler_name = std::move(name), .knobs = {}};
  for (const Knob& knob : knobs()) {
    if (knob.scope != KnobScope::ask || is_bound(knob) || !random.chance(30)) continue;
    profile.knobs.push_back({.path = std::string(knob.path), .value = random_value(random, knob)});
  }
  configuration.profiles.push_back(std::move(profile));
  // What gives up a law that is not waived, or contradicts itself.
  if (!has_errors(validate(configuration))) return;
  std::erase_if(configuration.profiles.back().knobs, [](const ProfileKnob& each) {
    return each.path == compatibility_path || each.path == "workload.scoreKeys";
  });
}

std::vector<std::string> random_overrides(Prng& random, std::string_view preset,
                                          std::size_t count) {
  const std::span<const Knob> all = knobs();
  Configuration configuration = *load_preset(preset);
  std::vector<std::string> overrides;
  for (std::size_t at = 0; at < count; ++at) {
    const Knob& knob =
        random.chance(20) ? *find_knob(compatibility_path) : all[random.below(all.size())];
    // Texts name namespaces, presets and the like; the rest is for live runs.
    const bool is_text = knob.type == KnobType::text || knob.type == KnobType::text_list;
    if (is_text || is_bound(knob) || knob.section() == "live") continue;
    std::string assignment = fmt::format("{}={}", knob.path, random_value(random, knob));
    Configuration next = configuration;
    if (apply_override(next, assignment) || has_errors(validate(next))) continue;
    configuration = std::move(next);
    overrides.push_back(std::move(assignment));
  }
  return overrides;
}

Configuration random_configuration(Prng& random) {
  static const std::vector<std::string_view> mostly = {"makeway", "makeway", "kube-1.37"};
  const std::vector<std::string_view> all = preset_names();
  Configuration configuration =
      *load_preset(random.chance(70) ? random.pick(mostly) : random.pick(all));
  const std::uint64_t changes = random.chance(40) ? 0 : random.below(5);
  for (std::uint64_t i = 0; i < changes; ++i) {
    switch (random.below(5)) {
      case 0: change_protection(random, configuration); break;
      case 1: change_leaving(random, configuration); break;
      case 2: change_workload(random, configuration); break;
      case 3: change_required_node(random, configuration); break;
      default: change_search(random, configuration); break;
    }
  }
  CHECK(!has_errors(validate(configuration)), "a random configuration must be a valid one");
  return configuration;
}

}  // namespace makeway
