// LeaderWorkerSet (facts/workload-kinds.md, 6).
#include <fmt/format.h>

#include <algorithm>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"

namespace makeway {
namespace {

constexpr std::string_view set_prefix = "leaderworkerset.sigs.k8s.io/";

std::string set_name(std::string_view name) { return fmt::format("{}{}", set_prefix, name); }

/// Pods of one group and of one topology domain stay together and keep others out.
void add_exclusive_terms(JsonValue& spec, std::string_view label, std::string_view value,
                         std::string_view topology) {
  add_pod_term(spec, "podAffinity", topology, Namespaces::own, {requirement(label, "In", {value})});
  add_pod_term(spec, "podAntiAffinity", topology, Namespaces::own,
               {requirement(label, "Exists", {}), requirement(label, "NotIn", {value})});
}

class LeaderWorkerPods {
 public:
  LeaderWorkerPods(Expansion& expansion, const Manifest& manifest)
      : expansion_(expansion), manifest_(manifest) {
    const ManifestField fields = expansion.fields(manifest);
    const ManifestField spec = fields.at("spec");
    const ManifestField group = spec.at("leaderWorkerTemplate");
    replicas_ = spec.at("replicas").count(1, MadePods::pods_max);
    size_ = group.at("size").count(1, MadePods::pods_max);
    if (group.at("size").is_present() && size_ < 1) group.at("size").refuse("expected at least 1");
    if (replicas_ * size_ > MadePods::pods_max) {
      group.at("size").refuse(
          fmt::format("{} groups of it are more than {} pods", replicas_, MadePods::pods_max));
    }
    const ManifestField sub = group.at("subGroupPolicy");
    subgroup_size_ = sub.at("subGroupSize").count(0, MadePods::pods_max);
    leader_excluded_ = sub.at("subGroupPolicyType").text() == "LeaderExcluded";
    restart_policy_ = group.at("restartPolicy").text("RecreateGroupOnPodRestart");
    leader_ready_ = spec.at("startupPolicy").text() == "LeaderReady";
    const ManifestField annotations = fields.at("metadata").at("annotations");
    topology_ = annotations.at(set_name("exclusive-topology")).text();
    subgroup_topology_ = annotations.at(set_name("subgroup-exclusive-topology")).text();
    const bool own_leader = group.at("leaderTemplate").is_present();
    leader_ = read_template(group.at(own_leader ? "leaderTemplate" : "workerTemplate"));
    workers_ = read_template(group.at("workerTemplate"));
    leader_.owner = expansion.controller("StatefulSet", manifest.name, {});
    ready_ = expansion.prepare(leader_) && expansion.prepare(workers_);
    revision_ = template_hash(leader_.spec_text + workers_.spec_text);
  }

  void make() {
    if (!ready_ || leader_.problems->has_errors()) return;
    for (std::int64_t group = 0; group < replicas_; ++group) {
      if (!make_group(group)) return;
    }
    share_surge_losses();
  }

 private:
  bool make_group(std::int64_t group) {
    const std::string leader = fmt::format("{}-{}", manifest_.name, group);
    const bool leader_there = expansion_.existing().has(expansion_.namespace_name(), leader);
    workers_.owner = expansion_.controller("StatefulSet", leader, {});
    share_losses(group, leader);
    for (std::int64_t index = 0; index < size_; ++index) {
      if (!make_pod(group, index, leader, leader_there)) return false;
    }
    return true;
  }

  /// Groups that a rolling update has added, or that are going, run beyond the replicas.
  void share_surge_losses() {
    for (std::int64_t group = replicas_; group < MadePods::pods_max; ++group) {
      const std::string leader = fmt::format("{}-{}", manifest_.name, group);
      if (!expansion_.existing().has(expansion_.namespace_name(), leader)) return;
      share_losses(group, leader);
    }
  }

  /// The leader owns the set of its workers, and so they never outlive it.
  void share_losses(std::int64_t group, const std::string& leader) {
    std::vector<PodIndex> running;
    for (std::int64_t index = 0; index < size_; ++index) {
      const std::string name = pod_name(leader, index);
      const auto pod = expansion_.cluster().find_pod(expansion_.namespace_name(), name);
      if (!pod || !expansion_.existing().is_active(*pod)) continue;
      if (!is_controlled(*pod, index == 0 ? manifest_.name : leader)) continue;
      if (!expansion_.existing().is_pending(*pod)) running.push_back(*pod);
    }
    const bool has_started = std::ssize(running) == size_;
    const bool by_leader = restart_policy_ == "None" || restart_policy_ == "Default" ||
                           (restart_policy_ == "RecreateGroupAfterStart" && !has_started);
    const std::string unit = fmt::format("group {} of {}", group, manifest_.object());
    for (const PodIndex pod : running) {
      const bool is_leader = expansion_.cluster().pods().name[pod.value] == leader;
      expansion_.share_loss(pod,
                            {.unit = unit, .part = by_leader && !is_leader ? std::string() : unit});
    }
  }

  /// By the StatefulSet of leaders or of a leader's workers: a name alone does not prove the owner.
  /// Where the set is in the input, and is ours, its uid counts.
  bool is_controlled(PodIndex pod, const std::string& set) const {
    const Manifest* const found = expansion_.find("StatefulSet", set);
    const OwnerReference owner{.kind = "StatefulSet",
                               .name = set,
                               .uid = found == nullptr ? std::string() : found->uid,
                               .controller = true};
    return expansion_.existing().is_controlled(pod, owner);
  }

  static std::string pod_name(const std::string& leader, std::int64_t index) {
    return index == 0 ? leader : fmt::format("{}-{}", leader, index);
  }

  /// -1: in no subgroup.
  std::int64_t subgroup_of(std::int64_t index) const {
    if (subgroup_size_ == 0) return -1;
    if (index == 0) return leader_excluded_ ? -1 : 0;
    const bool without_leader = (size_ - 1) % subgroup_size_ == 0 && size_ % subgroup_size_ != 0;
    return (without_leader ? index - 1 : index) / subgroup_size_;
  }

  std::string group_key(std::string_view leader) const {
    return sha1_text(fmt::format("{}/{}", expansion_.namespace_name(), leader));
  }

  PodDetails details_of(std::int64_t group, std::int64_t index, const std::string& name,
                        const std::string& leader) const {
    PodDetails details{.name = name};
    details.labels = {
        {set_name("name"), manifest_.name},
        {set_name("worker-index"), fmt::format("{}", index)},
        {set_name("group-index"), fmt::format("{}", group)},
        {set_name("group-key"), group_key(leader)},
        {set_name("template-revision-hash"), revision_},
        {"statefulset.kubernetes.io/pod-name", name},
        {"apps.kubernetes.io/pod-index", fmt::format("{}", index == 0 ? group : index)}};
    details.annotations = {{set_name("size"), fmt::format("{}", size_)}};
    if (index > 0) details.annotations.emplace_back(set_name("leader-name"), leader);
    return details;
  }

  bool make_pod(std::int64_t group, std::int64_t index, const std::string& leader,
                bool leader_there) {
    const std::string name = pod_name(leader, index);
    if (expansion_.note_if_present(name)) return expansion_.step();
    const PodTemplate& pods = index == 0 ? leader_ : workers_;
    PodDetails details = details_of(group, index, name, leader);
    JsonValue spec = pods.spec;
    const std::string group_label = set_name("group-key");
    if (!topology_.empty() && index == 0) {
      add_exclusive_terms(spec, group_label, group_key(leader), topology_);
    } else if (!topology_.empty()) {
      // Its controller gives it the leader's domain as a node selector once the leader has one.
      add_pod_term(spec, "podAffinity", topology_, Namespaces::own,
                   {requirement(group_label, "In", {group_key(leader)})});
    }
    if (const std::int64_t subgroup = subgroup_of(index); subgroup >= 0) {
      const std::string key = sha1_text(fmt::format("{}/{}", leader, subgroup));
      details.labels.emplace_back(set_name("subgroup-index"), fmt::format("{}", subgroup));
      details.labels.emplace_back(set_name("subgroup-key"), key);
      if (!subgroup_topology_.empty()) {
        add_exclusive_terms(spec, set_name("subgroup-key"), key, subgroup_topology_);
      }
    }
    if (index > 0 && !leader_there) {
      details.wave = 1;
      details.wave_after =
          fmt::format("{} {}", leader,
                      leader_ready_ ? "is ready" : (topology_.empty() ? "exists" : "has a node"));
    }
    const bool changed = !topology_.empty() || !subgroup_topology_.empty();
    const std::string spec_text = changed ? compact_text(spec) : std::string();
    if (changed) details.spec_text = &spec_text;
    return expansion_.add(pods, details);
  }

  Expansion& expansion_;
  const Manifest& manifest_;
  std::int64_t replicas_ = 1;
  std::int64_t size_ = 1;
  std::int64_t subgroup_size_ = 0;
  bool leader_excluded_ = false;
  bool leader_ready_ = false;
  bool ready_ = false;
  std::string restart_policy_;
  std::string topology_;
  std::string subgroup_topology_;
  std::string revision_;
  PodTemplate leader_;
  PodTemplate workers_;
};

}  // namespace

void expand_leader_worker_set(Expansion& expansion, const Manifest& manifest) {
  LeaderWorkerPods(expansion, manifest).make();
}

}  // namespace makeway
