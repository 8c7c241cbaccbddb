#include "model/validation/replicas.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/planes.hpp"

namespace makeway {
namespace {

std::string schedule_text(const ReplicaSchedule& schedule) {
  return object_text(row_of<ReplicaSchedule>.name, schedule.namespace_name, schedule.name);
}

/// Empty: it has no such label.
std::string_view label_of(const Cluster& cluster, LabelSetId labels, StringId key) {
  for (const LabelPair& label : cluster.labels(labels)) {
    if (label.key == key) return cluster.text(label.value);
  }
  return {};
}

using DeploymentKey = std::pair<std::string_view, std::string_view>;

void check_planes(Findings& findings, const std::set<DeploymentKey>& deployments) {
  const Cluster& cluster = findings.cluster();
  const auto plane = cluster.strings().find(names::plane);
  const auto deployment = cluster.strings().find(names::deployment);
  if (!plane || !deployment) return;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    const std::string_view here =
        cluster.text(replica_plane(cluster, node, plane).value_or(StringId{0}));
    for (const PodIndex pod : cluster.order().pods(node)) {
      const LabelSetId labels = cluster.pods().labels[pod];
      const std::string_view said = label_of(cluster, labels, *plane);
      if (said.empty() || said == here) continue;
      const std::string_view space = cluster.text(cluster.pods().namespace_name[pod]);
      if (!deployments.contains({space, label_of(cluster, labels, *deployment)})) continue;
      const std::string_view name = cluster.text(cluster.nodes().name[node]);
      findings.error({.object = object_text("Pod", space, cluster.pods().name[pod.value]),
                      .field = fmt::format("metadata.labels[{}]", names::plane),
                      .value = shorten(said),
                      .message = here.empty()
                                     ? fmt::format("its node {} is in no plane", name)
                                     : fmt::format("its node {} is in plane {}", name, here),
                      .remedy = "leave the pod's label out, or correct one of the two"});
    }
  }
}

}  // namespace

void check_replicas(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  if (cluster.own<ReplicaSchedule>().empty()) return;
  std::map<DeploymentKey, const ReplicaSchedule*> known;
  std::set<DeploymentKey> deployments;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    const std::string object = schedule_text(schedule);
    const bool unknown = !schedule.priority && !schedule.priority_class.empty() &&
                         cluster.find_priority_class(schedule.priority_class) == nullptr;
    if (unknown) findings.unknown_class(object, "spec.priorityClassName", schedule.priority_class);
    const DeploymentKey name(schedule.namespace_name, schedule.deployment);
    deployments.insert(name);
    const auto [at, is_new] = known.try_emplace(name, &schedule);
    if (is_new) continue;
    findings.error(
        {.object = object,
         .field = "spec.deployment",
         .value = shorten(schedule.deployment),
         .message = fmt::format("{} schedules the same deployment", schedule_text(*at->second)),
         .remedy = "leave one of the two"});
  }
  check_planes(findings, deployments);
}

namespace {

/// A pod whose label names a deployment that no schedule has.
void lint_labels(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const auto key = cluster.strings().find(names::deployment);
  if (!key) return;
  std::set<DeploymentKey> deployments;
  for (const auto& [name, schedule] : cluster.own<ReplicaSchedule>()) {
    deployments.insert({schedule.namespace_name, schedule.deployment});
  }
  const PodColumns& pods = cluster.pods();
  std::set<DeploymentKey> reported;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const PodIndex pod : cluster.order().pods(node)) {
      const std::string_view said = label_of(cluster, pods.labels[pod], *key);
      const DeploymentKey name(cluster.text(pods.namespace_name[pod]), said);
      // One pod of each is enough.
      if (said.empty() || deployments.contains(name) || !reported.insert(name).second) continue;
      findings.warning({.object = object_text("Pod", name.first, pods.name[pod.value]),
                        .field = fmt::format("metadata.labels[{}]", names::deployment),
                        .value = shorten(said),
                        .message = fmt::format("no ReplicaSchedule of namespace {} has this "
                                               "deployment, so the pod is not a replica",
                                               shorten(name.first)),
                        .remedy = "correct the label, or spec.deployment of the schedule"});
    }
  }
}

/// Claims of the previous plan that name what is not there; they fall.
void lint_claims(Findings& findings, const ReplicaSchedule& schedule) {
  const Cluster& cluster = findings.cluster();
  const std::string object = schedule_text(schedule);
  for (const ReplicaClaim& claim : schedule.status.claims) {
    if (!find_node_in_plane(cluster, claim.plane, claim.node)) {
      findings.warning({.object = object,
                        .field = "status.claims[].node",
                        .value = shorten(claim.node),
                        .message = "there is no such node, so the claim is dropped",
                        .remedy = "give the whole cluster, or remove the claim"});
      continue;
    }
    if (claim.victims.empty()) continue;
    const bool any = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& victim) {
      return find_pod_in_plane(cluster, claim.plane, victim.namespace_name, victim.name)
          .has_value();
    });
    // Victims leave one by one; that all are gone is said once.
    if (any) continue;
    const ClaimedVictim& first = claim.victims.front();
    findings.warning(
        {.object = object,
         .field = "status.claims[].victims",
         .value = shorten(first.namespace_name + "/" + first.name),
         .message = fmt::format("no victim of the claim of node {} is there", shorten(claim.node)),
         .remedy = "give the whole cluster, unless they have left"});
  }
}

}  // namespace

void lint_replicas(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  if (cluster.own<ReplicaSchedule>().empty()) return;
  std::set<std::string_view> planes;
  const auto label = cluster.strings().find(names::plane);
  for (const NodeIndex node : cluster.nodes_by_name()) {
    if (const auto plane = replica_plane(cluster, node, label)) planes.insert(cluster.text(*plane));
  }
  lint_labels(findings);
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    lint_claims(findings, schedule);
    const std::string object = schedule_text(schedule);
    if (schedule.unmet > 0 && schedule.planes.empty()) {
      findings.warning({.object = object,
                        .field = "spec.planes",
                        .message = "it has unmet replicas and no plane to put them in",
                        .remedy = "list the planes it may use"});
    }
    for (const ReplicaPlane& plane : schedule.planes) {
      if (planes.contains(plane.name)) continue;
      findings.warning({.object = object,
                        .field = "spec.planes",
                        .value = shorten(plane.name),
                        .message = "no node is in this plane",
                        .remedy = fmt::format("label its nodes with {}, or read it with --plane",
                                              names::plane)});
    }
  }
}

}  // namespace makeway
