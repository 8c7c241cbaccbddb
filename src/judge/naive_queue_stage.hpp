// The two computations of NaiveQueues: what each queue deserves, and what moves. Private to it.
#pragma once

#include "judge/naive_queues.hpp"

namespace makeway {

/// Fills in `deserved` and `sure`.
void divide_naively(NaiveQueues& queues, const Cluster& cluster,
                    const Configuration& configuration);

/// Fills in `allocated`, `preempting` and the moves.
void run_stage_naively(NaiveQueues& queues, const Configuration& configuration,
                       const Cluster& cluster);

}  // namespace makeway
