// ResourceGroup, Partition and Session: their fields, read and written.
#include <set>

#include "codec/field_rows.hpp"
#include "codec/json_value.hpp"
#include "codec/kinds.hpp"
#include "codec/source.hpp"
#include "codec/workloads/json_edit.hpp"
#include "model/names.hpp"
#include "model/resource.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

constexpr std::int64_t session_priority_highest = 100;
/// Of one resource and one kernel: sums of thousands of them must not leave int64.
constexpr std::int64_t amount_highest = std::int64_t{1} << 50;

void need(JsonReader& reader, const FieldPath& path, bool there, std::string_view field) {
  if (there) return;
  reader.refuse(path.at(field), {}, "the field is missing", fmt::format("set {}", field));
}

// ---- ResourceGroup ------------------------------------------------------------------------------

using GroupRow = FieldRow<ResourceGroup>;

constexpr std::array resource_group_spec = {
    GroupRow::of<&ResourceGroup::nodes>(
        "nodes", "The nodes of the group, by name. A node belongs to at most one group."),
    GroupRow::of<&ResourceGroup::node_selector>("nodeSelector",
                                                "And every node that carries all of these labels."),
    GroupRow::of<&ResourceGroup::namespaces>(
        "namespaces", "Namespaces whose sessions count where trust.mode is cluster; none: all."),
    GroupRow::of<&ResourceGroup::preemptible_priority>(
        "preemptiblePriority",
        "Running sessions of this priority or less may be preempted. If not set: "
        "session.preemptiblePriority of the configuration.",
        {.lowest = 0, .highest = session_priority_highest}),
    GroupRow::of<&ResourceGroup::preemption_order>(
        "preemptionOrder",
        "Which of several sessions of the lowest priority leaves first. If not set: "
        "session.preemptionOrder of the configuration."),
};

constexpr std::array resource_group_status = {
    GroupRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<ResourceGroup> resource_group_fields = {.spec = resource_group_spec,
                                                             .status = resource_group_status};

constexpr std::array group_columns = {
    PrinterColumn{"Preemptible", "integer", ".spec.preemptiblePriority"},
    PrinterColumn{"Order", "string", ".spec.preemptionOrder"},
};

// ---- Partition ----------------------------------------------------------------------------------

using PartitionRow = FieldRow<Partition>;

constexpr std::array partition_spec = {
    PartitionRow::of<&Partition::resource_group>("resourceGroup", "The group that it divides.",
                                                 {.type = FieldType::name, .required = true}),
    PartitionRow::of<&Partition::nodes>(
        "nodes", "Nodes of that group; none: all of it. Partitions may share nodes."),
    PartitionRow::of<&Partition::tier>("tier",
                                       "Sessions preempt only sessions of strictly lower tiers.",
                                       {.lowest = 0, .highest = 1'000'000, .fallback = "1"})
        .always_written(),
    PartitionRow::of<&Partition::preemptible>(
        "preemptible", "Whether its sessions may be preempted, unless they state it themselves.",
        {.fallback = "false"}),
    PartitionRow::of<&Partition::mode>(
        "mode",
        "What becomes of a preempted session: it ends, is pending again, or stays and gives up all "
        "but its memory.",
        {.fallback = "\"cancel\""})
        .always_written(),
    PartitionRow::of<&Partition::grace_time>(
        "graceTime", "Between the notice to a session and its end.", {.fallback = "\"0s\""}),
    PartitionRow::of<&Partition::exempt_time>(
        "exemptTime", "A session that has run for less is not a victim.", {.fallback = "\"0s\""}),
};

constexpr std::array partition_status = {
    PartitionRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<Partition> partition_fields = {.spec = partition_spec,
                                                    .status = partition_status};

constexpr std::array partition_columns = {
    PrinterColumn{"Group", "string", ".spec.resourceGroup"},
    PrinterColumn{"Tier", "integer", ".spec.tier"},
    PrinterColumn{"Preemptible", "boolean", ".spec.preemptible"},
    PrinterColumn{"Mode", "string", ".spec.mode"},
};
constexpr std::array partition_rules = {
    CelRule{"spec.mode", "self != 'suspend'",
            "Kubernetes cannot suspend a pod: choose cancel or requeue"},
};

// ---- Kernels of a Session -----------------------------------------------------------------------

/// A kernel while it is read.
struct KernelDraft : Kernel {
  std::optional<Amounts> made;  ///< What its template requests.
};
using KernelRow = FieldRow<Kernel, KernelDraft>;

/// Where a session runs is decided by its group, and nothing else of a pod is looked at.
constexpr std::array not_in_template = {
    std::string_view("nodeName"),        std::string_view("nodeSelector"),
    std::string_view("affinity"),        std::string_view("topologySpreadConstraints"),
    std::string_view("schedulingGates"), std::string_view("schedulingGroup"),
    std::string_view("resourceClaims"),
};

Amounts requests_of(JsonReader& reader, const FieldPath& path, std::string_view spec) {
  const PaddedText text(spec);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  JsonObjectCursor object;
  if (parser.iterate(text.data(), text.size(), text.readable_size()).get(document) !=
          simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return {};  // It was read before.
  }
  PodResources resources;
  std::vector<ContainerPort> ports;
  reader.each_field(object, path, [&](const JsonField& field) {
    if (field.key == "containers") {
      decode_containers(field, ContainersOf::pod, resources.containers, ports);
    }
    if (field.key == "initContainers") {
      decode_containers(field, ContainersOf::init, resources.init_containers, ports);
    }
    if (field.key == "overhead") decode_resource_list(field, resources.overhead);
    if (field.key == "resources") decode_resources(field, resources.requests, resources.limits);
  });
  return pod_requests(resources);
}

void read_template(const FieldValue& value, KernelDraft& draft) {
  if (value.is_null()) return;
  simdjson::ondemand::object object;
  std::string_view raw;
  if (value.cursor.get_object().get(object) != simdjson::SUCCESS) {
    return value.refuse({}, "expected the template of a pod");
  }
  if (const auto error = object.raw_json().get(raw)) return value.reader.broken(error, value.path);
  const auto tree = parse_json_value(raw);
  if (!tree) return value.refuse({}, tree.error().message, tree.error().remedy);
  const FieldPath at_spec = value.path.at("spec");
  const JsonValue* const spec = tree->find("spec");
  const JsonValue* const containers = spec == nullptr ? nullptr : spec->find("containers");
  const bool has_any = containers != nullptr && containers->as_array() != nullptr &&
                       !containers->as_array()->empty();
  if (!has_any) {
    return value.reader.refuse(at_spec.at("containers"), {}, "the kernel has no container to run",
                               "list at least one, as in a pod");
  }
  for (const std::string_view key : not_in_template) {
    if (spec->find(key) == nullptr) continue;
    value.reader.refuse(at_spec.at(key), {}, "the resource group of a session says where it runs",
                        "leave it out");
  }
  draft.made = requests_of(value.reader, at_spec, compact_text(*spec));
  draft.pod_template = compact_text(*tree);
}

void write_template(DocumentWriter& writer, const Kernel& kernel) {
  const auto tree = parse_json_value(kernel.pod_template);
  tree ? write_value(*tree, writer) : writer.null();
}

bool has_template(const Kernel& kernel) { return !kernel.pod_template.empty(); }

constexpr std::array kernel_rows = {
    KernelRow::of<&Kernel::name>("name", "Different for every kernel of the session.",
                                 {.type = FieldType::name, .required = true}),
    KernelRow::of<&Kernel::requests>("resources",
                                     "What it needs on one node; at most 2^50 of each. With a "
                                     "template: what the pod requests counts instead.")
        .written_if([](const Kernel& kernel) { return !has_template(kernel); }),
    KernelRow{{.key = "template",
               .type = FieldType::pod_template,
               .text = "The pod that it runs in; a live cluster needs it."},
              read_template,
              nullptr,
              has_template,
              write_template},
    KernelRow::of<&Kernel::node>("node", "Where it runs; none: nowhere.",
                                 {.type = FieldType::name}),
    KernelRow::of<&Kernel::nominated_node>("nominatedNode",
                                           "Where room is kept for it while victims leave.",
                                           {.type = FieldType::name}),
};

using KernelStateRow = FieldRow<Kernel>;

/// In the status, where only the scheduler writes.
constexpr std::array kernel_state_rows = {
    KernelStateRow::of<&Kernel::name>("name", "Of the kernel.",
                                      {.type = FieldType::name, .required = true}),
    KernelStateRow::of<&Kernel::node>("node", "Where it runs.", {.type = FieldType::name}),
    KernelStateRow::of<&Kernel::nominated_node>("nominatedNode",
                                                "Where room is kept for it while victims leave.",
                                                {.type = FieldType::name}),
};

void read_kernel(const JsonField& value, Session& session, std::set<std::string>& names) {
  KernelDraft kernel;
  read_fields(value, kernel_rows, kernel);
  if (kernel.made) kernel.requests = std::move(*kernel.made);
  need(value.reader, value.path, !kernel.name.empty(), "name");
  for (Amount& amount : kernel.requests) {
    if (amount.resource == pods_name) {
      value.reader.refuse(value.path.at("resources").at(amount.resource),
                          fmt::format("{}", amount.amount),
                          "a kernel is no pod and takes none of them", "leave it out");
    }
    if (amount.amount <= amount_highest) continue;
    value.reader.refuse(value.path.at("resources").at(amount.resource),
                        fmt::format("{}", amount.amount), "no kernel asks for that much",
                        fmt::format("at most {}", amount_highest));
    amount.amount = amount_highest;
  }
  if (!names.insert(kernel.name).second) {
    value.refuse_at("name", kernel.name, "another kernel has this name");
    return;
  }
  session.kernels.push_back(std::move(kernel));
}

// ---- Session ------------------------------------------------------------------------------------

/// A session while it is read.
struct SessionDraft : Session {
  std::optional<SessionPhase> stated_phase;
  std::vector<Kernel> placed;  ///< By the status.
  bool lists_kernels = false;
};
using SessionRow = FieldRow<Session, SessionDraft>;

void read_kernels(const FieldValue& value, SessionDraft& draft) {
  if (value.is_null()) return;
  draft.lists_kernels = true;
  const std::uint64_t problems_before = value.reader.problem_count();
  std::set<std::string> names;
  value.each_item([&](const JsonField& item) { read_kernel(item, draft, names); });
  const bool is_reported = value.reader.problem_count() != problems_before;  // It is no list, say.
  if (!draft.kernels.empty() || is_reported) return;
  value.refuse({}, "the list is empty", "add a kernel: a session has at least one");
}

void read_placed(const JsonField& item, SessionDraft& draft) {
  Kernel& kernel = draft.placed.emplace_back();
  read_fields(item, kernel_state_rows, kernel);
  need(item.reader, item.path, !kernel.name.empty(), "name");
}

constexpr std::array session_spec = {
    SessionRow::of<&Session::resource_group>("resourceGroup",
                                             "The resource group in which it runs.",
                                             {.type = FieldType::name, .required = true}),
    SessionRow::of<&Session::partition>(
        "partition", "Of the group; none: the group is not divided.", {.type = FieldType::name}),
    SessionRow::of<&Session::priority>(
        "priority",
        "Compared only inside its group. If not set: session.defaultPriority of the configuration.",
        {.lowest = 0, .highest = session_priority_highest}),
    SessionRow::of<&Session::type>(
        "type", "What it is; how it comes back after it was preempted depends on it.",
        {.fallback = "\"batch\""})
        .always_written(),
    SessionRow::of<&Session::preemptible>(
        "preemptible", "Only with a partition. If not set: as the partition states."),
    SessionRow::of<&Session::checkpointing>(
        "checkpointing", "It can go on from its last checkpoint.", {.fallback = "false"}),
    SessionRow::of<&Session::requeue>("requeue",
                                      "Whether it becomes pending again after it was preempted. If "
                                      "not set: as the mode of its partition says."),
    SessionRow::of<&Session::autoscaler>("autoscaler", "Another program starts a replacement.",
                                         {.fallback = "false"}),
    SessionRow::list_of<kernel_rows, &Session::kernels>(
        "kernels", "Its parts, each on one node; placed all at once.", read_kernels, true),
};

template <auto Member>
constexpr SessionRow status_row(std::string_view key, std::string_view text, Field field = {}) {
  return SessionRow::of<&Session::status, Member>(key, text, field);
}

constexpr std::array session_status = {
    status_row<&SessionStatus::phase>(
        "phase", "Where it is in its life. If not set: it runs if its kernels have nodes.")
        .read_by([](const FieldValue& value, SessionDraft& draft) {
          value.read_member(draft.stated_phase);
        })
        .always_written(),
    status_row<&SessionStatus::started>("started", "When it began to run."),
    status_row<&SessionStatus::last_checkpoint>("lastCheckpoint",
                                                "Work after it is lost when the session leaves."),
    status_row<&SessionStatus::ends_at>("endsAt",
                                        "While it is leaving: when its grace time is over."),
    status_row<&SessionStatus::preemptions>(
        "preemptions", "How often it was preempted.",
        {.lowest = 0, .highest = 1'000'000'000, .fallback = "0"}),
    status_row<&SessionStatus::preempted_by>(
        "preemptedBy", "The session that preempted it last, as \"Session default/urgent\"."),
    status_row<&SessionStatus::preempted_at>("preemptedAt", "When that was."),
    status_row<&SessionStatus::fate>(
        "fate", "What becomes of it after its last preemption, until it runs again."),
    status_row<&SessionStatus::resume_after>("resumeAfter",
                                             "The end of its back-off: when it is pending again."),
    SessionRow::list_of<kernel_state_rows, &Session::kernels>(
        "kernels", "Where its kernels run, or are to run; counts before the spec.",
        read_items<read_placed, SessionDraft>)
        .written_if([](const Session&) { return false; }),
    SessionRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<Session, SessionDraft> session_fields = {.spec = session_spec,
                                                              .status = session_status};

constexpr std::array session_columns = {
    PrinterColumn{"Group", "string", ".spec.resourceGroup"},
    PrinterColumn{"Partition", "string", ".spec.partition", true},
    PrinterColumn{"Priority", "integer", ".spec.priority"},
    PrinterColumn{"Type", "string", ".spec.type"},
    PrinterColumn{"Phase", "string", ".status.phase"},
    PrinterColumn{"Preemptions", "integer", ".status.preemptions"},
    PrinterColumn{"Fate", "string", ".status.fate", true},
    PrinterColumn{"Waits", "string",
                  ".status.conditions[?(@.type==\"makeway.dev/Scheduled\")].message", false, true},
};
constexpr std::array session_rules = {
    CelRule{"spec", "!has(self.preemptible) || has(self.partition)",
            "without partitions the priority decides whether a session may be preempted: set "
            "spec.priority, or name a partition"},
    CelRule{"spec.kernels", "size(self) > 0", "a session has at least one kernel"},
    CelRule{"spec.kernels[]", "has(self.template)",
            "a kernel runs in a pod: set template, with the containers of that pod"},
    CelRule{"spec.kernels[]", "!has(self.node) && !has(self.nominatedNode)",
            "makeway says in the status where a kernel runs: leave node and nominatedNode out"},
    CelRule{"spec.kernels[].resources", "!('pods' in self)",
            "a kernel is no pod and takes none of them: leave pods out"},
};

/// Without a word about its phase a session runs if its kernels have nodes.
void finish_phase(SessionDraft& session) {
  for (const Kernel& each : session.placed) {
    const auto kernel = std::ranges::find(session.kernels, each.name, &Kernel::name);
    if (kernel == session.kernels.end()) continue;
    kernel->node = each.node;
    kernel->nominated_node = each.nominated_node;
  }
  const bool placed = !session.kernels.empty() && !session.kernels.front().node.empty();
  session.status.phase =
      session.stated_phase.value_or(placed ? SessionPhase::running : SessionPhase::pending);
}

}  // namespace

void decode_object(ObjectCursor cursor, ResourceGroup& group) {
  Metadata metadata = read_object(cursor, resource_group_fields, group);
  take_identity(metadata, group);
}

void decode_object(ObjectCursor cursor, Partition& partition) {
  Metadata metadata = read_object(cursor, partition_fields, partition);
  take_identity(metadata, partition);
  need(cursor.reader, cursor.path.at("spec"), !partition.resource_group.empty(), "resourceGroup");
}

void decode_object(ObjectCursor cursor, Session& session) {
  SessionDraft draft;
  Metadata metadata = read_object(cursor, session_fields, draft);
  draft.labels = std::move(metadata.labels);
  for (const TextPair& each : metadata.annotations) {
    if (each.key == names::key_plane) continue;
    draft.annotations.push_back({.key = std::string(each.key), .value = std::string(each.value)});
  }
  take_identity<Session>(metadata, draft);
  const FieldPath spec = cursor.path.at("spec");
  need(cursor.reader, spec, !draft.resource_group.empty(), "resourceGroup");
  need(cursor.reader, spec, draft.lists_kernels, "kernels");
  finish_phase(draft);
  session = std::move(draft);
}

void write_object(DocumentWriter& writer, const ResourceGroup& group) {
  begin_plain_object(writer, group);
  resource_group_fields.write(writer, group);
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Partition& partition) {
  begin_plain_object(writer, partition);
  partition_fields.write(writer, partition);
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Session& session) {
  begin_object_of<Session>(writer);
  write_object(writer, "metadata", [&] {
    write_identity(writer, session);
    write_labels_if(writer, "labels", session.labels);
    Labels annotations = session.annotations;
    if (!session.plane.empty()) {
      annotations.push_back({.key = std::string(names::key_plane), .value = session.plane});
      std::ranges::sort(annotations);
    }
    write_labels_if(writer, "annotations", annotations);
    time_if(writer, "creationTimestamp", session.created);
  });
  session_fields.write(writer, session);
  writer.end_object();
}

OwnKind own_kind(KindTag<ResourceGroup> /*kind*/) {
  return {
      [](const FieldVisit& visit) { resource_group_fields.list(visit); }, "mwg", group_columns, {}};
}
OwnKind own_kind(KindTag<Partition> /*kind*/) {
  return {[](const FieldVisit& visit) { partition_fields.list(visit); }, "mwp", partition_columns,
          partition_rules};
}
OwnKind own_kind(KindTag<Session> /*kind*/) {
  return {[](const FieldVisit& visit) { session_fields.list(visit); }, "mws", session_columns,
          session_rules};
}

}  // namespace makeway
