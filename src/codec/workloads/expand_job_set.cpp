// JobSet (facts/workload-kinds.md, 5).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/loss_rules.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr std::string_view exclusive_name = "alpha.jobset.sigs.k8s.io/exclusive-topology";
/// With the above: nodes are labelled for each Job beforehand.
constexpr std::string_view node_selector_name = "alpha.jobset.sigs.k8s.io/node-selector";

/// One entry of replicatedJobs, read.
struct ReplicatedJob {
  ManifestField job;  ///< The spec of its Jobs.
  ManifestField annotations;
  std::string name;
  std::string group_name;
  std::string exclusive_topology;
  bool by_node_selector = false;
  std::int64_t replicas = 1;
  std::int32_t wave = 0;
  std::string wave_after;
  std::int32_t waves = 1;  ///< How many its own pods take.
};

/// Which waves come before an entry, from dependsOn and the deprecated startup order.
void read_order(const ManifestField& item, bool in_order, const std::vector<ReplicatedJob>& before,
                ReplicatedJob& job) {
  const auto follow = [&job](const ReplicatedJob& other, std::string_view state) {
    if (other.wave + other.waves <= job.wave) return;
    job.wave = other.wave + other.waves;
    job.wave_after = fmt::format("{} {}", other.name, state);
  };
  if (in_order && !before.empty()) follow(before.back(), "is ready");
  for (const ManifestField& edge : item.at("dependsOn").items()) {
    const ManifestField name = edge.at("name");
    const auto found = std::ranges::find(before, name.text(), &ReplicatedJob::name);
    if (found == before.end()) {
      name.refuse("expected the name of a replicatedJob before this one");
      continue;
    }
    follow(*found, edge.at("status").text() == "Complete" ? "is complete" : "is ready");
  }
}

std::vector<ReplicatedJob> read_replicated_jobs(const JobSetOrder& order) {
  const ManifestField items = order.spec.at("replicatedJobs");
  if (!items.is_present()) items.refuse("expected at least one entry");
  const bool in_order = order.spec.at("startupPolicy").at("startupPolicyOrder").text() == "InOrder";
  const std::string of_all = order.metadata.at("annotations").at(exclusive_name).text();
  std::vector<ReplicatedJob> jobs;
  for (const ManifestField& item : items.items()) {
    const ManifestField annotations = item.at("template").at("metadata").at("annotations");
    ReplicatedJob job{.job = item.at("template").at("spec"),
                      .annotations = annotations,
                      .name = item.at("name").text(),
                      .group_name = item.at("groupName").text("default"),
                      .exclusive_topology = annotations.at(exclusive_name).text(of_all),
                      .replicas = item.at("replicas").count(1, MadePods::pods_max)};
    if (job.name.empty()) item.at("name").refuse("expected a name");
    job.by_node_selector = annotations.at(node_selector_name).is_present() ||
                           order.metadata.at("annotations").at(node_selector_name).is_present();
    if (!job.exclusive_topology.empty() && !job.by_node_selector) job.waves = 2;
    read_order(item, in_order, jobs, job);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Counters over all Jobs, as they stand on every pod.
struct JobSetTotals {
  std::int64_t replicas = 0;
  std::map<std::string, std::int64_t> of_group;
};

TextPairs job_set_labels(const Expansion& expansion, const JobSetOrder& order,
                         const ReplicatedJob& job, const std::string& job_name, std::int64_t index,
                         const JobSetTotals& before, const JobSetTotals& all) {
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  const auto group_before = before.of_group.find(job.group_name);
  const std::int64_t earlier = group_before == before.of_group.end() ? 0 : group_before->second;
  TextPairs labels = {
      {"jobset-name", order.name},
      {"jobset-uid", order.uid},
      {"replicatedjob-name", job.name},
      {"replicatedjob-replicas", number(job.replicas)},
      {"global-replicas", number(all.replicas)},
      {"job-index", number(index)},
      {"job-global-index", number(before.replicas + index)},
      {"job-key", sha1_text(fmt::format("{}/{}", expansion.namespace_name(), job_name))},
      {"restart-attempt", "0"},
      {"group-name", job.group_name},
      {"group-replicas", number(all.of_group.at(job.group_name))},
      {"job-group-index", number(earlier + index)}};
  for (auto& [key, value] : labels) key.insert(0, "jobset.sigs.k8s.io/");
  return labels;
}

/// Gives the pods of a Job the group that all pods of the set are in.
ManifestField in_group(Expansion& expansion, const ManifestField& job, std::string_view group) {
  if (group.empty()) return job;
  JsonValue tree = job.value();
  JsonValue* const pods = member(tree, "template");
  JsonValue* const spec = pods == nullptr ? nullptr : member(*pods, "spec");
  if (spec != nullptr) {
    put(*spec, "schedulingGroup", object_value({{"podGroupName", text_value(group)}}));
  }
  return expansion.keep(std::move(tree), job);
}

/// What stops when the Job fails.
std::string loss_unit_of(const Expansion& expansion, const JobSetOrder& order,
                         const ReplicatedJob& job, const JobLosses& losses) {
  if (!order.loss_unit.empty()) return order.loss_unit;
  if (restarts_job_alone(order.spec, job.name, losses.reason)) return {};
  return object_text("JobSet", expansion.namespace_name(), order.name);
}

void expand_one_job(Expansion& expansion, const JobSetOrder& order, const ReplicatedJob& job,
                    const std::string& name, const TextPairs& labels, const ManifestField& spec) {
  if (const Manifest* const child = expansion.find("Job", name)) {
    // It is there, with everything that the JobSet gives it.
    const ManifestField own = expansion.fields(*child).at("spec");
    const ManifestField status = expansion.status(*child);
    return expand_job_order(
        expansion, {.spec = own,
                    .status = status,
                    .name = name,
                    .uid = child->uid,
                    .loss_unit = loss_unit_of(expansion, order, job, job_losses(own, status)),
                    .stalls = !order.loss_unit.empty()});
  }
  const auto key =
      std::ranges::find(labels, "jobset.sigs.k8s.io/job-key", &TextPairs::value_type::first);
  const bool exclusive = !job.exclusive_topology.empty();
  const ManifestField no_status(nullptr, "status", spec.problems());
  expand_job_order(
      expansion,
      {.spec = spec,
       .status = no_status,
       .name = name,
       .defaults_of_job_set = true,
       .labels = labels,
       .exclusive_topology = job.by_node_selector ? std::string() : job.exclusive_topology,
       .job_key = key->second,
       .own_nodes = exclusive && job.by_node_selector
                        ? fmt::format("{}_{}", expansion.namespace_name(), name)
                        : std::string(),
       .wave = job.wave,
       .wave_after = job.wave_after,
       .loss_unit = loss_unit_of(expansion, order, job, job_losses(spec, no_status)),
       .stalls = !order.loss_unit.empty()});
}

}  // namespace

void expand_job_set_order(Expansion& expansion, JobSetOrder order) {
  if (order.uid.empty()) order.uid = expansion.controller("JobSet", order.name, {}).uid;
  const std::vector<ReplicatedJob> jobs = read_replicated_jobs(order);
  JobSetTotals all;
  for (const ReplicatedJob& job : jobs) {
    all.replicas += job.replicas;
    all.of_group[job.group_name] += job.replicas;
  }
  if (order.spec.problems().has_errors()) return;
  JobSetTotals before;
  for (const ReplicatedJob& job : jobs) {
    const ManifestField spec = in_group(expansion, job.job, order.group);
    // Without replicas its template is checked all the same.
    for (std::int64_t index = 0; index < std::max<std::int64_t>(job.replicas, 1); ++index) {
      const std::string name = fmt::format("{}-{}-{}", order.name, job.name, index);
      if (job.replicas == 0) {
        PodTemplate pods = read_template(spec.at("template"));
        expansion.prepare(pods);
        break;
      }
      const TextPairs labels = job_set_labels(expansion, order, job, name, index, before, all);
      expand_one_job(expansion, order, job, name, labels, spec);
      if (!expansion.step()) break;
    }
    before.replicas += job.replicas;
    before.of_group[job.group_name] += job.replicas;
  }
}

void expand_job_set(Expansion& expansion, const Manifest& manifest) {
  const ManifestField fields = expansion.fields(manifest);
  const ManifestField spec = fields.at("spec");
  expansion.hold_if_off(spec, "jobset.sigs.k8s.io/jobset-controller");
  if (has_condition(expansion.status(manifest), {"Completed", "Failed"}) ||
      is_being_deleted(expansion, manifest)) {
    expansion.end();
  }
  const Manifest& root = expansion.root();
  const bool is_training = root.kind->name == "TrainJob";
  expand_job_set_order(expansion, {.spec = spec,
                                   .metadata = fields.at("metadata"),
                                   .name = manifest.name,
                                   .uid = manifest.uid,
                                   .loss_unit = is_training ? root.object() : std::string()});
}

}  // namespace makeway
