// Decoders of everything but pods: nodes, classes, budgets, namespaces, groups, workloads.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "codec/kinds.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

// The fields of PodGroup and Workload that there are, in any version: what else stands there is a
// slip of the pen.
constexpr std::array<std::string_view, 5> object_fields = {"apiVersion", "kind", "metadata", "spec",
                                                           "status"};
constexpr std::array<std::string_view, 4> reference_fields = {"workloadName", "templateName",
                                                              "podGroupTemplateName", "workload"};
constexpr std::array<std::string_view, 2> gang_fields = {"minCount", "preemptionMode"};
constexpr std::array<std::string_view, 10> group_fields = {
    "schedulingPolicy",  "policy",
    "disruptionMode",    "preemptionMode",
    "priorityClassName", "preemptionPriorityClassName",
    "priority",          "preemptionPolicy",
    "resourceClaims",    "schedulingConstraints"};
constexpr std::array<std::string_view, 3> pod_group_fields = {"workloadRef", "podGroupTemplateRef",
                                                              "parentCompositePodGroupName"};
constexpr std::array<std::string_view, 7> workload_fields = {
    "podGroupTemplates",           "podGroups", "controllerRef",   "priorityClassName",
    "preemptionPriorityClassName", "priority",  "preemptionPolicy"};
constexpr std::array group_annotations = {names::preemption_priority_class,
                                          names::preferred_topology,
                                          names::last_checkpoint,
                                          names::preemption_cost,
                                          names::below_minimum,
                                          names::allow_preemption,
                                          names::queue,
                                          names::key_plane};
constexpr std::array group_labels = {names::queue, names::allow_preemption};
constexpr std::array workload_annotations = {names::preemption_priority_class,
                                             names::last_checkpoint, names::preemption_cost,
                                             names::key_plane};

template <std::size_t A, std::size_t B>
constexpr std::array<std::string_view, A + B> joined(const std::array<std::string_view, A>& a,
                                                     const std::array<std::string_view, B>& b) {
  std::array<std::string_view, A + B> both;
  std::ranges::copy(a, both.begin());
  std::ranges::copy(b, both.begin() + A);
  return both;
}
constexpr auto pod_group_spec = joined(group_fields, pod_group_fields);
constexpr auto template_spec = joined(group_fields, std::array<std::string_view, 1>{"name"});

/// Beside `spec`: what belongs into it, and what does not exist.
void warn_misplaced_field(JsonReader& reader, const FieldPath& path, std::string_view key,
                          std::span<const std::string_view> spec) {
  if (std::ranges::find(spec, key) == spec.end()) {
    return warn_unknown_field(reader, path, key, object_fields);
  }
  reader.warn(path, {}, "unknown field; it is ignored", "write it into spec");
}

void decode_taint(JsonReader& reader, JsonCursor& value, const FieldPath& path, Node& node) {
  Taint taint;
  std::optional<TaintEffect> effect;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "key") reader.read(field, at, taint.key);
    if (key == "value") reader.read(field, at, taint.value);
    if (key == "effect") effect = read_effect(reader, field, at);
  });
  if (taint.key.empty()) reader.refuse(path.at("key"), {}, "expected the taint's key");
  if (!effect) return;
  taint.effect = *effect;
  node.taints.push_back(std::move(taint));
}

std::optional<CountOrPercent> read_count(JsonReader& reader, JsonCursor& value,
                                         const FieldPath& path) {
  std::string_view text;
  if (!reader.read_token(value, path, text)) return std::nullopt;
  CountOrPercent count;
  std::string_view digits = text;
  count.percent = digits.ends_with('%');
  if (count.percent) digits.remove_suffix(1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), count.value);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  if (whole && count.value >= 0 && (!count.percent || count.value <= 100)) return count;
  reader.refuse(path, text, "expected a count such as 2 or a percentage such as \"50%\"");
  return std::nullopt;
}

void decode_budget_spec(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                        DisruptionBudget& budget) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "selector") decode_label_selector(reader, field, at, budget.selector);
    if (key == "minAvailable") budget.available_min = read_count(reader, field, at);
    if (key == "maxUnavailable") budget.unavailable_max = read_count(reader, field, at);
  });
}

void decode_budget_status(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                          DisruptionBudget& budget) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    std::int32_t allowed = 0;
    if (key == "disruptionsAllowed" && reader.read(field, at, allowed)) {
      budget.disruptions_allowed = allowed;
    } else if (key == "disruptedPods") {
      reader.each_field(field, at, [&](std::string_view pod, JsonCursor&, const FieldPath&) {
        budget.disrupted_pods.emplace_back(pod);
      });
    }
  });
}

// ---- Groups -----------------------------------------------------------------------------------

void read_minimum(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                  GroupPolicy& policy) {
  if (!reader.read(value, path, policy.minimum)) return;
  if (policy.minimum < 1) {
    reader.refuse(path, std::to_string(policy.minimum), "expected at least 1");
    policy.minimum = 1;
  }
}

/// The seed writes Pod or PodGroup, 1.36 the same in disruptionMode, 1.37 single{} or all{}.
void read_mode_text(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                    GroupPolicy& policy) {
  std::string_view text;
  if (!reader.read(value, path, text) || text.empty()) return;
  if (text == "Pod" || text == "PodGroup") {
    policy.mode = text == "Pod" ? DisruptionMode::single : DisruptionMode::all;
  } else {
    reader.refuse(path, text, "expected Pod or PodGroup",
                  "disruptionMode also takes {single: {}} or {all: {}}");
  }
}

void decode_disruption_mode(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                            GroupPolicy& policy) {
  simdjson::ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return reader.broken(error, path);
  if (type == simdjson::ondemand::json_type::string) {
    return read_mode_text(reader, value, path, policy);
  }
  std::size_t choices = 0;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor&, const FieldPath& at) {
    ++choices;
    if (key == "all") {
      policy.mode = DisruptionMode::all;
    } else if (key != "single") {
      reader.refuse(at, key, "expected single or all");
    }
  });
  if (choices > 1) reader.refuse(path, {}, "expected exactly one of single and all");
}

void decode_scheduling_policy(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                              GroupPolicy& policy) {
  std::size_t choices = 0;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    ++choices;
    if (key == "basic") {
      return reader.each_field(field, at, [&](std::string_view, JsonCursor&, const FieldPath& to) {
        reader.warn(to, {}, "a basic group has no such field; it is ignored",
                    "disruptionMode stands beside the policy");
      });
    }
    if (key != "gang") return reader.refuse(at, key, "expected basic or gang");
    policy.gang = true;
    bool has_minimum = false;
    reader.each_field(field, at,
                      [&](std::string_view name, JsonCursor& inner, const FieldPath& to) {
                        if (name == "minCount") {
                          has_minimum = true;
                          read_minimum(reader, inner, to, policy);
                        } else if (name == "preemptionMode") {
                          read_mode_text(reader, inner, to, policy);
                        } else {
                          warn_unknown_field(reader, to, name, gang_fields);
                        }
                      });
    if (!has_minimum) reader.refuse(at.at("minCount"), {}, "a gang needs its minimum");
  });
  if (choices != 1) reader.refuse(path, {}, "expected exactly one of basic and gang");
}

/// The fields that PodGroup specs, their templates and Workload specs share; false for others.
bool decode_group_field(JsonReader& reader, std::string_view key, JsonCursor& field,
                        const FieldPath& at, GroupPolicy& policy, PriorityClaim& claim) {
  if (key == "schedulingPolicy" || key == "policy") {
    decode_scheduling_policy(reader, field, at, policy);
  } else if (key == "disruptionMode") {
    decode_disruption_mode(reader, field, at, policy);
  } else if (key == "preemptionMode") {
    read_mode_text(reader, field, at, policy);
  } else if (key == "schedulingConstraints") {
    decode_scheduling_constraints(reader, field, at, policy);
  } else if (key == "priorityClassName") {
    reader.read(field, at, claim.priority_class);
  } else if (key == "preemptionPriorityClassName") {
    reader.read(field, at, claim.preemption_priority_class);
  } else if (key == "priority") {
    std::int32_t priority = 0;
    if (reader.read(field, at, priority)) claim.priority = priority;
  } else if (key == "preemptionPolicy") {
    claim.preemption_policy = read_preemption_policy(reader, field, at);
  } else {
    return false;
  }
  return true;
}

void decode_workload_reference(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                               PodGroup& group) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "workloadName") {
      if (reader.read(field, at, group.workload)) check_reference(reader, at, group.workload);
    } else if (key == "templateName" || key == "podGroupTemplateName") {
      reader.read(field, at, group.template_name);
    } else if (key == "workload") {  // 1.36: podGroupTemplateRef wraps the same two in a union.
      decode_workload_reference(reader, field, at, group);
    } else {
      warn_unknown_field(reader, at, key, reference_fields);
    }
  });
}

void decode_templates(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                      Workload& workload) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    GroupTemplate& entry = workload.templates.emplace_back();
    reader.each_field(item, at, [&](std::string_view key, JsonCursor& field, const FieldPath& to) {
      if (decode_group_field(reader, key, field, to, entry.policy, entry.priority)) return;
      if (key == "name") return (void)reader.read(field, to, entry.name);
      warn_unknown_field(reader, to, key, template_spec);
    });
    if (entry.name.empty()) reader.refuse(at.at("name"), {}, "every template needs a name");
    check_reference(reader, at.at("name"), entry.name);
  });
  std::set<std::string_view> names_seen;
  for (const GroupTemplate& entry : workload.templates) {
    if (names_seen.insert(entry.name).second) continue;
    reader.refuse(path, entry.name, "two templates have this name");
  }
}

std::string queue_of(const Metadata& metadata) {
  for (const std::string_view key : {names::queue, names::kueue_queue, names::yunikorn_queue}) {
    const std::string_view label = metadata.label(key);
    if (!label.empty()) return std::string(label);
  }
  const std::string_view ours = metadata.annotation(names::queue);
  return std::string(ours.empty() ? metadata.annotation(names::volcano_queue) : ours);
}

/// The annotation wins over the seed's field: an API server keeps annotations only.
void read_preemption_class(const Metadata& metadata, PriorityClaim& claim) {
  const std::string_view name = metadata.annotation(names::preemption_priority_class);
  claim.preemption_class_in_field = name.empty() && !claim.preemption_priority_class.empty();
  if (!name.empty()) claim.preemption_priority_class = name;
}

/// Whether the group leaves whole when it falls below its minimum.
bool read_below_minimum(JsonReader& reader, const FieldPath& path, const Metadata& metadata) {
  const std::string_view text = metadata.annotation(names::below_minimum);
  if (text.empty() || text == "keep") return false;
  if (text == "evict") return true;
  const FieldPath at = path.at("metadata");
  reader.refuse(at.at("annotations").at(names::below_minimum), text,
                "expected keep (the group runs on below its minimum) or evict (it leaves whole)");
  return false;
}

}  // namespace

void decode_object(ObjectCursor cursor, Node& node) {
  JsonReader& reader = cursor.reader;
  Amounts capacity;
  const auto spec = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "unschedulable") reader.read(field, at, node.unschedulable);
    if (key != "taints") return;
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      decode_taint(reader, item, to, node);
    });
  };
  const auto status = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "capacity") decode_amounts(reader, field, at, capacity);
    if (key == "allocatable") decode_amounts(reader, field, at, node.allocatable);
    if (key == "conditions") decode_condition_times(reader, field, at, node.observed);
  };
  Metadata metadata = decode_fields<Node>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "spec") reader.each_field(field, at, spec);
        if (key == "status") reader.each_field(field, at, status);
      });
  // As the API server fills it in.
  if (node.allocatable.empty()) node.allocatable = std::move(capacity);
  take_identity(metadata, node);
  node.labels = std::move(metadata.labels);
}

void decode_object(ObjectCursor cursor, PriorityClass& object) {
  JsonReader& reader = cursor.reader;
  bool has_value = false;
  Metadata metadata = decode_fields<PriorityClass>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "value") {
          has_value = true;
          reader.read(field, at, object.value);
        }
        if (key == "globalDefault") reader.read(field, at, object.global_default);
        if (key == "preemptionPolicy") {
          object.preemption_policy = read_preemption_policy(reader, field, at);
        }
      });
  take_identity(metadata, object);
  if (!has_value) reader.refuse(cursor.path.at("value"), {}, "a PriorityClass needs its value");
}

void decode_object(ObjectCursor cursor, DisruptionBudget& budget) {
  JsonReader& reader = cursor.reader;
  Metadata metadata = decode_fields<DisruptionBudget>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "spec") decode_budget_spec(reader, field, at, budget);
        if (key == "status") decode_budget_status(reader, field, at, budget);
      });
  take_identity(metadata, budget);
}

void decode_object(ObjectCursor cursor, Namespace& object) {
  Metadata metadata =
      decode_fields<Namespace>(cursor, [](std::string_view, JsonCursor&, const FieldPath&) {});
  take_identity(metadata, object);
  object.labels = std::move(metadata.labels);
}

void decode_object(ObjectCursor cursor, PodGroup& group) {
  JsonReader& reader = cursor.reader;
  const auto spec = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (decode_group_field(reader, key, field, at, group.policy, group.priority)) return;
    if (key == "workloadRef" || key == "podGroupTemplateRef") {
      decode_workload_reference(reader, field, at, group);
    } else if (key == "parentCompositePodGroupName") {
      reader.read(field, at, group.parent);
    } else {
      warn_unknown_field(reader, at, key, pod_group_spec);
    }
  };
  const auto status = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "conditions") decode_condition_times(reader, field, at, group.observed);
  };
  Metadata metadata = decode_fields<PodGroup>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "spec") reader.each_field(field, at, spec);
        if (key == "status") reader.each_field(field, at, status);
        warn_misplaced_field(reader, at, key, pod_group_spec);
      });
  warn_unknown_names(reader, cursor.path, metadata,
                     {.annotations = group_annotations, .labels = group_labels});
  read_preemption_class(metadata, group.priority);
  group.queue = queue_of(metadata);
  group.preferred_topology = read_preferred_topology(reader, cursor.path, metadata);
  group.opted_out = read_opted_out(reader, cursor.path, metadata);
  group.evict_below_minimum = read_below_minimum(reader, cursor.path, metadata);
  group.last_checkpoint = read_checkpoint(reader, cursor.path, metadata);
  group.preemption_cost_seconds = read_cost(reader, cursor.path, metadata);
  take_identity(metadata, group);
}

void decode_object(ObjectCursor cursor, Workload& workload) {
  JsonReader& reader = cursor.reader;
  GroupPolicy unused;  // A Workload has no policy of its own; its templates have.
  const auto spec = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "podGroupTemplates" || key == "podGroups") {
      decode_templates(reader, field, at, workload);
    } else if (key == "compositePodGroupTemplates") {
      reader.warn(at, {}, "composite groups are not read");
    } else if (std::ranges::find(workload_fields, key) == workload_fields.end() &&
               std::ranges::find(group_fields, key) != group_fields.end()) {
      reader.warn(at, {}, "a Workload has no such field; it is ignored",
                  "write it into every template (spec.podGroupTemplates)");
    } else if (!decode_group_field(reader, key, field, at, unused, workload.priority)) {
      warn_unknown_field(reader, at, key, workload_fields);
    }
  };
  Metadata metadata = decode_fields<Workload>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "spec") reader.each_field(field, at, spec);
        warn_misplaced_field(reader, at, key, workload_fields);
      });
  warn_unknown_names(reader, cursor.path, metadata, {.annotations = workload_annotations});
  read_preemption_class(metadata, workload.priority);
  workload.last_checkpoint = read_checkpoint(reader, cursor.path, metadata);
  workload.preemption_cost_seconds = read_cost(reader, cursor.path, metadata);
  take_identity(metadata, workload);
}

}  // namespace makeway
