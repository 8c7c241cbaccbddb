#include "model/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "model/compatibility.hpp"
#include "model/names.hpp"

namespace makeway {

Problem cluster_knob_problem(std::string_view scheduler_name, const Knob& knob,
                             std::string_view value) {
  return {
      .origin = {},
      .object = {},
      .field = fmt::format("profiles.{}.{}", shorten(scheduler_name), knob.path),
      .value = shorten(value),
      .message = "is a knob of the cluster: the profiles share one cluster and must agree on it",
      .remedy = fmt::format("take it out here; {} beside the profiles counts for all of them",
                            knob.path)};
}

Configuration rules_of(const Configuration& configuration, const Profile& profile) {
  Configuration rules = configuration;
  rules.profiles.clear();
  for (const ProfileKnob& each : profile.knobs) {
    const auto problem = set_knob(rules, each.path, each.value);
    CHECK(!problem, "profiles are validated where they are read");
  }
  keep_cluster_rules(rules, configuration);
  return rules;
}

std::vector<ProfileRules> differing_profiles(const Configuration& configuration) {
  std::vector<ProfileRules> differing;
  if (configuration.profiles.empty()) return differing;
  Configuration common = configuration;
  common.profiles.clear();
  for (const Profile& profile : configuration.profiles) {
    Configuration rules = rules_of(common, profile);
    if (rules != common) differing.push_back({profile.scheduler_name, std::move(rules)});
  }
  return differing;
}

PodIndex first_pod_of(const Cluster& cluster, UnitIndex unit) {
  if (!unit.exists()) return {};
  const Unit& row = cluster.units()[unit];
  if (row.kind == UnitKind::pod) return row.pod;
  if (row.kind != UnitKind::group) return {};
  const std::vector<PodIndex>& members = cluster.groups()[row.group].members;
  const auto first = std::ranges::min_element(
      members, {}, [&](PodIndex pod) { return cluster.pods().name[pod.value]; });
  return first == members.end() ? PodIndex{} : *first;
}

std::string_view scheduler_of(const Cluster& cluster, PodIndex pod) {
  const std::string_view name = cluster.text(cluster.pods().scheduler[pod]);
  return name.empty() ? names::default_scheduler : name;
}

std::vector<std::string> served_schedulers(std::vector<std::string> names,
                                           const Configuration& configuration) {
  for (const Profile& profile : configuration.profiles) {
    if (std::ranges::find(names, profile.scheduler_name) == names.end()) {
      names.push_back(profile.scheduler_name);
    }
  }
  return names;
}

}  // namespace makeway
