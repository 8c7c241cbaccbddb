#include "kube/live_settings.hpp"

#include <algorithm>
#include <utility>

#include "model/profiles.hpp"

namespace makeway::kube {

Configuration live_rules(Configuration configuration) {
  configuration.required_node.preemption_start_delay =
      configuration.required_node.preemption_start_delay_live;
  return configuration;
}

LeaseTimes lease_times(const Configuration& configuration) {
  return {.lease = configuration.live.lease_duration};
}

ActuatorSettings actuator_settings(const Configuration& configuration,
                                   const std::vector<ServedResource>& served,
                                   std::string instance) {
  ActuatorSettings settings;
  settings.options.instance = std::move(instance);
  settings.options.timeout = lease_times(configuration).write_timeout();
  settings.options.names_causes = configuration.live.cause_names;
  const auto groups = std::ranges::find(
      served, "podgroups", [](const ServedResource& each) { return each.resource->plural; });
  if (groups != served.end()) settings.options.group_version = groups->version;
  settings.budgets = configuration.budgets.mode;
  settings.sessions = {.restart_after = configuration.session.backoff_first,
                       .names_causes = configuration.live.cause_names};
  settings.limits.leave_max = configuration.engine.leave_timeout;
  settings.brakes =
      BrakeSettings{.evictions_per_minute = configuration.live.max_evictions_per_minute,
                    .evict_again_window = configuration.live.evict_again_window,
                    .quiet_first = lease_times(configuration).write_timeout(),
                    .capacity_grace = configuration.live.capacity_grace};
  for (const ProfileRules& each : differing_profiles(configuration)) {
    settings.brakes->of_profiles[each.scheduler_name] =
        each.configuration.live.max_evictions_per_minute;
  }
  return settings;
}

LiveViewOptions view_options(std::vector<std::string> schedulers) {
  return {.schedulers = std::move(schedulers), .recalls_notes = true};
}

}  // namespace makeway::kube
