// The priority of a deployment: its own number, else its class's, else the global default, else 0.
#pragma once

#include <cstdint>

#include "model/cluster.hpp"

namespace makeway {

std::int32_t priority_of(const Cluster& cluster, const ReplicaSchedule& schedule);

}  // namespace makeway
