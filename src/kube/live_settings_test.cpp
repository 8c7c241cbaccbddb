#include "kube/live_settings.hpp"

#include <gtest/gtest.h>

namespace makeway::kube {
namespace {

TEST(LiveSettings, EveryKnobReachesItsPart) {
  Configuration configuration;
  configuration.live.cause_names = true;
  configuration.live.max_evictions_per_minute = 7;
  configuration.live.evict_again_window = Duration{90'000};
  configuration.live.capacity_grace = Duration{30'000};
  configuration.live.lease_duration = Duration{3'000};
  configuration.budgets.mode = BudgetMode::strict;
  configuration.required_node.preemption_start_delay_live = Duration{4'000};
  const ActuatorSettings settings = actuator_settings(configuration, {}, "makeway-host");
  EXPECT_TRUE(settings.options.names_causes);
  EXPECT_EQ(settings.options.instance, "makeway-host");
  EXPECT_EQ(settings.options.timeout, Duration{1'000});  // 5/15 of the lease.
  EXPECT_EQ(settings.budgets, BudgetMode::strict);
  ASSERT_TRUE(settings.brakes.has_value());
  EXPECT_EQ(settings.brakes->evictions_per_minute, 7);
  EXPECT_EQ(settings.brakes->evict_again_window, Duration{90'000});
  EXPECT_EQ(settings.brakes->capacity_grace, Duration{30'000});
  EXPECT_EQ(lease_times(configuration).fence(), Duration{1'600});  // 8/15.
  EXPECT_EQ(live_rules(configuration).required_node.preemption_start_delay, Duration{4'000});
}

TEST(LiveSettings, ProfilesHaveTheirOwnAllowance) {
  Configuration configuration;
  configuration.profiles = {
      {.scheduler_name = "batch", .knobs = {{.path = "live.maxEvictionsPerMinute", .value = "5"}}},
      {.scheduler_name = "services"}};
  const ActuatorSettings settings = actuator_settings(configuration, {}, "makeway-host");
  EXPECT_EQ(settings.brakes->of_profile("batch"), 5);
  EXPECT_EQ(settings.brakes->of_profile("services"), 600);
}

TEST(LiveSettings, GroupsAreWrittenInTheVersionThatTheServerHas) {
  const auto all = resources();
  const auto groups = std::ranges::find(all, "podgroups", &Resource::plural);
  ASSERT_NE(groups, all.end());
  const std::vector<ServedResource> served = {{.resource = &*groups, .version = "v1alpha3"}};
  EXPECT_EQ(actuator_settings({}, served, "i").options.group_version, "v1alpha3");
}

}  // namespace
}  // namespace makeway::kube
