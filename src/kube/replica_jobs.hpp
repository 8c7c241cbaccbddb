// From a plan to writes, for replicas over planes (SPEC sections 4 and 8).
//
//  1. The status of a schedule is on the home server before anything is asked of a plane for that
//     schedule: it is all that a next process knows of the plan.
//  2. A scale is one step: the Deployment is read, and patched with the version that was read if it
//     is the one that was decided on and has as many replicas as then.
//  3. A pod that is force-deleted on a node that is gone or out of service fails first; on a live
//     node its phase is never touched.
//  4. A plane that cannot be watched is asked for nothing, nor is a Deployment that an autoscaler
//  scales.
//  5. A scale-down makes a pod leave, and counts for the brakes. Where a brake holds back those of
//     a schedule, claims that rely on them are left out of its status, so that none is recorded
//     for which no pod leaves; one for which a pod is leaving already stays. What else the plan
//     has for the schedule goes on: scale-ups into room that is free, and force-deletions for
//     claims that stay. An ask that is to take from the same Deployment after it waits with it: its
//     step begins with one replica less.
//
// Pure.
#pragma once

#include "kube/version_cache.hpp"
#include "kube/write_jobs.hpp"

namespace makeway::kube {

/// Whether `add_replica_jobs` carries it out.
bool is_of_replicas(const PlanAction& action);

/// The brake may be empty.
void add_replica_jobs(const Plan& plan, const VersionCache& home, const PlaneCaches& planes,
                      const EvictionBrake& brake, PlanJobs& made);

/// As a merge patch: what is not there any more is taken away.
std::string status_patch(const ReplicaStatus& status);

}  // namespace makeway::kube
