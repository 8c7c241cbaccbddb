#include "codec/plan_session_codec.hpp"

#include <algorithm>

#include "codec/dump_parts.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

void write_victim(DocumentWriter& writer, const PlanSessionVictim& victim) {
  writer.begin_object();
  writer.string_field("namespace", victim.namespace_name);
  writer.string_field("name", victim.name);
  text_if(writer, "plane", victim.plane);
  if (victim.tier != 0) writer.integer_field("tier", victim.tier);
  writer.strings_field("nodes", victim.nodes);
  writer.string_field("fate", choice_name(victim.fate));
  writer.string_field("endsAt", to_text(victim.ends_at));
  time_if(writer, "resumeAfter", victim.resume_after);
  writer.integer_field("preemptions", victim.preemptions);
  writer.end_object();
}

void write_entry(DocumentWriter& writer, const PlanSessionEntry& entry) {
  writer.begin_object();
  writer.string_field("namespace", entry.namespace_name);
  writer.string_field("name", entry.name);
  text_if(writer, "plane", entry.plane);
  writer.string_field("type", choice_name(entry.type));
  writer.integer_field("priority", entry.priority);
  text_if(writer, "partition", entry.partition);
  if (entry.tier != 0) writer.integer_field("tier", entry.tier);
  if (!entry.nodes.empty()) writer.strings_field("nodes", entry.nodes);
  time_if(writer, "since", entry.since);
  if (entry.preemptible) writer.boolean_field("preemptible", true);
  text_if(writer, "whyNot", entry.why_not);
  if (entry.preemptions != 0) writer.integer_field("preemptions", entry.preemptions);
  text_if(writer, "preemptedBy", entry.preempted_by);
  if (entry.fate) writer.string_field("fate", choice_name(*entry.fate));
  time_if(writer, "resumeAfter", entry.resume_after);
  writer.end_object();
}

void write_list(DocumentWriter& writer, std::string_view key, const PlanSessionList& list,
                std::size_t most) {
  writer.key(key);
  writer.begin_object();
  writer.integer_field("count", list.count);
  writer.key("first");
  writer.begin_array();
  for (std::size_t at = 0; at < std::min(most, list.first.size()); ++at) {
    write_entry(writer, list.first[at]);
  }
  writer.end_array();
  writer.end_object();
}

void write_group(DocumentWriter& writer, const PlanResourceGroup& group, std::size_t most) {
  writer.begin_object();
  writer.string_field("name", group.name);
  writer.integer_field("nodes", group.nodes);
  if (group.divided) {
    writer.boolean_field("divided", true);
  } else {
    writer.integer_field("preemptiblePriority", group.preemptible_priority);
  }
  writer.string_field("preemptionOrder", group.preemption_order);
  write_list(writer, "pending", group.pending, most);
  write_list(writer, "running", group.running, most);
  write_list(writer, "leaving", group.leaving, most);
  write_list(writer, "suspended", group.suspended, most);
  write_list(writer, "offQueue", group.off_queue, most);
  writer.end_object();
}

}  // namespace

void write_plan_session(DocumentWriter& writer, const PlanSession& session) {
  writer.key("session");
  writer.begin_object();
  writer.string_field("resourceGroup", session.resource_group);
  text_if(writer, "partition", session.partition);
  if (session.tier != 0) writer.integer_field("tier", session.tier);
  if (session.runs_on) writer.boolean_field("runsOn", true);
  writer.boolean_field("mayPreempt", session.may_preempt);
  writer.integer_field("candidates", session.candidates);
  writer.key("victims");
  writer.begin_array();
  for (const PlanSessionVictim& victim : session.victims) write_victim(writer, victim);
  writer.end_array();
  writer.end_object();
}

void write_resource_groups(DocumentWriter& writer, const Plan& plan, std::size_t most) {
  if (plan.resource_groups.empty()) return;
  writer.key("resourceGroups");
  writer.begin_array();
  for (const PlanResourceGroup& group : plan.resource_groups) write_group(writer, group, most);
  writer.end_array();
}

}  // namespace makeway
