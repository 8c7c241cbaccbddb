// The rules of the two priorities, and of groups. Private to validation.cpp.
//
// A unit asks with its scheduling priority and is protected by its preemption priority. The second
// is never below the first: if X evicted Y, sched(X) > pre(Y) >= sched(Y), so Y could not evict X
// (pre(X) >= sched(X) > sched(Y)). An administrator may also limit how far it lies above, and for
// which scheduling priorities it may differ at all, so that no tenant makes a low-priority workload
// impossible to preempt.
#pragma once

#include "model/configuration.hpp"
#include "model/findings.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway {

/// Classes that are named and not there; preemption priorities below scheduling priorities.
void check_groups(Findings& findings);
void check_pods(Findings& findings);

/// Preemption priorities that the configuration forbids.
void check_caps(Findings& findings, const WorkloadSettings& settings);

/// Groups that pods name and nothing in the input describes, or only what is in quarantine.
Problems missing_groups(const Cluster& cluster, const Quarantine& quarantine);
/// Groups whose pods carry another priority.
Problems mismatched_groups(const Cluster& cluster);
/// Numbers of groups and Workloads that are not those of the class beside them; Workloads and
/// templates that groups rely on and that are not in the input.
void doubt_claims(Findings& findings);

void lint_groups(Findings& findings);
void lint_workloads(Findings& findings);
/// What a pod says about preemption that has no effect.
void lint_marks(Findings& findings, PodIndex pod);

}  // namespace makeway
