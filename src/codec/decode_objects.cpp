// Decoders of everything but pods: nodes, classes, budgets, namespaces, groups, workloads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/ascii.hpp"
#include "codec/decoders.hpp"
#include "codec/kinds.hpp"
#include "model/knobs.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/validation/doubts.hpp"

namespace makeway {
namespace {

constexpr std::array names_of_pods = {names::protected_member, names::owner, names::required_node,
                                      names::deployment};

/// What a kind does not have, where its schema is known: a warning, since an API server of another
/// version may have it.
void warn_unknown_field(const JsonField& field, std::span<const std::string_view> known) {
  if (std::ranges::find(known, field.key) != known.end()) return;
  const std::string_view nearest = nearest_of(known, field.key);
  field.warn({}, "unknown field; it is ignored",
             nearest.empty() ? std::string() : fmt::format("did you mean {}?", nearest));
}

/// Names under makeway.dev/ among annotations and labels.
struct KnownNames {
  std::span<const std::string_view> annotations;
  std::span<const std::string_view> labels;
};

void warn_unknown_names(const ObjectNotes& notes, const KnownNames& known) {
  const auto look = [&](std::string_view list, std::string_view key,
                        std::span<const std::string_view> own) {
    const bool ours = key.starts_with("makeway.dev/");
    if (!ours || std::ranges::find(own, key) != own.end()) return;
    const FieldPath at = notes.path.at("metadata");
    const FieldPath fields = at.at(list);
    if (std::ranges::find(names_of_pods, key) != names_of_pods.end()) {
      notes.reader.warn(fields.at(key), {}, "only a pod can carry this name; it is ignored",
                        "write it on the pods");
    } else {
      notes.reader.warn(fields.at(key), {}, "unknown name; it is ignored",
                        unknown_name_remedy(own, key));
    }
  };
  for (const TextPair& item : notes.metadata.annotations)
    look("annotations", item.key, known.annotations);
  for (const Label& item : notes.metadata.labels) look("labels", item.key, known.labels);
}

constexpr std::size_t levels_max = 16;
constexpr std::size_t prefix_length_max = 253;
constexpr std::size_t label_name_length_max = 63;

bool is_letter_or_digit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9');
}

bool is_prefix_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
}

/// As Kubernetes has it: "rack", "example.com/rack".
bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    if (prefix.empty() || prefix.size() > prefix_length_max ||
        !std::ranges::all_of(prefix, is_prefix_byte)) {
      return false;
    }
    key.remove_prefix(slash + 1);
  }
  if (key.empty() || key.size() > label_name_length_max) return false;
  const auto is_name_byte = [](char byte) {
    return is_letter_or_digit(byte) || byte == '-' || byte == '_' || byte == '.';
  };
  return is_letter_or_digit(key.front()) && is_letter_or_digit(key.back()) &&
         std::ranges::all_of(key, is_name_byte);
}

/// One more level of a list that names each once.
void add_key(JsonReader& reader, const FieldPath& path, std::string_view key,
             std::vector<std::string>& keys) {
  if (!is_label_key(key)) {
    return reader.refuse(path, key, "expected the key of a node label",
                         "name a label that nodes carry, such as topology.kubernetes.io/zone");
  }
  if (std::ranges::find(keys, key) != keys.end()) {
    return reader.refuse(path, key, "the label is listed twice", "list it once");
  }
  if (keys.size() == levels_max) {
    return reader.refuse(path, key, fmt::format("expected at most {} levels", levels_max),
                         "leave out the levels that matter least");
  }
  keys.emplace_back(key);
}

void decode_scheduling_constraints(const JsonField& value, GroupPolicy& policy) {
  value.each_field([&](const JsonField& field) {
    if (field.key != "topology") return;
    field.each_item([&](const JsonField& item) {
      std::string node_label;
      const std::size_t before = value.reader.problem_count();
      const auto constraint = [&](const JsonField& text) {
        if (text.key == "key") text.read(node_label);
      };
      item.each_field(constraint);
      if (value.reader.problem_count() > before) return;  // No text: one problem is enough.
      add_key(value.reader, item.path.at("key"), node_label, policy.topology_keys);
    });
  });
}

std::vector<std::string> read_preferred_topology(const ObjectNotes& notes) {
  std::vector<std::string> keys;
  const FieldPath at = notes.path.at("metadata");
  const FieldPath annotations = at.at("annotations");
  const FieldPath path = annotations.at(names::preferred_topology);
  std::string_view rest = notes.text(names::preferred_topology);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    add_key(notes.reader, path, trimmed(rest.substr(0, comma)), keys);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) add_key(notes.reader, path, rest, keys);
  }
  return keys;
}

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
void warn_misplaced_field(const JsonField& field, std::span<const std::string_view> spec) {
  if (std::ranges::find(spec, field.key) == spec.end()) {
    return warn_unknown_field(field, object_fields);
  }
  field.warn({}, "unknown field; it is ignored", "write it into spec");
}

void decode_taint(const JsonField& value, Node& node) {
  Taint taint;
  std::optional<TaintEffect> effect;
  value.each_field([&](const JsonField& field) {
    if (field.key == "key") field.read(taint.key);
    if (field.key == "value") field.read(taint.value);
    if (field.key == "effect") effect = read_effect(field);
  });
  if (taint.key.empty()) value.refuse_at("key", {}, "expected the taint's key");
  if (!effect) return;
  taint.effect = *effect;
  node.taints.push_back(std::move(taint));
}

std::optional<CountOrPercent> read_count(const JsonField& value) {
  std::string_view text;
  if (!value.read_token(text)) return std::nullopt;
  CountOrPercent count;
  std::string_view digits = text;
  count.percent = digits.ends_with('%');
  if (count.percent) digits.remove_suffix(1);
  const bool whole = parse_whole(digits, count.value);
  if (whole && count.value >= 0 && (!count.percent || count.value <= 100)) return count;
  value.refuse(text, "expected a count such as 2 or a percentage such as \"50%\"");
  return std::nullopt;
}

void decode_budget_spec(const JsonField& value, DisruptionBudget& budget) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "selector") decode_label_selector(field, budget.selector);
    if (field.key == "minAvailable") budget.available_min = read_count(field);
    if (field.key == "maxUnavailable") budget.unavailable_max = read_count(field);
  });
}

void decode_budget_status(const JsonField& value, DisruptionBudget& budget) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "disruptionsAllowed") field.read(budget.disruptions_allowed);
    if (field.key == "disruptedPods") {
      field.each_field([&](const JsonField& pod) { budget.disrupted_pods.emplace_back(pod.key); });
    }
  });
}

// ---- Groups -----------------------------------------------------------------------------------

void read_minimum(const JsonField& value, GroupPolicy& policy) {
  if (!value.read(policy.minimum)) return;
  if (policy.minimum < 1) {
    value.refuse(std::to_string(policy.minimum), "expected at least 1");
    policy.minimum = 1;
  }
}

/// The seed writes Pod or PodGroup, 1.36 the same in disruptionMode, 1.37 single{} or all{}.
void read_mode_text(const JsonField& value, GroupPolicy& policy) {
  std::string_view text;
  if (!value.read(text) || text.empty()) return;
  if (text == "Pod" || text == "PodGroup") {
    policy.mode = text == "Pod" ? DisruptionMode::single : DisruptionMode::all;
  } else {
    value.refuse(text, "expected Pod or PodGroup",
                 "disruptionMode also takes {single: {}} or {all: {}}");
  }
}

void decode_disruption_mode(const JsonField& value, GroupPolicy& policy) {
  simdjson::ondemand::json_type type{};
  if (const auto error = value.cursor.type().get(type))
    return value.reader.broken(error, value.path);
  if (type == simdjson::ondemand::json_type::string) {
    return read_mode_text(value, policy);
  }
  std::size_t choices = 0;
  value.each_field([&](const JsonField& field) {
    ++choices;
    if (field.key == "all") {
      policy.mode = DisruptionMode::all;
    } else if (field.key != "single") {
      field.refuse(field.key, "expected single or all");
    }
  });
  if (choices > 1) value.refuse({}, "expected exactly one of single and all");
}

void decode_scheduling_policy(const JsonField& value, GroupPolicy& policy) {
  std::size_t choices = 0;
  value.each_field([&](const JsonField& field) {
    ++choices;
    if (field.key == "basic") {
      return field.each_field([&](const JsonField& inner) {
        inner.warn({}, "a basic group has no such field; it is ignored",
                   "disruptionMode stands beside the policy");
      });
    }
    if (field.key != "gang") return field.refuse(field.key, "expected basic or gang");
    policy.gang = true;
    bool has_minimum = false;
    field.each_field([&](const JsonField& inner) {
      if (inner.key == "minCount") {
        has_minimum = true;
        read_minimum(inner, policy);
      } else if (inner.key == "preemptionMode") {
        read_mode_text(inner, policy);
      } else {
        warn_unknown_field(inner, gang_fields);
      }
    });
    if (!has_minimum) field.refuse_at("minCount", {}, "a gang needs its minimum");
  });
  if (choices != 1) value.refuse({}, "expected exactly one of basic and gang");
}

/// The fields that PodGroup specs, their templates and Workload specs share; false for others.
bool decode_group_field(const JsonField& field, GroupPolicy& policy, PriorityClaim& claim) {
  if (field.key == "schedulingPolicy" || field.key == "policy") {
    decode_scheduling_policy(field, policy);
  } else if (field.key == "disruptionMode") {
    decode_disruption_mode(field, policy);
  } else if (field.key == "preemptionMode") {
    read_mode_text(field, policy);
  } else if (field.key == "schedulingConstraints") {
    decode_scheduling_constraints(field, policy);
  } else if (field.key == "priorityClassName") {
    field.read(claim.priority_class);
  } else if (field.key == "preemptionPriorityClassName") {
    field.read(claim.preemption_priority_class);
  } else if (field.key == "priority") {
    field.read(claim.priority);
  } else if (field.key == "preemptionPolicy") {
    claim.preemption_policy = read_preemption_policy(field);
  } else {
    return false;
  }
  return true;
}

void decode_workload_reference(const JsonField& value, PodGroup& group) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "workloadName") {
      if (field.read(group.workload)) check_reference(field, group.workload);
    } else if (field.key == "templateName" || field.key == "podGroupTemplateName") {
      field.read(group.template_name);
    } else if (field.key ==
               "workload") {  // 1.36: podGroupTemplateRef wraps the same two in a union.
      decode_workload_reference(field, group);
    } else {
      warn_unknown_field(field, reference_fields);
    }
  });
}

void decode_templates(const JsonField& value, Workload& workload) {
  value.each_item([&](const JsonField& item) {
    GroupTemplate& entry = workload.templates.emplace_back();
    item.each_field([&](const JsonField& field) {
      if (decode_group_field(field, entry.policy, entry.priority)) return;
      if (field.key == "name") return (void)field.read(entry.name);
      warn_unknown_field(field, template_spec);
    });
    if (entry.name.empty()) item.refuse_at("name", {}, "every template needs a name");
    check_reference(item.reader, item.path.at("name"), entry.name);
  });
  std::set<std::string_view> names_seen;
  for (const GroupTemplate& entry : workload.templates) {
    if (names_seen.insert(entry.name).second) continue;
    value.refuse(entry.name, "two templates have this name");
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
bool read_below_minimum(const ObjectNotes& notes) {
  const std::string_view text = notes.text(names::below_minimum);
  if (text.empty() || text == "keep") return false;
  if (text == "evict") return true;
  notes.refuse(names::below_minimum, text,
               "expected keep (the group runs on below its minimum) or evict (it leaves whole)");
  return false;
}

}  // namespace

void decode_object(ObjectCursor cursor, Node& node) {
  Amounts capacity;
  const auto spec = [&](const JsonField& field) {
    if (field.key == "unschedulable") field.read(node.unschedulable);
    if (field.key != "taints") return;
    field.each_item([&](const JsonField& item) { decode_taint(item, node); });
  };
  const auto status = [&](const JsonField& field) {
    if (field.key == "capacity") decode_amounts(field, capacity);
    if (field.key == "allocatable") decode_amounts(field, node.allocatable);
    if (field.key == "conditions") decode_condition_times(field, node.observed);
  };
  Metadata metadata = decode_fields<Node>(cursor, [&](const JsonField& field) {
    if (field.key == "spec") field.each_field(spec);
    if (field.key == "status") field.each_field(status);
  });
  // As the API server fills it in.
  if (node.allocatable.empty()) node.allocatable = std::move(capacity);
  take_identity(metadata, node);
  node.labels = std::move(metadata.labels);
}

void decode_object(ObjectCursor cursor, PriorityClass& object) {
  JsonReader& reader = cursor.reader;
  bool has_value = false;
  Metadata metadata = decode_fields<PriorityClass>(cursor, [&](const JsonField& field) {
    if (field.key == "value") {
      has_value = true;
      field.read(object.value);
    }
    if (field.key == "globalDefault") field.read(object.global_default);
    if (field.key == "preemptionPolicy") {
      object.preemption_policy = read_preemption_policy(field);
    }
  });
  take_identity(metadata, object);
  if (!has_value) reader.refuse(cursor.path.at("value"), {}, "a PriorityClass needs its value");
}

void decode_object(ObjectCursor cursor, DisruptionBudget& budget) {
  Metadata metadata = decode_fields<DisruptionBudget>(cursor, [&](const JsonField& field) {
    if (field.key == "spec") decode_budget_spec(field, budget);
    if (field.key == "status") decode_budget_status(field, budget);
  });
  take_identity(metadata, budget);
}

void decode_object(ObjectCursor cursor, Namespace& object) {
  Metadata metadata = decode_fields<Namespace>(cursor, [](const JsonField&) {});
  take_identity(metadata, object);
  object.labels = std::move(metadata.labels);
}

void decode_object(ObjectCursor cursor, PodGroup& group) {
  const auto spec = [&](const JsonField& field) {
    if (decode_group_field(field, group.policy, group.priority)) return;
    if (field.key == "workloadRef" || field.key == "podGroupTemplateRef") {
      decode_workload_reference(field, group);
    } else if (field.key == "parentCompositePodGroupName") {
      field.read(group.parent);
    } else {
      warn_unknown_field(field, pod_group_spec);
    }
  };
  const auto status = [&](const JsonField& field) {
    if (field.key == "conditions") decode_condition_times(field, group.observed);
  };
  Metadata metadata = decode_fields<PodGroup>(cursor, [&](const JsonField& field) {
    if (field.key == "spec") field.each_field(spec);
    if (field.key == "status") field.each_field(status);
    warn_misplaced_field(field, pod_group_spec);
  });
  const ObjectNotes notes{cursor.reader, cursor.path, metadata};
  warn_unknown_names(notes, {.annotations = group_annotations, .labels = group_labels});
  read_preemption_class(metadata, group.priority);
  group.queue = queue_of(metadata);
  group.preferred_topology = read_preferred_topology(notes);
  group.opted_out = notes.opted_out();
  group.evict_below_minimum = read_below_minimum(notes);
  group.last_checkpoint = notes.time(names::last_checkpoint);
  group.preemption_cost_seconds = notes.cost();
  take_identity(metadata, group);
}

void decode_object(ObjectCursor cursor, Workload& workload) {
  GroupPolicy unused;  // A Workload has no policy of its own; its templates have.
  const auto spec = [&](const JsonField& field) {
    if (field.key == "podGroupTemplates" || field.key == "podGroups") {
      decode_templates(field, workload);
    } else if (field.key == "compositePodGroupTemplates") {
      field.warn({}, "composite groups are not read");
    } else if (std::ranges::find(workload_fields, field.key) == workload_fields.end() &&
               std::ranges::find(group_fields, field.key) != group_fields.end()) {
      field.warn({}, "a Workload has no such field; it is ignored",
                 "write it into every template (spec.podGroupTemplates)");
    } else if (!decode_group_field(field, unused, workload.priority)) {
      warn_unknown_field(field, workload_fields);
    }
  };
  Metadata metadata = decode_fields<Workload>(cursor, [&](const JsonField& field) {
    if (field.key == "spec") field.each_field(spec);
    warn_misplaced_field(field, workload_fields);
  });
  const ObjectNotes notes{cursor.reader, cursor.path, metadata};
  warn_unknown_names(notes, {.annotations = workload_annotations});
  read_preemption_class(metadata, workload.priority);
  workload.last_checkpoint = notes.time(names::last_checkpoint);
  workload.preemption_cost_seconds = notes.cost();
  take_identity(metadata, workload);
}

}  // namespace makeway
