#include "model/validation/doubts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "model/findings.hpp"
#include "model/knobs.hpp"
#include "model/names.hpp"
#include "model/required_node.hpp"
#include "model/validation/priorities.hpp"

namespace makeway {
namespace {

/// So many warnings of one sort; more would hide the plan.
constexpr std::size_t shown_max = 10;

constexpr std::string_view names_prefix = "makeway.dev/";

constexpr std::array pod_annotations = {names::preemption_priority_class,
                                        names::last_checkpoint,
                                        names::preemption_cost,
                                        names::allow_preemption,
                                        names::protected_member,
                                        names::owner,
                                        names::required_node,
                                        names::reserved_since,
                                        names::promised,
                                        names::evicted_for,
                                        names::plan,
                                        names::queue,
                                        names::key_plane,
                                        names::made_from,
                                        names::wave,
                                        names::wave_after,
                                        names::loss_units,
                                        names::held};
constexpr std::array pod_labels = {
    names::allow_preemption, names::protected_member, names::owner, names::queue, names::plane,
    names::deployment};
constexpr std::array node_labels = {names::plane, names::resource_group};

/// Reports the first ones and counts the rest.
class FewOf {
 public:
  FewOf(Findings& findings, std::string_view of_what) : findings_(findings), of_what_(of_what) {}
  FewOf(const FewOf&) = delete;
  FewOf& operator=(const FewOf&) = delete;
  ~FewOf() {
    if (count_ <= shown_max) return;
    findings_.warning({.message = fmt::format("and {} more {}", count_ - shown_max, of_what_)});
  }

  void add(Problem problem) {
    if (++count_ <= shown_max) findings_.warning(std::move(problem));
  }
  void add_all(Problems problems) {
    for (Problem& problem : problems) add(std::move(problem));
    count_ += problems.left_out();
  }

 private:
  Findings& findings_;
  std::string_view of_what_;
  std::size_t count_ = 0;
};

/// The value of the class that a pod names; the classes are few, the pods many.
class ClassValues {
 public:
  explicit ClassValues(const Cluster& cluster) : cluster_(cluster) {}

  /// None: it names none that is there.
  std::optional<std::int32_t> of(PodIndex pod) {
    const PodColumns& pods = cluster_.pods();
    const StringId name = pods.priority_class[pod];
    if (name == StringId{0}) return std::nullopt;
    const auto [at, is_new] = values_.try_emplace({pods.plane[pod], name});
    if (is_new) {
      const PriorityClass* const named =
          cluster_.find_priority_class(cluster_.text(name), cluster_.text(pods.plane[pod]));
      if (named != nullptr) at->second = named->value;
    }
    return at->second;
  }

 private:
  const Cluster& cluster_;
  std::map<std::pair<StringId, StringId>, std::optional<std::int32_t>> values_;
};

void doubt_priorities(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  ClassValues values(cluster);
  std::vector<PodIndex> differing;
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.flags[pod].priority_given) continue;
    const std::optional<std::int32_t> value = values.of(pod);
    if (value && *value != pods.priority[pod]) differing.push_back(pod);
  }
  std::ranges::sort(differing, {}, [&](PodIndex pod) { return cluster.pod_key(pod); });
  FewOf few(findings, "pods whose priority is not that of their class");
  for (const PodIndex pod : differing) {
    few.add(
        {.object = "Pod " + cluster.pod_key(pod),
         .field = "spec.priority",
         .value = fmt::format("{}", pods.priority[pod]),
         .message = fmt::format("its class {} has {}; the number applies",
                                shorten(cluster.text(pods.priority_class[pod])), *values.of(pod)),
         .remedy = "leave one of them out"});
  }
}

void doubt_pins(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> lost;
  for (const PodIndex pod : cluster.pending_pods()) {
    const std::string_view node = required_node_of(cluster, pod);
    if (node.empty()) continue;
    const std::optional<NodeIndex> found = cluster.find_node(node, cluster.text(pods.plane[pod]));
    if (!found || !cluster.nodes().flags[*found].exists) lost.push_back(pod);
  }
  std::ranges::sort(lost, {}, [&](PodIndex pod) { return cluster.pod_key(pod); });
  FewOf few(findings, "pods that require a node which is not in the input");
  for (const PodIndex pod : lost) {
    const bool noted = !cluster.notes(pods.notes[pod]).required_node.empty();
    few.add({.object = "Pod " + cluster.pod_key(pod),
             .field = noted ? annotation_field(names::required_node)
                            : fmt::format("spec.affinity.nodeAffinity.{}", names::required_terms),
             .value = shorten(required_node_of(cluster, pod)),
             .message = "this node is not in the input, so the pod cannot be placed",
             .remedy = "correct the name or add the node (kubectl get nodes -o yaml)"});
  }
}

// ---- Names that are not read --------------------------------------------------------------------

struct UnknownName {
  std::string object;  ///< The first that carries it.
  std::size_t count = 0;

  void add(std::string carrier) {
    if (count == 0 || carrier < object) object = std::move(carrier);
    ++count;
  }
};

using UnknownNames = std::map<std::string, UnknownName, std::less<>>;

bool is_class_of_victims(const Configuration& configuration, std::string_view kind,
                         std::string_view key) {
  const std::string start = fmt::format("{}:{}=", kind, key);
  return std::ranges::any_of(configuration.required_node.victim_classes,
                             [&](const std::string& line) { return line.starts_with(start); });
}

void report_unknown(Findings& findings, const UnknownNames& found, std::string_view field,
                    std::span<const std::string_view> known, std::string_view plural) {
  FewOf few(findings, "names under makeway.dev/ that mean nothing");
  for (const auto& [name, unknown] : found) {
    const std::string others = unknown.count == 1
                                   ? std::string()
                                   : fmt::format(" ({} {} carry it)", unknown.count, plural);
    few.add({.object = unknown.object,
             .field = fmt::format("metadata.{}[{}]", field, shorten(name)),
             .message = fmt::format("unknown name; it is ignored{}", others),
             .remedy = unknown_name_remedy(known, name)});
  }
}

void doubt_annotations(Findings& findings, const Configuration& configuration) {
  const Cluster& cluster = findings.cluster();
  UnknownNames unknown;
  for (const PodIndex pod : cluster.each_pod()) {
    for (const Label& mark : cluster.notes(cluster.pods().notes[pod]).marks) {
      if (is_class_of_victims(configuration, "annotation", mark.key)) continue;
      unknown[mark.key].add("Pod " + cluster.pod_key(pod));
    }
  }
  report_unknown(findings, unknown, "annotations", pod_annotations, "pods");
}

/// Our labels in each set of labels that are not known; pods of one controller share their set.
class UnknownLabels {
 public:
  UnknownLabels(const Cluster& cluster, std::span<const std::string_view> known)
      : cluster_(cluster), known_(known) {}

  const std::vector<std::string_view>& in(LabelSetId labels) {
    if (labels.value >= found_.size()) found_.resize(labels.value + 1);
    std::optional<std::vector<std::string_view>>& entry = found_[labels.value];
    if (entry) return *entry;
    entry.emplace();
    for (const LabelPair& pair : cluster_.labels(labels)) {
      const std::string_view key = cluster_.text(pair.key);
      if (!key.starts_with(names_prefix)) continue;
      if (std::ranges::find(known_, key) == known_.end()) entry->push_back(key);
    }
    return *entry;
  }

 private:
  const Cluster& cluster_;
  std::span<const std::string_view> known_;
  std::vector<std::optional<std::vector<std::string_view>>> found_;
};

void doubt_labels(Findings& findings, const Configuration& configuration) {
  const Cluster& cluster = findings.cluster();
  UnknownLabels of_pods(cluster, pod_labels);
  UnknownNames on_pods;
  for (const PodIndex pod : cluster.each_pod()) {
    for (const std::string_view key : of_pods.in(cluster.pods().labels[pod])) {
      if (is_class_of_victims(configuration, "label", key)) continue;
      on_pods[std::string(key)].add("Pod " + cluster.pod_key(pod));
    }
  }
  report_unknown(findings, on_pods, "labels", pod_labels, "pods");
  UnknownLabels of_nodes(cluster, node_labels);
  UnknownNames on_nodes;
  for (const NodeIndex node : cluster.home_nodes()) {
    for (const std::string_view key : of_nodes.in(cluster.nodes().labels[node])) {
      const std::string_view name = cluster.text(cluster.nodes().name[node]);
      on_nodes[std::string(key)].add(fmt::format("Node {}", name));
    }
  }
  report_unknown(findings, on_nodes, "labels", node_labels, "nodes");
}

void doubt_missing_groups(Findings& findings, const Quarantine& quarantine) {
  FewOf few(findings, "groups that are not in the input");
  few.add_all(missing_groups(findings.cluster(), quarantine));
}

void doubt_mismatched_groups(Findings& findings) {
  FewOf few(findings, "groups whose pods carry another priority");
  few.add_all(mismatched_groups(findings.cluster()));
}

}  // namespace

/// The prefix is common to all: without it, names that are not alike do not look alike.
std::string unknown_name_remedy(std::span<const std::string_view> known, std::string_view name) {
  std::vector<std::string_view> ends;
  for (const std::string_view each : known) ends.push_back(each.substr(names_prefix.size()));
  const std::string_view nearest = nearest_of(ends, name.substr(names_prefix.size()));
  return nearest.empty() ? "leave it out"
                         : fmt::format("did you mean {}{}?", names_prefix, nearest);
}

Problems find_doubts(const Cluster& cluster, const Configuration& configuration,
                     const Quarantine& quarantine) {
  Findings findings(cluster);
  doubt_missing_groups(findings, quarantine);
  doubt_mismatched_groups(findings);
  doubt_claims(findings);
  doubt_priorities(findings);
  doubt_pins(findings);
  doubt_annotations(findings, configuration);
  doubt_labels(findings, configuration);
  return findings.take();
}

}  // namespace makeway
