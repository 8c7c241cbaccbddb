// Is the answer to a gang right? Asked before any time is taken.
//
// All members have places, pods are evicted for them, and check_plan finds nothing. Where the
// cluster is small enough, the same plan also comes out
//   again      from a second decision on the same cluster;
//   shuffled   when the objects came in another order.
#pragma once

#include "bench/support/plan_answer.hpp"

namespace makeway::bench {

AnswerCheck check_gang_answer(const ClusterCase& item, const Cluster& cluster,
                              const Configuration& configuration, const Plan& plan);

}  // namespace makeway::bench
