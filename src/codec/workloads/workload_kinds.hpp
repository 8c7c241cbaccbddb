// The table of workload kinds: how each becomes pods. Private to this folder and its tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "codec/workloads/expansion.hpp"
#include "model/kinds.hpp"

namespace makeway {

/// Pods that have this kind as their controller.
enum class PodsRun : std::uint8_t { until_done, for_ever };

struct WorkloadKind {
  std::string_view api_group;  ///< Empty: the core of Kubernetes.
  std::string_view name;
  Scope scope;
  /// Null: it makes no pods, but others look at it.
  void (*expand)(Expansion& expansion, const Manifest& manifest);
  PodsRun pods_run = PodsRun::until_done;
};

/// Parents before children.
std::span<const WorkloadKind> workload_kinds();
const WorkloadKind* find_workload_kind(std::string_view api_group, std::string_view name);
/// Names differ among the kinds of the table.
const WorkloadKind* find_workload_kind(std::string_view name);

// expand_job.cpp
void expand_job(Expansion& expansion, const Manifest& manifest);
void expand_cron_job(Expansion& expansion, const Manifest& manifest);
// expand_replicas.cpp
void expand_deployment(Expansion& expansion, const Manifest& manifest);
void expand_replica_set(Expansion& expansion, const Manifest& manifest);
void expand_replication_controller(Expansion& expansion, const Manifest& manifest);
void expand_pod_template(Expansion& expansion, const Manifest& manifest);
// expand_stateful_set.cpp
void expand_stateful_set(Expansion& expansion, const Manifest& manifest);
// expand_daemon_set.cpp
void expand_daemon_set(Expansion& expansion, const Manifest& manifest);
// expand_job_set.cpp
void expand_job_set(Expansion& expansion, const Manifest& manifest);
// expand_leader_worker_set.cpp
void expand_leader_worker_set(Expansion& expansion, const Manifest& manifest);
// expand_train_job.cpp
void expand_train_job(Expansion& expansion, const Manifest& manifest);
// expand_pytorch_job.cpp
void expand_pytorch_job(Expansion& expansion, const Manifest& manifest);
// expand_mpi_job.cpp
void expand_mpi_job(Expansion& expansion, const Manifest& manifest);
// expand_ray.cpp
void expand_ray_cluster(Expansion& expansion, const Manifest& manifest);
void expand_ray_job(Expansion& expansion, const Manifest& manifest);

/// A Job that is there, or that a controller would make.
struct JobOrder {
  ManifestField spec;
  ManifestField status;
  std::string name;
  std::string uid;
  std::string_view template_key = "template";  ///< What the spec calls the template.
  /// As JobSet's webhook fills them in: Indexed, and restartPolicy OnFailure.
  bool defaults_of_job_set = false;
  TextPairs labels;  ///< Of its pods, besides its own; annotations, too.
  /// All pods in one domain of this node label, which no other Job of equal priority has; the
  /// pod of index 0 goes first. Empty: anywhere.
  std::string exclusive_topology;
  std::string job_key;
  /// The same by nodes that a user has labelled with this value for it; empty: not so.
  std::string own_nodes;
  std::int32_t wave = 0;
  std::string wave_after;
  std::string loss_unit;  ///< What stops when it fails; empty: itself.
  bool stalls = false;    ///< Any lost pod stops that.
};
void expand_job_order(Expansion& expansion, const JobOrder& order);

/// A JobSet that is there, or that a TrainJob's controller would make.
struct JobSetOrder {
  ManifestField spec;
  ManifestField metadata;
  std::string name;
  std::string uid;
  std::string group;      ///< PodGroup of all its pods; empty: none.
  std::string loss_unit;  ///< Stops with any of its pods; empty: what its failure policy says.
};
void expand_job_set_order(Expansion& expansion, JobSetOrder order);

/// Conditions of these types say that an object has ended.
bool has_condition(const ManifestField& status, std::initializer_list<std::string_view> types);
/// Its controller makes no pods for it any more.
bool is_being_deleted(Expansion& expansion, const Manifest& manifest);

}  // namespace makeway
