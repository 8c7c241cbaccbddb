#include "policies/workload/group/planning_rules.hpp"

#include <utility>

namespace makeway {
namespace {

/// Both place the members blindly on an emptied cluster, in the order of their creation.
Configuration one_placement(const Configuration& configuration) {
  Configuration simple = configuration;
  simple.workload.member_order = MemberOrder::creation;
  simple.workload.node_score = NodeScore::spread;
  simple.workload.placement_guide = PlacementGuide::node_score;
  simple.workload.start_from_simple_plans = false;
  return simple;
}

}  // namespace

PlanningRules planning_rules_of(World& world) { return {world.configuration(), world.rules()}; }

SimplePlanningRules::SimplePlanningRules(const World& world, Configuration configuration)
    : configuration_(std::move(configuration)), rules_(world.rules(), configuration_) {}

Configuration as_kube_scheduler(const Configuration& configuration) {
  Configuration simple = one_placement(configuration);
  simple.protection = {.protect_system_critical = false,
                       .namespaces = {},
                       .minimum_runtime = {},
                       .preempt_other_schedulers = false,
                       .protect_mirror_pods = false,
                       .protect_opted_out = false,
                       .pinned = false};
  simple.budgets = {.mode = BudgetMode::best_effort,
                    .counted_over = BudgetCount::potential_victims};
  simple.workload.protect_marked_members = false;
  simple.workload.honour_preemption_priority = false;
  simple.workload.honour_below_minimum = false;
  simple.workload.priority_search = PrioritySearch::none;
  simple.workload.leaving_room = LeavingRoom::victims;
  simple.workload.put_back = PutBack::once;
  simple.workload.put_back_scope = PutBackScope::ask_nodes;
  return simple;
}

Configuration as_kep(const Configuration& configuration) {
  Configuration simple = one_placement(configuration);
  simple.workload.priority_search = PrioritySearch::bisect;
  simple.workload.importance_keys = {ImportanceKey::priority, ImportanceKey::kind};
  return simple;
}

Configuration without_whole_plan_keys(const Configuration& configuration) {
  Configuration counting = configuration;
  counting.engine.cascade_depth = 0;
  std::erase_if(counting.workload.score_keys, [](ScoreKey key) {
    return key == ScoreKey::members_not_placed || key == ScoreKey::highest_priority ||
           key == ScoreKey::secondary_victims || key == ScoreKey::oldest_victim;
  });
  return counting;
}

}  // namespace makeway
