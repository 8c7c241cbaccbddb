// Loss rules: what stops beside a pod of a workload that is lost (facts/workload-kinds.md, 12).
//
//   Job               all of it, when a lost pod makes it fail: its backoffLimit is used up, more
//                     indexes have failed than maxFailedIndexes, or podFailurePolicy answers a
//                     disruption with FailJob
//   JobSet            all of it when one of its Jobs fails so; that Job alone under RestartJob
//   TrainJob          all of it: its training stalls
//   PyTorchJob        the same; with an elasticPolicy once fewer than its minReplicas are left
//   LeaderWorkerSet   the group, also one that a rolling update has added; with restartPolicy None
//                     only with the leader
//   RayCluster        all of it with the head, unless that is fault tolerant; the other hosts of a
//                     replica that has several
//   others            nothing: the pod is replaced, and the others run on
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "codec/workloads/workload_kinds.hpp"

namespace makeway {

/// What the loss of its pods does to a Job.
struct JobLosses {
  std::optional<std::int64_t> allowed;  ///< More make it fail; none: no number does.
  std::string_view reason;              ///< Of that failure, as Kubernetes calls it.
};
JobLosses job_losses(const ManifestField& spec, const ManifestField& status);

/// Of the pods of a Job that run.
void share_job_losses(Expansion& expansion, const JobOrder& order);

/// Whether a JobSet restarts only the Job when one of an entry's Jobs fails for that reason.
bool restarts_job_alone(const ManifestField& job_set, std::string_view entry,
                        std::string_view reason);

/// Units that no loss stops, and those of one pod.
void drop_idle_units(const Cluster& cluster, LossShares& losses);

}  // namespace makeway
