// RayCluster and RayJob (facts/workload-kinds.md, 9).
#include <fmt/format.h>

#include <algorithm>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr std::string_view head_group = "headgroup";
/// Of pods of groups whose replicas have several hosts.
constexpr std::string_view replica_name = "ray.io/worker-group-replica-name";

/// A RayCluster that is there, or that a RayJob's controller would make.
struct RayOrder {
  ManifestField spec;
  std::string name;
  std::string uid;
  bool submitter_in_head = false;
  bool survives_head = false;  ///< Its state is kept outside of the head.
};

/// As KubeRay makes names: cut to 50 bytes, lower case.
std::string ray_base(std::string_view text) {
  constexpr std::size_t ray_base_max = 50;
  std::string base(text.substr(0, ray_base_max));
  for (char& byte : base) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return base + "-";
}

TextPairs ray_labels(const RayOrder& order, std::string_view type, std::string_view group) {
  return {{"ray.io/cluster", order.name},
          {"ray.io/node-type", std::string(type)},
          {"ray.io/group", std::string(group)},
          {"ray.io/is-ray-node", "yes"},
          {"ray.io/identifier", ray_base(fmt::format("{}-{}", order.name, type))},
          {"app.kubernetes.io/name", "kuberay"},
          {"app.kubernetes.io/created-by", "kuberay-operator"}};
}

bool keeps_its_state(const ManifestField& spec, const ManifestField& metadata) {
  return spec.at("gcsFaultToleranceOptions").is_present() ||
         metadata.at("annotations").at("ray.io/ft-enabled").text() == "true";
}

/// A new head ends all workers; a replica of several hosts is remade as a whole.
void share_ray_losses(Expansion& expansion, const RayOrder& order, PodIndex pod, bool is_head) {
  const std::string cluster = object_text("RayCluster", expansion.namespace_name(), order.name);
  if (!order.survives_head) {
    expansion.share_loss(pod, {.unit = cluster, .part = is_head ? "head" : ""});
  }
  if (const auto replica = expansion.existing().label(pod, replica_name)) {
    const std::string unit = fmt::format("replica {} of {}", *replica, cluster);
    expansion.share_loss(pod, {.unit = unit, .part = unit});
  }
}

/// Pods of a group that are there, leaving ones included.
std::int64_t count_ray_pods(Expansion& expansion, const RayOrder& order, std::string_view group) {
  std::int64_t count = 0;
  for (const PodIndex pod : expansion.pods_of("RayCluster", order.name, order.uid)) {
    if (expansion.existing().label(pod, "ray.io/group") != group) continue;
    ++count;
    expansion.note_present(pod);
    share_ray_losses(expansion, order, pod, group == head_group);
  }
  return count;
}

void make_head(Expansion& expansion, const RayOrder& order) {
  const ManifestField head = order.spec.at("headGroupSpec");
  PodTemplate pods = read_template(head.at("template"));
  pods.owner = expansion.controller("RayCluster", order.name, order.uid);
  if (order.spec.at("enableInTreeAutoscaling").truth()) {
    const ManifestField resources = order.spec.at("autoscalerOptions").at("resources");
    add_container(pods.spec, "containers", "autoscaler", cpu_and_memory("500m", "512Mi"));
    if (resources.is_present()) {
      auto* const containers =
          std::get_if<JsonValue::Array>(&member(pods.spec, "containers")->data);
      if (containers != nullptr) put(containers->back(), "resources", resources.value());
    }
  }
  if (order.submitter_in_head) {
    add_container(pods.spec, "containers", "ray-job-submitter", cpu_and_memory("500m", "200Mi"));
  }
  if (!expansion.prepare(pods)) return;
  if (count_ray_pods(expansion, order, head_group) > 0) return;
  expansion.add(pods, {.name = expansion.fresh_name(ray_base(order.name + "-head")),
                       .labels = ray_labels(order, "head", head_group)});
}

void make_workers(Expansion& expansion, const RayOrder& order, const ManifestField& group) {
  const std::string name = group.at("groupName").text();
  if (name.empty()) group.at("groupName").refuse("expected a name");
  const std::int64_t least = group.at("minReplicas").count(0, count_max);
  const std::int64_t most = group.at("maxReplicas").count(count_max, count_max);
  const std::int64_t hosts = group.at("numOfHosts").count(1, MadePods::pods_max);
  const std::int64_t written = group.at("replicas").count(0, count_max);
  if (least > most) group.at("maxReplicas").refuse("it is below minReplicas");
  PodTemplate pods = read_template(group.at("template"));
  pods.owner = expansion.controller("RayCluster", order.name, order.uid);
  add_container(pods.spec, "initContainers", "wait-gcs-ready", cpu_and_memory("200m", "256Mi"));
  if (!expansion.prepare(pods) || least > most) return;
  const std::int64_t replicas = group.at("suspend").truth() ? 0 : std::clamp(written, least, most);
  if (replicas * hosts > MadePods::pods_max) {
    return group.at(written >= least ? "replicas" : "minReplicas")
        .refuse(fmt::format("{} of {} pods each are more than {} pods", replicas, hosts,
                            MadePods::pods_max));
  }
  TextPairs labels = ray_labels(order, "worker", name);
  for (const auto& [key, value] : group.at("labels").texts()) labels.emplace_back(key, value);
  const std::int64_t present = count_ray_pods(expansion, order, name);
  for (std::int64_t pod = present; pod < replicas * hosts; ++pod) {
    PodDetails details{
        .name = expansion.fresh_name(ray_base(fmt::format("{}-{}-worker", order.name, name))),
        .labels = labels};
    const std::int64_t replica = pod / std::max<std::int64_t>(hosts, 1);
    details.labels.emplace_back("ray.io/worker-group-replica-index", fmt::format("{}", replica));
    if (hosts > 1) {
      details.labels.emplace_back(std::string(replica_name),
                                  with_suffix(name + "-", static_cast<std::uint32_t>(replica)));
      details.labels.emplace_back("ray.io/replica-host-index", fmt::format("{}", pod % hosts));
    }
    if (!expansion.add(pods, details)) return;
  }
}

void expand_ray_order(Expansion& expansion, const RayOrder& order) {
  make_head(expansion, order);
  for (const ManifestField& group : order.spec.at("workerGroupSpecs").items()) {
    make_workers(expansion, order, group);
  }
}

constexpr std::string_view ray_manager = "ray.io/kuberay-operator";

/// The Job that submits the work once the cluster is ready; it has the name of the RayJob.
void make_submitter(Expansion& expansion, const Manifest& manifest, const ManifestField& spec,
                    std::int32_t wave, const std::string& wave_after) {
  const ManifestField written = spec.at("submitterPodTemplate");
  JsonValue pods = written.value();
  if (!written.is_present()) {
    JsonValue pod_spec;
    add_container(pod_spec, "containers", "ray-job-submitter", cpu_and_memory("500m", "200Mi"));
    pods = object_value({{"spec", pod_spec}});
  }
  if (JsonValue* const pod_spec = member(pods, "spec")) {
    if (pod_spec->find("restartPolicy") == nullptr) put_text(*pod_spec, "restartPolicy", "Never");
  }
  const Manifest* const child = expansion.find("Job", manifest.name);
  const JsonValue job = object_value({{"submitterPodTemplate", pods}});
  expand_job_order(expansion,
                   {.spec = expansion.keep(job, spec),
                    .status = child == nullptr ? ManifestField(nullptr, "status", spec.problems())
                                               : expansion.status(*child),
                    .name = manifest.name,
                    .uid = child == nullptr ? std::string() : child->uid,
                    .template_key = "submitterPodTemplate",
                    .wave = wave,
                    .wave_after = wave_after});
}

/// The cluster of a RayJob: one that is in the input, else one that has pods, else a new one.
RayOrder ray_cluster_of(Expansion& expansion, const Manifest& manifest, const ManifestField& spec) {
  const OwnerReference owner{.kind = "RayJob", .name = manifest.name, .uid = manifest.uid};
  for (const Manifest* const child : expansion.children("RayCluster", owner)) {
    if (child->being_deleted) continue;
    const ManifestField fields = expansion.fields(*child);
    return {.spec = fields.at("spec"),
            .name = child->name,
            .uid = child->uid,
            .survives_head = keeps_its_state(fields.at("spec"), fields.at("metadata"))};
  }
  RayOrder order{.spec = spec.at("rayClusterSpec"), .name = with_suffix(manifest.name + "-", 0)};
  order.survives_head = keeps_its_state(order.spec, expansion.fields(manifest).at("metadata"));
  const std::vector<std::string> there = expansion.existing().controllers(
      expansion.namespace_name(), "RayCluster", manifest.name + "-");
  const auto own = std::ranges::find_if(
      there, [&](const std::string& name) { return name.size() == order.name.size(); });
  if (own != there.end()) order.name = *own;
  return order;
}

}  // namespace

void expand_ray_cluster(Expansion& expansion, const Manifest& manifest) {
  const ManifestField fields = expansion.fields(manifest);
  const ManifestField spec = fields.at("spec");
  expansion.hold_if_off(spec, ray_manager);
  expand_ray_order(expansion, {.spec = spec,
                               .name = manifest.name,
                               .uid = manifest.uid,
                               .survives_head = keeps_its_state(spec, fields.at("metadata"))});
}

void expand_ray_job(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  expansion.hold_if_off(spec, ray_manager);
  if (spec.at("suspend").truth() && !spec.at("shutdownAfterJobFinishes").truth()) {
    spec.at("suspend").refuse("a RayJob that can be suspended shuts down after its end",
                              "set spec.shutdownAfterJobFinishes to true");
  }
  const std::string state = expansion.status(manifest).at("jobDeploymentStatus").text();
  if (state == "Complete" || state == "Failed") expansion.end();
  const std::string mode = spec.at("submissionMode").text("K8sJobMode");
  std::int32_t wave = 0;
  std::string wave_after;
  if (spec.at("rayClusterSpec").is_present()) {
    RayOrder order = ray_cluster_of(expansion, manifest, spec);
    order.submitter_in_head = mode == "SidecarMode";
    expand_ray_order(expansion, order);
    wave = 1;
    wave_after = fmt::format("RayCluster {} is ready", order.name);
  } else if (!spec.at("clusterSelector").is_present()) {
    spec.at("rayClusterSpec").refuse("expected the spec of its cluster, or clusterSelector");
    return;
  }
  if (mode == "K8sJobMode") make_submitter(expansion, manifest, spec, wave, wave_after);
}

}  // namespace makeway
