#include "policies/decide.hpp"

#include "policies/shared/cycle.hpp"
#include "policies/shared/plan_end.hpp"
#include "policies/queue/queue_policy.hpp"
#include "policies/queue/queue_room.hpp"
#include "policies/replica/replica_policy.hpp"
#include "policies/required_node/required_node_policy.hpp"
#include "policies/session/session_policy.hpp"
#include "policies/who_asks.hpp"
#include "policies/workload/group/group_policy.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {
namespace {

/// Each ask goes to the one policy that handles it (SPEC section 1).
void decide_asks(Cycle& cycle, const Asking& asking, SessionPolicy* sessions) {
  const Cluster& cluster = cycle.cluster;
  RequiredNodePolicy required_node(cycle);
  const auto is_pod = [&](const PendingUnit& unit) {
    return !unit.turn && cluster.units()[unit.unit].kind == UnitKind::pod;
  };
  std::vector<PodIndex> pods;
  for (const PendingUnit& unit : asking.units) {
    if (is_pod(unit) && !required_node.handles(unit.pod)) pods.push_back(unit.pod);
  }
  AskClasses classes(cycle, pods);
  cycle.plan.asks.reserve(cycle.plan.asks.size() + asking.units.size());
  const auto only = asking.given.empty() ? std::nullopt : std::optional(asking.given.front().node);
  for (const PendingUnit& unit : asking.units) {
    const bool pinned = is_pod(unit) && required_node.handles(unit.pod);
    if (cycle.queues) cycle.queues->turn_to(pinned ? UnitIndex{} : unit.unit);
    if (unit.turn) {
      sessions->take(*unit.turn);
    } else if (!is_pod(unit)) {
      decide_group(cycle, unit.unit, asking.given);
    } else if (pinned) {
      required_node.decide(unit.pod, only);
    } else {
      decide_pod(cycle, classes.of(unit.pod), unit.pod, only);
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
  Cycle cycle(cluster, configuration, request.now);
  cycle.explain = request.explain;
  decide_queues(cycle);
  std::optional<SessionPolicy> sessions;  // It looks at the room that the queues leave.
  const bool asks_session = request.ask && request.ask->kind == AskKind::session;
  const bool all_ask = !request.ask && !cluster.own<Session>().empty();
  if (configuration.session.enabled && (asks_session || all_ask)) {
    sessions.emplace(cycle);
    if (auto problem = add_sessions(*sessions, request, asking.units)) {
      return {{}, {*std::move(problem)}};
    }
  }
  decide_asks(cycle, asking, sessions ? &*sessions : nullptr);
  decide_replicas(cycle, request.ask);
  if (sessions) sessions->describe_groups();
  cycle.plan.preset = request.preset;
  cycle.plan.others_pending = asking.others;
  finish_plan(cycle);
  return {.plan = std::move(cycle.plan), .problems = {}};
}

}  // namespace makeway
