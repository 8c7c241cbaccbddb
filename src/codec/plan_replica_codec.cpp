#include "codec/plan_replica_codec.hpp"

#include "codec/dump_parts.hpp"
#include "codec/replica_status_writer.hpp"

namespace makeway {
namespace {

void write_victim(DocumentWriter& writer, const PlanReplicaVictim& victim) {
  writer.begin_object();
  writer.string_field("namespace", victim.namespace_name);
  writer.string_field("name", victim.name);
  writer.string_field("uid", victim.uid);
  text_if(writer, "plane", victim.plane);
  if (!victim.deployment.empty()) writer.string_field("deployment", victim.deployment);
  writer.integer_field("priority", victim.priority);
  writer.string_field("class", choice_name(victim.victim_class));
  writer.string_field("action", choice_name(victim.action));
  writer.integer_field("amount", victim.amount);
  if (victim.committed_before) writer.integer_field("committedBefore", *victim.committed_before);
  if (victim.committed_after) writer.integer_field("committedAfter", *victim.committed_after);
  if (victim.force_delete_from) {
    writer.string_field("forceDeleteFrom", to_text(*victim.force_delete_from));
  }
  writer.string_field("reason", victim.reason);
  writer.key("cause");
  writer.begin_object();
  writer.string_field("rule", victim.cause_rule);
  writer.string_field("alternative", victim.cause_alternative);
  writer.string_field("key", victim.cause_key);
  writer.end_object();
  writer.end_object();
}

void write_claim(DocumentWriter& writer, const PlanReplicaClaim& claim) {
  writer.begin_object();
  writer.string_field("plane", claim.plane);
  writer.string_field("node", claim.node);
  writer.integer_field("planeScore", claim.plane_score);
  writer.string_field("since", to_text(claim.since));
  writer.boolean_field("kept", claim.kept);
  writer.integer_field("needed", claim.needed);
  writer.integer_field("free", claim.free);
  writer.integer_field("leftOver", claim.left_over);
  writer.key("victims");
  writer.begin_array();
  for (const PlanReplicaVictim& victim : claim.victims) write_victim(writer, victim);
  writer.end_array();
  writer.end_object();
}

void write_scale_up(DocumentWriter& writer, const PlanScaleUp& item) {
  writer.begin_object();
  writer.string_field("plane", item.plane);
  writer.integer_field("planeScore", item.plane_score);
  writer.integer_field("committedBefore", item.committed_before);
  writer.integer_field("committedAfter", item.committed_after);
  writer.key("expected");
  writer.begin_array();
  for (const PlanExpectedNode& node : item.expected) {
    writer.begin_object();
    writer.string_field("node", node.node);
    writer.integer_field("replicas", node.replicas);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

}  // namespace

void write_replicas(DocumentWriter& writer, const PlanReplicas& replicas) {
  writer.key("replicas");
  writer.begin_object();
  writer.string_field("deployment", replicas.deployment);
  writer.string_field("resource", replicas.resource);
  writer.integer_field("unmet", replicas.unmet);
  writer.key("scaleUps");
  writer.begin_array();
  for (const PlanScaleUp& item : replicas.scale_ups) write_scale_up(writer, item);
  writer.end_array();
  writer.key("claims");
  writer.begin_array();
  for (const PlanReplicaClaim& claim : replicas.claims) write_claim(writer, claim);
  writer.end_array();
  writer.integer_field("without", replicas.without);
  if (!replicas.out_for.empty()) {
    writer.string_field("outFor", replicas.out_for);
    writer.string_field("outPlane", replicas.out_plane);
  }
  writer.end_object();
}

void write_scale(DocumentWriter& writer, const PlanScale& scale) {
  writer.string_field("plane", scale.plane);
  writer.integer_field("committedBefore", scale.committed_before);
  writer.integer_field("committedAfter", scale.committed_after);
}

void write_net_schedule(DocumentWriter& writer, const PlanNetSchedule& schedule) {
  writer.begin_object();
  writer.string_field("namespace", schedule.namespace_name);
  writer.string_field("name", schedule.name);
  writer.string_field("deployment", schedule.deployment);
  writer.integer_field("unmetBefore", schedule.unmet_before);
  writer.integer_field("unmetAfter", schedule.unmet_after);
  writer.key("planes");
  writer.begin_array();
  for (const PlanNetScale& scale : schedule.planes) {
    writer.begin_object();
    writer.string_field("plane", scale.plane);
    writer.integer_field("committedBefore", scale.committed_before);
    writer.integer_field("committedAfter", scale.committed_after);
    writer.key("for");
    writer.begin_array();
    for (const std::string& ask : scale.asks) writer.string(ask);
    writer.end_array();
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

void write_replica_status(DocumentWriter& writer, const PlanReplicaStatus& status) {
  writer.begin_object();
  writer.string_field("namespace", status.namespace_name);
  writer.string_field("name", status.name);
  writer.key("status");
  write_replica_status(writer, status.status);
  writer.end_object();
}

}  // namespace makeway
