// TrainJob of Kubeflow Trainer (facts/workload-kinds.md, 7): its runtime, changed, is a JobSet.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/workload_kinds.hpp"

namespace makeway {
namespace {

constexpr std::string_view step_label = "trainer.kubeflow.org/trainjob-ancestor-step";
/// Entries of these are found by their names; other lists are replaced.
constexpr std::array<std::string_view, 4> named_lists = {"replicatedJobs", "containers",
                                                         "initContainers", "volumes"};

void merge(const JsonValue& patch, JsonValue& target);

void merge_by_name(const JsonValue::Array& patch, JsonValue& target) {
  if (target.is_null()) target.data = JsonValue::Array{};
  auto* const items = std::get_if<JsonValue::Array>(&target.data);
  if (items == nullptr) return;
  for (const JsonValue& each : patch) {
    const std::string_view name = text_at(each, {"name"});
    const auto found = std::ranges::find_if(
        *items, [&](const JsonValue& item) { return text_at(item, {"name"}) == name; });
    if (found == items->end()) {
      items->push_back(each);
    } else {
      merge(each, *found);
    }
  }
}

/// A strategic merge, as far as scheduling sees it.
void merge(const JsonValue& patch, JsonValue& target) {
  const JsonValue::Object* const members = patch.as_object();
  if (members == nullptr) {
    target = patch;
    return;
  }
  for (const JsonMember& each : *members) {
    JsonValue* const place = member(target, each.key);
    if (place == nullptr) return;
    const bool by_name = std::ranges::find(named_lists, each.key) != named_lists.end() &&
                         each.value.as_array() != nullptr;
    if (by_name) {
      merge_by_name(*each.value.as_array(), *place);
    } else {
      merge(each.value, *place);
    }
  }
}

/// What an override of a pod may not change.
void drop_fixed(JsonValue& pod_spec) {
  for (const std::string_view key : {"priorityClassName", "schedulerName", "priority"}) {
    remove(pod_spec, key);
  }
}

/// The forms before v2.2: `podTemplateOverrides`, and `podSpecOverrides` without metadata.
void apply_overrides(const ManifestField& overrides, bool spec_only, JsonValue& jobs) {
  auto* const items = std::get_if<JsonValue::Array>(&jobs.data);
  if (items == nullptr) return;
  for (const ManifestField& override : overrides.items()) {
    JsonValue patch = override.value();
    remove(patch, "targetJobs");
    if (spec_only) patch = object_value({{"spec", patch}});
    if (JsonValue* const pod_spec = member(patch, "spec")) drop_fixed(*pod_spec);
    for (const ManifestField& target : override.at("targetJobs").items()) {
      const std::string name = target.at("name").text();
      for (JsonValue& job : *items) {
        if (text_at(job, {"name"}) != name) continue;
        merge(object_value(
                  {{"template", object_value({{"spec", object_value({{"template", patch}})}})}}),
              job);
      }
    }
  }
}

void apply_patches(const ManifestField& spec, JsonValue& job_set) {
  for (const ManifestField& patch : spec.at("runtimePatches").items()) {
    const ManifestField inner = patch.at("trainingRuntimeSpec").at("template").at("spec");
    if (inner.is_present() && inner.value().as_object() != nullptr) merge(inner.value(), job_set);
  }
  JsonValue* const jobs = member(job_set, "replicatedJobs");
  if (jobs == nullptr) return;
  apply_overrides(spec.at("podTemplateOverrides"), false, *jobs);
  apply_overrides(spec.at("podSpecOverrides"), true, *jobs);
}

/// Merges resources over the container `node` of a job.
void set_resources(const JsonValue& resources, JsonValue& job) {
  JsonValue* at = &job;
  for (const std::string_view key : {"template", "spec", "template", "spec", "containers"}) {
    at = member(*at, key);
    if (at == nullptr) return;
  }
  auto* const containers = std::get_if<JsonValue::Array>(&at->data);
  if (containers == nullptr) return;
  for (JsonValue& container : *containers) {
    if (text_at(container, {"name"}) != "node") continue;
    if (JsonValue* const own = member(container, "resources")) merge(resources, *own);
  }
}

struct TrainCounts {
  std::int64_t runtime_nodes = 1;  ///< mlPolicy.numNodes
  std::int64_t nodes = 1;          ///< What the TrainJob says, else the same.
  bool mpi = false;
  bool launcher_is_node = false;
};

TrainCounts read_train_counts(const ManifestField& spec, const ManifestField& runtime) {
  const ManifestField policy = runtime.at("mlPolicy");
  TrainCounts counts;
  counts.runtime_nodes = policy.at("numNodes").count(1, MadePods::pods_max);
  counts.nodes = spec.at("trainer").at("numNodes").count(counts.runtime_nodes, MadePods::pods_max);
  counts.mpi = policy.at("mpi").is_present();
  counts.launcher_is_node = policy.at("mpi").at("runLauncherAsNode").truth();
  return counts;
}

/// How many pods one entry of the JobSet gets; the three known steps have one Job each.
std::int64_t pods_of_step(const TrainCounts& counts, const ManifestField& job,
                          std::string_view step) {
  const std::int64_t own =
      job.at("template").at("spec").at("parallelism").count(1, MadePods::pods_max);
  if (counts.mpi && job.at("name").text() == "node") {
    return counts.launcher_is_node ? std::max<std::int64_t>(counts.nodes - 1, 1) : counts.nodes;
  }
  if (step == "trainer") return counts.mpi ? counts.runtime_nodes : counts.nodes;
  return own;
}

/// Writes counts and resources into the entries; returns how many pods there are in all.
std::int64_t set_steps(const TrainCounts& counts, const ManifestField& spec,
                       const ManifestField& tree, JsonValue& job_set) {
  std::int64_t total = 0;
  JsonValue* const list = member(job_set, "replicatedJobs");
  auto* const jobs = list == nullptr ? nullptr : std::get_if<JsonValue::Array>(&list->data);
  if (jobs == nullptr) return total;
  const std::vector<ManifestField> fields = tree.at("replicatedJobs").items();
  const ManifestField resources = spec.at("trainer").at("resourcesPerNode");
  for (std::size_t at = 0; at < jobs->size() && at < fields.size(); ++at) {
    JsonValue& job = (*jobs)[at];
    const std::string step =
        fields[at].at("template").at("metadata").at("labels").at(step_label).text();
    const std::int64_t pods = pods_of_step(counts, fields[at], step);
    const bool node_of_mpi = counts.launcher_is_node && text_at(job, {"name"}) == "node";
    if (resources.is_present() && (step == "trainer" || node_of_mpi)) {
      set_resources(resources.value(), job);
    }
    if (!step.empty()) put(job, "replicas", {.data = std::int64_t{1}});
    JsonValue* const inner = member(job, "template");
    JsonValue* const job_spec = inner == nullptr ? nullptr : member(*inner, "spec");
    if (job_spec == nullptr) continue;
    put(*job_spec, "parallelism", {.data = pods});
    put(*job_spec, "completions", {.data = pods});
    total += pods * (step.empty() ? fields[at].at("replicas").count(1, MadePods::pods_max) : 1);
  }
  return total;
}

/// The gang that the runtime declares; empty: none.
std::string make_gang(Expansion& expansion, const Manifest& manifest, const ManifestField& runtime,
                      const JsonValue& job_set, std::int64_t pods) {
  const ManifestField policy = runtime.at("podGroupPolicy");
  if (!policy.at("coscheduling").is_present() && !policy.at("volcano").is_present()) return {};
  JsonValue spec =
      object_value({{"schedulingPolicy",
                     object_value({{"gang", object_value({{"minCount", {.data = pods}}})}})}});
  const JsonValue* const jobs = job_set.find("replicatedJobs");
  if (jobs != nullptr && jobs->as_array() != nullptr) {
    for (const JsonValue& job : *jobs->as_array()) {
      const std::string_view name =
          text_at(job, {"template", "spec", "template", "spec", "priorityClassName"});
      if (!name.empty()) put_text(spec, "priorityClassName", name);
    }
  }
  expansion.add_object(object_value(
      {{"apiVersion", text_value("scheduling.k8s.io/v1beta1")},
       {"kind", text_value("PodGroup")},
       {"metadata", object_value({{"name", text_value(manifest.name)},
                                  {"namespace", text_value(manifest.namespace_name)}})},
       {"spec", spec}}));
  return manifest.name;
}

const Manifest* find_runtime(Expansion& expansion, const ManifestField& spec) {
  const ManifestField reference = spec.at("runtimeRef");
  const ManifestField name = reference.at("name");
  const std::string kind = reference.at("kind").text("ClusterTrainingRuntime");
  if (kind != "ClusterTrainingRuntime" && kind != "TrainingRuntime") {
    reference.at("kind").refuse("expected ClusterTrainingRuntime or TrainingRuntime");
    return nullptr;
  }
  if (name.text().empty()) {
    name.refuse("expected the name of a runtime");
    return nullptr;
  }
  const Manifest* const runtime = expansion.find(kind, name.text());
  if (runtime == nullptr) {
    name.refuse(fmt::format("there is no such {} in the input", kind),
                "its pods are made from it; add it to the input");
    return nullptr;
  }
  return expansion.charge(runtime->text.size()) ? runtime : nullptr;
}

}  // namespace

void expand_train_job(Expansion& expansion, const Manifest& manifest) {
  const ManifestField fields = expansion.fields(manifest);
  const ManifestField spec = fields.at("spec");
  expansion.hold_if_off(spec, "trainer.kubeflow.org/trainjob-controller");
  if (has_condition(expansion.status(manifest), {"Complete", "Failed"}) ||
      is_being_deleted(expansion, manifest)) {
    expansion.end();
  }
  if (const Manifest* const child = expansion.find("JobSet", manifest.name)) {
    // What it has become is in the input: that counts.
    return expand_job_set(expansion, *child);
  }
  const Manifest* const runtime = find_runtime(expansion, spec);
  if (runtime == nullptr) return;
  const ManifestField written = expansion.fields(*runtime).at("spec");
  const ManifestField template_spec = written.at("template").at("spec");
  JsonValue job_set = template_spec.value();
  apply_patches(spec, job_set);
  const ManifestField patched = expansion.keep(job_set, template_spec);
  const TrainCounts counts = read_train_counts(spec, written);
  const std::int64_t pods = set_steps(counts, spec, patched, job_set);
  const std::string group = make_gang(expansion, manifest, written, job_set, pods);
  expand_job_set_order(expansion,
                       {.spec = expansion.keep(std::move(job_set), template_spec),
                        .metadata = ManifestField(nullptr, "metadata", written.problems()),
                        .name = manifest.name,
                        .group = group,
                        .loss_unit = manifest.object()});
}

}  // namespace makeway
