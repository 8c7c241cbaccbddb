#include "model/group_status.hpp"

#include <fmt/format.h>

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

std::optional<PlanStatus> priority_condition(const Cluster& cluster, GroupIndex group) {
  Sentence sentence{.text = priority_mismatch_text(cluster, group), .mentions = {}};
  if (sentence.text.empty()) return std::nullopt;
  sentence.add("; the group's counts");  // It names only a pod of the group.
  const Group& object = cluster.groups()[group];
  return PlanStatus{.object = {.kind = RefKind::pod_group,
                               .namespace_name = std::string(cluster.text(object.namespace_name)),
                               .name = std::string(cluster.text(object.name))},
                    .condition = std::string(pods_not_matching_priority),
                    .value = true,
                    .reason = "PriorityDiffers",
                    .message = sentence.text,
                    .message_mentions = Mentions(sentence)};
}

}  // namespace makeway
