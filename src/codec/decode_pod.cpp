#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "codec/kinds.hpp"
#include "model/group_name.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

void read_gates(const JsonField& value, std::vector<std::string>& needs) {
  value.each_item([&](const JsonField& item) {
    std::string_view name;
    item.each_field([&](const JsonField& field) {
      if (field.key == "name") field.read(name);
    });
    needs.push_back("schedulingGate " + std::string(name));
  });
}

void decode_group(const JsonField& value, Pod& pod) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "podGroupName" && field.read(pod.group)) {
      check_reference(field, pod.group);
    }
  });
}

/// The 1.35 form: the pod names the workload, one of its groups and perhaps a replica.
void decode_workload_group(const JsonField& value, Pod& pod) {
  std::string_view workload;
  std::string_view group;
  std::string_view replica;
  value.each_field([&](const JsonField& field) {
    for (const auto& [name, target] : {std::pair{"name", &workload}, std::pair{"podGroup", &group},
                                       std::pair{"podGroupReplicaKey", &replica}}) {
      if (field.key == name && field.read(*target)) check_reference(field, *target);
    }
  });
  if (!workload.empty() && !group.empty()) pod.group = group_name(workload, group, replica);
}

/// What a pod asks of its place; false when the key is none of these.
bool decode_placement(const JsonField& field, PodDraft& draft, Pod& pod) {
  PodShape& shape = pod.shape;
  if (field.key == "tolerations") {
    decode_tolerations(field, shape.tolerations);
  } else if (field.key == "affinity") {
    decode_affinity(field, shape, draft.shape);
  } else if (field.key == "nodeSelector") {
    decode_labels(field, shape.node_selector);
  } else if (field.key == "topologySpreadConstraints") {
    decode_spread(field, draft.shape);
  } else if (field.key == "volumes") {
    decode_pod_volumes(field, shape);
  } else if (field.key == "resourceClaims") {
    decode_resource_claims(field, shape);
  } else if (field.key == "schedulingGates") {
    read_gates(field, shape.unsupported);
  } else if (field.key == "schedulingGroup" || field.key == "workloadRef") {
    const std::string other = std::exchange(pod.group, {});
    const auto decode = field.key == "workloadRef" ? decode_workload_group : decode_group;
    decode(field, pod);
    if (!other.empty() && !pod.group.empty()) {
      field.refuse(pod.group, fmt::format("the pod is in group {} already", shorten(other)),
                   "a pod is in one group: leave schedulingGroup or workloadRef out");
      pod.group.clear();  // It is unknown which.
    } else if (pod.group.empty()) {
      pod.group = other;
    }
  } else {
    return false;
  }
  return true;
}

void decode_spec(const JsonField& value, PodDraft& draft, Pod& pod) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "containers") {
      decode_containers(field, ContainersOf::pod, draft.resources.containers, draft.ports);
    } else if (field.key == "initContainers") {
      decode_containers(field, ContainersOf::init, draft.resources.init_containers, draft.ports);
    } else if (field.key == "nodeName") {
      if (field.read(pod.node)) check_reference(field, pod.node);
    } else if (field.key == "schedulerName") {
      field.read(pod.scheduler);
    } else if (field.key == "priorityClassName") {
      field.read(pod.priority_class);
    } else if (field.key == "priority") {
      field.read(pod.priority);
    } else if (field.key == "preemptionPolicy") {
      pod.preemption_policy = read_preemption_policy(field);
    } else if (field.key == "overhead") {
      decode_resource_list(field, draft.resources.overhead);
    } else if (field.key == "resources") {
      decode_resources(field, draft.resources.requests, draft.resources.limits);
    } else if (field.key == "hostNetwork") {
      field.read(draft.host_network);
    } else {
      decode_placement(field, draft, pod);
    }
  });
}

void decode_condition(const JsonField& value, PodDraft& draft, Pod& pod) {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  value.each_field([&](const JsonField& field) {
    if (field.key == "type") field.read(type);
    if (field.key == "status") field.read(status);
    if (field.key == "reason") field.read(reason);
    read_condition_time(field, pod.observed);
  });
  // Kubernetes looks at the reason of this one only.
  if (type == "PodResizePending") draft.resources.resize_infeasible = reason == "Infeasible";
  if (status != "True") return;
  if (type == "Ready") pod.ready = true;
  if (type == "DisruptionTarget" && reason == "PreemptionByScheduler") {
    pod.disrupted_by_preemption = true;
  }
}

void decode_status(const JsonField& value, PodDraft& draft, Pod& pod) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "phase") {
      field.read(draft.phase);
    } else if (field.key == "startTime") {
      field.read(pod.started);
    } else if (field.key == "nominatedNodeName") {
      if (field.read(pod.nominated_node)) {
        check_reference(field, pod.nominated_node);
      }
    } else if (field.key == "conditions") {
      field.each_item([&](const JsonField& item) { decode_condition(item, draft, pod); });
    } else if (field.key == "resources") {
      ResourceList limits;
      decode_resources(field, draft.resources.actual, limits);
    } else if (field.key == "allocatedResources") {
      decode_resource_list(field, draft.resources.allocated);
    } else if (field.key == "resourceClaimStatuses") {
      decode_claim_statuses(field, draft.claim_statuses);
    } else if (field.key == "containerStatuses" || field.key == "initContainerStatuses") {
      decode_container_statuses(field, draft.statuses);
    }
  });
}

void join_statuses(PodDraft& draft) {
  std::map<std::string_view, const ContainerResources*> by_name;  // The last one counts.
  for (const ContainerResources& status : draft.statuses) {
    if (status.has_status) by_name[status.name] = &status;
  }
  if (by_name.empty()) return;
  for (auto* const containers : {&draft.resources.containers, &draft.resources.init_containers}) {
    for (ContainerResources& container : *containers) {
      const auto status = by_name.find(container.name);
      if (status == by_name.end()) continue;
      container.has_status = true;
      container.actual = status->second->actual;
      container.allocated = status->second->allocated;
    }
  }
}

void join_ports(PodDraft& draft, Pod& pod) {
  for (ContainerPort& port : draft.ports) {
    // On the host's network a container's port is the host's port.
    if (port.host.port == 0 && draft.host_network) port.host.port = port.container_port;
    if (port.host.port != 0) pod.shape.ports.push_back(std::move(port.host));
  }
}

/// Most pods carry no name of ours at all.
bool has_marks(const Metadata& metadata) {
  return !metadata.annotations.empty() ||
         std::ranges::any_of(metadata.labels, [](const Label& label) {
           return label.key.starts_with("makeway.dev/") ||
                  label.key == names::yunikorn_allow_preemption;
         });
}

std::string_view read_required_node(const ObjectNotes& notes) {
  const auto& annotations = notes.metadata.annotations;
  const auto found = std::ranges::find(annotations, names::required_node, &TextPair::key);
  if (found == annotations.end()) return {};
  if (found->value.empty()) {
    notes.refuse(names::required_node, {}, "expected the name of a node",
                 "name one or leave the annotation out");
  }
  const FieldPath at = notes.path.at("metadata");
  const FieldPath below = at.at("annotations");
  check_reference(notes.reader, below.at(names::required_node), found->value);
  return found->value;
}

/// 0 without the annotation.
std::int32_t read_wave(const ObjectNotes& notes) {
  constexpr std::int32_t wave_max = 1'000'000;
  const std::string_view text = notes.text(names::wave);
  if (text.empty()) return 0;
  std::int32_t wave = -1;
  if (parse_whole(text, wave) && wave >= 0 && wave <= wave_max) return wave;
  notes.refuse(names::wave, text, fmt::format("expected the number of a wave, 0 to {}", wave_max));
  return 0;
}

/// "JobSet shop/train;Job train-a-0;6": a unit, a part of it or nothing, and how many pods of the
/// part may be lost.
std::optional<LossShare> parse_loss_share(std::string_view text) {
  const std::size_t first = text.find(';');
  const std::size_t second = first == std::string_view::npos ? first : text.find(';', first + 1);
  if (first == 0 || second == std::string_view::npos) return std::nullopt;
  LossShare share{.unit = std::string(text.substr(0, first)),
                  .part = std::string(text.substr(first + 1, second - first - 1))};
  const bool whole = parse_whole(text.substr(second + 1), share.allowed);
  constexpr std::int64_t allowed_max = std::numeric_limits<std::int32_t>::max();
  if (!whole || share.allowed < 0 || share.allowed > allowed_max) return std::nullopt;
  return share;
}

std::vector<LossShare> read_loss_units(const ObjectNotes& notes) {
  std::vector<LossShare> shares;
  const std::string_view text = notes.text(names::loss_units);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::optional<LossShare> share = parse_loss_share(text.substr(begin, end - begin));
    if (!share) {
      notes.refuse(names::loss_units, text,
                   "expected UNIT;PART;NUMBER, with commas between several");
      return {};
    }
    shares.push_back(std::move(*share));
    begin = end + 1;
  }
  return shares;
}

KeptBy read_kept(const ObjectNotes& notes) {
  const std::string_view text = notes.text(names::kept_by);
  if (text.empty()) return KeptBy::none;
  const auto* const found = std::ranges::find(kept_by_names, text);
  if (found != kept_by_names.end()) return static_cast<KeptBy>(found - kept_by_names.begin());
  notes.refuse(names::kept_by, text, "expected other-scheduler or two-budgets");
  return KeptBy::none;
}

void read_marks(const ObjectNotes& notes, Pod& pod) {
  const Metadata& metadata = notes.metadata;
  if (!has_marks(metadata)) return;
  pod.opted_out = notes.opted_out();
  pod.is_protected = notes.mark(names::protected_member).value_or(false);
  pod.is_owner = notes.mark(names::owner).value_or(false);
  pod.notes.preemption_priority_class = notes.text(names::preemption_priority_class);
  pod.notes.required_node = read_required_node(notes);
  pod.notes.reserved_since = notes.time(names::reserved_since);
  pod.notes.promised = notes.mark(names::promised).value_or(false);
  pod.notes.evicted_for = notes.text(names::evicted_for);
  pod.notes.plan = notes.text(names::plan);
  pod.notes.queue = notes.text(names::queue);
  if (pod.notes.queue.empty()) pod.notes.queue = notes.text(names::volcano_queue);
  pod.notes.made_from = notes.text(names::made_from);
  pod.notes.wave = read_wave(notes);
  pod.notes.wave_after = notes.text(names::wave_after);
  pod.notes.loss_units = read_loss_units(notes);
  const std::string_view held = notes.text(names::held);
  if (!held.empty()) {
    pod.shape.unsupported.push_back(std::string(names::held_need) + std::string(held));
  }
  pod.notes.last_checkpoint = notes.time(names::last_checkpoint);
  pod.notes.preemption_cost_seconds = notes.cost();
  for (const TextPair& annotation : metadata.annotations) {
    if (!names::is_mark(annotation.key)) continue;
    pod.notes.marks.push_back(
        {.key = std::string(annotation.key), .value = std::string(annotation.value)});
  }
  pod.kept = read_kept(notes);
  const std::string_view source = notes.text(names::config_source);
  const bool mirror = std::ranges::find(metadata.annotations, names::mirror_pod, &TextPair::key) !=
                      metadata.annotations.end();
  pod.mirror = mirror || (!source.empty() && source != "api");
}

/// Empties the pod but keeps its buffers.
void clear(PodShape& shape) {
  shape.node_selector.clear();
  shape.node_terms.clear();
  shape.tolerations.clear();
  shape.ports.clear();
  shape.affinity.clear();
  shape.anti_affinity.clear();
  shape.spread.clear();
  shape.claims.clear();
  shape.unsupported.clear();
  shape.preferences.nodes.clear();
  shape.preferences.pods.clear();
  shape.preferences.spread.clear();
}

void clear(Pod& pod) {
  for (std::string* const text :
       {&pod.namespace_name, &pod.name, &pod.uid, &pod.plane, &pod.node, &pod.nominated_node,
        &pod.group, &pod.scheduler, &pod.priority_class}) {
    text->clear();
  }
  pod.labels.clear();
  pod.priority.reset();
  pod.preemption_policy = PreemptionPolicy::unset;
  pod.requests.clear();
  clear(pod.shape);
  pod.notes = {};
  pod.owners.clear();
  pod.created.reset();
  pod.started.reset();
  pod.deletion.reset();
  pod.deletion_grace_seconds = 0;
  pod.observed.reset();
  pod.ready = pod.mirror = pod.opted_out = false;
  pod.is_protected = pod.is_owner = pod.disrupted_by_preemption = false;
  pod.kept = KeptBy::none;
}

}  // namespace

void PodDraft::clear() {
  metadata.clear();
  shape.clear();
  resources.containers.clear();
  resources.init_containers.clear();
  resources.requests.clear();
  resources.limits.clear();
  resources.overhead.clear();
  resources.allocated.clear();
  resources.actual.clear();
  resources.resize_infeasible = false;
  statuses.clear();
  ports.clear();
  claim_statuses.clear();
  phase = {};
  host_network = false;
}

PodState decode_object(ObjectCursor cursor, PodDraft& draft, Pod& pod) {
  JsonReader& reader = cursor.reader;
  draft.clear();
  clear(pod);
  reader.each_field(cursor.object, cursor.path, [&](const JsonField& field) {
    if (field.key == "metadata") {
      decode_metadata(field, draft.metadata);
    } else if (field.key == "spec") {
      decode_spec(field, draft, pod);
    } else if (field.key == "status") {
      decode_status(field, draft, pod);
    }
  });
  Metadata& metadata = draft.metadata;
  finish_metadata(reader, cursor.path, row_of<Pod>.scope, metadata);
  read_marks({reader, cursor.path, metadata}, pod);
  join_statuses(draft);
  join_ports(draft, pod);
  join_claims(draft.claim_statuses, pod.shape);
  pod_requests(draft.resources, pod.requests);
  finish_shape(draft.shape, metadata.labels, pod.shape);
  pod.namespace_name.swap(metadata.namespace_name);
  pod.name.swap(metadata.name);
  pod.uid.swap(metadata.uid);
  pod.plane.swap(metadata.plane);
  pod.labels.swap(metadata.labels);
  pod.owners.swap(metadata.owners);
  pod.created = metadata.created;
  pod.deletion = metadata.deletion;
  pod.deletion_grace_seconds = metadata.deletion ? metadata.deletion_grace_seconds : 0;
  const bool finished = draft.phase == "Succeeded" || draft.phase == "Failed";
  return finished ? PodState::finished : PodState::present;
}

}  // namespace makeway
