#include "codec/plan_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

#include "base/intern.hpp"
#include "codec/dump_parts.hpp"
#include "codec/json_value.hpp"
#include "codec/plan_versions.hpp"
#include "codec/replica_status_writer.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

template <class Item>
void write_name(DocumentWriter& writer, const Item& item) {
  writer.string_field("namespace", item.namespace_name);
  writer.string_field("name", item.name);
  text_if(writer, "plane", item.plane);
}

void write_score(DocumentWriter& writer, const ScoreTerms& score) {
  write_object(writer, "score", [&] {
    for (const ScoreTerm& term : score) writer.integer_field(score_field(term.key), term.value);
  });
}

void write_cost(DocumentWriter& writer, const PlanCost& cost) {
  write_object(writer, "cost", [&] {
    writer.integer_field("podSeconds", cost.pod_seconds);
    writer.integer_field("gpuSeconds", cost.gpu_seconds);
  });
}

void write_victim(DocumentWriter& writer, const PlanVictim& victim, PlanDetail detail) {
  writer.string_field("namespace", victim.namespace_name);
  writer.string_field("name", victim.name);
  writer.string_field("uid", victim.uid);
  writer.string_field("node", victim.node);
  text_if(writer, "plane", victim.plane);
  writer.string_field("unit", victim.unit);
  writer.integer_field("priority", victim.priority);
  writer.boolean_field("violatesBudget", victim.violates_budget);
  text_if(writer, "budget", victim.budget);
  writer.string_field("reason", victim.reason);
  write_object(writer, "cause", [&] {
    writer.string_field("for", victim.cause_for);
    writer.string_field("rule", victim.cause_rule);
    if (detail != PlanDetail::decided) {
      writer.string_field("alternative", victim.cause_alternative);
      writer.string_field("key", victim.cause_key);
    }
  });
  write_cost(writer, victim.cost);
}

void write_disrupted_group(DocumentWriter& writer, const PlanDisruptedGroup& group) {
  write_name(writer, group);
  writer.string_field("mode", choice_name(group.mode));
  writer.integer_field("lost", group.lost);
  writer.integer_field("running", group.running);
  writer.integer_field("remaining", group.remaining);
  if (group.minimum > 0) writer.integer_field("minimum", group.minimum);
  writer.string_field("fate", choice_name(group.fate));
  write_cost(writer, group.cost);
}

void write_stopped_unit(DocumentWriter& writer, const PlanStoppedUnit& unit) {
  writer.string_field("namespace", unit.namespace_name);
  text_if(writer, "plane", unit.plane);
  writer.string_field("unit", unit.unit);
  writer.integer_field("lost", unit.lost);
  writer.integer_field("stopped", unit.stopped);
  write_cost(writer, unit.cost);
}

void write_taker(DocumentWriter& writer, const PlanTaker& taker) {
  writer.string_field("ask", taker.ask);
  writer.integer_field("priority", taker.priority);
  writer.integer_field("pods", taker.pods);
}

void write_held_back(DocumentWriter& writer, const PlanHeldBack& held_back) {
  write_object(writer, "heldBack", [&] {
    writer.integer_field("needed", held_back.needed);
    writer.integer_field("roomLeft", held_back.room_left);
    writer.integer_field("roomAlone", held_back.room_alone);
    write_list(writer, "takers", held_back.takers, write_taker);
  });
}

void write_alternative(DocumentWriter& writer, const PlanAlternative& alternative) {
  writer.string_field("node", alternative.node);
  text_if(writer, "domain", alternative.domain);
  write_score(writer, alternative.score);
  writer.integer_field("victims", alternative.victims);
  writer.integer_field("victimUnits", alternative.victim_units);
  writer.string_field("lostOn", alternative.lost_on);
}

void write_spared(DocumentWriter& writer, const PlanSpared& spared) {
  write_name(writer, spared);
  writer.integer_field("priority", spared.priority);
}

void write_holder(DocumentWriter& writer, const PlanHolder& holder) {
  write_name(writer, holder);
  writer.integer_field("priority", holder.priority);
  writer.string_field("why", holder.why);
}

void write_refusal(DocumentWriter& writer, const PlanRefusal& refusal) {
  writer.string_field("reason", choice_name(refusal.reason));
  writer.string_field("detail", refusal.detail);
  writer.integer_field("amountMin", refusal.amount_min);
  writer.integer_field("nodes", refusal.nodes);
  writer.string_field("example", refusal.example);
  write_list(writer, "holders", refusal.holders, write_holder);
}

void write_cascade(DocumentWriter& writer, const PlanCascade& cascade) {
  writer.string_field("pod", cascade.pod);
  write_list(writer, "victims", cascade.victims);
}

void write_explanation(DocumentWriter& writer, const PlanExplanation& explanation) {
  write_object(writer, "explanation", [&] {
    writer.integer_field("nodesConsidered", explanation.nodes_considered);
    writer.integer_field("nodesFitting", explanation.nodes_fitting);
    writer.integer_field("nodesWithPreemption", explanation.nodes_with_preemption);
    writer.integer_field("potentialVictims", explanation.potential_victims);
    write_list(writer, "alternatives", explanation.alternatives, write_alternative);
    write_list(writer, "spared", explanation.spared, write_spared);
    writer.integer_field("sparedCount", explanation.spared_count);
    write_list(writer, "cascades", explanation.cascades, write_cascade);
    write_list(writer, "refusals", explanation.refusals, write_refusal);
  });
}

void write_ladder_step(DocumentWriter& writer, const PlanLadderStep& step) {
  write_list(writer, "classes", step.classes);
  writer.string_field("strategy", choice_name(step.strategy));
  if (step.within_budgets) writer.boolean_field("withinBudgets", true);
  writer.string_field("result", step.result);
}

void write_candidate(DocumentWriter& writer, const PlanPinnedCandidate& candidate) {
  write_name(writer, candidate);
  writer.integer_field("priority", candidate.priority);
  writer.string_field("class", candidate.victim_class);
  writer.integer_field("pods", candidate.pods);
  writer.integer_field("deviationPpm", candidate.deviation_ppm);
  writer.boolean_field("victim", candidate.victim);
}

void write_reservation(DocumentWriter& writer, const PlanReservation& reservation,
                       PlanDetail detail) {
  write_object(writer, "reservation", [&] {
    writer.string_field("node", reservation.node);
    writer.string_field("since", to_text(reservation.since));
    time_if(writer, "preemptsFrom", reservation.preempts_from);
    if (detail == PlanDetail::with_explanation) {
      write_list(writer, "ladder", reservation.ladder, write_ladder_step);
      write_list(writer, "candidates", reservation.candidates, write_candidate);
      writer.integer_field("candidatesCount", reservation.candidates_count);
    }
  });
}

// ---- Replicas of schedules ----------------------------------------------------------------------

void write_replica_victim(DocumentWriter& writer, const PlanReplicaVictim& victim) {
  writer.string_field("namespace", victim.namespace_name);
  writer.string_field("name", victim.name);
  writer.string_field("uid", victim.uid);
  text_if(writer, "plane", victim.plane);
  text_if(writer, "deployment", victim.deployment);
  writer.integer_field("priority", victim.priority);
  writer.string_field("class", choice_name(victim.victim_class));
  writer.string_field("action", choice_name(victim.action));
  writer.integer_field("amount", victim.amount);
  if (victim.committed_before) writer.integer_field("committedBefore", *victim.committed_before);
  if (victim.committed_after) writer.integer_field("committedAfter", *victim.committed_after);
  time_if(writer, "forceDeleteFrom", victim.force_delete_from);
  writer.string_field("reason", victim.reason);
  write_object(writer, "cause", [&] {
    writer.string_field("rule", victim.cause_rule);
    writer.string_field("alternative", victim.cause_alternative);
    writer.string_field("key", victim.cause_key);
  });
}

void write_replica_claim(DocumentWriter& writer, const PlanReplicaClaim& claim) {
  writer.string_field("plane", claim.plane);
  writer.string_field("node", claim.node);
  writer.integer_field("planeScore", claim.plane_score);
  writer.string_field("since", to_text(claim.since));
  writer.boolean_field("kept", claim.kept);
  writer.integer_field("needed", claim.needed);
  writer.integer_field("free", claim.free);
  writer.integer_field("leftOver", claim.left_over);
  write_list(writer, "victims", claim.victims, write_replica_victim);
}

void write_scale_up(DocumentWriter& writer, const PlanScaleUp& item) {
  writer.string_field("plane", item.plane);
  writer.integer_field("planeScore", item.plane_score);
  writer.integer_field("committedBefore", item.committed_before);
  writer.integer_field("committedAfter", item.committed_after);
  write_list(writer, "expected", item.expected, [&](const PlanExpectedNode& node) {
    writer.string_field("node", node.node);
    writer.integer_field("replicas", node.replicas);
  });
}

void write_replicas(DocumentWriter& writer, const PlanReplicas& replicas) {
  write_object(writer, "replicas", [&] {
    writer.string_field("deployment", replicas.deployment);
    writer.string_field("resource", replicas.resource);
    writer.integer_field("unmet", replicas.unmet);
    write_list(writer, "scaleUps", replicas.scale_ups, write_scale_up);
    write_list(writer, "claims", replicas.claims, write_replica_claim);
    writer.integer_field("without", replicas.without);
    if (!replicas.out_for.empty()) {
      writer.string_field("outFor", replicas.out_for);
      writer.string_field("outPlane", replicas.out_plane);
    }
  });
}

void write_scale(DocumentWriter& writer, const PlanScale& scale) {
  writer.string_field("plane", scale.plane);
  writer.integer_field("committedBefore", scale.committed_before);
  writer.integer_field("committedAfter", scale.committed_after);
}

void write_net_schedule(DocumentWriter& writer, const PlanNetSchedule& schedule) {
  writer.string_field("namespace", schedule.namespace_name);
  writer.string_field("name", schedule.name);
  writer.string_field("deployment", schedule.deployment);
  writer.integer_field("unmetBefore", schedule.unmet_before);
  writer.integer_field("unmetAfter", schedule.unmet_after);
  write_list(writer, "planes", schedule.planes, [&](const PlanNetScale& scale) {
    writer.string_field("plane", scale.plane);
    writer.integer_field("committedBefore", scale.committed_before);
    writer.integer_field("committedAfter", scale.committed_after);
    write_list(writer, "for", scale.asks);
  });
}

void write_schedule_status(DocumentWriter& writer, const PlanReplicaStatus& status) {
  writer.string_field("namespace", status.namespace_name);
  writer.string_field("name", status.name);
  writer.key("status");
  write_replica_status(writer, status.status);
}

// ---- Sessions -----------------------------------------------------------------------------------

void write_session_victim(DocumentWriter& writer, const PlanSessionVictim& victim) {
  write_name(writer, victim);
  if (victim.tier != 0) writer.integer_field("tier", victim.tier);
  writer.strings_field("nodes", victim.nodes);
  writer.string_field("fate", choice_name(victim.fate));
  writer.string_field("endsAt", to_text(victim.ends_at));
  time_if(writer, "resumeAfter", victim.resume_after);
  writer.integer_field("preemptions", victim.preemptions);
}

void write_session(DocumentWriter& writer, const PlanSessionEntry& entry) {
  write_name(writer, entry);
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
}

void write_sessions(DocumentWriter& writer, std::string_view key, const PlanSessionList& list,
                    std::size_t most) {
  write_object(writer, key, [&] {
    writer.integer_field("count", list.count);
    write_list(writer, "first", std::span(list.first).first(std::min(most, list.first.size())),
               write_session);
  });
}

void write_resource_group(DocumentWriter& writer, const PlanResourceGroup& group,
                          std::size_t most) {
  writer.string_field("name", group.name);
  writer.integer_field("nodes", group.nodes);
  if (group.divided) {
    writer.boolean_field("divided", true);
  } else {
    writer.integer_field("preemptiblePriority", group.preemptible_priority);
  }
  writer.string_field("preemptionOrder", group.preemption_order);
  write_sessions(writer, "pending", group.pending, most);
  write_sessions(writer, "running", group.running, most);
  write_sessions(writer, "leaving", group.leaving, most);
  write_sessions(writer, "suspended", group.suspended, most);
  write_sessions(writer, "offQueue", group.off_queue, most);
}

/// The field `session` of an ask.
void write_plan_session(DocumentWriter& writer, const PlanSession& session) {
  write_object(writer, "session", [&] {
    writer.string_field("resourceGroup", session.resource_group);
    text_if(writer, "partition", session.partition);
    if (session.tier != 0) writer.integer_field("tier", session.tier);
    if (session.runs_on) writer.boolean_field("runsOn", true);
    writer.boolean_field("mayPreempt", session.may_preempt);
    writer.integer_field("candidates", session.candidates);
    write_list(writer, "victims", session.victims, write_session_victim);
  });
}

void write_resource_groups(DocumentWriter& writer, const Plan& plan, std::size_t most) {
  list_if(writer, "resourceGroups", plan.resource_groups,
          [&](const PlanResourceGroup& group) { write_resource_group(writer, group, most); });
}

// ---- Queues -------------------------------------------------------------------------------------

/// Amounts are integers in the resource's unit, as everywhere in a plan: thousandths for cpu, whole
/// units for the rest. Statuses are as Kubernetes writes them: they go into the Queue objects.
void write_share(DocumentWriter& writer, const PlanQueueShare& share) {
  writer.string_field("resource", share.resource);
  writer.integer_field("deserved", share.deserved);
  writer.integer_field("allocatedBefore", share.allocated_before);
  writer.integer_field("allocated", share.allocated);
  writer.integer_field("used", share.used);
  writer.integer_field("leaving", share.leaving);
  writer.integer_field("demand", share.demand);
  writer.integer_field("preempting", share.preempting);
}

void write_queue(DocumentWriter& writer, const PlanQueue& queue) {
  writer.string_field("name", queue.name);
  writer.string_field("parent", queue.parent);
  writer.integer_field("weight", queue.weight);
  writer.boolean_field("leaf", queue.leaf);
  if (queue.adopts > 0) {
    writer.integer_field("adopts", queue.adopts);
    writer.integer_field("adoptedLeave", queue.adopted_leave);
  }
  write_list(writer, "shares", queue.shares, write_share);
}

/// Room that no queue holds has no name.
void write_move(DocumentWriter& writer, const PlanQueueMove& move) {
  writer.string_field("resource", move.resource);
  writer.string_field("from", move.from);
  writer.string_field("to", move.to);
  writer.integer_field("amount", move.amount);
  writer.boolean_field("atOnce", move.at_once);
}

void write_queue_quotas(DocumentWriter& writer, std::string_view key, const Quotas& quotas) {
  write_object(writer, key, [&] {
    for (const Amount& item : quotas) {
      writer.string_field(item.resource, exact_amount(item.resource, item.amount));
    }
  });
}

void write_queue_status(DocumentWriter& writer, const PlanQueueStatus& status) {
  writer.string_field("name", status.name);
  writer.string_field("uid", status.uid);
  write_object(writer, "status", [&] {
    write_queue_quotas(writer, "deserved", status.deserved);
    write_queue_quotas(writer, "allocated", status.allocated);
    write_queue_quotas(writer, "used", status.used);
    write_queue_quotas(writer, "preempting", status.preempting);
  });
}

void write_queues(DocumentWriter& writer, const Plan& plan) {
  if (plan.queues.empty()) return;
  write_list(writer, "queues", plan.queues, write_queue);
  write_list(writer, "queueMoves", plan.queue_moves, write_move);
  write_list(writer, "queueStatus", plan.queue_status, write_queue_status);
}

// ---- Asks and actions ---------------------------------------------------------------------------

void write_ask(DocumentWriter& writer, const PlanAsk& ask, PlanDetail detail) {
  writer.string_field("kind", choice_name(ask.kind));
  write_name(writer, ask);
  text_if(writer, "madeFrom", ask.made_from);
  if (ask.wave > 0) writer.integer_field("wave", ask.wave);
  text_if(writer, "waveAfter", ask.wave_after);
  writer.integer_field("priority", ask.priority);
  text_if(writer, "profile", ask.profile);
  writer.string_field("outcome", choice_name(ask.outcome));
  if (ask.pending_seconds) writer.integer_field("pendingSeconds", *ask.pending_seconds);
  write_list(writer, "placements", ask.placements, write_placement);
  if (ask.placement_given) writer.boolean_field("placementGiven", true);
  text_if(writer, "domain", ask.domain);
  write_list(writer, "victims", ask.victims,
             [&](const PlanVictim& victim) { write_victim(writer, victim, detail); });
  write_list(writer, "disruptedGroups", ask.disrupted_groups, write_disrupted_group);
  if (!ask.stopped_units.empty()) {
    write_list(writer, "stoppedUnits", ask.stopped_units, write_stopped_unit);
    writer.integer_field("stoppedBesides", ask.stopped_pods);
  }
  write_cost(writer, ask.cost);
  write_list(writer, "waitsFor", ask.waits_for, write_placement);
  time_if(writer, "waitsUntil", ask.waits_until);
  if (ask.reservation) write_reservation(writer, *ask.reservation, detail);
  write_score(writer, ask.score);
  write_list(writer, "boundsReached", ask.bounds_reached);
  if (ask.held_back) write_held_back(writer, *ask.held_back);
  if (ask.replicas) write_replicas(writer, *ask.replicas);
  if (ask.session) write_plan_session(writer, *ask.session);
  writer.string_field("reason", ask.reason);
  if (detail == PlanDetail::with_explanation) write_explanation(writer, ask.explanation);
}

void write_action(DocumentWriter& writer, const PlanAction& action) {
  writer.string_field("type", choice_name(action.type));
  writer.string_field("namespace", action.namespace_name);
  writer.string_field("name", action.name);
  writer.string_field("uid", action.uid);
  text_if(writer, "node", action.node);
  if (action.ask) writer.string_field("for", ref_text(*action.ask));
  time_if(writer, "since", action.since);
  if (action.promised) writer.boolean_field("promised", true);
  if (action.scale) {
    write_scale(writer, *action.scale);  // Names the plane.
  } else {
    text_if(writer, "plane", action.plane);
  }
  time_if(writer, "until", action.until);
}

void write_status(DocumentWriter& writer, const PlanStatus& status) {
  writer.string_field("object", ref_and_plane_text(status.object));
  writer.string_field("condition", status.condition);
  writer.boolean_field("value", status.value);
  writer.string_field("reason", status.reason);
  writer.string_field("message", status.message);
}

void write_left_out(DocumentWriter& writer, const PlanLeftOut& left) {
  writer.string_field("kind", choice_name(left.kind));
  writer.string_field("namespace", left.namespace_name);
  writer.string_field("name", left.name);
  if (left.law > 0) writer.integer_field("law", left.law);
  if (left.law == 0) writer.boolean_field("check", true);
  writer.string_field("reason", left.reason);
}

void write_quarantine(DocumentWriter& writer, const PlanQuarantine& quarantine) {
  write_object(writer, "quarantine", [&] {
    writer.integer_field("objects", quarantine.objects);
    writer.integer_field("problems", quarantine.problems);
    write_list(writer, "first", quarantine.first, [&](const PlanQuarantined& each) {
      text_if(writer, "object", each.object);
      text_if(writer, "field", each.field);
      text_if(writer, "value", each.value);
      writer.string_field("message", each.message);
      text_if(writer, "remedy", each.remedy);
    });
  });
}

void write_not_honoured(DocumentWriter& writer, const PlanNotHonoured& each) {
  writer.string_field("mark", each.mark);
  writer.integer_field("marks", each.marks);
  writer.string_field("object", each.object);
  writer.string_field("field", each.field);
  text_if(writer, "value", each.value);
  writer.string_field("reason", each.reason);
}

/// Everything but what comes before it: kind and id.
void write_decided(DocumentWriter& writer, const Plan& plan, PlanDetail detail) {
  writer.string_field("preset", plan.preset);
  writer.string_field("configurationHash", plan.configuration_hash);
  writer.string_field("now", to_text(plan.now));
  write_list(writer, "lawsWaived",
             plan.laws_waived | std::views::transform(choice_name<WaivedLaw>));
  text_if(writer, "withheld", plan.withheld);
  list_if(writer, "leftOut", plan.left_out, write_left_out);
  write_queues(writer, plan);
  write_list(writer, "asks", plan.asks,
             [&](const PlanAsk& ask) { write_ask(writer, ask, detail); });
  write_list(writer, "actions", plan.actions, write_action);
  list_if(writer, "netSchedule", plan.net_schedule, write_net_schedule);
  list_if(writer, "replicaStatus", plan.replica_status, write_schedule_status);
  write_list(writer, "status", plan.status, write_status);
  const bool all = detail == PlanDetail::with_explanation;
  write_resource_groups(writer, plan, all ? plan_sessions_all : plan_sessions_listed_max);
  writer.integer_field("othersPending", plan.others_pending);
  write_cost(writer, plan.cost);
}

/// A hash over the calls: equal documents, equal hashes, and nothing is written.
class HashWriter final : public DocumentWriter {
 public:
  HashWriter() : DocumentWriter(nothing_) {}

  std::uint64_t hash() const { return hash_; }

 private:
  enum Mark : std::uint8_t { object = 1, array, end, text, other };

  void add(std::uint64_t word) { hash_ = hash_combine(hash_, word); }
  void write_key(std::string_view key) override { add(hash_of(key)); }
  void write_scalar(std::string_view value, bool is_string) override {
    add(is_string ? text : other);
    add(hash_of(value));
  }
  void write_begin(bool is_object) override { add(is_object ? object : array); }
  void write_end() override { add(end); }

  std::string nothing_;
  std::uint64_t hash_ = 0;
};

}  // namespace

std::string plan_identity(const Plan& plan) {
  HashWriter writer;
  writer.begin_object();
  write_decided(writer, plan, PlanDetail::decided);
  writer.end_object();
  return fmt::format("{:016x}", writer.hash());
}

void write_placement(DocumentWriter& writer, const PodPlacement& placement) {
  writer.string_field("namespace", placement.namespace_name);
  writer.string_field("name", placement.name);
  writer.string_field("node", placement.node);
  text_if(writer, "plane", placement.plane);
}

std::string score_field(ScoreKey key) {
  std::string field;
  bool upper = false;
  for (const char byte : choice_name(key)) {
    if (byte == '-') {
      upper = true;
      continue;
    }
    field += upper ? static_cast<char>(byte - 'a' + 'A') : byte;
    upper = false;
  }
  return field;
}

void write_plan(DocumentWriter& writer, const Plan& plan, PlanDetail detail,
                const JsonValue* case_id, const PlanVersions* versions) {
  writer.begin_object();
  if (case_id != nullptr) {
    writer.key("id");
    write_value(*case_id, writer);
  }
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Plan");
  writer.string_field(case_id == nullptr ? "id" : "planId", plan.id);
  if (versions != nullptr) write_plan_versions(writer, *versions);
  if (plan.quarantine.problems > 0) write_quarantine(writer, plan.quarantine);
  list_if(writer, "notHonoured", plan.not_honoured, write_not_honoured);
  write_decided(writer, plan, detail);
  writer.end_object();
}

void print_plan_json(const Plan& plan, PlanDetail detail, PieceSink sink,
                     const PlanVersions* versions) {
  std::string text;
  JsonWriter writer(text, JsonStyle::pretty, std::move(sink));
  write_plan(writer, plan, detail, nullptr, versions);
}

std::string plan_text_json(const Plan& plan, PlanDetail detail, JsonStyle style) {
  std::string text;
  JsonWriter writer(text, style);
  write_plan(writer, plan, detail);
  return text;
}

}  // namespace makeway
