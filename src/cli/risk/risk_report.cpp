#include "cli/risk/risk_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "base/problem.hpp"
#include "cli/plan/ask_kinds.hpp"
#include "cli/text.hpp"
#include "codec/writer.hpp"
#include "model/knobs.hpp"
#include "model/object_text.hpp"
#include "model/regime.hpp"
#include "model/replica_priority.hpp"
#include "model/resource.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway::cli {
namespace {

const Unit& unit_of(const Cluster& cluster, PodIndex pod) {
  return cluster.units()[cluster.pods().unit[pod]];
}

std::string key_of_pod(const Cluster& cluster, PodIndex pod) {
  return key_text({cluster.text(cluster.pods().namespace_name[pod]), cluster.pods().name[pod.value],
                   cluster.text(cluster.pods().plane[pod])});
}

std::string node_of(const RiskReport& report) {
  const NodeIndex node = report.cluster.pods().node[report.pod];
  return shorten(report.cluster.text(report.cluster.nodes().name[node]));
}

/// "Pod research/render-1 (priority 100) runs on gpu-2 and holds nvidia.com/gpu 1"
std::string heading_text(const RiskReport& report, const Palette& palette) {
  std::string text;
  if (!report.chosen_from.empty()) text += paragraph(report.chosen_from, 0, palette);
  std::string line = fmt::format(
      "{} (priority {}) runs on {}",
      palette.paint("Pod " + shorten(key_of_pod(report.cluster, report.pod), 120), Tone::strong),
      unit_of(report.cluster, report.pod).preemption_priority, node_of(report));
  if (!report.resource.empty()) {
    line += fmt::format(" and holds {} {}", printable(report.resource),
                        amount_text(report.resource, report.held));
  }
  return text + line + "\n\n";
}

std::string today_text(const RiskReport& report, const Palette& palette) {
  const std::string asks = counted(report.today.asks.size(), "ask");
  const auto name = [&](const PlanAsk& ask) {
    return fmt::format("{} (priority {})", palette.paint(shorten(ask_text(ask), 120), Tone::strong),
                       ask.priority);
  };
  if (report.taker == nullptr) {
    std::string text = fmt::format("{} Today's plan does not evict it ({}).\n",
                                   palette.paint("+", Tone::good), asks);
    if (report.degrader == nullptr) return text;
    const auto* const gang = degraded_gang(*report.degrader, report.cluster, report.pod);
    return text +
           paragraph(fmt::format("for {} its {}", name(*report.degrader), degraded_text(*gang)), 2,
                     palette);
  }
  const std::string taker = name(*report.taker);
  if (!report.stops_with.empty()) {
    return fmt::format("{} Today's plan stops it for {}.\n", palette.paint("!", Tone::bad), taker) +
           paragraph(fmt::format("it is not evicted, but stops with {}, which loses pods",
                                 report.stops_with),
                     2, palette);
  }
  std::string text =
      fmt::format("{} Today's plan evicts it for {}.\n", palette.paint("!", Tone::bad), taker);
  if (report.victim == nullptr) return text;
  text += paragraph(fmt::format("{}; {}", report.victim->reason, report.victim->cause_rule), 2,
                    palette);
  text += paragraph(fmt::format("compared with: {}; decided on: {}",
                                report.victim->cause_alternative, report.victim->cause_key),
                    2, palette);
  return text;
}

std::string line_text(const RiskReport& report, const Palette& palette) {
  const RiskLine& line = report.line;
  std::string text =
      fmt::format("In line on {}, least important first, it is number {} of {}", node_of(report),
                  line.place, counted(static_cast<std::uint64_t>(line.count), "pod"));
  if (line.place == 1) return paragraph(text + ".", 0, palette);
  text += fmt::format("; before it, with their priority: {}", fmt::join(line.before, ", "));
  const std::int64_t more = line.place - 1 - std::ssize(line.before);
  if (more > 0) text += fmt::format(" and {} more", grouped(static_cast<std::uint64_t>(more)));
  return paragraph(text + ".", 0, palette);
}

/// Never rounded: an ask for exactly this amount must get the reported answer.
std::string exact_text(std::string_view resource, std::int64_t amount) {
  return counted_in_thousandths(resource) ? amount_text(resource, amount)
                                          : exact_amount(resource, amount);
}

/// A group that leaves as a whole is at risk on each of its nodes.
std::string group_text(const RiskReport& report, const Palette& palette) {
  const Unit& unit = unit_of(report.cluster, report.pod);
  if (unit.kind == UnitKind::pod || unit.mode != DisruptionMode::all) return {};
  const Group& group = report.cluster.groups()[unit.group];
  std::set<std::string> nodes;
  for (const PodIndex member : group.members) {
    const NodeIndex node = report.cluster.pods().node[member];
    if (node.exists()) {
      nodes.insert(std::string(report.cluster.text(report.cluster.nodes().name[node])));
    }
  }
  return paragraph(
      fmt::format("It leaves with its whole group {}, so an ask on any of the group's nodes takes "
                  "it: {}.",
                  object_text("PodGroup", report.cluster.text(group.namespace_name),
                              report.cluster.text(group.name)),
                  few_names({nodes.begin(), nodes.end()})),
      0, palette);
}

std::string_view fate_words(UnitFate fate) {
  switch (fate) {
    case UnitFate::stops: return "It stops with";
    case UnitFate::leaves: return "It leaves with";
    case UnitFate::degraded: return "It runs on degraded with";
  }
  return {};
}

/// Others of its unit are in danger elsewhere, and it with them.
std::string units_text(const RiskReport& report, const Palette& palette) {
  std::string text;
  for (const StoppingUnit& unit : report.units) {
    const bool one = unit.losses == 1;
    text += paragraph(fmt::format("{} {} when {} of its pods {} evicted; the others run on {}.",
                                  fate_words(unit.fate), unit.unit,
                                  grouped(static_cast<std::uint64_t>(unit.losses)),
                                  one ? "is" : "are", few_names(unit.nodes)),
                      0, palette);
  }
  return text;
}

/// "of its queue a on n1"
std::string where_text(const RiskReport& report) {
  const std::string queue =
      report.queue.empty() ? std::string{} : fmt::format("of its queue {} ", report.queue);
  return fmt::format("{}on {}", queue, node_of(report));
}

/// "No ask can evict it" is only written if a plan says why.
std::string no_eviction_text(const RiskReport& report) {
  if (report.taker != nullptr && report.stops_with.empty()) {
    return fmt::format("Of other asks {}, none that was tried evicts it.", where_text(report));
  }
  if (report.why_it_stays.empty()) {
    return fmt::format("No ask {} that was tried evicts it, up to the highest priority.",
                       where_text(report));
  }
  const std::string pinned =
      report.pinned_priority
          ? fmt::format(" A pod that can run on {} only can, {}.", node_of(report),
                        *report.pinned_priority == EvictionProbe::any_priority
                            ? std::string("whatever its priority")
                            : fmt::format("from priority {} on", *report.pinned_priority))
          : std::string{};
  return fmt::format("No {}ask {} can evict it, whatever its priority: {}.{}",
                     pinned.empty() ? "" : "ordinary ", where_text(report), report.why_it_stays,
                     pinned);
}

/// Queues take from each other whatever the priorities.
std::string queues_text(const RiskReport& report, const Palette& palette) {
  const QueueTrials& trials = report.other_queues;
  if (trials.tried.empty()) return {};
  std::vector<std::string> taking;
  std::vector<std::string> others;
  std::set<std::int64_t> amounts = {report.held};
  for (const QueueTrial& trial : trials.tried) {
    if (trial.takes) {
      taking.push_back(fmt::format("{} ({} {})", trial.queue, report.resource,
                                   exact_text(report.resource, trial.amount)));
    } else {
      others.push_back(trial.queue);
      amounts.insert(trial.amount);
    }
  }
  std::string line;
  if (!taking.empty()) {
    line = fmt::format(
        "Whatever its priority, an ask of another queue that is below its share takes it: {}.",
        fmt::join(taking, ", "));
  }
  if (!others.empty()) {
    std::vector<std::string> asked;
    asked.reserve(amounts.size());
    for (const std::int64_t amount : amounts) {
      asked.push_back(exact_text(report.resource, amount));
    }
    line += fmt::format("{}One ask for {} {} in {} does not take it; others were not tried.",
                        line.empty() ? "" : " ", report.resource, fmt::join(asked, " or "),
                        fmt::join(others, ", "));
  }
  if (trials.not_tried > 0) {
    line += fmt::format(" {} not tried.",
                        counted(trials.not_tried, "more queue was", "more queues were"));
  }
  return paragraph(line, 0, palette);
}

std::string pinned_text(std::int32_t priority) {
  return priority == EvictionProbe::any_priority ? "any" : fmt::format("{}", priority);
}

std::string asks_text(const RiskReport& report, const Palette& palette) {
  if (report.resource.empty()) {
    return paragraph(
        "It requests nothing but a place among the pods of its node, so there is no "
        "room that an ask would gain by evicting it.",
        0, palette);
  }
  if (!report.smallest) return paragraph(no_eviction_text(report), 0, palette);
  const EvictingAsk& smallest = *report.smallest;
  std::vector<std::string> others = others_evicted(report);
  const std::string in_queue =
      report.queue.empty() ? std::string{} : fmt::format(" in its queue {}", report.queue);
  const std::string pinned =
      report.pinned_priority
          ? fmt::format(" for an ordinary ask, {} for a pod that can run on {} only",
                        pinned_text(*report.pinned_priority), node_of(report))
          : std::string{};
  const std::string text = paragraph(fmt::format("Lowest priority{} that can evict it: {}{}.",
                                                 in_queue, smallest.priority, pinned),
                                     0, palette);
  std::string line =
      fmt::format("Smallest ask{} that does, with that priority on {}: {} {}, where {}",
                  smallest.is_smallest ? "" : " found", node_of(report), report.resource,
                  exact_text(report.resource, smallest.amount),
                  report.has_no_place ? std::string("there is no place for another pod")
                                      : exact_text(report.resource, report.free) + " is free");
  if (!others.empty()) line += fmt::format("; it also evicts {}", few_names(std::move(others)));
  for (const PlanStoppedUnit& unit : smallest.answer.stopped_units) {
    line += fmt::format("; it stops {} of {}",
                        counted(static_cast<std::uint64_t>(unit.stopped), "more pod"), unit.unit);
  }
  return text + paragraph(line + ".", 0, palette);
}

std::string trials_text(const RiskReport& report, const Palette& palette) {
  if (report.trials.empty()) return {};
  Table table({{""}, {"CHANGE"}, {"THEN IT"}});
  for (const ProtectionTrial& trial : report.trials) {
    table.row({{trial.protects ? "+" : "-", trial.protects ? Tone::good : Tone::bad},
               {trial.change},
               {trial.result}});
  }
  return fmt::format(
      "\n{}\n{}",
      palette.paint(fmt::format("What would protect it, tried on {}", printable(report.tried_on)),
                    Tone::strong),
      table.text(palette));
}

}  // namespace

RiskLine line_of(const Cluster& cluster, PodIndex pod) {
  constexpr std::size_t shown_max = 5;
  RiskLine line;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex other : std::views::reverse(cluster.order().pods(pods.node[pod]))) {
    if (pods.flags[other].kernel || pods.deletion[other] != no_time) continue;
    ++line.count;
    if (other == pod) line.place = line.count;
    if (line.place > 0 || line.before.size() == shown_max) continue;
    line.before.push_back(fmt::format("{} ({})", key_of_pod(cluster, other),
                                      unit_of(cluster, other).preemption_priority));
  }
  return line;
}

std::vector<std::string> others_evicted(const RiskReport& report) {
  std::vector<std::string> others;
  for (const PlanVictim& victim : report.smallest->answer.victims) {
    const std::string name = key_text({victim.namespace_name, victim.name, victim.plane});
    if (name != key_of_pod(report.cluster, report.pod)) others.push_back(name);
  }
  return others;
}

std::string closing_line(const Plan& today, bool time_is_known, const Palette& palette) {
  const std::string time = time_is_known ? fmt::format("time {}", to_text(today.now))
                                         : std::string("no time in the input");
  return palette.paint(
             fmt::format("Configuration {}, {}, plan {}.", printable(today.preset), time, today.id),
             Tone::dim) +
         "\n";
}

std::string risk_text(const RiskReport& report, const Palette& palette) {
  return heading_text(report, palette) + today_text(report, palette) + line_text(report, palette) +
         group_text(report, palette) + units_text(report, palette) + asks_text(report, palette) +
         queues_text(report, palette) + trials_text(report, palette) + "\n" +
         closing_line(report.today, report.time_is_known, palette);
}

namespace {

constexpr std::string_view not_answered_of_sessions =
    "Not answered for sessions: the smallest ask that would take it, and what would protect it. A "
    "session asks for room on all nodes of its group at once. Put such a session into a file, and "
    "`makeway plan` shows it.";
constexpr std::string_view not_answered_of_replicas =
    "Not answered for replicas: the smallest ask that would take one, and what would protect it. "
    "Replicas are taken plane by plane, by class before priority. Put such a ReplicaSchedule into "
    "a file, and `makeway plan` shows it.";

bool is_named(const WrittenAsk& written, std::string_view space, std::string_view name) {
  return space == written.namespace_name && name == written.name;
}

/// Where the session stands among those of its group that run.
std::optional<std::string> session_standing(const WrittenAsk& written, const Plan& today) {
  for (const PlanResourceGroup& group : today.resource_groups) {
    std::size_t place = 0;
    for (const PlanSessionEntry& entry : group.running.first) {
      if (entry.preemptible) ++place;
      if (!is_named(written, entry.namespace_name, entry.name)) continue;
      const std::string group_name = shorten(group.name);
      if (!entry.preemptible) {
        return fmt::format("No session of its group {} can take it now: {}.", group_name,
                           entry.why_not);
      }
      const auto may_leave =
          std::ranges::count(group.running.first, true, &PlanSessionEntry::preemptible);
      const std::string number =
          fmt::format("number {} of {}", place,
                      counted(static_cast<std::uint64_t>(may_leave), "preemptible session"));
      if (group.preemption_order == choice_name(PreemptionOrder::fewest)) {
        return fmt::format(
            "In its group {} as few sessions as possible leave; where that is equal, it is {} in "
            "the order in which they leave.",
            group_name, number);
      }
      return fmt::format("In its group {} it is {} in the order in which they leave.", group_name,
                         number);
    }
  }
  return std::nullopt;
}

std::optional<OwnKindRisk> session_risk(const WrittenAsk& written, const Plan& today) {
  OwnKindRisk risk{.object = object_text("Session", written.namespace_name, written.name),
                   .today = &today,
                   .not_answered = std::string(not_answered_of_sessions)};
  std::optional<std::string> standing = session_standing(written, today);
  if (!standing) return std::nullopt;
  risk.standing = std::move(*standing);
  for (const PlanAsk& ask : today.asks) {
    if (!ask.session) continue;
    const auto victim = std::ranges::find_if(ask.victims, [&](const PlanVictim& each) {
      return is_named(written, each.namespace_name, each.name);
    });
    if (victim == ask.victims.end()) continue;
    risk.takers.push_back({.ask = &ask, .evicted = {}});
    risk.victim = &*victim;
    break;
  }
  return risk;
}

/// "at 2026-01-01T12:00:00Z", or an empty text.
std::string at_time(const std::optional<Time>& time) {
  return time ? fmt::format(" at {}", to_text(*time)) : std::string{};
}

/// Of a session that is there, and has nothing that could be taken.
std::string standing_text(const Session& session, SessionStanding standing) {
  const SessionStatus& status = session.status;
  switch (standing) {
    case SessionStanding::pending: return "the session is pending";
    case SessionStanding::leaving:
      return fmt::format(
          "the session is under notice: it leaves{}{}", at_time(status.ends_at),
          status.preempted_by.empty() ? "" : fmt::format(" for {}", shorten(status.preempted_by)));
    case SessionStanding::suspended: return "the session is suspended";
    case SessionStanding::off_queue:
      return fmt::format("the session was preempted, and is pending again{}",
                         at_time(status.resume_after));
    case SessionStanding::ended: return "the session has ended";
    case SessionStanding::running: return "the session runs in no resource group of the input";
  }
  return {};
}

std::optional<OwnKindRisk> replica_risk(const WrittenAsk& written, const Cluster& cluster,
                                        const Plan& today) {
  const auto& schedules = cluster.own<ReplicaSchedule>();
  const auto found = schedules.find(ObjectKeyView{written.namespace_name, written.name});
  if (found == schedules.end()) return std::nullopt;
  OwnKindRisk risk{.object = object_text("ReplicaSchedule", written.namespace_name, written.name),
                   .today = &today,
                   .not_answered = std::string(not_answered_of_replicas),
                   .is_one = false};
  const std::string& deployment = found->second.deployment;
  for (const PlanAsk& ask : today.asks) {
    OwnKindTaker taker{.ask = &ask, .evicted = {}};
    each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
      if (victim.action == ReplicaAction::wait || victim.deployment != deployment ||
          victim.namespace_name != written.namespace_name) {
        return;
      }
      taker.evicted.push_back(key_text({victim.namespace_name, victim.name, victim.plane}));
    });
    std::ranges::sort(taker.evicted);
    if (!taker.evicted.empty()) risk.takers.push_back(std::move(taker));
  }
  return risk;
}

/// "It is a replica of ReplicaSchedule shop/web (priority 10) and runs on n1."
std::string replica_standing(const Cluster& cluster, const Configuration& configuration,
                             PodIndex pod) {
  const NodeIndex node = cluster.pods().node[pod];
  const std::string place = object_text(
      "node",
      {{}, cluster.text(cluster.nodes().name[node]), cluster.text(cluster.nodes().plane[node])});
  const ReplicaSchedule* const schedule = Regimes(cluster, configuration).schedule_of(pod);
  if (schedule == nullptr) {
    return fmt::format("It belongs to no ReplicaSchedule and runs on {}, where others place pods.",
                       place);
  }
  return fmt::format("It is a replica of {} (priority {}) and runs on {}.",
                     object_text("ReplicaSchedule", schedule->namespace_name, schedule->name),
                     priority_of(cluster, *schedule), place);
}

/// The same name elsewhere, else the most similar one; empty: nothing is similar.
template <class Object>
std::string nearest_object(const WrittenAsk& written, const ObjectMap<Object>& objects,
                           std::string_view kind) {
  std::vector<std::string_view> names;
  names.reserve(objects.size());
  for (const auto& [key, object] : objects) names.push_back(key.name);
  const std::string_view nearest = nearest_of(names, written.name);
  for (const std::string_view wanted : {std::string_view(written.name), nearest}) {
    if (wanted.empty()) continue;
    for (const auto& [key, object] : objects) {
      if (key.name != wanted) continue;
      return fmt::format("did you mean {}/{}/{}?", kind, key.namespace_name, key.name);
    }
  }
  return {};
}

}  // namespace

std::optional<OwnKindRisk> own_kind_risk(const WrittenAsk& written, const Cluster& cluster,
                                         const Plan& today) {
  return written.kind == AskKind::session ? session_risk(written, today)
                                          : replica_risk(written, cluster, today);
}

std::vector<std::string> OwnKindRisk::evicted() const {
  std::vector<std::string> all;
  for (const OwnKindTaker& taker : takers) {
    all.insert(all.end(), taker.evicted.begin(), taker.evicted.end());
  }
  std::ranges::sort(all);
  return all;
}

bool is_placed_elsewhere(const Cluster& cluster, const Configuration& configuration, PodIndex pod) {
  return cluster.pods().plane[pod] != StringId{0} ||
         Regimes(cluster, configuration).of(pod) == Regime::replicas;
}

OwnKindRisk replica_pod_risk(const Cluster& cluster, const Configuration& configuration,
                             PodIndex pod, const Plan& today) {
  const PodColumns& pods = cluster.pods();
  const ObjectKeyView key{cluster.text(pods.namespace_name[pod]), pods.name[pod.value],
                          cluster.text(pods.plane[pod])};
  OwnKindRisk risk{.object = object_text("Pod", key),
                   .today = &today,
                   .standing = replica_standing(cluster, configuration, pod),
                   .not_answered = std::string(not_answered_of_replicas)};
  const auto is_it = [&](const auto& victim) {
    return victim.namespace_name == key.namespace_name && victim.name == key.name &&
           victim.plane == key.plane;
  };
  for (const PlanAsk& ask : today.asks) {
    const auto victim = std::ranges::find_if(ask.victims, is_it);
    if (victim != ask.victims.end()) risk.victim = &*victim;
    each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& each) {
      if (is_it(each) && each.action != ReplicaAction::wait) risk.replica = &each;
    });
    if (risk.victim == nullptr && risk.replica == nullptr) continue;
    risk.takers.push_back({.ask = &ask, .evicted = {key_text(key)}});
    break;
  }
  return risk;
}

Problem no_own_kind(const WrittenAsk& written, const Cluster& cluster, Time now) {
  Problem problem{.field = "risk",
                  .value = fmt::format("{}/{}", written.namespace_name, written.name)};
  if (written.kind != AskKind::session) {
    problem.message = "no ReplicaSchedule of this name is in the input";
    problem.remedy = nearest_object(written, cluster.own<ReplicaSchedule>(), "replicaschedule");
    return problem;
  }
  const auto& sessions = cluster.own<Session>();
  const auto found = sessions.find(ObjectKeyView{written.namespace_name, written.name});
  if (found == sessions.end()) {
    problem.message = "no session of this name is in the input";
    problem.remedy = nearest_object(written, sessions, "session");
    return problem;
  }
  const SessionStanding standing = standing_of(found->second, now);
  problem.message = standing_text(found->second, standing);
  if (standing == SessionStanding::pending) {
    problem.remedy = "`makeway plan --ask` shows whether it finds room";
  }
  return problem;
}

std::string own_kind_text(const OwnKindRisk& risk, const Palette& palette) {
  std::string text = palette.paint(shorten(risk.object, 120), Tone::strong) + "\n\n";
  if (risk.takers.empty()) {
    text += fmt::format("{} Today's plan {} ({}).\n", palette.paint("+", Tone::good),
                        risk.is_one ? "does not take it" : "takes nothing of it",
                        counted(risk.today->asks.size(), "ask"));
  }
  for (const OwnKindTaker& taker : risk.takers) {
    text += fmt::format(
        "{} Today's plan {} for {} (priority {}).\n", palette.paint("!", Tone::bad),
        risk.is_one ? std::string("takes its room")
                    : fmt::format("takes {} of it", counted(taker.evicted.size(), "pod")),
        palette.paint(shorten(ask_text(*taker.ask), 120), Tone::strong), taker.ask->priority);
    if (!risk.is_one) text += paragraph(few_names(taker.evicted), 2, palette);
  }
  const auto cause = [&](const auto& victim) {
    text += paragraph(fmt::format("{}; {}", victim.reason, victim.cause_rule), 2, palette);
    text += paragraph(fmt::format("compared with: {}; decided on: {}", victim.cause_alternative,
                                  victim.cause_key),
                      2, palette);
  };
  if (risk.victim != nullptr) cause(*risk.victim);
  if (risk.replica != nullptr) cause(*risk.replica);
  if (!risk.standing.empty()) text += paragraph(risk.standing, 0, palette);
  text += paragraph(risk.not_answered, 0, palette);
  return text + "\n" + closing_line(*risk.today, risk.time_is_known, palette);
}

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
  if (report.taker == nullptr && report.degrader != nullptr) {
    const auto* const gang = degraded_gang(*report.degrader, report.cluster, report.pod);
    writer.string_field("degrades", degraded_text(*gang));
    write_taker(writer, *report.degrader);
  }
  writer.end_object();
}

void write_today(JsonWriter& writer, const OwnKindRisk& risk) {
  writer.key("today");
  writer.begin_object();
  writer.boolean_field("evicted", !risk.takers.empty());
  if (!risk.takers.empty()) write_taker(writer, *risk.takers.front().ask);
  if (risk.victim != nullptr) write_cause(writer, *risk.victim);
  if (risk.replica != nullptr) write_cause(writer, *risk.replica);
  write_list(writer, "asks", risk.takers, [&](const OwnKindTaker& taker) {
    write_taker(writer, *taker.ask);
    writer.strings_field("evicted", taker.evicted);
  });
  writer.end_object();
}

/// The units whose other pods concern it when they are evicted, by what becomes of it.
void write_units(JsonWriter& writer, const RiskReport& report) {
  for (const auto& [fate, name] :
       {std::pair{UnitFate::stops, "stopsWith"}, std::pair{UnitFate::leaves, "leavesWith"},
        std::pair{UnitFate::degraded, "degradedWith"}}) {
    std::vector<StoppingUnit> units;
    std::ranges::copy_if(report.units, std::back_inserter(units),
                         [&](const StoppingUnit& unit) { return unit.fate == fate; });
    if (units.empty()) continue;
    write_list(writer, name, units, [&](const StoppingUnit& unit) {
      writer.string_field("unit", unit.unit);
      writer.integer_field("evictions", unit.losses);
      writer.strings_field("nodes", unit.nodes);
    });
  }
}

void write_queues(JsonWriter& writer, const RiskReport& report) {
  if (report.queue.empty()) return;
  writer.string_field("queue", report.queue);
  write_list(writer, "otherQueues", report.other_queues.tried, [&](const QueueTrial& trial) {
    writer.string_field("queue", trial.queue);
    writer.string_field("amount", exact_amount(report.resource, trial.amount));
    writer.boolean_field("evicts", trial.takes);
  });
  writer.integer_field("queuesNotTried", static_cast<std::int64_t>(report.other_queues.not_tried));
}

void write_stopped(JsonWriter& writer, const PlanAsk& ask) {
  if (ask.stopped_units.empty()) return;
  write_list(writer, "stops", ask.stopped_units, [&](const PlanStoppedUnit& unit) {
    writer.string_field("unit", unit.unit);
    writer.integer_field("pods", unit.stopped);
  });
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
    if (report.pinned_priority) {
      writer.string_field("lowestPinnedPriority", pinned_text(*report.pinned_priority));
    }
    return;
  }
  const EvictingAsk& smallest = *report.smallest;
  writer.integer_field("lowestPriority", smallest.priority);
  if (report.pinned_priority) {
    writer.string_field("lowestPinnedPriority", pinned_text(*report.pinned_priority));
  }
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
  write_list(writer, "protections", report.trials, [&](const ProtectionTrial& trial) {
    writer.string_field("change", trial.change);
    writer.boolean_field("protects", trial.protects);
    writer.string_field("result", trial.result);
    if (!trial.stops_with.empty()) writer.string_field("stopsWith", trial.stops_with);
  });
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
