#include "cli/risk/risk_json.hpp"

#include <algorithm>

#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

void write_head(JsonWriter& writer) {
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Risk");
}

void write_plan_name(JsonWriter& writer, const Plan& plan, bool time_is_known) {
  writer.key("plan");
  writer.begin_object();
  writer.string_field("id", plan.id);
  writer.string_field("configuration", plan.preset);
  if (time_is_known) writer.string_field("now", to_text(plan.now));
  writer.integer_field("asks", std::ssize(plan.asks));
  writer.end_object();
}

void write_taker(JsonWriter& writer, const PlanAsk& taker) {
  writer.string_field("ask", ask_text(taker));
  writer.integer_field("priority", taker.priority);
}

/// Law 9, of a victim of any kind.
template <class Victim>
void write_cause(JsonWriter& writer, const Victim& victim) {
  writer.string_field("reason", victim.reason);
  writer.string_field("rule", victim.cause_rule);
  writer.string_field("alternative", victim.cause_alternative);
  writer.string_field("key", victim.cause_key);
}

/// The ask of today's plan that evicts or stops it, if there is one.
void write_today(JsonWriter& writer, const RiskReport& report) {
  writer.key("today");
  writer.begin_object();
  writer.boolean_field("evicted", report.taker != nullptr && report.stops_with.empty());
  if (!report.stops_with.empty()) writer.string_field("stopsWith", report.stops_with);
  if (report.taker != nullptr) write_taker(writer, *report.taker);
  if (report.victim != nullptr) write_cause(writer, *report.victim);
  writer.end_object();
}

void write_today(JsonWriter& writer, const OwnKindRisk& risk) {
  writer.key("today");
  writer.begin_object();
  writer.boolean_field("evicted", !risk.takers.empty());
  if (!risk.takers.empty()) write_taker(writer, *risk.takers.front().ask);
  if (risk.victim != nullptr) write_cause(writer, *risk.victim);
  if (risk.replica != nullptr) write_cause(writer, *risk.replica);
  writer.key("asks");
  writer.begin_array();
  for (const OwnKindTaker& taker : risk.takers) {
    writer.begin_object();
    write_taker(writer, *taker.ask);
    writer.strings_field("evicted", taker.evicted);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

/// The units whose other pods stop it when they are evicted.
void write_units(JsonWriter& writer, const RiskReport& report) {
  if (report.units.empty()) return;
  writer.key("stopsWith");
  writer.begin_array();
  for (const StoppingUnit& unit : report.units) {
    writer.begin_object();
    writer.string_field("unit", unit.unit);
    writer.integer_field("evictions", unit.losses);
    writer.strings_field("nodes", unit.nodes);
    writer.end_object();
  }
  writer.end_array();
}

void write_queues(JsonWriter& writer, const RiskReport& report) {
  if (report.queue.empty()) return;
  writer.string_field("queue", report.queue);
  writer.key("otherQueues");
  writer.begin_array();
  for (const QueueTrial& trial : report.other_queues.tried) {
    writer.begin_object();
    writer.string_field("queue", trial.queue);
    writer.string_field("amount", exact_amount(report.resource, trial.amount));
    writer.boolean_field("evicts", trial.takes);
    writer.end_object();
  }
  writer.end_array();
  writer.integer_field("queuesNotTried", static_cast<std::int64_t>(report.other_queues.not_tried));
}

void write_stopped(JsonWriter& writer, const PlanAsk& ask) {
  if (ask.stopped_units.empty()) return;
  writer.key("stops");
  writer.begin_array();
  for (const PlanStoppedUnit& unit : ask.stopped_units) {
    writer.begin_object();
    writer.string_field("unit", unit.unit);
    writer.integer_field("pods", unit.stopped);
    writer.end_object();
  }
  writer.end_array();
}

void write_pod(JsonWriter& writer, const RiskReport& report) {
  const PodColumns& pods = report.cluster.pods();
  writer.key("pod");
  writer.begin_object();
  writer.string_field("namespace", report.cluster.text(pods.namespace_name[report.pod]));
  writer.string_field("name", pods.name[report.pod.value]);
  const NodeIndex node = pods.node[report.pod];
  writer.string_field("node", report.cluster.text(report.cluster.nodes().name[node]));
  writer.integer_field("priority",
                       report.cluster.units()[pods.unit[report.pod]].preemption_priority);
  if (!report.resource.empty()) {
    writer.string_field("resource", report.resource);
    writer.string_field("held", exact_amount(report.resource, report.held));
  }
  writer.end_object();
}

void write_line(JsonWriter& writer, const RiskLine& line) {
  writer.key("line");
  writer.begin_object();
  writer.integer_field("place", line.place);
  writer.integer_field("of", line.count);
  writer.strings_field("before", line.before);
  writer.end_object();
}

void write_smallest(JsonWriter& writer, const RiskReport& report) {
  if (!report.smallest) {
    if (!report.why_it_stays.empty()) writer.string_field("stays", report.why_it_stays);
    return;
  }
  const EvictingAsk& smallest = *report.smallest;
  writer.integer_field("lowestPriority", smallest.priority);
  writer.key("smallestAsk");
  writer.begin_object();
  writer.string_field("resource", report.resource);
  writer.string_field("amount", exact_amount(report.resource, smallest.amount));
  writer.string_field("free", exact_amount(report.resource, report.free));
  writer.boolean_field("proven", smallest.is_smallest);
  writer.strings_field("alsoEvicts", others_evicted(report));
  write_stopped(writer, smallest.answer);
  writer.end_object();
}

void write_trials(JsonWriter& writer, const RiskReport& report) {
  if (!report.tried_on.empty()) writer.string_field("triedOn", report.tried_on);
  writer.key("protections");
  writer.begin_array();
  for (const ProtectionTrial& trial : report.trials) {
    writer.begin_object();
    writer.string_field("change", trial.change);
    writer.boolean_field("protects", trial.protects);
    writer.string_field("result", trial.result);
    if (!trial.stops_with.empty()) writer.string_field("stopsWith", trial.stops_with);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

std::string risk_json(const RiskReport& report) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  write_head(writer);
  write_pod(writer, report);
  write_today(writer, report);
  write_line(writer, report.line);
  write_units(writer, report);
  write_smallest(writer, report);
  write_queues(writer, report);
  write_trials(writer, report);
  write_plan_name(writer, report.today, report.time_is_known);
  writer.end_object();
  return text;
}

std::string risk_json(const OwnKindRisk& risk) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  write_head(writer);
  writer.string_field("object", risk.object);
  write_today(writer, risk);
  writer.strings_field("evicted", risk.evicted());
  if (!risk.standing.empty()) writer.string_field("standing", risk.standing);
  writer.string_field("notAnswered", risk.not_answered);
  write_plan_name(writer, *risk.today, risk.time_is_known);
  writer.end_object();
  return text;
}

}  // namespace makeway::cli
