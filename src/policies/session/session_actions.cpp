#include "policies/session/session_actions.hpp"

#include <map>

#include "model/request.hpp"
#include "model/session_lifecycle.hpp"
#include "model/session_names.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"

namespace makeway {
namespace {

ActionType action_of(SessionFate fate) {
  switch (fate) {
    case SessionFate::requeues: return ActionType::requeue;
    case SessionFate::suspends: return ActionType::suspend;
    case SessionFate::ends:
    case SessionFate::on_request:
    case SessionFate::to_autoscaler: return ActionType::evict;
  }
  CHECK(false, "unknown fate");
}

Reason fate_reason(const PlanSessionVictim& victim) {
  switch (victim.fate) {
    case SessionFate::ends: return {.code = ReasonCode::session_ends};
    case SessionFate::requeues:
      return {.code = ReasonCode::session_requeues, .arguments = {*victim.resume_after}};
    case SessionFate::on_request: return {.code = ReasonCode::session_awaits_user};
    case SessionFate::to_autoscaler: return {.code = ReasonCode::session_awaits_autoscaler};
    case SessionFate::suspends: return {.code = ReasonCode::session_keeps_memory};
  }
  CHECK(false, "unknown fate");
}

const Session& session_of(const Cluster& cluster, const std::string& namespace_name,
                          const std::string& name) {
  return cluster.own<Session>().at({namespace_name, name});
}

void add_victims(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  const ObjectRef asks = ref_of(ask);
  for (std::size_t at = 0; at < ask.victims.size(); ++at) {
    const PlanVictim& victim = ask.victims[at];
    const PlanSessionVictim& fate = ask.session->victims[at];
    PlanAction action{.type = action_of(fate.fate),
                      .namespace_name = victim.namespace_name,
                      .name = victim.name,
                      .uid = victim.uid,
                      .node = victim.node,
                      .ask = asks,
                      .since = {},
                      .plane = victim.plane};
    if (fate.ends_at > plan.now) action.until = fate.ends_at;
    plan.actions.push_back(std::move(action));
    plan.status.push_back(
        {.object = {.kind = RefKind::session,
                    .namespace_name = victim.namespace_name,
                    .name = victim.name},
         .condition = "Preempted",
         .value = true,
         .reason = "PreemptionBySession",
         .message = write_text(cluster,
                               {.code = ReasonCode::makes_room_then,
                                .arguments = {object_of(ask), victim.reason, fate_reason(fate)}})});
  }
}

}  // namespace

void add_session_actions(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  add_victims(cluster, ask, plan);
  const Session& session = session_of(cluster, ask.namespace_name, ask.name);
  const bool fits = ask.outcome == Outcome::fits;
  const auto add = [&](ActionType type, const std::string& name, const std::string& node) {
    plan.actions.push_back({.type = type,
                            .namespace_name = ask.namespace_name,
                            .name = name,
                            .uid = session.uid,
                            .node = node,
                            .ask = {},
                            .since = {},
                            .plane = ask.plane});
  };
  if (ask.session->runs_on) {
    add(fits ? ActionType::resume : ActionType::wait, ask.name, {});
  } else {
    for (const PodPlacement& placement : ask.placements) {
      add(fits ? ActionType::bind : ActionType::nominate, placement.name, placement.node);
    }
    if (ask.outcome == Outcome::waits && ask.placements.empty())
      add(ActionType::wait, ask.name, {});
  }
  add_unscheduled(ask, "Scheduled", plan);
}

void add_ended_grace(const Session& session, Plan& plan) {
  const SessionStatus& status = session.status;
  plan.actions.push_back({.type = action_of(*status.fate),
                          .namespace_name = session.namespace_name,
                          .name = session.name,
                          .uid = session.uid,
                          .node = {},
                          .ask = parse_ref(status.preempted_by),
                          .since = {},
                          .plane = session.plane});
}

// ---- Carried out --------------------------------------------------------------------------------

namespace {

std::vector<KernelPlace> places_of(const PlanAsk& ask) {
  std::vector<KernelPlace> places;
  places.reserve(ask.placements.size());
  for (const PodPlacement& placement : ask.placements) {
    places.push_back(
        {.kernel = placement.name.substr(placement.name.find('/') + 1), .node = placement.node});
  }
  return places;
}

Session asked(const Session& session, const PlanAsk& ask, Time now) {
  const bool fits = ask.outcome == Outcome::fits;
  if (ask.session->runs_on) return fits ? run_on_session(session) : session;
  return fits ? start_session(session, places_of(ask), now)
              : nominate_session(session, places_of(ask));
}

}  // namespace

std::vector<Session> sessions_after(const Cluster& cluster, const Plan& plan) {
  std::vector<Session> changed;
  const auto keep = [&](const Session& before, Session after) {
    if (!(before == after)) changed.push_back(std::move(after));
  };
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::session) continue;
    const Session& session = session_of(cluster, ask.namespace_name, ask.name);
    keep(session, asked(session, ask, plan.now));
    for (const PlanSessionVictim& victim : ask.session->victims) {
      const Session& before = session_of(cluster, victim.namespace_name, victim.name);
      keep(before, notice_session(before, {.by = ask_text(ask),
                                           .fate = victim.fate,
                                           .now = plan.now,
                                           .ends_at = victim.ends_at,
                                           .resume_after = victim.resume_after}));
    }
  }
  return changed;
}

}  // namespace makeway
