// Deployment, ReplicaSet, ReplicationController and PodTemplate
// (facts/workload-kinds.md, 3.2, 3.5).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

void check_always(const ManifestField& spec) {
  const ManifestField policy = spec.at("template").at("spec").at("restartPolicy");
  if (policy.text("Always") != "Always") policy.refuse("expected Always");
}

/// Counts the active pods of a controller.
std::int64_t count_active(Expansion& expansion, std::string_view kind, const std::string& name,
                          const std::string& uid = {}) {
  std::int64_t count = 0;
  for (const PodIndex pod : expansion.pods_of(kind, name, uid)) {
    if (!expansion.existing().is_active(pod)) continue;
    ++count;
    expansion.note_present(pod);
  }
  return count;
}

/// Pods without a controller that the selector takes in.
std::int64_t count_adopted(Expansion& expansion, const LabelSelector& selector, std::int64_t most) {
  std::int64_t count = 0;
  const Cluster& cluster = expansion.cluster();
  for (const PodIndex pod : expansion.existing().orphans(expansion.namespace_name())) {
    if (count >= most) break;
    if (!expansion.existing().is_active(pod)) continue;
    if (!matches(selector, cluster.label_objects(cluster.pods().labels[pod]))) continue;
    ++count;
    expansion.note_present(pod);
  }
  return count;
}

void make_replicas(Expansion& expansion, const PodTemplate& pods, std::string_view base,
                   const TextPairs& labels, std::int64_t count) {
  for (std::int64_t made = 0; made < count; ++made) {
    if (!expansion.add(pods, {.name = expansion.fresh_name(base), .labels = labels})) {
      return;
    }
  }
}

/// The ReplicaSets of a Deployment, with their hashes.
struct Revisions {
  std::set<std::string> names;
  std::set<std::string> hashes;  ///< Of pods that are there.
  std::string newest_hash;       ///< Of the newest ReplicaSet in the input.
};

Revisions find_revisions(Expansion& expansion, const Manifest& manifest) {
  Revisions revisions;
  std::int64_t newest = -1;
  const OwnerReference owner{.kind = "Deployment", .name = manifest.name, .uid = manifest.uid};
  for (const Manifest* const child : expansion.children("ReplicaSet", owner)) {
    revisions.names.insert(child->name);
    if (child->revision <= newest) continue;
    newest = child->revision;
    revisions.newest_hash = child->template_hash;
  }
  const ExistingPods& existing = expansion.existing();
  const std::string prefix = manifest.name + "-";
  for (const std::string& name :
       existing.controllers(expansion.namespace_name(), "ReplicaSet", prefix)) {
    const std::string hash = name.substr(prefix.size());
    const std::vector<PodIndex> pods = expansion.pods_of("ReplicaSet", name);
    const bool own = std::ranges::any_of(
        pods, [&](PodIndex pod) { return existing.label(pod, pod_template_hash) == hash; });
    if (!own) continue;
    revisions.names.insert(name);
    revisions.hashes.insert(hash);
  }
  return revisions;
}

/// The hash that new pods get: that of the revision that is there, else an unused one.
std::string hash_of_new_pods(const Revisions& revisions, const PodTemplate& pods) {
  if (!revisions.newest_hash.empty()) return revisions.newest_hash;
  if (revisions.hashes.size() == 1) return *revisions.hashes.begin();
  std::string text = pods.spec_text + compact_text(pods.labels);
  std::string hash = template_hash(text);
  while (revisions.hashes.contains(hash)) hash = template_hash(text += '+');
  return hash;
}

/// What ReplicaSet and ReplicationController share.
void expand_replicas(Expansion& expansion, const Manifest& manifest,
                     const std::optional<LabelSelector>& selector, PodTemplate& pods) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  const std::int64_t replicas = spec.at("replicas").count(1, MadePods::pods_max);
  std::int64_t present = count_active(expansion, pods.owner.kind, manifest.name, manifest.uid);
  if (selector && !selector->requirements.empty() && present < replicas) {
    present += count_adopted(expansion, *selector, replicas - present);
  }
  make_replicas(expansion, pods, manifest.name + "-", {}, replicas - present);
}

}  // namespace

void expand_replica_set(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  PodTemplate pods = read_template(spec.at("template"));
  pods.owner = expansion.controller(manifest.kind->name, manifest.name, manifest.uid);
  check_always(spec);
  if (!expansion.prepare(pods)) return;
  check_selector(spec.at("selector"), pods);
  expand_replicas(expansion, manifest, read_selector(spec.at("selector")), pods);
}

void expand_replication_controller(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  PodTemplate pods = read_template(spec.at("template"));
  pods.owner = expansion.controller(manifest.kind->name, manifest.name, manifest.uid);
  check_always(spec);
  if (!expansion.prepare(pods)) return;
  // A plain map; by default the labels of the template.
  LabelSelector selector;
  const ManifestField written = spec.at("selector");
  if (written.is_present()) {
    for (const auto& [key, value] : written.texts()) {
      selector.requirements.push_back(
          {.key = std::string(key), .operation = Operator::in, .values = {value}});
    }
  } else {
    for (const Label& label : pods.sample.labels) {
      selector.requirements.push_back(
          {.key = label.key, .operation = Operator::in, .values = {label.value}});
    }
  }
  if (!matches(selector, pods.sample.labels)) {
    written.refuse("it does not select the pods of the template",
                   "give spec.template.metadata.labels what it selects");
  }
  expand_replicas(expansion, manifest, selector, pods);
}

void expand_deployment(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  PodTemplate pods = read_template(spec.at("template"));
  check_always(spec);
  const std::int64_t replicas = spec.at("replicas").count(1, MadePods::pods_max);
  if (!expansion.prepare(pods)) return;
  check_selector(spec.at("selector"), pods);
  const Revisions revisions = find_revisions(expansion, manifest);
  std::int64_t present = 0;
  for (const std::string& name : revisions.names) {
    present += count_active(expansion, "ReplicaSet", name);
  }
  if (spec.at("paused").truth() && revisions.names.empty()) {
    expansion.hold("it is paused (spec.paused)");
  }
  const std::string hash = hash_of_new_pods(revisions, pods);
  const std::string replica_set = fmt::format("{}-{}", manifest.name, hash);
  const Manifest* const child = expansion.find("ReplicaSet", replica_set);
  pods.owner = expansion.controller("ReplicaSet", replica_set, child == nullptr ? "" : child->uid);
  make_replicas(expansion, pods, replica_set + "-", {{std::string(pod_template_hash), hash}},
                replicas - present);
}

void expand_pod_template(Expansion& expansion, const Manifest& manifest) {
  PodTemplate pods = read_template(expansion.fields(manifest).at("template"));
  if (!expansion.prepare(pods)) return;
  make_replicas(expansion, pods, manifest.name + "-", {}, 1);
}

}  // namespace makeway
