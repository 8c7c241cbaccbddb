#include "cli/risk/own_kind_risk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/problem.hpp"
#include "cli/risk/risk_text.hpp"
#include "cli/text.hpp"
#include "model/knobs.hpp"
#include "model/object_text.hpp"
#include "model/regime.hpp"
#include "model/replica_priority.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view not_answered_of_sessions =
    "Not answered for sessions: the smallest ask that would take it, and what would protect it. A "
    "session asks for room on all nodes of its group at once. Put such a session into a file, and "
    "`makeway plan` shows it.";
constexpr std::string_view not_answered_of_replicas =
    "Not answered for replicas: the smallest ask that would take one, and what would protect it. "
    "Replicas are taken plane by plane, by class before priority. Put such a ReplicaSchedule into "
    "a file, and `makeway plan` shows it.";

/// Calls `visit(victim)` for those that lose something by it.
template <class Visit>
void each_replica_victim(const PlanAsk& ask, const Visit& visit) {
  if (!ask.replicas) return;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) {
      if (victim.action != ReplicaAction::wait) visit(victim);
    }
  }
}

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
    each_replica_victim(ask, [&](const PlanReplicaVictim& victim) {
      if (victim.deployment != deployment || victim.namespace_name != written.namespace_name) {
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
    each_replica_victim(ask, [&](const PlanReplicaVictim& each) {
      if (is_it(each)) risk.replica = &each;
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
  const auto paragraph = [&](const std::string& text, std::size_t indent) {
    return wrapped(printable(text), indent, palette.text_width());
  };
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
    if (!risk.is_one) text += paragraph(few_names(taker.evicted), 2);
  }
  const auto cause = [&](const auto& victim) {
    text += paragraph(fmt::format("{}; {}", victim.reason, victim.cause_rule), 2);
    text += paragraph(fmt::format("compared with: {}; decided on: {}", victim.cause_alternative,
                                  victim.cause_key),
                      2);
  };
  if (risk.victim != nullptr) cause(*risk.victim);
  if (risk.replica != nullptr) cause(*risk.replica);
  if (!risk.standing.empty()) text += paragraph(risk.standing, 0);
  text += paragraph(risk.not_answered, 0);
  return text + "\n" + closing_line(*risk.today, risk.time_is_known, palette);
}

}  // namespace makeway::cli
