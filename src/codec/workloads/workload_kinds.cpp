#include "codec/workloads/workload_kinds.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "codec/workloads/workload_names.hpp"

namespace makeway {
namespace {

constexpr std::array kinds = {
    WorkloadKind{"trainer.kubeflow.org", "TrainJob", Scope::in_namespace, expand_train_job},
    WorkloadKind{"jobset.x-k8s.io", "JobSet", Scope::in_namespace, expand_job_set},
    WorkloadKind{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", Scope::in_namespace,
                 expand_leader_worker_set},
    WorkloadKind{"kubeflow.org", "PyTorchJob", Scope::in_namespace, expand_pytorch_job},
    WorkloadKind{"kubeflow.org", "MPIJob", Scope::in_namespace, expand_mpi_job},
    WorkloadKind{"ray.io", "RayJob", Scope::in_namespace, expand_ray_job},
    WorkloadKind{"ray.io", "RayCluster", Scope::in_namespace, expand_ray_cluster},
    WorkloadKind{"batch", "CronJob", Scope::in_namespace, expand_cron_job},
    WorkloadKind{"batch", "Job", Scope::in_namespace, expand_job},
    WorkloadKind{"apps", "Deployment", Scope::in_namespace, expand_deployment},
    WorkloadKind{"apps", "StatefulSet", Scope::in_namespace, expand_stateful_set,
                 PodsRun::for_ever},
    WorkloadKind{"apps", "DaemonSet", Scope::in_namespace, expand_daemon_set, PodsRun::for_ever},
    WorkloadKind{"apps", "ReplicaSet", Scope::in_namespace, expand_replica_set, PodsRun::for_ever},
    WorkloadKind{"", "ReplicationController", Scope::in_namespace, expand_replication_controller,
                 PodsRun::for_ever},
    WorkloadKind{"", "PodTemplate", Scope::in_namespace, expand_pod_template},
    WorkloadKind{"trainer.kubeflow.org", "TrainingRuntime", Scope::in_namespace, nullptr},
    WorkloadKind{"trainer.kubeflow.org", "ClusterTrainingRuntime", Scope::everywhere, nullptr},
    WorkloadKind{"node.k8s.io", "RuntimeClass", Scope::everywhere, nullptr},
    WorkloadKind{"", "LimitRange", Scope::in_namespace, nullptr},
    WorkloadKind{"", "ResourceQuota", Scope::in_namespace, nullptr},
};

struct UnsupportedKind {
  std::string_view api_group;
  std::string_view name;
};
constexpr std::array unsupported_kinds = {
    UnsupportedKind{"kubeflow.org", "TFJob"},
    UnsupportedKind{"kubeflow.org", "XGBoostJob"},
    UnsupportedKind{"kubeflow.org", "PaddleJob"},
    UnsupportedKind{"kubeflow.org", "JAXJob"},
    UnsupportedKind{"ray.io", "RayService"},
    UnsupportedKind{"batch.volcano.sh", "Job"},
    UnsupportedKind{"batch.volcano.sh", "CronJob"},
    UnsupportedKind{"disaggregatedset.x-k8s.io", "DisaggregatedSet"},
    UnsupportedKind{"workload.codeflare.dev", "AppWrapper"},
    UnsupportedKind{"sparkoperator.k8s.io", "SparkApplication"},
    UnsupportedKind{"argoproj.io", "Workflow"},
    UnsupportedKind{"argoproj.io", "Rollout"},
    UnsupportedKind{"serving.knative.dev", "Service"},
};

}  // namespace

std::span<const WorkloadKind> workload_kinds() { return kinds; }

const WorkloadKind* find_workload_kind(std::string_view api_group, std::string_view name) {
  const auto found = std::ranges::find_if(kinds, [&](const WorkloadKind& kind) {
    return kind.api_group == api_group && kind.name == name;
  });
  return found == kinds.end() ? nullptr : &*found;
}

const WorkloadKind* find_workload_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &WorkloadKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

bool is_workload_kind(std::string_view api_group, std::string_view kind) {
  return find_workload_kind(api_group, kind) != nullptr;
}

std::string_view workload_kind_called(std::string_view word) {
  for (const WorkloadKind& kind : kinds) {
    if (kind.expand == nullptr) continue;
    if (std::ranges::equal(kind.name, word, {}, lower_byte, lower_byte)) return kind.name;
  }
  return {};
}

bool pods_run_for_ever(std::string_view kind) {
  const WorkloadKind* const found = find_workload_kind(kind);
  return found != nullptr && found->pods_run == PodsRun::for_ever;
}

std::vector<std::string_view> pod_making_kinds() {
  std::vector<std::string_view> names;
  for (const WorkloadKind& kind : kinds) {
    if (kind.expand != nullptr) names.push_back(kind.name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<WorkloadKindName> pod_making_kind_names() {
  std::vector<WorkloadKindName> names;
  for (const WorkloadKind& kind : kinds) {
    if (kind.expand != nullptr) names.push_back({.api_group = kind.api_group, .name = kind.name});
  }
  return names;
}

bool is_unsupported_workload(std::string_view api_version, std::string_view kind) {
  const std::string_view group = api_version.substr(0, api_version.find('/'));
  return std::ranges::any_of(unsupported_kinds, [&](const UnsupportedKind& each) {
    return each.api_group == group && each.name == kind;
  });
}

bool is_being_deleted(Expansion& expansion, const Manifest& manifest) {
  return expansion.fields(manifest).at("metadata").at("deletionTimestamp").is_present();
}

bool has_condition(const ManifestField& status, std::initializer_list<std::string_view> types) {
  return std::ranges::any_of(status.at("conditions").items(), [&](const ManifestField& condition) {
    const std::string type = condition.at("type").text();
    return std::ranges::find(types, type) != types.end() && condition.at("status").text() == "True";
  });
}

}  // namespace makeway
