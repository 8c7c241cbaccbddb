// Random fleets of replicas (SPEC section 4): small planes, nearly full nodes, deployments of few
// priorities so that ties happen, pods in every part of their life.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"

namespace makeway {

inline constexpr Time fleet_now{1'767'225'600'000};

struct RandomFleet {
  std::int64_t gpus_max = 8;          ///< Of one node.
  std::int64_t replica_gpus_max = 4;  ///< Of one replica.
  std::size_t nodes_max = 4;          ///< In one plane.
  bool leaving = true;                ///< Some pods are leaving at the start.
  bool oddities = true;               ///< Cordoned nodes, unowned pods, protected pods, cpu, ...
  bool statuses = true;               ///< Claims of a previous plan, true or not.
  bool strangers = false;             ///< Pods outside of schedules, running and asking.
  std::int64_t unmet_max = 3;
};

/// A subset of the features is off in each. Foreign pods are there only on request.
RandomFleet random_fleet_options(Prng& random);

/// Nodes, ReplicaSchedules, then pods.
std::vector<Change> random_fleet(Prng& random, const RandomFleet& options);

/// Each plane is a cluster of its own instead of a label: its nodes and the pods there are in it.
void move_to_planes(std::vector<Change>& objects);

/// A bound pod of a deployment, labelled with it.
Pod fleet_pod(const ReplicaSchedule& schedule, const std::string& name, std::string node,
              Time created);

/// Whether it is a pod of the deployment that is not leaving, wherever it is.
bool is_replica_of(const Pod& pod, const ReplicaSchedule& schedule);
/// It is leaving from now on, with a random grace.
void start_leaving(Pod& pod, Time now, Prng& random, std::int64_t grace_max_s);

/// 0 where the resource is not named.
std::int64_t amount_of(const Amounts& amounts, std::string_view resource);

}  // namespace makeway
