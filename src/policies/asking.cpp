#include "policies/asking.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "model/object_text.hpp"
#include "model/profiles.hpp"
#include "model/regime.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/deciding.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {

Problem ask_problem(const AskName& name, std::string message, std::string remedy) {
  return {.object = object_text(choice_name(name.kind), name.namespace_name, name.name),
          .field = "ask",
          .value = {},
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

namespace {

void sort_by_turn(std::vector<PendingUnit>& units) {
  std::ranges::stable_sort(units, [](const PendingUnit& a, const PendingUnit& b) {
    return std::tie(b.priority, a.created, a.wave) < std::tie(a.priority, b.created, b.wave);
  });
}

/// A pod that wants to be placed by us.
bool pending(const Cluster& cluster, PodIndex pod) { return cluster.pending_pods().contains(pod); }

/// The same for pods that are asks: Kubernetes places those of ReplicaSchedules.
bool may_ask(const Cluster& cluster, const Regimes& regimes, PodIndex pod) {
  return pending(cluster, pod) && regimes.of(pod) == Regime::pods;
}

std::int64_t own_pending(const Cluster& cluster, const PendingUnit& ask) {
  const Unit& unit = cluster.units()[ask.unit];
  if (unit.kind == UnitKind::pod || ask.member) return 1;
  return std::ranges::count_if(cluster.groups()[unit.group].members,
                               [&](PodIndex pod) { return pending(cluster, pod); });
}

std::pair<std::string_view, std::string_view> sort_name(const Cluster& cluster, PodIndex pod) {
  return {cluster.text(cluster.pods().namespace_name[pod]), cluster.pods().name[pod.value]};
}

/// A missing creation time counts as the latest.
Time created_of(const Cluster& cluster, const Unit& unit, PodIndex pod) {
  Time created = no_time;
  if (unit.kind == UnitKind::group) {
    const std::optional<PodGroup>& object = cluster.groups()[unit.group].object;
    if (object && object->created) created = *object->created;
  } else {
    created = cluster.pods().created[pod];
  }
  return created == no_time ? Time{std::numeric_limits<std::int64_t>::max()} : created;
}

/// In the order in which they are decided.
std::vector<PendingUnit> pending_units(const Cluster& cluster, const Regimes& regimes) {
  std::vector<PendingUnit> units;
  std::vector<std::uint8_t> seen(cluster.units().size());
  std::vector<PodIndex> pods;
  for (const PodIndex pod : cluster.pending_pods()) {
    if (may_ask(cluster, regimes, pod)) pods.push_back(pod);
  }
  std::ranges::sort(pods, {}, [&](PodIndex pod) { return sort_name(cluster, pod); });
  for (const PodIndex pod : pods) {
    const UnitIndex index = cluster.pods().unit[pod];
    if (seen[index.value] != 0) continue;
    seen[index.value] = 1;
    const Unit& unit = cluster.units()[index];
    units.push_back({unit.scheduling_priority, created_of(cluster, unit, pod), index, pod,
                     wave_of(cluster, pod)});
  }
  sort_by_turn(units);
  return units;
}

/// The unit that is asked for, or why it cannot be.
std::optional<Problem> find_ask(const Cluster& cluster, const Regimes& regimes, const AskName& name,
                                PendingUnit& found) {
  if (name.kind == AskKind::pod_group) {
    const std::optional<GroupIndex> group = cluster.find_group(name.namespace_name, name.name);
    if (!group) return ask_problem(name, "there is no such group", "see makeway snapshot");
    found.unit = cluster.groups()[*group].unit;
    const std::vector<PodIndex>& members = cluster.groups()[*group].members;
    const bool asks =
        std::ranges::any_of(members, [&](PodIndex pod) { return may_ask(cluster, regimes, pod); });
    if (!asks) {
      return ask_problem(name, "none of its pods is pending",
                         "only a group with pending pods can ask");
    }
    return std::nullopt;
  }
  const std::optional<PodIndex> pod = cluster.find_pod(name.namespace_name, name.name);
  if (!pod) {
    return ask_problem(name, "there is no such pod in the input",
                       "makeway snapshot lists the pending pods");
  }
  if (cluster.pods().node[*pod].exists()) {
    return ask_problem(name,
                       write_text(cluster, {.code = ReasonCode::already_runs,
                                            .arguments = {cluster.pods().node[*pod]}}),
                       "only a pending pod can ask");
  }
  if (!pending(cluster, *pod)) {
    return ask_problem(name, "it is being deleted", "only a pending pod can ask");
  }
  found = {.unit = cluster.pods().unit[*pod], .pod = *pod};
  found.member = cluster.units()[found.unit].kind == UnitKind::group;
  return std::nullopt;
}

/// A pod whose placement is not ours cannot ask.
std::optional<Problem> find_placed_elsewhere(const Cluster& cluster, const Regimes& regimes,
                                             const AskName& name, PodIndex pod) {
  const ReplicaSchedule* const schedule = pod.exists() ? regimes.schedule_of(pod) : nullptr;
  if (schedule == nullptr) return std::nullopt;
  const ObjectName owner{.kind = MentionKind::replica_schedule,
                         .namespace_name = schedule->namespace_name,
                         .name = schedule->name};
  return ask_problem(
      name, write_text(cluster, {.code = ReasonCode::belongs_to_schedule, .arguments = {owner}}),
      "ask for the schedule");
}

/// Whether it asks itself, or its group does.
bool is_asked_for(const Asking& asking, UnitIndex unit, PodIndex pod) {
  return std::ranges::any_of(asking.units, [&](const PendingUnit& each) {
    return each.unit == unit && (!each.member || each.pod == pod);
  });
}

/// The places that are given for the pods of the named asks.
std::optional<Problem> find_given(const Cluster& cluster, const Regimes& regimes,
                                  const PlanRequest& request, Asking& asking) {
  const AskName& first = request.asks.front();
  std::vector<PodOnNode>& places = asking.given;
  for (const PodPlacement& given : request.placements) {
    const std::optional<PodIndex> pod =
        cluster.find_pod(given.namespace_name, given.name, given.plane);
    const bool own = pod && may_ask(cluster, regimes, *pod) &&
                     is_asked_for(asking, cluster.pods().unit[*pod], *pod) &&
                     std::ranges::find(places, *pod, &PodOnNode::pod) == places.end();
    if (!own) {
      return ask_problem(
          first,
          write_text(cluster, {.code = ReasonCode::not_its_placements,
                               .arguments = {ObjectName{.kind = MentionKind::pod,
                                                        .namespace_name = given.namespace_name,
                                                        .name = given.name}}}),
          "give its own placements, each once, or none");
    }
    const std::optional<NodeIndex> node = cluster.find_node(given.node, given.plane);
    if (!node || !cluster.nodes().flags[*node].exists) {
      return ask_problem(
          first,
          write_text(cluster, {.code = ReasonCode::given_node_missing, .arguments = {given.node}}),
          "correct the placement");
    }
    places.push_back({.pod = *pod, .node = *node});
  }
  return std::nullopt;
}

/// By name; the group has one.
PodIndex first_pending(const Cluster& cluster, const Regimes& regimes, GroupIndex group) {
  PodIndex first;
  for (const PodIndex pod : cluster.groups()[group].members) {
    if (!may_ask(cluster, regimes, pod)) continue;
    if (!first.exists() || sort_name(cluster, pod) < sort_name(cluster, first)) first = pod;
  }
  return first;
}

/// A unit that the request names.
std::optional<Problem> find_named(const Cluster& cluster, const AskName& name,
                                  const Regimes& regimes, Asking& asking) {
  PendingUnit unit;
  if (auto problem = find_ask(cluster, regimes, name, unit)) return problem;
  if (auto problem = find_placed_elsewhere(cluster, regimes, name, unit.pod)) return problem;
  if (is_asked_for(asking, unit.unit, unit.pod)) return std::nullopt;  // It is named twice.
  const Unit& row = cluster.units()[unit.unit];
  if (row.kind == UnitKind::group && !unit.member) {
    unit.pod = first_pending(cluster, regimes, row.group);
    std::erase_if(asking.units, [&](const PendingUnit& each) { return each.unit == unit.unit; });
  }
  unit.priority = row.scheduling_priority;
  unit.created = created_of(cluster, row, unit.pod);
  unit.wave = wave_of(cluster, unit.pod);
  asking.units.push_back(unit);
  return std::nullopt;
}

std::optional<Problem> find_all_named(const Cluster& cluster, const PlanRequest& request,
                                      const Regimes& regimes, Asking& asking) {
  asking.others = std::ssize(cluster.pending_pods());
  for (const AskName& name : request.asks) {
    // Their policies know them; the queue stage is part of every plan.
    if (name.kind != AskKind::pod && name.kind != AskKind::pod_group) continue;
    if (auto problem = find_named(cluster, name, regimes, asking)) return problem;
  }
  for (const PendingUnit& unit : asking.units) asking.others -= own_pending(cluster, unit);
  std::ranges::sort(asking.units, {},
                    [&](const PendingUnit& unit) { return sort_name(cluster, unit.pod); });
  sort_by_turn(asking.units);
  return find_given(cluster, regimes, request, asking);
}

/// Keeps the units of our schedulers: a group has the scheduler of its first pod.
void keep_ours(const Cluster& cluster, const PlanRequest& request, Asking& asking) {
  if (request.schedulers.empty()) return;
  std::erase_if(asking.units, [&](const PendingUnit& unit) {
    const std::string_view name = scheduler_of(cluster, unit.pod);
    if (std::ranges::find(request.schedulers, name) != request.schedulers.end()) return false;
    asking.others += own_pending(cluster, unit);
    return true;
  });
}

}  // namespace

std::vector<PodOnNode> Asking::given_to(const Cluster& cluster, UnitIndex unit) const {
  std::vector<PodOnNode> own;
  std::ranges::copy_if(given, std::back_inserter(own), [&](const PodOnNode& place) {
    return cluster.pods().unit[place.pod] == unit;
  });
  return own;
}

std::optional<NodeIndex> Asking::given_node(PodIndex pod) const {
  const auto found = std::ranges::find(given, pod, &PodOnNode::pod);
  return found == given.end() ? std::nullopt : std::optional(found->node);
}

std::int32_t wave_of(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  if (cluster.units()[pods.unit[pod]].kind != UnitKind::pod) return 0;
  return cluster.notes(pods.notes[pod]).wave;
}

std::optional<Problem> find_asking(const Cluster& cluster, const Configuration& configuration,
                                   const PlanRequest& request, Asking& asking) {
  const Regimes regimes(cluster, configuration);
  if (request.asks.empty()) {
    asking.units = pending_units(cluster, regimes);
  } else if (auto problem = find_all_named(cluster, request, regimes, asking)) {
    return problem;
  }
  keep_ours(cluster, request, asking);
  if (request.left_out.empty()) return std::nullopt;
  std::erase_if(asking.units, [&](const PendingUnit& unit) {
    // MemberAsks leaves its own out.
    return !unit.member && is_left_out(request, ask_name_of(cluster, unit.unit));
  });
  return std::nullopt;
}

}  // namespace makeway
