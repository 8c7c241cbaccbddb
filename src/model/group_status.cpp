#include "model/group_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace makeway {

PriorityMismatch priority_mismatch(const Cluster& cluster, GroupIndex group) {
  PriorityMismatch result;
  const PodColumns& pods = cluster.pods();
  const std::int32_t expected = cluster.units()[cluster.groups()[group].unit].scheduling_priority;
  for (const PodIndex pod : cluster.groups()[group].members) {
    if (pods.priority[pod] == expected) continue;
    ++result.pods;
    const bool is_first =
        !result.first.exists() || pods.name[pod.value] < pods.name[result.first.value];
    if (is_first) result.first = pod;
  }
  return result;
}

std::string priority_mismatch_text(const Cluster& cluster, GroupIndex group) {
  const PriorityMismatch mismatch = priority_mismatch(cluster, group);
  if (mismatch.pods == 0) return {};
  const Unit& unit = cluster.units()[cluster.groups()[group].unit];
  return fmt::format("{} of its {} pods {} another priority, the first is {} with {} instead of {}",
                     mismatch.pods, unit.size, mismatch.pods == 1 ? "carries" : "carry",
                     cluster.pod_key(mismatch.first), cluster.pods().priority[mismatch.first],
                     unit.scheduling_priority);
}

void add_priority_conditions(const Cluster& cluster, Plan& plan) {
  std::vector<GroupIndex> differing;
  for (std::uint32_t slot = 0; slot < cluster.groups().size(); ++slot) {
    const GroupIndex group{slot};
    const Group& row = cluster.groups()[group];
    if (!row.unit.exists() || !row.object || !row.object->plane.empty()) continue;
    const bool is_ours = std::ranges::none_of(row.members, [&](PodIndex pod) {
      return cluster.pods().flags[pod].kept == KeptBy::other_scheduler;
    });
    if (is_ours && priority_mismatch(cluster, group).pods > 0) differing.push_back(group);
  }
  const auto key = [&](GroupIndex group) {
    const Group& row = cluster.groups()[group];
    return std::pair(cluster.text(row.namespace_name), cluster.text(row.name));
  };
  std::ranges::sort(differing, {}, key);
  for (const GroupIndex group : differing) {
    const PodGroup& object = *cluster.groups()[group].object;
    Sentence sentence{.text = priority_mismatch_text(cluster, group), .mentions = {}};
    sentence.add("; the group's counts");  // It names only a pod of the group.
    if (!object.workload.empty()) {
      sentence.add(fmt::format(" (Workload {}/{})", object.namespace_name, object.workload));
    }
    plan.status.push_back({.object = {.kind = RefKind::pod_group,
                                      .namespace_name = object.namespace_name,
                                      .name = object.name},
                           .condition = std::string(pods_not_matching_priority),
                           .value = true,
                           .reason = "PriorityDiffers",
                           .message = sentence.text,
                           .message_mentions = Mentions(sentence)});
  }
}

}  // namespace makeway
