// MPIJob of kubeflow.org/v2beta1 (mpi-operator) and kubeflow.org/v1 (training-operator)
// (facts/workload-kinds.md, 8). Kind and group are the same, so the version decides: the launcher
// of v2beta1 is a Job, that of v1 a pod of its own.
#include <fmt/format.h>

#include <algorithm>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/workload_kinds.hpp"

namespace makeway {
namespace {

/// An MPIJob while it is expanded.
struct MpiOrder {
  const Manifest& manifest;
  ManifestField spec;
  ManifestField launcher;
  ManifestField workers;
  std::string launcher_name;
  bool is_v1 = false;
};

constexpr std::string_view label_prefix = "training.kubeflow.org/";

TextPairs mpi_labels(const MpiOrder& order, std::string_view role) {
  const std::string prefix(label_prefix);
  const std::string_view manager = order.is_v1 ? "mpijob-controller" : "mpi-operator";
  return {{prefix + "operator-name", std::string(manager)},
          {prefix + "job-name", order.manifest.name},
          {prefix + (order.is_v1 ? "replica-type" : "job-role"), std::string(role)}};
}

void make_workers(Expansion& expansion, const MpiOrder& order, std::int64_t count) {
  PodTemplate pods = read_template(order.workers.at("template"));
  pods.owner = expansion.controller("MPIJob", order.manifest.name, order.manifest.uid);
  if (!expansion.prepare(pods)) return;
  const std::int64_t first_index = order.spec.at("runLauncherAsWorker").truth() ? 1 : 0;
  for (std::int64_t worker = 0; worker < count; ++worker) {
    const std::string name = fmt::format("{}-worker-{}", order.manifest.name, worker);
    if (expansion.note_if_present(name)) continue;
    PodDetails details{.name = name, .labels = mpi_labels(order, "worker")};
    details.labels.emplace_back(std::string(label_prefix) + "replica-index",
                                fmt::format("{}", first_index + worker));
    if (!expansion.add(pods, details)) return;
  }
}

/// A Job of one pod.
void make_launcher_job(Expansion& expansion, const MpiOrder& order) {
  const ManifestField replica = order.launcher;
  JsonValue pods = replica.at("template").value();
  if (JsonValue* const pod_spec = member(pods, "spec")) {
    put_text(*pod_spec, "restartPolicy", replica.at("restartPolicy").text("OnFailure"));
  }
  JsonValue job = object_value({{"template", pods}});
  const ManifestField limit = order.spec.at("runPolicy").at("backoffLimit");
  if (limit.is_present()) put(job, "backoffLimit", limit.value());
  const Manifest* const child = expansion.find("Job", order.launcher_name);
  const bool waits = order.spec.at("launcherCreationPolicy").text() == "WaitForWorkersReady";
  expand_job_order(
      expansion, {.spec = expansion.keep(std::move(job), replica),
                  .status = child == nullptr ? ManifestField(nullptr, "status", replica.problems())
                                             : expansion.status(*child),
                  .name = order.launcher_name,
                  .uid = child == nullptr ? std::string() : child->uid,
                  .labels = mpi_labels(order, "launcher"),
                  .wave = waits ? 1 : 0,
                  .wave_after = waits ? "its workers are ready" : "",
                  .loss_unit = order.manifest.object(),
                  .stalls = true});
}

/// The pod of v1 waits in an init container until kubectl has been delivered to it.
void make_launcher_pod(Expansion& expansion, const MpiOrder& order) {
  PodTemplate pods = read_template(order.launcher.at("template"));
  pods.owner = expansion.controller("MPIJob", order.manifest.name, order.manifest.uid);
  JsonValue requests = cpu_and_memory("100m", "512Mi");
  put_text(requests, "ephemeral-storage", "5Gi");
  add_container(pods.spec, "initContainers", "kubectl-delivery", requests);
  if (!expansion.prepare(pods) || expansion.note_if_present(order.launcher_name)) return;
  expansion.add(pods, {.name = order.launcher_name, .labels = mpi_labels(order, "launcher")});
}

/// Without one of them mpirun ends, and the launcher begins again; where one is missing already,
/// no work is done that could be lost.
void share_losses(Expansion& expansion, const MpiOrder& order, std::int64_t workers) {
  const std::string& name = order.manifest.name;
  std::vector<PodIndex> running = expansion.pods_of("MPIJob", name, order.manifest.uid);
  const auto of_job = expansion.pods_of("Job", order.launcher_name);
  running.insert(running.end(), of_job.begin(), of_job.end());
  std::erase_if(running, [&](PodIndex pod) {
    return !expansion.existing().is_active(pod) || expansion.existing().is_pending(pod);
  });
  const std::string worker_prefix = name + "-worker-";
  const auto is_worker = [&](PodIndex pod) {
    return expansion.cluster().pods().name[pod.value].starts_with(worker_prefix);
  };
  const std::int64_t running_workers = std::ranges::count_if(running, is_worker);
  if (running_workers < workers || running_workers == std::ssize(running)) return;
  for (const PodIndex pod : running) {
    // Those of a Job have their share from it.
    if (std::ranges::find(of_job, pod) != of_job.end()) continue;
    expansion.share_loss(pod, {.unit = order.manifest.object(), .part = order.manifest.object()});
  }
}

}  // namespace

void expand_mpi_job(Expansion& expansion, const Manifest& manifest) {
  const ManifestField fields = expansion.fields(manifest);
  const ManifestField spec = fields.at("spec");
  const ManifestField replicas = spec.at("mpiReplicaSpecs");
  const MpiOrder order{.manifest = manifest,
                       .spec = spec,
                       .launcher = replicas.at("Launcher"),
                       .workers = replicas.at("Worker"),
                       .launcher_name = manifest.name + "-launcher",
                       .is_v1 = fields.at("apiVersion").text() == "kubeflow.org/v1"};
  expansion.hold_if_off(spec.at("runPolicy"), order.is_v1 ? "kubeflow.org/training-operator"
                                                          : "kubeflow.org/mpi-operator");
  if (has_condition(expansion.status(manifest), {"Succeeded", "Failed"}) ||
      is_being_deleted(expansion, manifest)) {
    expansion.end();
  }
  if (!order.launcher.is_present()) return order.launcher.refuse("an MPIJob has a Launcher");
  if (order.launcher.at("replicas").count(1, count_max) != 1) {
    order.launcher.at("replicas").refuse("an MPIJob has 1 Launcher");
  }
  std::int64_t workers = 0;
  if (order.workers.is_present()) {
    const ManifestField count = order.workers.at("replicas");
    if (!count.is_present() && !order.is_v1) count.refuse("expected the number of its workers");
    workers = count.count(1, MadePods::pods_max);
    make_workers(expansion, order, workers);
  }
  if (order.is_v1) {
    make_launcher_pod(expansion, order);
  } else {
    make_launcher_job(expansion, order);
  }
  share_losses(expansion, order, workers);
}

}  // namespace makeway
