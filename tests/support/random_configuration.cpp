#include "support/random_configuration.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "codec/presets.hpp"

namespace makeway {
namespace {

void waive(Configuration& configuration, WaivedLaw law) {
  if (waives(configuration, law)) return;
  std::vector<WaivedLaw>& waived = configuration.engine.laws_waived;
  if (law == WaivedLaw::law_4) {  // It contains these.
    std::erase(waived, WaivedLaw::law_4_gangs);
    std::erase(waived, WaivedLaw::law_4_claims);
  }
  waived.push_back(law);
  std::ranges::sort(waived);
}

void change_protection(Prng& random, Configuration& configuration) {
  ProtectionSettings& protection = configuration.protection;
  switch (random.below(5)) {
    case 0: protection.protect_system_critical = random.chance(50); break;
    case 1: protection.protect_mirror_pods = random.chance(50); break;
    case 2: protection.protect_opted_out = random.chance(50); break;
    case 3: protection.namespaces = {random.chance(50) ? "space-1" : "default"}; break;
    default: protection.minimum_runtime = {random.between(0, 4) * 100'000}; break;
  }
}

void change_leaving(Prng& random, Configuration& configuration) {
  switch (random.below(3)) {
    case 0:
      configuration.workload.leaving_room = static_cast<LeavingRoom>(random.below(3));
      if (configuration.workload.leaving_room != LeavingRoom::credited) {
        waive(configuration, WaivedLaw::law_6);
      }
      break;
    case 1: configuration.engine.leave_timeout = {random.between(0, 3) * 30'000}; break;
    default:
      configuration.workload.nomination_held_by = static_cast<NominationHeldBy>(random.below(2));
      break;
  }
}

void change_victims(Prng& random, Configuration& configuration) {
  WorkloadSettings& workload = configuration.workload;
  switch (random.below(7)) {
    case 0:
      random.shuffle(workload.importance_keys);
      if (workload.importance_keys.size() > 1 && random.chance(30)) {
        workload.importance_keys.pop_back();
      }
      break;
    case 1:
      random.shuffle(workload.score_keys);
      if (workload.score_keys.size() > 1 && random.chance(30)) workload.score_keys.pop_back();
      break;
    case 2: workload.honour_preemption_priority = random.chance(50); break;
    case 3: workload.protect_marked_members = random.chance(50); break;
    case 4: workload.score_priority = static_cast<ScorePriority>(random.below(2)); break;
    case 5: workload.below_minimum = static_cast<BelowMinimum>(random.below(2)); break;
    default:
      workload.put_back = static_cast<PutBack>(random.below(3));
      if (workload.put_back != PutBack::until_stable) waive(configuration, WaivedLaw::law_4);
      break;
  }
}

void change_search(Prng& random, Configuration& configuration) {
  switch (random.below(5)) {
    case 0: configuration.budgets.mode = BudgetMode::strict; break;
    case 1: configuration.budgets.counted_over = static_cast<BudgetCount>(random.below(2)); break;
    case 2: configuration.workload.node_score = static_cast<NodeScore>(random.below(2)); break;
    case 3: configuration.engine.preemption_delay = {random.between(0, 3) * 60'000}; break;
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
  switch (random.below(9)) {
    case 0: required_node.victim_classes = random.pick(classes); break;
    case 1: required_node.victim_selection = random.pick(selections); break;
    case 2: required_node.deviation_percent = random.between(0, 200); break;
    case 3: required_node.max_victims = random.between(1, 4); break;
    case 4: required_node.allow_equal_priority = random.chance(50); break;
    case 5: required_node.honour_preemption_policy = random.chance(50); break;
    case 6: required_node.class_steps = static_cast<ClassSteps>(random.below(2)); break;
    case 7: required_node.preemption_start_delay = {random.between(0, 3) * 20'000}; break;
    default:
      required_node.leaving_room = static_cast<LeavingRoom>(random.below(3));
      if (required_node.leaving_room != LeavingRoom::credited) {
        waive(configuration, WaivedLaw::law_6);
      }
      break;
  }
}

}  // namespace

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
      case 2: change_victims(random, configuration); break;
      case 3: change_required_node(random, configuration); break;
      default: change_search(random, configuration); break;
    }
  }
  CHECK(!has_errors(validate(configuration)), "a random configuration must be a valid one");
  return configuration;
}

}  // namespace makeway
