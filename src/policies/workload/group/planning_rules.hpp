// PlanningRules: the settings by which one plan for a group is looked for.
//
// Usually those of the cycle. With `workload.startFromSimplePlans` the plans that simpler
// schedulers would make are looked for as well, each under its own settings; they are judged and
// improved under those of the cycle afterwards, so the answer is never worse than theirs.
//
// What `as_kube_scheduler` and `as_kep` set stands in the presets kube-1.37 and kep-5710, too. A
// preset is a document, which policies cannot read (codec may not be included), and they need only
// the few settings that decide where a group goes, on top of the cycle's. planning_rules_test
// (tests/peers) compares each of them with the preset.
#pragma once

#include <vector>

#include "engine/victims.hpp"
#include "engine/world.hpp"

namespace makeway {

struct PlanningRules {
  const Configuration& configuration;
  VictimRules& rules;
};

PlanningRules planning_rules_of(World& world);

/// A planning with settings of its own. Stays where it is: its rules refer to its configuration.
class SimplePlanningRules {
 public:
  SimplePlanningRules(const World& world, Configuration configuration);
  SimplePlanningRules(const SimplePlanningRules&) = delete;
  SimplePlanningRules& operator=(const SimplePlanningRules&) = delete;

  PlanningRules planning() { return {configuration_, rules_}; }

 private:
  Configuration configuration_;
  VictimRules rules_;
};

/// What decides where kube-scheduler 1.37 places a group, and what it puts back.
Configuration as_kube_scheduler(const Configuration& configuration);
/// The same for the text of KEP-5710.
Configuration as_kep(const Configuration& configuration);
/// For comparing victims on one node when a highest priority is given anyway: what only the whole
/// plan can say is left out of the score.
Configuration without_whole_plan_keys(const Configuration& configuration);

}  // namespace makeway
