#include "policies/shared/plan_losses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "model/gpus.hpp"

namespace makeway {
void Losses::add(PlanAsk& ask, Time pending_since) {
  if (pending_since != no_time) {
    ask.pending_seconds = std::max<std::int64_t>(0, (world_.time() - pending_since).ms / 1000);
  }
  std::map<std::tuple<std::string, std::string, std::string>, PlanDisruptedGroup> groups;
  std::vector<PodIndex> leaving;
  leaving.reserve(ask.victims.size());
  for (PlanVictim& victim : ask.victims) {
    const PodIndex pod = *cluster_.find_pod(victim.namespace_name, victim.name, victim.plane);
    leaving.push_back(pod);
    victim.cost = cost_of(pod);
    ask.cost = sum(ask.cost, victim.cost);
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    if (unit.kind != UnitKind::group) continue;
    const Group& group = cluster_.groups()[unit.group];
    const auto [at, is_new] = groups.try_emplace({std::string(cluster_.text(group.namespace_name)),
                                                  std::string(cluster_.text(group.name)),
                                                  std::string(cluster_.text(group.plane))});
    if (is_new) at->second = disrupted(group);
    ++at->second.lost;
    at->second.cost = sum(at->second.cost, victim.cost);
  }
  gone_.insert(leaving.begin(), leaving.end());
  for (auto& [name, group] : groups) {
    group.remaining = group.running - group.lost;
    group.fate = group.remaining == 0              ? GroupFate::leaves
                 : group.remaining < group.minimum ? GroupFate::degraded
                                                   : GroupFate::runs_on;
    if (group.fate == GroupFate::degraded && group.running >= group.minimum) {
      const PlanCost rest = cost_of_rest(group);
      group.cost = sum(group.cost, rest);
      ask.cost = sum(ask.cost, rest);
    }
    ask.disrupted_groups.push_back(std::move(group));
  }
}

/// A gang that was taken below its minimum stops: what its other pods have done is lost, too.
PlanCost Losses::cost_of_rest(const PlanDisruptedGroup& group) const {
  PlanCost rest;
  const auto index = cluster_.find_group(group.namespace_name, group.name, group.plane);
  for (const PodIndex pod : cluster_.groups()[*index].members) {
    if (runs(pod)) rest = sum(rest, cost_of(pod));
  }
  return rest;
}

PlanCost Losses::cost_of(PodIndex pod) const {
  const std::int64_t seconds = world_.rules().lost_work_seconds(pod);
  std::int64_t gpus = 0;
  for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[pod])) {
    if (is_gpu(cluster_.resources().name(item.resource))) gpus = saturated_add(gpus, item.amount);
  }
  return {.pod_seconds = seconds, .gpu_seconds = saturated_mul(seconds, gpus)};
}

/// As it is before it loses anybody to this ask.
PlanDisruptedGroup Losses::disrupted(const Group& group) const {
  const Unit& unit = cluster_.units()[group.unit];
  return {
      .namespace_name = std::string(cluster_.text(group.namespace_name)),
      .name = std::string(cluster_.text(group.name)),
      .plane = std::string(cluster_.text(group.plane)),
      .mode = unit.mode,
      .running = std::ranges::count_if(group.members, [this](PodIndex pod) { return runs(pod); }),
      .minimum = unit.gang ? unit.minimum : 0};
}

bool Losses::runs(PodIndex pod) const {
  return cluster_.pods().node[pod].exists() && !world_.rules().leaving(pod) && !gone_.contains(pod);
}

}  // namespace makeway
