// When time alone could change the plan (`Decision::recheck_at`, SPEC section 8).
//
// Decisions read the clock only to ask whether a time of the cluster plus a duration of the
// configuration has passed. The earliest of these that lies ahead is the answer, whether it would
// matter or not: a cycle too many costs little, one too few is a missed wake-up. They are
//   pending      creation + engine.preemptionDelay
//   leaving      deletion + engine.leaveTimeout; of replicas also the time of force-deletion
//   running      start + protection.minimumRuntime, and + exemptTime of a partition
//   sessions     the end of a grace time, the end of a back-off
//   reservations the end of required_node.preemptionStartDelay
//   surplus      since + replica.surplusTimeout
// Only lost work changes all the time. Where pods are evicted, the one that loses least may be
// another one a second later.
//
// O(due, leaving, sessions, schedules), and O(pods) where pods have a minimum runtime or a delay.
#pragma once

#include <optional>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

/// After the plan is finished. None: nothing lies ahead.
std::optional<Time> find_recheck(const Cluster& cluster, const Configuration& configuration,
                                 const Plan& plan);

}  // namespace makeway
