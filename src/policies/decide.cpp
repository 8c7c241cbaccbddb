#include "policies/decide.hpp"

#include "policies/queue/queue_policy.hpp"
#include "policies/replica/replica_policy.hpp"
#include "policies/required_node/required_node_policy.hpp"
#include "policies/session/session_policy.hpp"
#include "policies/shared/draft.hpp"
#include "policies/shared/plan_end.hpp"
#include "policies/who_asks.hpp"
#include "policies/workload/group/group_policy.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {
namespace {

/// Each ask goes to the one policy that handles it (SPEC section 1).
void decide_asks(Draft& draft, const Asking& asking, SessionPolicy* sessions) {
  World& world = draft.world;
  const Cluster& cluster = world.cluster();
  RequiredNodePolicy required_node(draft);
  const auto is_pod = [&](const PendingUnit& unit) {
    return !unit.turn && cluster.units()[unit.unit].kind == UnitKind::pod;
  };
  std::vector<PodIndex> pods;
  for (const PendingUnit& unit : asking.units) {
    if (is_pod(unit) && !required_node.handles(unit.pod)) pods.push_back(unit.pod);
  }
  AskClasses classes(draft, pods);
  draft.plan.asks.reserve(draft.plan.asks.size() + asking.units.size());
  const auto only = asking.given.empty() ? std::nullopt : std::optional(asking.given.front().node);
  for (const PendingUnit& unit : asking.units) {
    const bool pinned = is_pod(unit) && required_node.handles(unit.pod);
    if (world.limits()) world.limits()->turn_to(pinned ? UnitIndex{} : unit.unit);
    if (unit.turn) {
      sessions->take(*unit.turn);
    } else if (!is_pod(unit)) {
      decide_group(draft, unit.unit, asking.given);
    } else if (pinned) {
      required_node.decide(unit.pod, only);
    } else {
      decide_pod(draft, classes.of(unit.pod), unit.pod, only);
      classes.done(unit.pod);
    }
  }
}

}  // namespace

Decision decide(const Cluster& cluster, const Configuration& configuration,
                const PlanRequest& request) {
  Asking asking;
  if (auto problem = find_asking(cluster, configuration, request, asking)) {
    return {{}, {*std::move(problem)}};
  }
  World world(cluster, configuration, request.now);
  Plan plan;
  Draft draft{.world = world, .plan = plan, .explain = request.explain};
  decide_queues(draft);
  std::optional<SessionPolicy> sessions;  // It looks at the room that the queues leave.
  const bool asks_session = request.ask && request.ask->kind == AskKind::session;
  const bool all_ask = !request.ask && !cluster.own<Session>().empty();
  if (configuration.session.enabled && (asks_session || all_ask)) {
    sessions.emplace(draft);
    if (auto problem = add_sessions(*sessions, request, asking.units)) {
      return {{}, {*std::move(problem)}};
    }
  }
  decide_asks(draft, asking, sessions ? &*sessions : nullptr);
  decide_replicas(draft, request.ask);
  if (sessions) sessions->describe_groups();
  plan.preset = request.preset;
  plan.others_pending = asking.others;
  finish_plan(draft);
  return {.plan = std::move(plan), .problems = {}};
}

}  // namespace makeway
