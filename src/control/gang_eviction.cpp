#include "control/gang_eviction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/request.hpp"

namespace makeway {

bool is_staying(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().node[pod].exists() && cluster.pods().deletion[pod] == no_time;
}

std::vector<Pod> staying_members(const Cluster& cluster, const Group& group) {
  std::vector<Pod> members;
  for (const PodIndex pod : group.members) {
    if (is_staying(cluster, pod)) members.push_back(cluster.pod(pod));
  }
  std::ranges::sort(members, {}, &Pod::name);
  return members;
}

void evict_members(const Cluster& cluster, const Group& group, const std::vector<Pod>& members,
                   std::string_view reason, LeaveTogether together, Plan& plan) {
  PlanAsk ask{.kind = AskKind::pod_group,
              .namespace_name = std::string(cluster.text(group.namespace_name)),
              .name = std::string(cluster.text(group.name)),
              .reason = std::string(reason)};
  const ObjectRef asks = ref_of(ask);
  for (const Pod& pod : members) {
    if (together == LeaveTogether::yes) {
      ask.victims.push_back({.namespace_name = pod.namespace_name,
                             .name = pod.name,
                             .uid = pod.uid,
                             .node = pod.node,
                             .unit = ref_text(asks)});
    }
    plan.actions.push_back({.type = ActionType::evict,
                            .namespace_name = pod.namespace_name,
                            .name = pod.name,
                            .uid = pod.uid,
                            .node = pod.node,
                            .ask = asks});
  }
  plan.asks.push_back(std::move(ask));
}

}  // namespace makeway
