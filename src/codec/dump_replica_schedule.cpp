// The writer of ReplicaSchedule.
#include "codec/dump_parts.hpp"
#include "codec/kinds.hpp"
#include "codec/replica_status_writer.hpp"

namespace makeway {
namespace {

void write_victim(DocumentWriter& writer, const ClaimedVictim& victim) {
  writer.begin_object();
  writer.string_field("namespace", victim.namespace_name);
  writer.string_field("name", victim.name);
  text_if(writer, "uid", victim.uid);
  text_if(writer, "deployment", victim.deployment);
  if (victim.committed) writer.integer_field("committed", *victim.committed);
  time_if(writer, "forceDeleted", victim.force_deleted);
  writer.end_object();
}

void write_claim(DocumentWriter& writer, const ReplicaClaim& claim) {
  writer.begin_object();
  writer.string_field("plane", claim.plane);
  writer.string_field("node", claim.node);
  writer.string_field("since", to_text(claim.since));
  if (!claim.victims.empty()) {
    writer.key("victims");
    writer.begin_array();
    for (const ClaimedVictim& victim : claim.victims) write_victim(writer, victim);
    writer.end_array();
  }
  writer.end_object();
}

void write_spec(DocumentWriter& writer, const ReplicaSchedule& schedule) {
  writer.key("spec");
  writer.begin_object();
  if (schedule.deployment != schedule.name) {
    writer.string_field("deployment", schedule.deployment);
  }
  text_if(writer, "priorityClassName", schedule.priority_class);
  if (schedule.priority) writer.integer_field("priority", *schedule.priority);
  writer.key("resources");
  write_amounts(writer, schedule.requests);
  if (schedule.unmet != 0) writer.integer_field("unmet", schedule.unmet);
  write_labels_if(writer, "selector", schedule.selector);
  if (!schedule.planes.empty()) {
    writer.key("planes");
    writer.begin_array();
    for (const ReplicaPlane& plane : schedule.planes) {
      writer.begin_object();
      writer.string_field("name", plane.name);
      if (plane.committed != 0) writer.integer_field("committed", plane.committed);
      if (plane.score != 0) writer.integer_field("score", plane.score);
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
}

}  // namespace

void write_replica_status(DocumentWriter& writer, const ReplicaStatus& status) {
  writer.begin_object();
  if (!status.claims.empty()) {
    writer.key("claims");
    writer.begin_array();
    for (const ReplicaClaim& claim : status.claims) write_claim(writer, claim);
    writer.end_array();
  }
  if (!status.missed.empty()) {
    writer.key("missed");
    writer.begin_array();
    for (const MissedVictim& missed : status.missed) {
      writer.begin_object();
      writer.string_field("plane", missed.plane);
      writer.string_field("node", missed.node);
      writer.string_field("namespace", missed.namespace_name);
      writer.string_field("deployment", missed.deployment);
      writer.integer_field("committed", missed.committed);
      writer.end_object();
    }
    writer.end_array();
  }
  if (!status.surplus.empty()) {
    writer.key("surplus");
    writer.begin_array();
    for (const SurplusPod& pod : status.surplus) {
      writer.begin_object();
      writer.string_field("name", pod.name);
      text_if(writer, "plane", pod.plane);
      writer.string_field("since", to_text(pod.since));
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
}

void write_object(DocumentWriter& writer, const ReplicaSchedule& schedule) {
  begin_object_of<ReplicaSchedule>(writer);
  writer.key("metadata");
  writer.begin_object();
  write_identity(writer, schedule);
  write_plane_if(writer, schedule.plane);
  time_if(writer, "creationTimestamp", schedule.created);
  writer.end_object();
  write_spec(writer, schedule);
  if (schedule.status != ReplicaStatus{}) {
    writer.key("status");
    write_replica_status(writer, schedule.status);
  }
  writer.end_object();
}

}  // namespace makeway
