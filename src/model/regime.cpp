#include "model/regime.hpp"

#include <algorithm>

#include "model/names.hpp"
#include "model/required_node.hpp"

namespace makeway {

Regimes::Regimes(const Cluster& cluster, const Configuration& configuration)
    : cluster_(cluster),
      sessions_(configuration.session.enabled),
      replicas_(configuration.replica.enabled),
      required_node_(configuration.required_node.enabled),
      mixed_((sessions_ || replicas_) && cluster.claimed_node_count() > 0) {
  const auto key = cluster.strings().find(names::deployment);
  if (!replicas_ || !key) return;
  for (const auto& [name, schedule] : cluster.own<ReplicaSchedule>()) {
    const auto space = cluster.strings().find(schedule.namespace_name);
    const auto deployment = cluster.strings().find(schedule.deployment);
    if (space && deployment) schedules_.try_emplace({*space, *deployment}, &schedule);
  }
  if (!schedules_.empty()) deployment_key_ = *key;
}

bool Regimes::crosses(PodIndex pod) const {
  return required_node_ && !cluster_.pods().flags[pod].kernel && is_pinned(cluster_, pod) &&
         schedule_of(pod) == nullptr;
}

const ReplicaSchedule* Regimes::find_schedule(PodIndex pod) const {
  const auto labels = cluster_.labels(cluster_.pods().labels[pod]);
  const auto label = std::ranges::find(labels, deployment_key_, &LabelPair::key);
  if (label == labels.end()) return nullptr;
  const auto found = schedules_.find({cluster_.pods().namespace_name[pod], label->value});
  return found == schedules_.end() ? nullptr : found->second;
}

}  // namespace makeway
