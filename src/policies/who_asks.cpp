#include "policies/who_asks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "model/object_text.hpp"
#include "policies/replica/replica_policy.hpp"
#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

void sort_by_turn(std::vector<PendingUnit>& units) {
  std::ranges::stable_sort(units, [](const PendingUnit& a, const PendingUnit& b) {
    return std::tie(b.priority, a.created) < std::tie(a.priority, b.created);
  });
}

Problem ask_problem(const AskName& name, std::string message, std::string remedy) {
  return {.object = object_text(choice_name(name.kind), name.namespace_name, name.name),
          .field = "ask",
          .value = {},
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

/// A pod that wants to be placed: unbound and not being deleted. In other planes somebody else
/// places pods (SPEC section 4).
bool pending(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  const PodFlags flags = pods.flags[pod];
  return flags.exists && !flags.kernel && !pods.node[pod].exists() &&
         pods.deletion[pod] == no_time && pods.plane[pod] == StringId{0};
}

/// How many pods are not bound; those that are being deleted too.
std::int64_t pending_pods(const Cluster& cluster) {
  auto count = static_cast<std::int64_t>(cluster.pod_count());
  for (const std::uint32_t bound : cluster.nodes().pods) count -= bound;
  return count;
}

std::int64_t own_pending(const Cluster& cluster, const PendingUnit& ask) {
  const Unit& unit = cluster.units()[ask.unit];
  if (unit.kind == UnitKind::pod) return 1;
  return std::ranges::count_if(cluster.groups()[unit.group].members,
                               [&](PodIndex pod) { return !cluster.pods().node[pod].exists(); });
}

/// In the order in which they are decided. A missing creation time counts as the latest.
std::vector<PendingUnit> pending_units(const Cluster& cluster, ReplicaPods& replicas) {
  std::vector<PendingUnit> units;
  std::vector<std::uint8_t> seen(cluster.units().size());
  std::vector<PodIndex> pods;
  for (std::uint32_t slot = 0; slot < cluster.pods().slots(); ++slot) {
    const PodIndex pod{slot};
    if (pending(cluster, pod) && replicas.schedule_of(pod) == nullptr) pods.push_back(pod);
  }
  std::ranges::sort(pods, {}, [&](PodIndex pod) {
    return std::pair(cluster.text(cluster.pods().namespace_name[pod]),
                     cluster.pods().name[pod.value]);
  });
  for (const PodIndex pod : pods) {
    const UnitIndex index = cluster.pods().unit[pod];
    if (seen[index.value] != 0) continue;
    seen[index.value] = 1;
    const Unit& unit = cluster.units()[index];
    Time created = cluster.pods().created[pod];
    if (unit.kind == UnitKind::group) {
      const Group& group = cluster.groups()[unit.group];
      created = group.object && group.object->created ? *group.object->created : no_time;
    }
    if (created == no_time) created = Time{std::numeric_limits<std::int64_t>::max()};
    units.push_back({unit.scheduling_priority, created, index, pod});
  }
  sort_by_turn(units);
  return units;
}

/// The unit that is asked for, or why it cannot be.
std::optional<Problem> find_ask(const Cluster& cluster, const AskName& name, PendingUnit& found) {
  if (name.kind == AskKind::pod_group) {
    const std::optional<GroupIndex> group = cluster.find_group(name.namespace_name, name.name);
    if (!group) return ask_problem(name, "there is no such group", "see makeway snapshot");
    found.unit = cluster.groups()[*group].unit;
    const std::vector<PodIndex>& members = cluster.groups()[*group].members;
    const bool asks =
        std::ranges::any_of(members, [&](PodIndex pod) { return pending(cluster, pod); });
    if (!asks) {
      return ask_problem(name, "none of its pods is pending",
                         "only a group with pending pods can ask");
    }
    return std::nullopt;
  }
  const std::optional<PodIndex> pod = cluster.find_pod(name.namespace_name, name.name);
  if (!pod) {
    return ask_problem(name, "there is no such pod among the input",
                       "makeway snapshot lists the pending pods");
  }
  if (cluster.pods().node[*pod].exists()) {
    return ask_problem(
        name,
        fmt::format("it already runs on node {}", node_name(cluster, cluster.pods().node[*pod])),
        "only a pending pod can ask");
  }
  if (!pending(cluster, *pod)) {
    return ask_problem(name, "it is being deleted", "only a pending pod can ask");
  }
  found = {.unit = cluster.pods().unit[*pod], .pod = *pod};
  const Unit& unit = cluster.units()[found.unit];
  if (unit.kind == UnitKind::group) {
    return ask_problem(name,
                       fmt::format("it belongs to {}, and a group asks as a whole",
                                   unit_text(cluster, found.unit)),
                       "ask for the group");
  }
  return std::nullopt;
}

/// Why the schedule cannot ask.
std::optional<Problem> find_replica_ask(const Cluster& cluster, const Configuration& configuration,
                                        const AskName& name) {
  const auto& schedules = cluster.own<ReplicaSchedule>();
  const auto found = schedules.find({name.namespace_name, name.name});
  if (found == schedules.end()) {
    return ask_problem(name, "there is no such schedule", "see makeway snapshot");
  }
  if (!configuration.replica.enabled) {
    return ask_problem(name, "replica.enabled is false", "set it to true");
  }
  if (found->second.unmet == 0) {
    return ask_problem(name, "it has no unmet replicas",
                       "only a schedule with unmet replicas asks");
  }
  return std::nullopt;
}

/// A pod whose placement is not ours cannot ask.
std::optional<Problem> find_placed_elsewhere(ReplicaPods& replicas, const AskName& name,
                                             PodIndex pod) {
  const ReplicaSchedule* const schedule = pod.exists() ? replicas.schedule_of(pod) : nullptr;
  if (schedule == nullptr) return std::nullopt;
  return ask_problem(name,
                     fmt::format("it belongs to ReplicaSchedule {}/{}, and Kubernetes places it",
                                 schedule->namespace_name, schedule->name),
                     "ask for the schedule");
}

/// The places that are given for the pods of the ask.
std::optional<Problem> find_given(const Cluster& cluster, const PlanRequest& request,
                                  UnitIndex unit, std::vector<PodOnNode>& places) {
  if (!request.ask) return std::nullopt;
  for (const PodPlacement& given : request.placements) {
    const std::optional<PodIndex> pod =
        cluster.find_pod(given.namespace_name, given.name, given.plane);
    const bool own = pod && cluster.pods().unit[*pod] == unit && pending(cluster, *pod) &&
                     std::ranges::find(places, *pod, &PodOnNode::pod) == places.end();
    if (!own) {
      return ask_problem(
          *request.ask,
          fmt::format("the given placements are not those of its pending pods: {}/{}",
                      given.namespace_name, given.name),
          "give its own placements, each once, or none");
    }
    const std::optional<NodeIndex> node = cluster.find_node(given.node, given.plane);
    if (!node || !cluster.nodes().flags[*node].exists) {
      return ask_problem(*request.ask, fmt::format("the given node {} does not exist", given.node),
                         "correct the placement");
    }
    places.push_back({.pod = *pod, .node = *node});
  }
  return std::nullopt;
}

/// The unit that the request names.
std::optional<Problem> find_named(const Cluster& cluster, const PlanRequest& request,
                                  ReplicaPods& replicas, Asking& asking) {
  PendingUnit unit;
  if (auto problem = find_ask(cluster, *request.ask, unit)) return problem;
  if (auto problem = find_placed_elsewhere(replicas, *request.ask, unit.pod)) return problem;
  if (auto problem = find_given(cluster, request, unit.unit, asking.given)) return problem;
  asking.units.push_back(unit);
  asking.others -= own_pending(cluster, unit);
  return std::nullopt;
}

}  // namespace

std::optional<Problem> add_sessions(const SessionPolicy& policy, const PlanRequest& request,
                                    std::vector<PendingUnit>& units) {
  std::vector<SessionTurn> turns;
  if (!request.ask) {
    turns = policy.turns();
  } else if (request.ask->kind == AskKind::session) {
    turns = policy.turn_of(request.ask->namespace_name, request.ask->name);
    if (turns.empty()) {
      return ask_problem(*request.ask, "there is no such pending session",
                         "makeway snapshot lists the sessions");
    }
    if (!request.placements.empty()) {
      return ask_problem(*request.ask, "places cannot be given for a session", "give none");
    }
  }
  for (const SessionTurn& turn : turns) {
    units.push_back(
        {.priority = turn.priority, .created = turn.created, .unit = {}, .pod = {}, .turn = turn});
  }
  sort_by_turn(units);
  return std::nullopt;
}

std::optional<Problem> find_asking(const Cluster& cluster, const Configuration& configuration,
                                   const PlanRequest& request, Asking& asking) {
  ReplicaPods replicas(cluster, configuration);
  if (!request.ask) {
    asking.units = pending_units(cluster, replicas);
    return std::nullopt;
  }
  asking.others = pending_pods(cluster);
  switch (request.ask->kind) {
    case AskKind::replica_schedule: return find_replica_ask(cluster, configuration, *request.ask);
    case AskKind::session: return std::nullopt;  // See add_sessions.
    case AskKind::pod:
    case AskKind::pod_group:
    case AskKind::queue: break;
  }
  return find_named(cluster, request, replicas, asking);
}

}  // namespace makeway
