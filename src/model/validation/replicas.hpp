// What is wrong with ReplicaSchedules, seen beside the rest of the cluster. Private to validation.
#pragma once

#include "model/findings.hpp"

namespace makeway {

/// Unknown classes, two schedules of one deployment, pods that name another plane than their node.
void check_replicas(Findings& findings);
/// Planes without nodes, unmet replicas without planes.
void lint_replicas(Findings& findings);

}  // namespace makeway
