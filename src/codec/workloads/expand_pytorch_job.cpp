// PyTorchJob (facts/workload-kinds.md, 8).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/workload_kinds.hpp"

namespace makeway {
namespace {

/// Master first: without one, worker 0 is the master.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> replica_types = {
    {{"Master", "master"}, {"Worker", "worker"}}};

void check_pytorch_container(const ManifestField& replica) {
  const ManifestField containers = replica.at("template").at("spec").at("containers");
  const bool found = std::ranges::any_of(containers.items(), [](const ManifestField& each) {
    return each.at("name").text() == "pytorch";
  });
  if (!found) containers.refuse("expected a container named pytorch");
}

std::int64_t read_replicas(const ManifestField& replica, bool master) {
  const ManifestField field = replica.at("replicas");
  const std::int64_t replicas = field.count(1, MadePods::pods_max);
  if (master && field.is_present() && replicas != 1) field.refuse("a PyTorchJob has 1 Master");
  if (master && !field.is_present()) field.refuse("expected 1", "set it to 1");
  return replicas;
}

/// Makes the pods of one replica type.
void make_type(Expansion& expansion, const Manifest& manifest, const ManifestField& replica,
               std::string_view type, bool has_master) {
  const bool master = type == "master";
  const std::int64_t replicas = read_replicas(replica, master);
  PodTemplate pods = read_template(replica.at("template"));
  pods.owner = expansion.controller("PyTorchJob", manifest.name, manifest.uid);
  check_pytorch_container(replica);
  // Waits for the master.
  if (!master && has_master) {
    add_container(pods.spec, "initContainers", "init-pytorch", cpu_and_memory("50m", "10Mi"));
  }
  if (!expansion.prepare(pods)) return;
  const std::string prefix = "training.kubeflow.org/";
  for (std::int64_t index = 0; index < replicas; ++index) {
    const std::string name = fmt::format("{}-{}-{}", manifest.name, type, index);
    if (expansion.note_if_present(name)) continue;
    PodDetails details{.name = name,
                       .labels = {{prefix + "operator-name", "pytorchjob-controller"},
                                  {prefix + "job-name", manifest.name},
                                  {prefix + "replica-type", std::string(type)},
                                  {prefix + "replica-index", fmt::format("{}", index)}}};
    if (master || (!has_master && index == 0)) {
      details.labels.emplace_back(prefix + "job-role", "master");
    }
    if (!expansion.add(pods, details)) return;
  }
}

/// How many there must be of all and of the workers.
struct NeededReplicas {
  std::int64_t all = 0;
  std::int64_t workers = 0;
  std::int64_t workers_min = 0;  ///< Fewer only with an elasticPolicy.
};

/// Its training stalls without any of them, or without as many workers as it may spare; where that
/// is so already, it stands still.
void share_losses(Expansion& expansion, const Manifest& manifest, const NeededReplicas& needed) {
  std::vector<PodIndex> running = expansion.pods_of("PyTorchJob", manifest.name, manifest.uid);
  std::erase_if(running, [&](PodIndex pod) {
    return !expansion.existing().is_active(pod) || expansion.existing().is_pending(pod);
  });
  const std::string master_prefix = fmt::format("{}-master-", manifest.name);
  const auto is_master = [&](PodIndex pod) {
    return expansion.cluster().pods().name[pod.value].starts_with(master_prefix);
  };
  const std::int64_t masters = std::ranges::count_if(running, is_master);
  const std::int64_t spare = std::ssize(running) - masters - needed.workers_min;
  if (spare < 0 || masters < needed.all - needed.workers) return;
  const bool elastic = needed.workers_min < needed.workers;
  for (const PodIndex pod : running) {
    LossShare share{.unit = manifest.object(), .part = manifest.object()};
    if (elastic && !is_master(pod)) {
      share.part += " workers";
      share.allowed = spare;
    }
    expansion.share_loss(pod, std::move(share));
  }
}

}  // namespace

void expand_pytorch_job(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  const ManifestField run = spec.at("runPolicy");
  expansion.hold_if_off(run, "kubeflow.org/training-operator");
  if (has_condition(expansion.status(manifest), {"Succeeded", "Failed"}) ||
      is_being_deleted(expansion, manifest)) {
    expansion.end();
  }
  const ManifestField replicas = spec.at("pytorchReplicaSpecs");
  if (!replicas.is_present()) replicas.refuse("expected Master or Worker");
  const bool has_master = replicas.at("Master").is_present();
  NeededReplicas needed;
  for (const auto& [key, type] : replica_types) {
    const ManifestField replica = replicas.at(key);
    if (!replica.is_present()) continue;
    make_type(expansion, manifest, replica, type, has_master);
    const std::int64_t count = replica.at("replicas").count(1, MadePods::pods_max);
    needed.all += count;
    if (key == "Worker") needed.workers = count;
  }
  const ManifestField least = spec.at("elasticPolicy").at("minReplicas");
  needed.workers_min = std::min(needed.workers, least.count(needed.workers, count_max));
  share_losses(expansion, manifest, needed);
}

}  // namespace makeway
