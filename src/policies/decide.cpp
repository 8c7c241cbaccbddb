#include "policies/decide.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

#include "policies/queue/queue_policy.hpp"
#include "policies/replica/replica_policy.hpp"
#include "policies/required_node/required_node_policy.hpp"
#include "policies/session/session_policy.hpp"
#include "policies/shared/deciding.hpp"
#include "policies/shared/draft.hpp"
#include "policies/shared/plan_end.hpp"
#include "policies/shared/recheck.hpp"
#include "policies/who_asks.hpp"
#include "policies/workload/group/group_policy.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {
namespace {

/// Of the places that the request gives, those of one unit.
std::vector<PodOnNode> given_to(const Cluster& cluster, const Asking& asking, UnitIndex unit) {
  std::vector<PodOnNode> own;
  std::ranges::copy_if(asking.given, std::back_inserter(own), [&](const PodOnNode& place) {
    return cluster.pods().unit[place.pod] == unit;
  });
  return own;
}

std::optional<NodeIndex> given_node(const Asking& asking, PodIndex pod) {
  const auto found = std::ranges::find(asking.given, pod, &PodOnNode::pod);
  return found == asking.given.end() ? std::nullopt : std::optional(found->node);
}

bool sessions_ask(const Cluster& cluster, const Configuration& configuration,
                  const PlanRequest& request) {
  if (!configuration.session.enabled) return false;
  if (request.asks.empty()) return !cluster.own<Session>().empty();
  return std::ranges::find(request.asks, AskKind::session, &AskName::kind) != request.asks.end();
}

/// Each ask goes to the one policy that handles it (SPEC section 1).
void decide_asks(Draft& draft, const Asking& asking, SessionPolicy* sessions, Deciding& deciding) {
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
  for (const PendingUnit& unit : asking.units) {
    if (unit.turn) {
      deciding.start(sessions->name_of(*unit.turn));
    } else {
      deciding.start(unit.unit);
    }
    const bool pinned = is_pod(unit) && required_node.handles(unit.pod);
    if (world.limits()) world.limits()->turn_to(pinned ? UnitIndex{} : unit.unit);
    if (unit.turn) {
      sessions->take(*unit.turn);
    } else if (!is_pod(unit)) {
      decide_group(draft, unit.unit, given_to(cluster, asking, unit.unit));
    } else if (pinned) {
      required_node.decide(unit.pod, given_node(asking, unit.pod));
    } else {
      decide_pod(draft, classes.of(unit.pod), unit.pod, given_node(asking, unit.pod));
      classes.done(unit.pod);
    }
  }
  deciding.end();
}

Decision decide_once(const Cluster& cluster, const Configuration& configuration,
                     const PlanRequest& request, Deciding& deciding) {
  Asking asking;
  if (auto problem = find_asking(cluster, configuration, request, asking)) {
    return {{}, {*std::move(problem)}};
  }
  World world(cluster, configuration, request.now);
  Plan plan;
  Draft draft{.world = world, .plan = plan, .explain = request.explain};
  const bool without_queues = leaves_out_queues(request.left_out);
  if (!without_queues) deciding.start_queues();
  decide_queues(draft, without_queues);
  deciding.end();
  std::optional<SessionPolicy> sessions;  // It looks at the room that the queues leave.
  if (sessions_ask(cluster, configuration, request)) {
    sessions.emplace(draft);
    if (auto problem = add_sessions(*sessions, request, asking.units)) {
      return {{}, {*std::move(problem)}};
    }
  }
  decide_asks(draft, asking, sessions ? &*sessions : nullptr, deciding);
  decide_replicas(draft, request, deciding);
  deciding.end();
  if (sessions) sessions->describe_groups();
  plan.preset = request.preset;
  plan.others_pending = asking.others;
  plan.left_out = request.left_out;
  finish_plan(draft);
  const std::optional<Time> recheck_at = find_recheck(cluster, configuration, plan);
  return {.plan = std::move(plan), .problems = {}, .recheck_at = recheck_at};
}

}  // namespace

Decision decide(const Cluster& cluster, const Configuration& configuration,
                const PlanRequest& request) {
  return decide_watched(cluster, configuration, request, {});
}

Decision decide_watched(const Cluster& cluster, const Configuration& configuration,
                        const PlanRequest& request,
                        const std::function<void(const AskName&)>& watcher) {
  Deciding deciding(cluster, watcher);
  if (!request.contain) return decide_once(cluster, configuration, request, deciding);
  PlanRequest again = request;
  while (true) {
    std::string failure;
    try {
      const CheckContainment contained;
      return decide_once(cluster, configuration, again, deciding);
    } catch (const std::exception& failed) {
      failure = failed.what();
    }
    const std::size_t before = again.left_out.size();
    for (const AskName& ask : deciding.whose_turn()) {
      if (is_left_out(again, ask)) continue;
      again.left_out.push_back({.kind = ask.kind,
                                .namespace_name = ask.namespace_name,
                                .name = ask.name,
                                .reason = failure});
    }
    // Nobody whom that could help.
    if (again.left_out.size() == before) {
      return {.plan = {}, .problems = {}, .failure = std::move(failure)};
    }
    deciding.end();
  }
}

}  // namespace makeway
