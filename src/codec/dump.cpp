#include "codec/dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codec/dump_parts.hpp"
#include "codec/kinds.hpp"
#include "codec/writer.hpp"
#include "model/group_name.hpp"
#include "model/names.hpp"
#include "model/regime.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

void write_policy(DocumentWriter& writer, PreemptionPolicy policy) {
  if (policy == PreemptionPolicy::unset) return;
  writer.string_field("preemptionPolicy",
                      policy == PreemptionPolicy::never ? "Never" : "PreemptLowerPriority");
}

/// Annotations are collected first, so that an object without any has no empty mapping.
void write_annotations(DocumentWriter& writer, const Labels& annotations) {
  write_labels_if(writer, "annotations", annotations);
}

void note(Labels& annotations, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  annotations.push_back({.key = std::string(key), .value = std::string(value)});
}

void note_cost(Labels& annotations, const std::optional<Time>& checkpoint,
               const std::optional<std::int64_t>& cost) {
  if (checkpoint) note(annotations, names::last_checkpoint, to_text(*checkpoint));
  if (cost) note(annotations, names::preemption_cost, std::to_string(*cost));
}

// ---- Pods -------------------------------------------------------------------------------------

/// Marks may also stand among the labels, which are written as they are. An annotation wins over a
/// label, so one is written exactly where the labels alone would say something else.
void note_mark(Labels& annotations, const Labels& labels, std::string_view key, bool mark) {
  if (mark == (find_label(labels, key) == "true")) return;
  note(annotations, key, mark ? "true" : "false");
}

void note_opt_out(Labels& annotations, const Labels& labels, bool opted_out) {
  std::optional<std::string_view> allowed = find_label(labels, names::allow_preemption);
  if (!allowed) allowed = find_label(labels, names::yunikorn_allow_preemption);
  if (opted_out == (allowed == "false")) return;
  note(annotations, names::allow_preemption, opted_out ? "false" : "true");
}

/// "JobSet shop/train;Job train-a-0;6", with commas between several.
std::string loss_units_text(const std::vector<LossShare>& shares) {
  std::vector<std::string> parts;
  parts.reserve(shares.size());
  for (const LossShare& share : shares) {
    parts.push_back(fmt::format("{};{};{}", share.unit, share.part, share.allowed));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

Labels pod_annotations(const Pod& pod) {
  Labels annotations;
  note_opt_out(annotations, pod.labels, pod.opted_out);
  note(annotations, names::evicted_for, pod.notes.evicted_for);
  note(annotations, names::key_plane, pod.plane);
  note(annotations, names::made_from, pod.notes.made_from);
  if (pod.notes.wave > 0) note(annotations, names::wave, fmt::format("{}", pod.notes.wave));
  note(annotations, names::wave_after, pod.notes.wave_after);
  note(annotations, names::loss_units, loss_units_text(pod.notes.loss_units));
  note_cost(annotations, pod.notes.last_checkpoint, pod.notes.preemption_cost_seconds);
  note_mark(annotations, pod.labels, names::owner, pod.is_owner);
  note(annotations, names::plan, pod.notes.plan);
  note(annotations, names::preemption_priority_class, pod.notes.preemption_priority_class);
  if (pod.notes.promised) note(annotations, names::promised, "true");
  note_mark(annotations, pod.labels, names::protected_member, pod.is_protected);
  note(annotations, names::queue, pod.notes.queue);
  note(annotations, names::required_node, pod.notes.required_node);
  if (pod.notes.reserved_since) {
    note(annotations, names::reserved_since, to_text(*pod.notes.reserved_since));
  }
  for (const std::string& need : pod.shape.unsupported) {
    if (!need.starts_with(names::held_need)) continue;
    note(annotations, names::held, std::string_view(need).substr(names::held_need.size()));
  }
  for (const Label& mark : pod.notes.marks) note(annotations, mark.key, mark.value);
  if (pod.kept != KeptBy::none) {
    note(annotations, names::kept_by, kept_by_names.at(static_cast<std::size_t>(pod.kept)));
  }
  if (pod.mirror) note(annotations, names::mirror_pod, "mirror");
  return annotations;
}

void write_owners(DocumentWriter& writer, const std::vector<OwnerReference>& owners) {
  list_if(writer, "ownerReferences", owners, [&](const OwnerReference& owner) {
    writer.string_field("kind", owner.kind);
    writer.string_field("name", owner.name);
    text_if(writer, "uid", owner.uid);
    if (owner.controller) writer.boolean_field("controller", true);
  });
}

void write_pod_metadata(DocumentWriter& writer, const Pod& pod) {
  write_object(writer, "metadata", [&] {
    write_identity(writer, pod);
    write_labels_if(writer, "labels", pod.labels);
    write_annotations(writer, pod_annotations(pod));
    write_owners(writer, pod.owners);
    time_if(writer, "creationTimestamp", pod.created);
    time_if(writer, "deletionTimestamp", pod.deletion);
    if (pod.deletion) {
      writer.integer_field("deletionGracePeriodSeconds", pod.deletion_grace_seconds);
    }
  });
}

void write_pod_group_reference(DocumentWriter& writer, std::string_view group) {
  if (group.empty()) return;
  const std::string_view workload = workload_of_group_name(group);
  write_object(writer, workload.empty() ? "schedulingGroup" : "workloadRef", [&] {
    if (workload.empty()) {
      writer.string_field("podGroupName", group);
    } else {
      writer.string_field("name", workload);
      writer.string_field("podGroup", template_of_group_name(group));
      text_if(writer, "podGroupReplicaKey", replica_of_group_name(group));
    }
  });
}

void write_container(DocumentWriter& writer, const Pod& pod) {
  writer.key("containers");
  writer.begin_array();
  writer.begin_object();
  writer.string_field("name", "total");
  if (!pod.requests.empty()) {
    write_object(writer, "resources", [&] {
      writer.key("requests");
      write_amounts(writer, pod.requests);
    });
  }
  write_ports(writer, pod.shape.ports);
  writer.end_object();
  writer.end_array();
}

void write_pod_status(DocumentWriter& writer, const Pod& pod) {
  const bool has_conditions = pod.ready || pod.disrupted_by_preemption || pod.observed;
  const bool any =
      pod.started || !pod.nominated_node.empty() || has_conditions || has_claim_statuses(pod.shape);
  if (!any) return;
  write_object(writer, "status", [&] {
    time_if(writer, "startTime", pod.started);
    text_if(writer, "nominatedNodeName", pod.nominated_node);
    write_claim_statuses(writer, pod.shape);
    if (has_conditions) {
      writer.key("conditions");
      writer.begin_array();
      const auto condition = [&](std::string_view type, std::string_view reason) {
        writer.begin_object();
        writer.string_field("type", type);
        writer.string_field("status", "True");
        text_if(writer, "reason", reason);
        writer.end_object();
      };
      if (pod.disrupted_by_preemption) condition("DisruptionTarget", "PreemptionByScheduler");
      if (pod.ready) condition("Ready", {});
      write_observed_if(writer, pod.observed);
      writer.end_array();
    }
  });
}

// ---- Other kinds ------------------------------------------------------------------------------

void write_conditions_if(DocumentWriter& writer, const std::optional<Time>& observed) {
  if (!observed) return;
  writer.key("conditions");
  writer.begin_array();
  write_observed_if(writer, observed);
  writer.end_array();
}

void write_count(DocumentWriter& writer, std::string_view key,
                 const std::optional<CountOrPercent>& count) {
  if (!count) return;
  if (count->percent) {
    writer.string_field(key, std::to_string(count->value) + "%");
  } else {
    writer.integer_field(key, count->value);
  }
}

void write_group_policy(DocumentWriter& writer, const GroupPolicy& policy) {
  write_object(writer, "schedulingPolicy", [&] {
    write_object(writer, policy.gang ? "gang" : "basic", [&] {
      if (policy.gang) writer.integer_field("minCount", policy.minimum);
    });
  });
  write_object(writer, "disruptionMode", [&] {
    write_object(writer, policy.mode == DisruptionMode::all ? "all" : "single", [] {});
  });
  if (policy.topology_keys.empty()) return;
  write_object(writer, "schedulingConstraints", [&] {
    write_list(writer, "topology", policy.topology_keys,
               [&](const std::string& key) { writer.string_field("key", key); });
  });
}

/// `as_field`: where no annotation is at hand (templates), the seed's field is.
void note_preemption_class(Labels& annotations, const PriorityClaim& claim) {
  if (claim.preemption_class_in_field) return;
  note(annotations, names::preemption_priority_class, claim.preemption_priority_class);
}

void write_claim(DocumentWriter& writer, const PriorityClaim& claim, bool as_field) {
  text_if(writer, "priorityClassName", claim.priority_class);
  if (claim.priority) writer.integer_field("priority", *claim.priority);
  if (as_field) {
    text_if(writer, "preemptionPriorityClassName", claim.preemption_priority_class);
  }
  write_policy(writer, claim.preemption_policy);
}

}  // namespace

void write_object(DocumentWriter& writer, const Namespace& object) {
  begin_object_of<Namespace>(writer);
  write_object(writer, "metadata", [&] {
    write_identity(writer, object);
    write_labels_if(writer, "labels", object.labels);
    write_plane_if(writer, object.plane);
  });
  writer.end_object();
}

void write_object(DocumentWriter& writer, const PriorityClass& object) {
  begin_plain_object(writer, object);
  writer.integer_field("value", object.value);
  if (object.global_default) writer.boolean_field("globalDefault", true);
  write_policy(writer, object.preemption_policy);
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Node& node) {
  begin_object_of<Node>(writer);
  write_object(writer, "metadata", [&] {
    write_identity(writer, node);
    write_labels_if(writer, "labels", node.labels);
    write_plane_if(writer, node.plane);
    time_if(writer, "creationTimestamp", node.created);
  });
  if (node.unschedulable || !node.taints.empty()) {
    write_object(writer, "spec", [&] {
      if (node.unschedulable) writer.boolean_field("unschedulable", true);
      write_taints(writer, node.taints);
    });
  }
  write_object(writer, "status", [&] {
    writer.key("allocatable");
    write_amounts(writer, node.allocatable);
    write_conditions_if(writer, node.observed);
  });
  writer.end_object();
}

void write_object(DocumentWriter& writer, const DisruptionBudget& budget) {
  begin_plain_object(writer, budget);
  write_object(writer, "spec", [&] {
    write_count(writer, "minAvailable", budget.available_min);
    write_count(writer, "maxUnavailable", budget.unavailable_max);
    write_selector(writer, "selector", budget.selector);
  });
  if (budget.disruptions_allowed || !budget.disrupted_pods.empty()) {
    write_object(writer, "status", [&] {
      if (budget.disruptions_allowed) {
        writer.integer_field("disruptionsAllowed", *budget.disruptions_allowed);
      }
      if (!budget.disrupted_pods.empty()) {
        write_object(writer, "disruptedPods", [&] {
          // When is not kept; null is a time that every reader of Kubernetes accepts.
          for (const std::string& pod : budget.disrupted_pods) {
            writer.key(pod);
            writer.null();
          }
        });
      }
    });
  }
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Workload& workload) {
  begin_object_of<Workload>(writer);
  write_object(writer, "metadata", [&] {
    write_identity(writer, workload);
    Labels annotations;
    note(annotations, names::key_plane, workload.plane);
    note_cost(annotations, workload.last_checkpoint, workload.preemption_cost_seconds);
    note_preemption_class(annotations, workload.priority);
    write_annotations(writer, annotations);
    time_if(writer, "creationTimestamp", workload.created);
  });
  write_object(writer, "spec", [&] {
    write_claim(writer, workload.priority, workload.priority.preemption_class_in_field);
    write_list(writer, "podGroupTemplates", workload.templates, [&](const GroupTemplate& entry) {
      writer.string_field("name", entry.name);
      write_group_policy(writer, entry.policy);
      write_claim(writer, entry.priority, true);
    });
  });
  writer.end_object();
}

void write_object(DocumentWriter& writer, const PodGroup& group) {
  begin_object_of<PodGroup>(writer);
  write_object(writer, "metadata", [&] {
    write_identity(writer, group);
    Labels annotations;
    if (group.opted_out) note(annotations, names::allow_preemption, "false");
    if (group.evict_below_minimum) note(annotations, names::below_minimum, "evict");
    note(annotations, names::key_plane, group.plane);
    note_cost(annotations, group.last_checkpoint, group.preemption_cost_seconds);
    note_preemption_class(annotations, group.priority);
    note(annotations, names::queue, group.queue);
    note(annotations, names::preferred_topology,
         fmt::format("{}", fmt::join(group.preferred_topology, ",")));
    write_annotations(writer, annotations);
    time_if(writer, "creationTimestamp", group.created);
  });
  write_object(writer, "spec", [&] {
    text_if(writer, "parentCompositePodGroupName", group.parent);
    if (!group.workload.empty() || !group.template_name.empty()) {
      write_object(writer, "workloadRef", [&] {
        text_if(writer, "workloadName", group.workload);
        text_if(writer, "templateName", group.template_name);
      });
    }
    write_group_policy(writer, group.policy);
    write_claim(writer, group.priority, group.priority.preemption_class_in_field);
  });
  if (group.observed) {
    write_object(writer, "status", [&] { write_conditions_if(writer, group.observed); });
  }
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Pod& pod) {
  begin_object_of<Pod>(writer);
  write_pod_metadata(writer, pod);
  write_object(writer, "spec", [&] {
    text_if(writer, "nodeName", pod.node);
    text_if(writer, "schedulerName", pod.scheduler);
    text_if(writer, "priorityClassName", pod.priority_class);
    if (pod.priority) writer.integer_field("priority", *pod.priority);
    write_policy(writer, pod.preemption_policy);
    write_pod_group_reference(writer, pod.group);
    write_container(writer, pod);
    write_shape(writer, pod.shape);
  });
  write_pod_status(writer, pod);
  writer.end_object();
}

namespace {

void write_daemon_set(DocumentWriter& writer, const DaemonSetName& daemon_set) {
  begin_kind(writer, "apps/v1", "DaemonSet");
  write_object(writer, "metadata", [&] {
    writer.string_field("namespace", daemon_set.namespace_name);
    writer.string_field("name", daemon_set.name);
  });
  writer.end_object();
}

/// For readers, as under the default configuration; loading passes over it.
void write_regimes(DocumentWriter& writer, const Cluster& cluster) {
  if (cluster.claimed_node_count() == 0) return;
  const Configuration all_enabled;
  const Regimes regimes(cluster, all_enabled);
  write_object(writer, "regimes", [&] {
    for (const std::string_view regime : choice_names<Regime>) {
      if (regime == choice_name(Regime::pods)) continue;
      writer.key(regime);
      writer.begin_array();
      for (const NodeIndex node : cluster.home_nodes()) {
        if (choice_name(regimes.of(node)) == regime)
          writer.string(cluster.text(cluster.nodes().name[node]));
      }
      writer.end_array();
    }
  });
}

}  // namespace

void write_cluster(DocumentWriter& writer, const Cluster& cluster,
                   std::span<const DaemonSetName> daemon_sets) {
  begin_kind(writer, "v1", "List");
  writer.key("items");
  writer.begin_array();
  for (const TextKind& kind : text_kinds) kind.write_all(writer, cluster);
  for (const DaemonSetName& each : daemon_sets) write_daemon_set(writer, each);
  writer.end_array();
  write_regimes(writer, cluster);
  writer.end_object();
}

std::string dump(const Cluster& cluster, DumpFormat format,
                 std::span<const DaemonSetName> daemon_sets) {
  std::string text;
  if (format == DumpFormat::json) {
    JsonWriter writer(text);
    write_cluster(writer, cluster, daemon_sets);
  } else {
    YamlWriter writer(text);
    write_cluster(writer, cluster, daemon_sets);
  }
  return text;
}

}  // namespace makeway
