// A tiny cluster with ReplicaSchedules in the short notation, as the replica policy sees it, for
// tests of single functions.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "policies/replica/node_victims.hpp"
#include "support/short_cluster.hpp"

namespace makeway {

struct FleetScene : ShortWorld {
  using ShortWorld::ShortWorld;

  PlaceIndex place(std::string_view node, std::string_view plane = "eu") const {
    const std::optional<PlaceIndex> found = fleet.find_place(plane, node);
    CHECK(found, node);
    return *found;
  }
  /// Also one without pods.
  DeploymentIndex deployment(std::string_view name) const {
    for (std::uint32_t at = 0; at < fleet.deployments().size(); ++at) {
      if (fleet.deployments()[DeploymentIndex{at}].object->name == name) return DeploymentIndex{at};
    }
    CHECK(false, name);
  }
  ShareIndex share(std::string_view name, std::uint32_t plane = 0) const {
    const std::optional<ShareIndex> found = fleet.find_share(deployment(name), PlaneIndex{plane});
    CHECK(found, name);
    return *found;
  }
  ReplicaIndex replica(std::string_view pod_name) const {
    const PodIndex found = pod(pod_name);
    for (std::uint32_t at = 0; at < fleet.places().size(); ++at) {
      const auto index = fleet.find_replica(PlaceIndex{at}, found);
      if (index) return *index;
    }
    return {};
  }
  /// Of one more replica of the deployment.
  ReplicaNeed need(std::string_view name) const {
    const FleetDeployment& row = fleet.deployments()[deployment(name)];
    const std::span<const std::int64_t> request = fleet.request(row.request);
    return {.request = request, .priority = row.priority, .one = request[Fleet::counted] == 1};
  }
  std::string pods_of(std::span<const ReplicaIndex> replicas) const {
    std::vector<PodIndex> pods;
    for (const ReplicaIndex each : replicas) pods.push_back(fleet.replica(each).pod);
    return names(pods);
  }
  /// "surplus", "committed last"
  std::string class_of(std::string_view pod_name) const {
    const FleetReplica& found = fleet.replica(replica(pod_name));
    std::string text(choice_name(found.victim_class));
    if (found.expired) text += " expired";
    if (found.last) text += " last";
    if (found.is_protected) text += " protected";
    return text;
  }

  Plan plan;
  Draft draft{.world = world, .plan = plan};
  Fleet fleet{draft};
};

}  // namespace makeway
