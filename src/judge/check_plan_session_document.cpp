// What a plan says about sessions: causes, what becomes of victims, actions (law 9).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

#include "judge/check_plan_sessions.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

std::set<std::string> nodes_of(const Session& session) {
  std::set<std::string> nodes;
  for (const Kernel& kernel : session.kernels) nodes.insert(kernel.node);
  return nodes;
}

}  // namespace

void SessionJudge::judge_document(const Turn& turn) {
  PlanCost total;
  const std::vector<PlanSessionVictim>& fates = turn.entry.session->victims;
  for (std::size_t at = 0; at < turn.entry.victims.size(); ++at) {
    const PlanVictim& said = turn.entry.victims[at];
    const Session* const victim = rules_.find(said.namespace_name, said.name);
    if (victim == nullptr) continue;
    judge_cause(turn, *victim, said);
    if (at < fates.size()) judge_fate(turn, *victim, fates[at]);
    total = sum(total, said.cost);
    const bool first = at == 0 || turn.victims.size() != turn.entry.victims.size();
    if (!first && rules_.leaves_before(*turn.victims[at - 1], *victim)) {
      report(9, turn, "its victims are not listed most important first");
    }
  }
  if (turn.entry.cost != total) report(9, turn, "it does not lose what its victims lose");
  if (turn.victims.empty()) return;
  const auto count = static_cast<std::int64_t>(candidates(turn).size());
  if (turn.entry.session->candidates != count) {
    report(9, turn,
           fmt::format("{} sessions may be preempted for it, and the plan says {}", count,
                       turn.entry.session->candidates));
  }
}

void SessionJudge::judge_cause(const Turn& turn, const Session& victim, const PlanVictim& said) {
  const auto wrong = [&](std::string_view text) {
    report(9, turn, fmt::format("victim {}/{} {}", victim.namespace_name, victim.name, text));
  };
  if (said.reason.empty()) wrong("has no reason");
  if (said.cause_for != turn.heard.text) wrong("does not name the ask that it is preempted for");
  if (said.cause_rule.empty()) wrong("does not say under which rule it leaves");
  if (said.cause_alternative.empty()) wrong("does not say what it was compared with");
  if (said.cause_key.empty()) wrong("does not say what decided");
  if (said.uid != victim.uid) wrong("has another uid");
  if (said.unit != session_text(victim)) wrong("leaves as another unit");
  if (said.priority != rules_.priority(victim)) wrong("has another priority");
  if (said.node != fmt::format("{}", fmt::join(nodes_of(victim), ","))) wrong("runs elsewhere");
  const PlanCost truth = rules_.cost(victim);
  if (said.cost != truth) {
    wrong(fmt::format("loses {} pod-seconds and {} GPU-seconds, not {} and {}", truth.pod_seconds,
                      truth.gpu_seconds, said.cost.pod_seconds, said.cost.gpu_seconds));
  }
}

void SessionJudge::judge_fate(const Turn& turn, const Session& victim,
                              const PlanSessionVictim& said) {
  const auto wrong = [&](int law, const std::string& text) {
    report(law, turn, fmt::format("victim {}/{} {}", victim.namespace_name, victim.name, text));
  };
  const std::set<std::string> nodes = nodes_of(victim);
  if (said.nodes != std::vector(nodes.begin(), nodes.end())) {
    wrong(5, fmt::format("leaves whole: {}, not {}", fmt::join(nodes, ","),
                         fmt::join(said.nodes, ",")));
  }
  if (said.tier != rules_.tier(victim)) wrong(9, "has another tier");
  const SessionFate fate = rules_.fate(victim);
  if (said.fate != fate) {
    wrong(9, fmt::format("{}, and is said to be: {}", choice_name(fate), choice_name(said.fate)));
  }
  if (said.ends_at != rules_.ends_at(victim)) {
    wrong(9, fmt::format("ends at {}, not {}", to_text(rules_.ends_at(victim)),
                         to_text(said.ends_at)));
  }
  const std::optional<Time> back = rules_.resume_after(victim);
  const auto when = [](const std::optional<Time>& time) { return time ? to_text(*time) : "never"; };
  if (said.resume_after != back) {
    wrong(9, fmt::format("is pending again {}, not {}", when(back), when(said.resume_after)));
  }
  if (said.preemptions != victim.status.preemptions + 1) {
    wrong(9,
          fmt::format("was preempted {} times, this one included", victim.status.preemptions + 1));
  }
}

// ---- Actions ------------------------------------------------------------------------------------

namespace {

using SessionActionKey = std::tuple<ActionType, std::string, std::string, std::string, std::string,
                                    std::optional<Time>>;  ///< Type, object, uid, node, ask, until.

ActionType action_of(SessionFate fate) {
  if (fate == SessionFate::requeues) return ActionType::requeue;
  return fate == SessionFate::suspends ? ActionType::suspend : ActionType::evict;
}

void expect_actions(const Hearing& hearing, const HeardAsk& ask,
                    std::map<SessionActionKey, int>& open) {
  const PlanAsk& entry = *ask.entry;
  const auto& sessions = hearing.cluster.own<Session>();
  const auto own = sessions.find({entry.namespace_name, entry.name});
  const std::string uid = own == sessions.end() ? std::string() : own->second.uid;
  const bool fits = entry.outcome == Outcome::fits;
  if (entry.session->runs_on) {
    const std::string name = fmt::format("{}/{}", entry.namespace_name, entry.name);
    if (fits) ++open[{ActionType::resume, name, uid, {}, {}, {}}];
  } else {
    for (const PodPlacement& place : entry.placements) {
      ++open[{fits ? ActionType::bind : ActionType::nominate,
              fmt::format("{}/{}", place.namespace_name, place.name),
              uid,
              place.node,
              {},
              {}}];
    }
  }
  for (std::size_t at = 0; at < std::min(entry.victims.size(), entry.session->victims.size());
       ++at) {
    const PlanVictim& victim = entry.victims[at];
    const PlanSessionVictim& then = entry.session->victims[at];
    const auto until = then.ends_at > hearing.plan.now ? std::optional(then.ends_at) : std::nullopt;
    ++open[{action_of(then.fate), fmt::format("{}/{}", victim.namespace_name, victim.name),
            victim.uid, victim.node, ask.text, until}];
  }
}

/// Sessions that got notice in an earlier cycle and whose grace time is over.
void expect_ends(const Hearing& hearing, std::map<SessionActionKey, int>& open) {
  for (const auto& [key, session] : hearing.cluster.own<Session>()) {
    const SessionStatus& status = session.status;
    if (status.phase != SessionPhase::running || !status.ends_at || !status.fate) continue;
    if (*status.ends_at > hearing.plan.now) continue;
    ++open[{action_of(*status.fate),
            fmt::format("{}/{}", session.namespace_name, session.name),
            session.uid,
            {},
            ref_text(parse_ref(status.preempted_by)),
            {}}];
  }
}

/// "Session a/b" for "a/b" and for its kernel "a/b/main".
std::string session_called(const std::string& object) {
  const std::size_t name = object.find('/') + 1;
  return "Session " + object.substr(0, object.find('/', name));
}

}  // namespace

void judge_session_actions(Hearing& hearing) {
  std::map<SessionActionKey, int> open;
  if (hearing.configuration.session.enabled) expect_ends(hearing, open);
  for (const HeardAsk& ask : hearing.asks) {
    if (ask.session) expect_actions(hearing, ask, open);
  }
  for (const PlanAction& action : hearing.plan.actions) {
    if (!concerns_session(action) || action.type == ActionType::wait) continue;
    --open[{action.type, fmt::format("{}/{}", action.namespace_name, action.name), action.uid,
            action.node, ref_text(action.ask), action.until}];
  }
  for (const auto& [key, count] : open) {
    if (count == 0) continue;
    const auto& [type, object, uid, node, ask, until] = key;
    hearing.breaches.add(9, ask.empty() ? session_called(object) : ask,
                         fmt::format("action {} {} on node {} {}", choice_name(type), object, node,
                                     count > 0 ? "is missing" : "has no reason"));
  }
}

}  // namespace makeway
