// The plans of simpler schedulers, from which a group's search starts, are looked for under the
// settings of their presets: what planning_rules.cpp takes from them must be what they say.
#include "policies/workload/group/planning_rules.hpp"

#include <gtest/gtest.h>

#include "codec/presets.hpp"

namespace makeway {
namespace {

template <class... Members>
void expect_same(const WorkloadSettings& simple, const WorkloadSettings& preset,
                 const Members... members) {
  std::size_t at = 0;
  (
      [&] {
        EXPECT_TRUE(simple.*members == preset.*members) << "setting " << at;
        ++at;
      }(),
      ...);
}

TEST(SimplePlanningRules, PlansAsKubeSchedulerWould) {
  const Configuration preset = *load_preset("kube-1.37");
  const Configuration simple = as_kube_scheduler(*load_preset(default_preset));
  EXPECT_TRUE(simple.protection == preset.protection);
  EXPECT_TRUE(simple.budgets == preset.budgets);
  using W = WorkloadSettings;
  expect_same(simple.workload, preset.workload, &W::member_order, &W::node_score,
              &W::placement_guide, &W::start_from_simple_plans, &W::protect_marked_members,
              &W::honour_preemption_priority, &W::honour_below_minimum, &W::priority_search,
              &W::leaving_room, &W::put_back, &W::put_back_scope);
}

TEST(SimplePlanningRules, PlansAsTheTextOfTheKepWould) {
  const Configuration preset = *load_preset("kep-5710");
  const Configuration simple = as_kep(*load_preset(default_preset));
  using W = WorkloadSettings;
  expect_same(simple.workload, preset.workload, &W::member_order, &W::node_score,
              &W::placement_guide, &W::start_from_simple_plans, &W::priority_search,
              &W::importance_keys);
}

}  // namespace
}  // namespace makeway
