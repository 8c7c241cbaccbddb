// The fields of ResourceGroup, Partition and Session, and their decoders.
#include <limits>
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
    GroupRow{{.key = "nodes",
              .type = FieldType::names,
              .text = "The nodes of the group, by name. A node belongs to at most one group."},
             [](const FieldValue& value, ResourceGroup& group) { value.read_names(group.nodes); }},
    GroupRow{{.key = "nodeSelector",
              .type = FieldType::labels,
              .text = "And every node that carries all of these labels."},
             [](const FieldValue& value, ResourceGroup& group) {
               decode_labels(value.reader, value.value, value.at, group.node_selector);
             }},
    GroupRow{
        {.key = "namespaces",
         .type = FieldType::names,
         .text = "Namespaces whose sessions count where trust.mode is cluster; none: all."},
        [](const FieldValue& value, ResourceGroup& group) { value.read_names(group.namespaces); }},
    GroupRow{{.key = "preemptiblePriority",
              .type = FieldType::integer,
              .text = "Running sessions of this priority or less may be preempted. If not set: "
                      "session.preemptiblePriority of the configuration.",
              .lowest = 0,
              .highest = session_priority_highest},
             [](const FieldValue& value, ResourceGroup& group) {
               value.read_integer(group.preemptible_priority);
             }},
    GroupRow{{.key = "preemptionOrder",
              .type = FieldType::choice,
              .text = "Which of several sessions of the lowest priority leaves first. If not set: "
                      "session.preemptionOrder of the configuration.",
              .choices = choice_names<PreemptionOrder>},
             [](const FieldValue& value, ResourceGroup& group) {
               value.read_choice<PreemptionOrder>(group.preemption_order);
             }},
};

constexpr std::array resource_group_status = {
    GroupRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<ResourceGroup> resource_group_fields = {.spec = resource_group_spec,
                                                             .status = resource_group_status};

// ---- Partition ----------------------------------------------------------------------------------

using PartitionRow = FieldRow<Partition>;

constexpr std::array partition_spec = {
    PartitionRow{{.key = "resourceGroup",
                  .type = FieldType::name,
                  .text = "The group that it divides.",
                  .required = true},
                 [](const FieldValue& value, Partition& partition) {
                   value.read_name(partition.resource_group);
                 }},
    PartitionRow{
        {.key = "nodes",
         .type = FieldType::names,
         .text = "Nodes of that group; none: all of it. Partitions may share nodes."},
        [](const FieldValue& value, Partition& partition) { value.read_names(partition.nodes); }},
    PartitionRow{
        {.key = "tier",
         .type = FieldType::integer,
         .text = "Sessions preempt only sessions of strictly lower tiers.",
         .lowest = 0,
         .highest = 1'000'000,
         .fallback = "1"},
        [](const FieldValue& value, Partition& partition) { value.read_integer(partition.tier); }},
    PartitionRow{
        {.key = "preemptible",
         .type = FieldType::boolean,
         .text = "Whether its sessions may be preempted, unless they state it themselves.",
         .fallback = "false"},
        [](const FieldValue& value, Partition& partition) { value.read(partition.preemptible); }},
    PartitionRow{{.key = "mode",
                  .type = FieldType::choice,
                  .text = "What becomes of a preempted session: it ends, is pending again, or "
                          "stays and gives up all but its memory.",
                  .choices = choice_names<PartitionMode>,
                  .fallback = "\"cancel\""},
                 [](const FieldValue& value, Partition& partition) {
                   value.read_choice<PartitionMode>(partition.mode);
                 }},
    PartitionRow{{.key = "graceTime",
                  .type = FieldType::duration,
                  .text = "Between the notice to a session and its end.",
                  .fallback = "\"0s\""},
                 [](const FieldValue& value, Partition& partition) {
                   value.read_duration(partition.grace_time);
                 }},
    PartitionRow{{.key = "exemptTime",
                  .type = FieldType::duration,
                  .text = "A session that has run for less is not a victim.",
                  .fallback = "\"0s\""},
                 [](const FieldValue& value, Partition& partition) {
                   value.read_duration(partition.exempt_time);
                 }},
};

constexpr std::array partition_status = {
    PartitionRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<Partition> partition_fields = {.spec = partition_spec,
                                                    .status = partition_status};

// ---- Kernels of a Session -----------------------------------------------------------------------

/// A kernel while it is read.
struct KernelDraft {
  Kernel kernel;
  std::optional<Amounts> made;  ///< What its template requests.
};
using KernelRow = FieldRow<KernelDraft>;

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
  reader.each_field(
      object, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "containers") {
          decode_containers(reader, field, at, ContainersOf::pod, resources.containers, ports);
        } else if (key == "initContainers") {
          decode_containers(reader, field, at, ContainersOf::init, resources.init_containers,
                            ports);
        } else if (key == "overhead") {
          decode_resource_list(reader, field, at, resources.overhead);
        } else if (key == "resources") {
          decode_resources(reader, field, at, resources.requests, resources.limits);
        }
      });
  return pod_requests(resources);
}

void read_template(const FieldValue& value, KernelDraft& draft) {
  JsonReader& reader = value.reader;
  if (reader.is_null(value.value, value.at)) return;
  simdjson::ondemand::object object;
  std::string_view raw;
  if (value.value.get_object().get(object) != simdjson::SUCCESS) {
    return reader.refuse(value.at, {}, "expected the template of a pod");
  }
  if (const auto error = object.raw_json().get(raw)) return reader.broken(error, value.at);
  const auto tree = parse_json_value(raw);
  if (!tree) return reader.refuse(value.at, {}, tree.error().message, tree.error().remedy);
  const FieldPath at_spec = value.at.at("spec");
  const JsonValue* const spec = tree->find("spec");
  const JsonValue* const containers = spec == nullptr ? nullptr : spec->find("containers");
  const bool has_any = containers != nullptr && containers->as_array() != nullptr &&
                       !containers->as_array()->empty();
  if (!has_any) {
    return reader.refuse(at_spec.at("containers"), {}, "the kernel has no container to run",
                         "list at least one, as in a pod");
  }
  for (const std::string_view key : not_in_template) {
    if (spec->find(key) == nullptr) continue;
    reader.refuse(at_spec.at(key), {}, "the resource group of a session says where it runs",
                  "leave it out");
  }
  draft.made = requests_of(reader, at_spec, compact_text(*spec));
  draft.kernel.pod_template = compact_text(*tree);
}

constexpr std::array kernel_rows = {
    KernelRow{
        {.key = "name",
         .type = FieldType::name,
         .text = "Different for every kernel of the session.",
         .required = true},
        [](const FieldValue& value, KernelDraft& draft) { value.read_name(draft.kernel.name); }},
    KernelRow{{.key = "resources",
               .type = FieldType::quantities,
               .text = "What it needs on one node; at most 2^50 of each. With a template: what the "
                       "pod requests counts instead."},
              [](const FieldValue& value, KernelDraft& draft) {
                decode_amounts(value.reader, value.value, value.at, draft.kernel.requests);
              }},
    KernelRow{{.key = "template",
               .type = FieldType::pod_template,
               .text = "The pod that it runs in; a live cluster needs it."},
              read_template},
    KernelRow{
        {.key = "node", .type = FieldType::name, .text = "Where it runs; none: nowhere."},
        [](const FieldValue& value, KernelDraft& draft) { value.read_name(draft.kernel.node); }},
    KernelRow{{.key = "nominatedNode",
               .type = FieldType::name,
               .text = "Where room is kept for it while victims leave."},
              [](const FieldValue& value, KernelDraft& draft) {
                value.read_name(draft.kernel.nominated_node);
              }},
};

void list_kernel(const std::string& prefix, const FieldVisit& visit) {
  list_rows<KernelDraft>(kernel_rows, prefix, visit);
}

using KernelStateRow = FieldRow<Kernel>;

/// In the status, where only the scheduler writes.
constexpr std::array kernel_state_rows = {
    KernelStateRow{
        {.key = "name", .type = FieldType::name, .text = "Of the kernel.", .required = true},
        [](const FieldValue& value, Kernel& kernel) { value.read_name(kernel.name); }},
    KernelStateRow{{.key = "node", .type = FieldType::name, .text = "Where it runs."},
                   [](const FieldValue& value, Kernel& kernel) { value.read_name(kernel.node); }},
    KernelStateRow{
        {.key = "nominatedNode",
         .type = FieldType::name,
         .text = "Where room is kept for it while victims leave."},
        [](const FieldValue& value, Kernel& kernel) { value.read_name(kernel.nominated_node); }},
};

void list_kernel_state(const std::string& prefix, const FieldVisit& visit) {
  list_rows<Kernel>(kernel_state_rows, prefix, visit);
}

void read_kernel(JsonReader& reader, JsonCursor& value, const FieldPath& path, Session& session,
                 std::set<std::string>& names) {
  KernelDraft draft;
  read_fields<KernelDraft>(reader, value, path, kernel_rows, draft);
  Kernel& kernel = draft.kernel;
  if (draft.made) kernel.requests = std::move(*draft.made);
  need(reader, path, !kernel.name.empty(), "name");
  for (Amount& amount : kernel.requests) {
    if (amount.resource == pods_name) {
      reader.refuse(path.at("resources").at(amount.resource), fmt::format("{}", amount.amount),
                    "a kernel is no pod and takes none of them", "leave it out");
    }
    if (amount.amount <= amount_highest) continue;
    reader.refuse(path.at("resources").at(amount.resource), fmt::format("{}", amount.amount),
                  "no kernel asks for that much", fmt::format("at most {}", amount_highest));
    amount.amount = amount_highest;
  }
  if (!names.insert(kernel.name).second) {
    reader.refuse(path.at("name"), kernel.name, "another kernel has this name");
    return;
  }
  session.kernels.push_back(std::move(kernel));
}

// ---- Session ------------------------------------------------------------------------------------

/// A session while it is read.
struct SessionDraft {
  Session& session;
  std::optional<SessionPhase> phase;
  std::vector<Kernel> placed;  ///< By the status.
  bool lists_kernels = false;
};
using SessionRow = FieldRow<SessionDraft>;

void read_kernels(const FieldValue& value, SessionDraft& draft) {
  JsonReader& reader = value.reader;
  if (reader.is_null(value.value, value.at)) return;
  draft.lists_kernels = true;
  const std::uint64_t problems_before = reader.problem_count();
  std::set<std::string> names;
  reader.each_item(value.value, value.at, [&](JsonCursor& item, const FieldPath& to) {
    read_kernel(reader, item, to, draft.session, names);
  });
  const bool is_reported = reader.problem_count() != problems_before;  // It is no list, say.
  if (!draft.session.kernels.empty() || is_reported) return;
  reader.refuse(value.at, {}, "the list is empty", "add a kernel: a session has at least one");
}

constexpr std::array session_spec = {
    SessionRow{{.key = "resourceGroup",
                .type = FieldType::name,
                .text = "The group on whose nodes it runs.",
                .required = true},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_name(draft.session.resource_group);
               }},
    SessionRow{{.key = "partition",
                .type = FieldType::name,
                .text = "Of the group; none: the group is not divided."},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_name(draft.session.partition);
               }},
    SessionRow{{.key = "priority",
                .type = FieldType::integer,
                .text = "Compared only inside its group. If not set: session.defaultPriority of "
                        "the configuration.",
                .lowest = 0,
                .highest = session_priority_highest},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_integer(draft.session.priority);
               }},
    SessionRow{{.key = "type",
                .type = FieldType::choice,
                .text = "What it is; how it comes back after it was preempted depends on it.",
                .choices = choice_names<SessionType>,
                .fallback = "\"batch\""},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_choice<SessionType>(draft.session.type);
               }},
    SessionRow{{.key = "preemptible",
                .type = FieldType::boolean,
                .text = "Only with a partition. If not set: as the partition states."},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read(draft.session.preemptible);
               }},
    SessionRow{{.key = "checkpointing",
                .type = FieldType::boolean,
                .text = "It can go on from its last checkpoint.",
                .fallback = "false"},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read(draft.session.checkpointing);
               }},
    SessionRow{
        {.key = "requeue",
         .type = FieldType::boolean,
         .text = "Whether it becomes pending again after it was preempted. If not set: as the mode "
                 "of its partition says."},
        [](const FieldValue& value, SessionDraft& draft) { value.read(draft.session.requeue); }},
    SessionRow{
        {.key = "autoscaler",
         .type = FieldType::boolean,
         .text = "Another program starts a replacement.",
         .fallback = "false"},
        [](const FieldValue& value, SessionDraft& draft) { value.read(draft.session.autoscaler); }},
    SessionRow{{.key = "kernels",
                .type = FieldType::objects,
                .text = "Its parts, each on one node; placed all at once.",
                .required = true},
               read_kernels,
               list_kernel},
};

template <std::optional<Time> SessionStatus::* Member>
void read_status_time(const FieldValue& value, SessionDraft& draft) {
  value.read(draft.session.status.*Member);
}

constexpr std::array session_status = {
    SessionRow{{.key = "phase",
                .type = FieldType::choice,
                .text = "Where it is in its life. If not set: it runs if its kernels have nodes.",
                .choices = choice_names<SessionPhase>},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_choice<SessionPhase>(draft.phase);
               }},
    SessionRow{{.key = "started", .type = FieldType::time, .text = "When it began to run."},
               read_status_time<&SessionStatus::started>},
    SessionRow{{.key = "lastCheckpoint",
                .type = FieldType::time,
                .text = "Work after it is lost when the session leaves."},
               read_status_time<&SessionStatus::last_checkpoint>},
    SessionRow{{.key = "endsAt",
                .type = FieldType::time,
                .text = "While it is leaving: when its grace time is over."},
               read_status_time<&SessionStatus::ends_at>},
    SessionRow{{.key = "preemptions",
                .type = FieldType::integer,
                .text = "How often it was preempted.",
                .lowest = 0,
                .highest = 1'000'000'000,
                .fallback = "0"},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_integer(draft.session.status.preemptions);
               }},
    SessionRow{{.key = "preemptedBy",
                .type = FieldType::text,
                .text = "The session that preempted it last, as \"Session default/urgent\"."},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read(draft.session.status.preempted_by);
               }},
    SessionRow{{.key = "preemptedAt", .type = FieldType::time, .text = "When that was."},
               read_status_time<&SessionStatus::preempted_at>},
    SessionRow{{.key = "fate",
                .type = FieldType::choice,
                .text = "What becomes of it after its last preemption, until it runs again.",
                .choices = choice_names<SessionFate>},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.read_choice<SessionFate>(draft.session.status.fate);
               }},
    SessionRow{{.key = "resumeAfter",
                .type = FieldType::time,
                .text = "The end of its back-off: when it is pending again."},
               read_status_time<&SessionStatus::resume_after>},
    SessionRow{{.key = "kernels",
                .type = FieldType::objects,
                .text = "Where its kernels run, or are to run; counts before the spec."},
               [](const FieldValue& value, SessionDraft& draft) {
                 value.reader.each_item(
                     value.value, value.at, [&](JsonCursor& item, const FieldPath& to) {
                       Kernel& kernel = draft.placed.emplace_back();
                       read_fields<Kernel>(value.reader, item, to, kernel_state_rows, kernel);
                       need(value.reader, to, !kernel.name.empty(), "name");
                     });
               },
               list_kernel_state},
    SessionRow{conditions_field, nullptr, list_conditions},
};

constexpr FieldTable<SessionDraft> session_fields = {.spec = session_spec,
                                                     .status = session_status};

/// Without a word about its phase a session runs if its kernels have nodes.
void finish_phase(Session& session, const SessionDraft& draft) {
  const std::optional<SessionPhase>& phase = draft.phase;
  for (const Kernel& each : draft.placed) {
    const auto kernel = std::ranges::find(session.kernels, each.name, &Kernel::name);
    if (kernel == session.kernels.end()) continue;
    kernel->node = each.node;
    kernel->nominated_node = each.nominated_node;
  }
  const bool placed = !session.kernels.empty() && !session.kernels.front().node.empty();
  session.status.phase = phase.value_or(placed ? SessionPhase::running : SessionPhase::pending);
}

}  // namespace

void decode_object(ObjectCursor cursor, ResourceGroup& group) {
  Metadata metadata = read_object<ResourceGroup>(cursor, resource_group_fields, group);
  take_identity(metadata, group);
}

void decode_object(ObjectCursor cursor, Partition& partition) {
  Metadata metadata = read_object<Partition>(cursor, partition_fields, partition);
  take_identity(metadata, partition);
  need(cursor.reader, cursor.path.at("spec"), !partition.resource_group.empty(), "resourceGroup");
}

void decode_object(ObjectCursor cursor, Session& session) {
  SessionDraft draft{.session = session, .phase = std::nullopt, .placed = {}};
  Metadata metadata = read_object<Session>(cursor, session_fields, draft);
  session.labels = std::move(metadata.labels);
  for (const TextPair& each : metadata.annotations) {
    if (each.key == names::key_plane) continue;
    session.annotations.push_back({.key = std::string(each.key), .value = std::string(each.value)});
  }
  take_identity(metadata, session);
  const FieldPath spec = cursor.path.at("spec");
  need(cursor.reader, spec, !session.resource_group.empty(), "resourceGroup");
  need(cursor.reader, spec, draft.lists_kernels, "kernels");
  finish_phase(session, draft);
}

void list_fields(KindTag<ResourceGroup> /*kind*/, const FieldVisit& visit) {
  resource_group_fields.list(visit);
}
void list_fields(KindTag<Partition> /*kind*/, const FieldVisit& visit) {
  partition_fields.list(visit);
}
void list_fields(KindTag<Session> /*kind*/, const FieldVisit& visit) { session_fields.list(visit); }

}  // namespace makeway
