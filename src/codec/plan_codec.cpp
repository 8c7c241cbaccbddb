#include "codec/plan_codec.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/intern.hpp"
#include "codec/dump_parts.hpp"
#include "codec/json_value.hpp"
#include "codec/plan_queue_codec.hpp"
#include "codec/plan_replica_codec.hpp"
#include "codec/plan_session_codec.hpp"
#include "codec/plan_versions.hpp"

namespace makeway {
namespace {

/// Calls `write` for each item of the list `name`.
template <class Items, class Write>
void list_field(DocumentWriter& writer, std::string_view name, const Items& items,
                const Write& write) {
  writer.key(name);
  writer.begin_array();
  for (const auto& item : items) write(writer, item);
  writer.end_array();
}

void write_text(DocumentWriter& writer, const std::string& text) { writer.string(text); }

void write_score(DocumentWriter& writer, const ScoreTerms& score) {
  writer.key("score");
  writer.begin_object();
  for (const ScoreTerm& term : score) writer.integer_field(score_field(term.key), term.value);
  writer.end_object();
}

void write_cost(DocumentWriter& writer, const PlanCost& cost) {
  writer.key("cost");
  writer.begin_object();
  writer.integer_field("podSeconds", cost.pod_seconds);
  writer.integer_field("gpuSeconds", cost.gpu_seconds);
  writer.end_object();
}

void write_victim(DocumentWriter& writer, const PlanVictim& victim, PlanDetail detail) {
  writer.begin_object();
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
  writer.key("cause");
  writer.begin_object();
  writer.string_field("for", victim.cause_for);
  writer.string_field("rule", victim.cause_rule);
  if (detail != PlanDetail::decided) {
    writer.string_field("alternative", victim.cause_alternative);
    writer.string_field("key", victim.cause_key);
  }
  writer.end_object();
  write_cost(writer, victim.cost);
  writer.end_object();
}

void write_disrupted_group(DocumentWriter& writer, const PlanDisruptedGroup& group) {
  writer.begin_object();
  writer.string_field("namespace", group.namespace_name);
  writer.string_field("name", group.name);
  text_if(writer, "plane", group.plane);
  writer.string_field("mode", choice_name(group.mode));
  writer.integer_field("lost", group.lost);
  writer.integer_field("running", group.running);
  writer.integer_field("remaining", group.remaining);
  if (group.minimum > 0) writer.integer_field("minimum", group.minimum);
  writer.string_field("fate", choice_name(group.fate));
  write_cost(writer, group.cost);
  writer.end_object();
}

void write_stopped_unit(DocumentWriter& writer, const PlanStoppedUnit& unit) {
  writer.begin_object();
  writer.string_field("namespace", unit.namespace_name);
  text_if(writer, "plane", unit.plane);
  writer.string_field("unit", unit.unit);
  writer.integer_field("lost", unit.lost);
  writer.integer_field("stopped", unit.stopped);
  write_cost(writer, unit.cost);
  writer.end_object();
}

void write_taker(DocumentWriter& writer, const PlanTaker& taker) {
  writer.begin_object();
  writer.string_field("ask", taker.ask);
  writer.integer_field("priority", taker.priority);
  writer.integer_field("pods", taker.pods);
  writer.end_object();
}

void write_held_back(DocumentWriter& writer, const PlanHeldBack& held_back) {
  writer.key("heldBack");
  writer.begin_object();
  writer.integer_field("needed", held_back.needed);
  writer.integer_field("roomLeft", held_back.room_left);
  writer.integer_field("roomAlone", held_back.room_alone);
  list_field(writer, "takers", held_back.takers, write_taker);
  writer.end_object();
}

void write_alternative(DocumentWriter& writer, const PlanAlternative& alternative) {
  writer.begin_object();
  writer.string_field("node", alternative.node);
  if (!alternative.domain.empty()) writer.string_field("domain", alternative.domain);
  write_score(writer, alternative.score);
  writer.integer_field("victims", alternative.victims);
  writer.integer_field("victimUnits", alternative.victim_units);
  writer.string_field("lostOn", alternative.lost_on);
  writer.end_object();
}

void write_spared(DocumentWriter& writer, const PlanSpared& spared) {
  writer.begin_object();
  writer.string_field("namespace", spared.namespace_name);
  writer.string_field("name", spared.name);
  text_if(writer, "plane", spared.plane);
  writer.integer_field("priority", spared.priority);
  writer.end_object();
}

void write_holder(DocumentWriter& writer, const PlanHolder& holder) {
  writer.begin_object();
  writer.string_field("namespace", holder.namespace_name);
  writer.string_field("name", holder.name);
  text_if(writer, "plane", holder.plane);
  writer.integer_field("priority", holder.priority);
  writer.string_field("why", holder.why);
  writer.end_object();
}

void write_refusal(DocumentWriter& writer, const PlanRefusal& refusal) {
  writer.begin_object();
  writer.string_field("reason", choice_name(refusal.reason));
  writer.string_field("detail", refusal.detail);
  writer.integer_field("amountMin", refusal.amount_min);
  writer.integer_field("nodes", refusal.nodes);
  writer.string_field("example", refusal.example);
  list_field(writer, "holders", refusal.holders, write_holder);
  writer.end_object();
}

void write_cascade(DocumentWriter& writer, const PlanCascade& cascade) {
  writer.begin_object();
  writer.string_field("pod", cascade.pod);
  list_field(writer, "victims", cascade.victims, write_text);
  writer.end_object();
}

void write_explanation(DocumentWriter& writer, const PlanExplanation& explanation) {
  writer.key("explanation");
  writer.begin_object();
  writer.integer_field("nodesConsidered", explanation.nodes_considered);
  writer.integer_field("nodesFitting", explanation.nodes_fitting);
  writer.integer_field("nodesWithPreemption", explanation.nodes_with_preemption);
  writer.integer_field("potentialVictims", explanation.potential_victims);
  list_field(writer, "alternatives", explanation.alternatives, write_alternative);
  list_field(writer, "spared", explanation.spared, write_spared);
  writer.integer_field("sparedCount", explanation.spared_count);
  list_field(writer, "cascades", explanation.cascades, write_cascade);
  list_field(writer, "refusals", explanation.refusals, write_refusal);
  writer.end_object();
}

void write_ladder_step(DocumentWriter& writer, const PlanLadderStep& step) {
  writer.begin_object();
  list_field(writer, "classes", step.classes, write_text);
  writer.string_field("strategy", choice_name(step.strategy));
  if (step.within_budgets) writer.boolean_field("withinBudgets", true);
  writer.string_field("result", step.result);
  writer.end_object();
}

void write_candidate(DocumentWriter& writer, const PlanPinnedCandidate& candidate) {
  writer.begin_object();
  writer.string_field("namespace", candidate.namespace_name);
  writer.string_field("name", candidate.name);
  text_if(writer, "plane", candidate.plane);
  writer.integer_field("priority", candidate.priority);
  writer.string_field("class", candidate.victim_class);
  writer.integer_field("pods", candidate.pods);
  writer.integer_field("deviationPpm", candidate.deviation_ppm);
  writer.boolean_field("victim", candidate.victim);
  writer.end_object();
}

void write_reservation(DocumentWriter& writer, const PlanReservation& reservation,
                       PlanDetail detail) {
  writer.key("reservation");
  writer.begin_object();
  writer.string_field("node", reservation.node);
  writer.string_field("since", to_text(reservation.since));
  if (reservation.preempts_from) {
    writer.string_field("preemptsFrom", to_text(*reservation.preempts_from));
  }
  if (detail == PlanDetail::with_explanation) {
    list_field(writer, "ladder", reservation.ladder, write_ladder_step);
    list_field(writer, "candidates", reservation.candidates, write_candidate);
    writer.integer_field("candidatesCount", reservation.candidates_count);
  }
  writer.end_object();
}

void write_ask(DocumentWriter& writer, const PlanAsk& ask, PlanDetail detail) {
  writer.begin_object();
  writer.string_field("kind", choice_name(ask.kind));
  writer.string_field("namespace", ask.namespace_name);
  writer.string_field("name", ask.name);
  text_if(writer, "plane", ask.plane);
  text_if(writer, "madeFrom", ask.made_from);
  if (ask.wave > 0) writer.integer_field("wave", ask.wave);
  text_if(writer, "waveAfter", ask.wave_after);
  writer.integer_field("priority", ask.priority);
  text_if(writer, "profile", ask.profile);
  writer.string_field("outcome", choice_name(ask.outcome));
  if (ask.pending_seconds) writer.integer_field("pendingSeconds", *ask.pending_seconds);
  list_field(writer, "placements", ask.placements, write_placement);
  if (ask.placement_given) writer.boolean_field("placementGiven", true);
  if (!ask.domain.empty()) writer.string_field("domain", ask.domain);
  list_field(writer, "victims", ask.victims,
             [detail](DocumentWriter& out, const PlanVictim& victim) {
               write_victim(out, victim, detail);
             });
  list_field(writer, "disruptedGroups", ask.disrupted_groups, write_disrupted_group);
  if (!ask.stopped_units.empty()) {
    list_field(writer, "stoppedUnits", ask.stopped_units, write_stopped_unit);
    writer.integer_field("stoppedBesides", ask.stopped_pods);
  }
  write_cost(writer, ask.cost);
  list_field(writer, "waitsFor", ask.waits_for, write_placement);
  if (ask.waits_until) writer.string_field("waitsUntil", to_text(*ask.waits_until));
  if (ask.reservation) write_reservation(writer, *ask.reservation, detail);
  write_score(writer, ask.score);
  list_field(writer, "boundsReached", ask.bounds_reached, write_text);
  if (ask.held_back) write_held_back(writer, *ask.held_back);
  if (ask.replicas) write_replicas(writer, *ask.replicas);
  if (ask.session) write_plan_session(writer, *ask.session);
  writer.string_field("reason", ask.reason);
  if (detail == PlanDetail::with_explanation) write_explanation(writer, ask.explanation);
  writer.end_object();
}

void write_action(DocumentWriter& writer, const PlanAction& action) {
  writer.begin_object();
  writer.string_field("type", choice_name(action.type));
  writer.string_field("namespace", action.namespace_name);
  writer.string_field("name", action.name);
  writer.string_field("uid", action.uid);
  if (!action.node.empty()) writer.string_field("node", action.node);
  if (action.ask) writer.string_field("for", ref_text(*action.ask));
  if (action.since) writer.string_field("since", to_text(*action.since));
  if (action.promised) writer.boolean_field("promised", true);
  if (action.scale) {
    write_scale(writer, *action.scale);  // Names the plane.
  } else {
    text_if(writer, "plane", action.plane);
  }
  if (action.until) writer.string_field("until", to_text(*action.until));
  writer.end_object();
}

void write_status(DocumentWriter& writer, const PlanStatus& status) {
  writer.begin_object();
  writer.string_field("object", ref_and_plane_text(status.object));
  writer.string_field("condition", status.condition);
  writer.boolean_field("value", status.value);
  writer.string_field("reason", status.reason);
  writer.string_field("message", status.message);
  writer.end_object();
}

void write_left_out(DocumentWriter& writer, const PlanLeftOut& left) {
  writer.begin_object();
  writer.string_field("kind", choice_name(left.kind));
  writer.string_field("namespace", left.namespace_name);
  writer.string_field("name", left.name);
  if (left.law > 0) writer.integer_field("law", left.law);
  if (left.law == 0) writer.boolean_field("check", true);
  writer.string_field("reason", left.reason);
  writer.end_object();
}

void write_quarantine(DocumentWriter& writer, const PlanQuarantine& quarantine) {
  writer.key("quarantine");
  writer.begin_object();
  writer.integer_field("objects", quarantine.objects);
  writer.integer_field("problems", quarantine.problems);
  list_field(writer, "first", quarantine.first,
             [](DocumentWriter& out, const PlanQuarantined& each) {
               out.begin_object();
               text_if(out, "object", each.object);
               text_if(out, "field", each.field);
               text_if(out, "value", each.value);
               out.string_field("message", each.message);
               text_if(out, "remedy", each.remedy);
               out.end_object();
             });
  writer.end_object();
}

void write_not_honoured(DocumentWriter& writer, const PlanNotHonoured& each) {
  writer.begin_object();
  writer.string_field("mark", each.mark);
  writer.integer_field("marks", each.marks);
  writer.string_field("object", each.object);
  writer.string_field("field", each.field);
  text_if(writer, "value", each.value);
  writer.string_field("reason", each.reason);
  writer.end_object();
}

/// Everything but what comes before it: kind and id.
void write_decided(DocumentWriter& writer, const Plan& plan, PlanDetail detail) {
  writer.string_field("preset", plan.preset);
  writer.string_field("configurationHash", plan.configuration_hash);
  writer.string_field("now", to_text(plan.now));
  list_field(writer, "lawsWaived", plan.laws_waived,
             [](DocumentWriter& out, WaivedLaw law) { out.string(choice_name(law)); });
  if (!plan.withheld.empty()) writer.string_field("withheld", plan.withheld);
  if (!plan.left_out.empty()) list_field(writer, "leftOut", plan.left_out, write_left_out);
  write_queues(writer, plan);
  list_field(writer, "asks", plan.asks,
             [detail](DocumentWriter& out, const PlanAsk& ask) { write_ask(out, ask, detail); });
  list_field(writer, "actions", plan.actions, write_action);
  if (!plan.net_schedule.empty()) {
    list_field(writer, "netSchedule", plan.net_schedule, write_net_schedule);
  }
  if (!plan.replica_status.empty()) {
    list_field(writer, "replicaStatus", plan.replica_status,
               [](DocumentWriter& out, const PlanReplicaStatus& status) {
                 write_replica_status(out, status);
               });
  }
  list_field(writer, "status", plan.status, write_status);
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
  writer.begin_object();
  writer.string_field("namespace", placement.namespace_name);
  writer.string_field("name", placement.name);
  writer.string_field("node", placement.node);
  text_if(writer, "plane", placement.plane);
  writer.end_object();
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
  if (!plan.not_honoured.empty()) {
    list_field(writer, "notHonoured", plan.not_honoured, write_not_honoured);
  }
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
