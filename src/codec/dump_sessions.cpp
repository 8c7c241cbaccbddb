// The writers of ResourceGroup, Session and Partition.
#include <algorithm>

#include "codec/dump_parts.hpp"
#include "codec/json_value.hpp"
#include "codec/kinds.hpp"
#include "model/names.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

void texts_if(DocumentWriter& writer, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  writer.key(key);
  writer.begin_array();
  for (const std::string& text : texts) writer.string(text);
  writer.end_array();
}

void duration_if(DocumentWriter& writer, std::string_view key, Duration duration) {
  if (duration.ms != 0) writer.string_field(key, to_text(duration));
}

void boolean_if(DocumentWriter& writer, std::string_view key, const std::optional<bool>& value) {
  if (value) writer.boolean_field(key, *value);
}

std::optional<JsonValue> parsed(std::string_view text) {
  auto value = parse_json_value(text);
  return value ? std::optional(*std::move(value)) : std::nullopt;
}

void write_kernel(DocumentWriter& writer, const Kernel& kernel) {
  writer.begin_object();
  writer.string_field("name", kernel.name);
  const auto pod = kernel.pod_template.empty() ? std::nullopt : parsed(kernel.pod_template);
  if (pod) {
    writer.key("template");
    write_value(*pod, writer);
  } else {
    writer.key("resources");
    write_amounts(writer, kernel.requests);
  }
  text_if(writer, "node", kernel.node);
  text_if(writer, "nominatedNode", kernel.nominated_node);
  writer.end_object();
}

void write_spec(DocumentWriter& writer, const Session& session) {
  writer.key("spec");
  writer.begin_object();
  writer.string_field("resourceGroup", session.resource_group);
  text_if(writer, "partition", session.partition);
  if (session.priority) writer.integer_field("priority", *session.priority);
  writer.string_field("type", choice_name(session.type));
  boolean_if(writer, "preemptible", session.preemptible);
  if (session.checkpointing) writer.boolean_field("checkpointing", true);
  boolean_if(writer, "requeue", session.requeue);
  if (session.autoscaler) writer.boolean_field("autoscaler", true);
  writer.key("kernels");
  writer.begin_array();
  for (const Kernel& kernel : session.kernels) write_kernel(writer, kernel);
  writer.end_array();
  writer.end_object();
}

void write_session_status(DocumentWriter& writer, const SessionStatus& status) {
  writer.key("status");
  writer.begin_object();
  writer.string_field("phase", choice_name(status.phase));
  time_if(writer, "started", status.started);
  time_if(writer, "lastCheckpoint", status.last_checkpoint);
  time_if(writer, "endsAt", status.ends_at);
  if (status.preemptions != 0) writer.integer_field("preemptions", status.preemptions);
  text_if(writer, "preemptedBy", status.preempted_by);
  time_if(writer, "preemptedAt", status.preempted_at);
  if (status.fate) writer.string_field("fate", choice_name(*status.fate));
  time_if(writer, "resumeAfter", status.resume_after);
  writer.end_object();
}

}  // namespace

void write_object(DocumentWriter& writer, const ResourceGroup& group) {
  begin_plain_object(writer, group);
  writer.key("spec");
  writer.begin_object();
  texts_if(writer, "nodes", group.nodes);
  write_labels_if(writer, "nodeSelector", group.node_selector);
  texts_if(writer, "namespaces", group.namespaces);
  if (group.preemptible_priority) {
    writer.integer_field("preemptiblePriority", *group.preemptible_priority);
  }
  if (group.preemption_order) {
    writer.string_field("preemptionOrder", choice_name(*group.preemption_order));
  }
  writer.end_object();
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Session& session) {
  begin_object_of<Session>(writer);
  writer.key("metadata");
  writer.begin_object();
  write_identity(writer, session);
  write_labels_if(writer, "labels", session.labels);
  Labels annotations = session.annotations;
  if (!session.plane.empty()) {
    annotations.push_back({.key = std::string(names::key_plane), .value = session.plane});
    std::ranges::sort(annotations);
  }
  write_labels_if(writer, "annotations", annotations);
  time_if(writer, "creationTimestamp", session.created);
  writer.end_object();
  write_spec(writer, session);
  write_session_status(writer, session.status);
  writer.end_object();
}

void write_object(DocumentWriter& writer, const Partition& partition) {
  begin_plain_object(writer, partition);
  writer.key("spec");
  writer.begin_object();
  writer.string_field("resourceGroup", partition.resource_group);
  texts_if(writer, "nodes", partition.nodes);
  writer.integer_field("tier", partition.tier);
  if (partition.preemptible) writer.boolean_field("preemptible", true);
  writer.string_field("mode", choice_name(partition.mode));
  duration_if(writer, "graceTime", partition.grace_time);
  duration_if(writer, "exemptTime", partition.exempt_time);
  writer.end_object();
  writer.end_object();
}

}  // namespace makeway
