#include "judge/naive_regimes.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "judge/check_plan_hearing.hpp"
#include "judge/naive_world.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

bool lists(const ResourceGroup& group, std::string_view node, const Labels& labels) {
  if (std::ranges::find(group.nodes, node) != group.nodes.end()) return true;
  if (group.node_selector.empty()) return false;
  return std::ranges::all_of(group.node_selector, [&](const Label& wanted) {
    return std::ranges::find(labels, wanted) != labels.end();
  });
}

}  // namespace

bool of_schedule(const Cluster& cluster, const Configuration& configuration, PodIndex pod) {
  const auto& schedules = cluster.own<ReplicaSchedule>();
  if (schedules.empty() || !configuration.replica.enabled) return false;
  if (cluster.pods().flags[pod].kernel) return false;
  const std::string_view space = cluster.text(cluster.pods().namespace_name[pod]);
  for (const LabelPair& label : cluster.labels(cluster.pods().labels[pod])) {
    if (cluster.text(label.key) != names::deployment) continue;
    const std::string_view deployment = cluster.text(label.value);
    const auto named = schedules.find({std::string(space), std::string(deployment)});
    if (named != schedules.end() && named->second.deployment == deployment) return true;
    return std::ranges::any_of(schedules, [&](const auto& item) {
      return item.second.namespace_name == space && item.second.deployment == deployment;
    });
  }
  return false;
}

NaiveRegimes::NaiveRegimes(const Cluster& cluster, const Configuration& configuration)
    : cluster_(cluster),
      configuration_(configuration),
      nodes_(cluster.nodes().slots(), Regime::pods) {
  const auto& groups = cluster.own<ResourceGroup>();
  const std::optional<StringId> plane_key = cluster.strings().find(names::plane);
  for (const NodeIndex node : cluster.nodes_by_name()) {
    const LabelSetId own = cluster.nodes().labels[node];
    // A live run judges many times in a second: the labels of all nodes are copied for groups only.
    const Labels labels = groups.empty() ? Labels{} : cluster.label_objects(own);
    const std::string_view name = cluster.text(cluster.nodes().name[node]);
    const bool elsewhere = cluster.nodes().plane[node] != StringId{0};
    const bool in_plane =
        elsewhere || std::ranges::any_of(cluster.labels(own), [&](const LabelPair& label) {
          return label.key == plane_key;
        });
    if (configuration.replica.enabled && in_plane) nodes_[node] = Regime::replicas;
    if (!configuration.session.enabled || elsewhere) continue;  // Groups list nodes of home.
    for (const auto& [key, group] : groups) {
      if (lists(group, name, labels)) nodes_[node] = Regime::sessions;
    }
  }
}

Regime NaiveRegimes::of_pod(PodIndex pod) const {
  if (cluster_.pods().flags[pod].kernel) return Regime::sessions;
  return of_schedule(cluster_, configuration_, pod) ? Regime::replicas : Regime::pods;
}

bool NaiveRegimes::crosses(PodIndex pod) const {
  return configuration_.required_node.enabled && of_pod(pod) == Regime::pods &&
         !pinned_to(cluster_, pod).empty();
}

std::vector<std::int64_t> held_by_claims(const NaiveWorld& world, const NaiveRegimes& regimes,
                                         NodeIndex node) {
  const Cluster& cluster = world.cluster();
  std::vector<std::int64_t> held(cluster.resources().size());
  if (regimes.of_node(node) != Regime::replicas || cluster.nodes().flags[node].unschedulable) {
    return held;
  }
  const std::string name(cluster.text(cluster.nodes().name[node]));
  const Labels labels = cluster.label_objects(cluster.nodes().labels[node]);
  const std::string plane(find_label(labels, names::plane).value_or(""));
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    if (std::ranges::none_of(schedule.planes,
                             [&](const ReplicaPlane& each) { return each.name == plane; })) {
      continue;
    }
    std::int64_t number = 0;
    for (const ReplicaClaim& claim : schedule.status.claims) {
      if (++number > schedule.unmet) break;
      if (claim.node != name || claim.plane != plane) continue;
      for (std::uint32_t column = 0; column < held.size(); ++column) {
        const ResourceIndex resource{column};
        std::int64_t amount = resource == resource_pods ? 1 : 0;
        for (const Amount& each : schedule.requests) {
          if (each.resource != cluster.resources().name(resource)) continue;
          amount = std::max(amount, each.amount);  // A pod takes a place, whatever it asks for.
        }
        for (const ClaimedVictim& victim : claim.victims) {
          const auto pod = cluster.find_pod(victim.namespace_name, victim.name,
                                            cluster.text(cluster.nodes().plane[node]));
          if (!pod || cluster.pods().uid[pod->value] != victim.uid) continue;
          if (world.where(*pod) != node) continue;
          for (const ResourceAmount& own : cluster.requests(cluster.pods().requests[*pod])) {
            if (own.resource == resource) amount = std::max<std::int64_t>(0, amount - own.amount);
          }
        }
        held[column] += amount;
      }
    }
  }
  return held;
}

}  // namespace makeway
